from __future__ import annotations

import gc
import logging
import os
from pathlib import Path

import pytest

import pipeline  # noqa: F401  first of all: sets where numba keeps compiled code
from tests import soak

# Plans of tests do not depend on who has calibrated this machine.
os.environ["HOPSCOPE_CALIBRATION"] = os.devnull
# Clusters of tests wait most of the time: two thirds of what they cost then is to look at
# themselves.
os.environ["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "false"
os.environ["DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL"] = "1s"
os.environ["DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL"] = "5s"
os.environ["DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL"] = "1s"

INTEGRATION = Path(__file__).parent / "integration"


def _gpu_count() -> int:
    try:
        import cupy

        return int(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # no cupy, no driver, or no device: each means "no GPU here"
        return 0


GPU_COUNT = _gpu_count()


def pytest_addoption(parser):
    parser.addoption(
        "--require-gpu", action="store_true", help="fail instead of skip without a GPU"
    )


def pytest_configure(config):
    if config.getoption("--require-gpu") and GPU_COUNT == 0:
        raise pytest.UsageError("--require-gpu was given, but no GPU is visible")
    if soak.WHOLE and not hasattr(config, "workerinput"):
        config.pluginmanager.register(soak.Results(config.getoption("hypothesis_seed")))


def pytest_report_header(config):
    return f"GPUs visible: {GPU_COUNT}"


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What collection imports stays: to look for garbage in it takes a tenth of its time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 50)  # libraries that tests import later stay, too
        gc.enable()


# Files that use ``served``: one tester runs them, in this order, so that it is started once. The
# last test of the last one stops it.
ONE_SERVER = ("test_cancelled_runs.py", "test_prefect.py")
# Files with pages of reports: one tester runs them with one browser, and makes the reports once.
ONE_BROWSER = (
    *("test_as_sections_in_browser.py", "test_list_in_browser.py", "test_pages_in_browser.py"),
    *("test_addresses_in_browser.py", "test_as_page_in_browser.py", "test_explorer_in_browser.py"),
    *("test_filters_in_browser.py", "test_internet_in_browser.py", "test_nights_in_browser.py"),
    *("test_page_commands.py", "test_pages_figures_and_paper.py"),
)
# The longest, which begin first: each takes a tester more than half a minute.
LONGEST = (
    *ONE_SERVER,
    *ONE_BROWSER,
    *("test_readme.py", "test_gangs.py", "test_urls.py", "test_cluster.py"),
    *("test_notices.py", "test_kills.py", "test_prefect_stops.py", "test_nights_soak.py"),
)
# Share of the other files among which those of integration are spread: they wait much, and the
# last files should be short.
SPREAD = 0.85


@pytest.fixture(autouse=True)
def _logs_are_caught(pytestconfig):
    """All levels, whatever silences loggers: pytest hands its handlers to those of libraries.

    A cluster silences the handlers of Dask's loggers until it closes, in tests to come as well.
    """
    plugin = pytestconfig.pluginmanager.get_plugin("logging-plugin")
    for handler in (plugin.caplog_handler, plugin.report_handler):
        handler.setLevel(plugin.log_level or logging.NOTSET)


def _among_others(items: list[pytest.Item]) -> list[pytest.Item]:
    """The longest files first; the rest of integration among the others, so that no core waits."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    waiting = [path for path in files if path.is_relative_to(INTEGRATION)]
    others = [path for path in files if not path.is_relative_to(INTEGRATION)]
    step = SPREAD * len(others) / max(1, len(waiting))
    place = {path: k * step for k, path in enumerate(waiting)}
    place |= {path: float(k) for k, path in enumerate(others)}
    longest = [INTEGRATION / name for name in LONGEST]
    place |= {path: longest.index(path) - len(longest) for path in waiting if path in longest}
    return [item for path in sorted(files, key=place.__getitem__) for item in files[path]]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """That of ``--dist loadfile``, to which files with one server or one browser are one file."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    first = {name: files[0] for files in (ONE_SERVER, ONE_BROWSER) for name in files}

    class TogetherByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = super()._split_scope(nodeid)
            return first.get(Path(path).name, path)

    return TogetherByFile(config, log)


def pytest_collection_modifyitems(config, items):
    items[:] = _among_others(items)
    for item in items:
        if item.path.is_relative_to(INTEGRATION):
            item.add_marker(pytest.mark.integration)
        soak.mark(item)
        if mark := item.get_closest_marker("gpu"):
            needed = mark.kwargs.get("count", 1)
            if needed > GPU_COUNT:
                item.add_marker(pytest.mark.skip(reason=f"needs {needed} GPU, {GPU_COUNT} visible"))


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request):
    return request.param


@pytest.fixture(scope="module")
def s3():
    """A client of a local S3 server, which this process then uses for ``s3://`` URLs."""
    from tests.s3 import in_environment, s3_client, s3_server

    with s3_server() as variables, in_environment(**variables):
        yield s3_client(variables)


@pytest.fixture
def machine(s3, tmp_path, monkeypatch):
    """Become another machine, with mirrors of its own, by a name; the bucket is empty at first."""
    from tests.s3 import empty_bucket

    empty_bucket(s3)

    def become(name: str) -> None:
        monkeypatch.setenv("HOPSCOPE_MIRRORS", str(tmp_path / "mirrors" / name))

    become("first")
    return become
