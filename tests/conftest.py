from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

import pipeline  # noqa: F401  first of all: sets where numba keeps compiled code
from tests import soak

# Plans of tests do not depend on who has calibrated this machine.
os.environ["HOPSCOPE_CALIBRATION"] = os.devnull

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
        gc.enable()


def pytest_collection_modifyitems(config, items):
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
