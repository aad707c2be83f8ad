"""Clusters of several machines: the commands of the docs, and workers that differ."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from distributed import Client

from flows.processes.server import free_port
from pipeline.errors import UsageError
from pipeline.schedule.run import measure
from tests.integration.measured import config_for, make_snapshot
from tests.integration.test_two_workers import scheduler, wait_for, worker
from tests.real_data import REPOSITORY

DOCS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
STARTS = re.compile(r"\bdask[ -](scheduler|worker|cuda[ -]worker)\s+\S.*")
CODE = re.compile(r"^```\w*\n(.*?)^```$|`([^`\n]+)`", re.MULTILINE | re.DOTALL)

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("store"))


def commands():
    """Every command of README and docs that starts a part of a Dask cluster, and where it is."""
    for path in DOCS:
        for block, inline in CODE.findall(path.read_text()):
            for line in (block or inline).splitlines():
                if found := STARTS.search(line):
                    yield path.name, found[0]


def test_every_command_that_starts_dask_is_bound_to_this_machine_or_encrypted():
    found = list(commands())
    assert {name for name, _ in found} >= {"README.md", "scheduling.md"}
    for name, command in found:
        where = f"{name}: {command}"
        assert "--host " in command, where
        assert "--host 127.0.0.1" in command or "--protocol tls" in command, where
        if "--protocol tls" not in command:
            assert "://127.0.0.1:" in command or command.startswith("dask scheduler"), where
        # Dask's own choice is a page on all interfaces, of the scheduler and of each worker.
        assert "--dashboard-address 127.0.0.1:" in command, where


def section(title):
    """Shell blocks of a section of docs/scheduling.md."""
    text = (REPOSITORY / "docs" / "scheduling.md").read_text()
    text = re.split(r"^## ", text.partition(f"\n## {title}\n")[2], maxsplit=1, flags=re.M)[0]
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@contextlib.contextmanager
def shell(script, cwd, environment):
    """A script of the docs in the background; its output goes to a file."""
    log = cwd / f"{len(list(cwd.glob('*.log')))}.log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            ["bash", "-c", f"{script}\nwait"],
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    try:
        yield process, log
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def listening(process):
    family = [process, *process.children(recursive=True)]
    connections = [c for each in family for c in each.net_connections(kind="inet")]
    return {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN}


def test_the_set_up_of_several_machines_with_certificates(snapshot, tmp_path):
    make, export, start = section("Several machines")
    here = {
        "10.0.0.1": "127.0.0.1",
        "10.0.0.2": "127.0.0.1",
        ":8786": f":{(port := free_port())}",
        "--port 8786": f"--port {port}",
        "127.0.0.1:8787": "127.0.0.1:0",
        "/shared/store": str(snapshot.path.parents[1]),
        "--nworkers 2": f"--nworkers 1 --local-directory {tmp_path}",
    }
    for theirs, ours in here.items():
        assert theirs in start
        start = start.replace(theirs, ours)
    of_scheduler, of_worker, of_run = start.splitlines()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(["bash", "-ec", make], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "dask.pem").stat().st_mode & 0o077 == 0
    with shell(f"{export}\n{of_scheduler}", tmp_path, environment) as (first, log):
        wait_for(log, r"Scheduler at:\s+tls://127\.0\.0\.1:\d+")
        with shell(f"{export}\n{of_worker}", tmp_path, environment) as (second, log):
            wait_for(log, r"Registered to:\s+tls://127\.0\.0\.1:\d+")
            for process in (first, second):
                assert listening(psutil.Process(process.pid)) == {"127.0.0.1"}
            run = ["bash", "-ec", f"{export}\n{of_run} --no-pages"]
            done = subprocess.run(
                run, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == 0, done.stderr
            # Without certificates: one line that says what to set, and no access.
            run = ["bash", "-ec", f"{of_run} --full"]
            done = subprocess.run(
                run, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == 2
            last = done.stderr.splitlines()[-1]
            assert "--tls-cert, or set DASK_DISTRIBUTED__COMM__TLS__CA_FILE" in last
            assert "Traceback" not in done.stderr
            with pytest.raises((OSError, RuntimeError)):
                Client(f"tcp://127.0.0.1:{port}", timeout=2, set_as_default=False)


PRETEND = """
from pathlib import Path

def dask_setup(worker):
    true_versions = worker.handlers["versions"]

    def versions(*arguments, **options):
        reported = true_versions(*arguments, **options)
        reported["packages"]["{package}"] = "{version}"
        return reported

    def run(*arguments, **options):
        Path(__file__).with_suffix(".sent").touch()
        raise RuntimeError("this would have ended the process")

    worker.handlers["versions"] = versions
    worker.handlers["run"] = run
"""


@pytest.mark.parametrize(
    ("package", "version", "reported"),
    [
        ("python", "3.99.0.final.0", "has python 3.99, this process has 3."),
        ("distributed", "1.0.0", "has distributed 1.0.0, this process has 20"),
    ],
)
def test_a_worker_of_other_versions_is_refused_before_anything_is_sent(
    snapshot, tmp_path, package, version, reported
):
    preload = tmp_path / "pretend.py"
    preload.write_text(PRETEND.format(package=package, version=version))
    options = ("--no-nanny", "--preload", str(preload))
    with scheduler(tmp_path) as (_, address), worker(address, tmp_path, *options):
        with pytest.raises(UsageError, match=r"^worker tcp://127\.0\.0\.1:\d+ ") as caught:
            measure(snapshot, config_for(snapshot, tmp_path / "out", scheduler=address))
        assert reported in str(caught.value)
    assert not preload.with_suffix(".sent").exists()


def test_a_worker_without_hopscope_is_named(snapshot, tmp_path):
    preload = tmp_path / "without.py"
    preload.write_text(
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'pipeline':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}')\n"
        "sys.meta_path.insert(0, Without())\n"
    )
    options = ("--no-nanny", "--preload", str(preload))
    with scheduler(tmp_path) as (_, address), worker(address, tmp_path, *options):
        with pytest.raises(UsageError, match=r"cannot import hopscope .*No module named") as caught:
            measure(snapshot, config_for(snapshot, tmp_path / "out", scheduler=address))
        assert "\n" not in str(caught.value)
