"""``make serve``, run once for all tests that use ``served``, since it takes seconds to start."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
import pytest

from flows.processes.server import HOST, free_port, stop_process

ROOT = Path(__file__).parents[1]
LAB = ROOT / "data" / "samples" / "lab"
DATABASE = "prefect.db"  # in PREFECT_HOME
START_S = 240.0  # on a busy machine
RUN_S = 240.0
STOP_S = 180.0
WATCHED = "arriving"  # folder of ``served`` in which new data start a run
# What ``serve`` starts with Python.
WORKER = ("-m", "prefect", "worker", "start")
SERVER = ("-m", "flows.processes.local_server")

kept_folder = Path()  # from one run of pytest to the next; set before the first test


@dataclass
class Served:
    """What ``flows.serve`` runs."""

    process: subprocess.Popen
    environment: dict[str, str]
    out: Path
    ui_url: str
    reports_url: str
    log: Path

    @property
    def home(self) -> Path:
        return Path(self.environment["PREFECT_HOME"])

    def programs(self, words: tuple[str, ...]) -> set[psutil.Process]:
        """Descendants whose command begins with Python and some words."""
        return programs_below(self.process, words)

    def get(self, path: str) -> Any:
        """What the server has there."""
        return self.post(path, None)

    def post(self, path: str, body: dict | None) -> Any:
        headers = {"Content-Type": "application/json"}
        if secret := self.environment.get("PREFECT_SERVER_API_AUTH_STRING"):
            headers["Authorization"] = f"Basic {base64.b64encode(secret.encode()).decode()}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.ui_url}/api{path}", data, headers)
        give_up = time.monotonic() + START_S
        while True:
            try:
                with urllib.request.urlopen(request, timeout=120) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                # The database is locked, and nothing was done: Prefect's own client tries again.
                if error.code != 503 or time.monotonic() > give_up:
                    raise
                time.sleep(0.5)

    def run(self, **parameters: object) -> tuple[int, dict]:
        """Exit status of ``prefect deployment run --watch``, and the flow run it started."""
        words = ["-m", "prefect", "--no-prompt", "deployment", "run", "nightly/nightly", "--watch"]
        for name, value in parameters.items():
            words += ["-p", f"{name}={json.dumps(value)}"]
        # Not in this process: threads that Prefect leaves behind draw random numbers, which
        # hypothesis then takes for those of its own strategies.
        done = subprocess.run(
            [sys.executable, *words],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=False,
        )
        newest = {"sort": "EXPECTED_START_TIME_DESC", "limit": 1}
        newest["flow_runs"] = {"state": {"type": {"not_any_": ["SCHEDULED"]}}}
        return done.returncode, self.post("/flow_runs/filter", newest)[0]

    def deployment(self, name: str = "nightly") -> dict:
        """One of the deployments of prefect.yaml."""
        wanted = {"deployments": {"name": {"any_": [name]}}}
        return self.post("/deployments/filter", wanted)[0]

    def start(self, name: str = "nightly", /, **parameters: object) -> dict:
        """A flow run of a deployment that the worker is to start at once."""
        deployment = self.deployment(name)["id"]
        body = {"parameters": parameters, "state": {"type": "SCHEDULED"}}
        return self.post(f"/deployments/{deployment}/create_flow_run", body)

    def ended(self, name: str = "nightly", /, **parameters: object) -> dict:
        """A flow run of a deployment, with its last state, once it has ended."""
        run = self.start(name, **parameters)
        waiting = ("SCHEDULED", "PENDING", "RUNNING")
        wait_until(lambda: self.state(run)["type"] not in waiting)
        return run | {"state": self.state(run)}

    def state(self, run: dict) -> dict:
        """Newest state of a flow run."""
        wanted = {"flow_runs": {"id": {"any_": [run["id"]]}}}
        return self.post("/flow_runs/filter", wanted)[0]["state"]

    def said(self, run: dict) -> str:
        """Log of a flow run."""
        wanted = {"flow_run_id": {"any_": [run["id"]]}}
        return "\n".join(line["message"] for line in self.post("/logs/filter", {"logs": wanted}))

    def artifacts(self, run: dict) -> dict[str, dict]:
        """Artifacts of a flow run by key."""
        wanted = {"flow_run_id": {"any_": [run["id"]]}}
        rows = self.post("/artifacts/filter", {"artifacts": wanted})
        return {row["key"]: row for row in rows if row["key"]}


def programs_below(process: subprocess.Popen, words: tuple[str, ...]) -> set[psutil.Process]:
    """Descendants of a process whose command begins with Python and some words."""
    found = set()
    for child in psutil.Process(process.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has just ended
            if tuple(child.cmdline()[1 : len(words) + 1]) == words:
                found.add(child)
    return found


def clean_environment(home: Path) -> dict[str, str]:
    """This environment without a developer's settings; the database of Prefect is ready."""
    prepare_database(home)
    return _environment(home)


def prepare_database(home: Path) -> None:
    """Put a database of Prefect that is ready, but empty, into its home."""
    database = home / DATABASE
    if not database.exists():
        home.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_empty_database(), database)


def _environment(home: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PREFECT_", "HOPSCOPE_"))
    }
    # Packages may be where the environment says.
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    kept |= {"PREFECT_HOME": str(home), "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}
    # More than a second of a core with each new database, for what no page or run of ours uses.
    return kept | {"PREFECT_API_BLOCKS_REGISTER_ON_START": "false"}


@functools.cache
def _empty_database() -> Path:
    """A database of Prefect as its migrations leave it, which take five seconds of a core.

    Kept for the next runs, in pytest's cache if there is one.
    """
    home = kept_folder / f"prefect-{version('prefect')}"
    home.mkdir(parents=True, exist_ok=True)
    made = home / "made"
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed
        if not made.exists():
            words = [sys.executable, "-m", "prefect", "server", "database", "upgrade", "-y"]
            environment = _environment(home)
            done = subprocess.run(
                words, env=environment, check=False, capture_output=True, text=True, timeout=START_S
            )
            assert done.returncode == 0, done.stderr
            made.touch()
    return home / DATABASE


@contextlib.contextmanager
def serving(folder: Path, **variables: str) -> Iterator[Served]:
    """Run ``flows.serve`` in a folder, its home, store and out there too, until the block ends."""
    out = folder / "out"
    reports, prefect = free_port(), free_port()
    environment = clean_environment(folder / "prefect") | variables
    environment["PREFECT_WORKER_QUERY_SECONDS"] = "1"  # 10 by default; tests wait for each run
    # A relative input, as a user would give it: runs start in another folder.
    environment["HOPSCOPE_IP2AS"] = os.path.relpath(LAB / "lab.pfx2as", folder)
    words = ["-m", "flows.serve", "--out", str(out), "--store", str(folder / "store")]
    words += ["--port", str(reports), "--prefect-port", str(prefect)]
    log = folder / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *words],
            env=environment,
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until(
            lambda: "Stop with Ctrl-C" in log.read_text(), START_S, process, log, every_s=0.1
        )
        ui_url = f"http://{HOST}:{prefect}"
        environment["PREFECT_API_URL"] = f"{ui_url}/api"
        yield Served(process, environment, out, ui_url, f"http://{HOST}:{reports}", log)
    finally:
        stop_process(process, 60)


def wait_until(
    is_so: Callable[[], object],
    timeout_s: float = RUN_S,
    process: subprocess.Popen | None = None,
    log: Path | None = None,
    seen: Callable[[], object] | None = None,
    every_s: float = 0.5,
) -> None:
    """Return when something is so; fail when it takes too long or a process ended.

    A look at a server takes some of its time, so what passes quickly is looked for more often.

    The failure shows the end of a log, and what was seen instead.
    """
    end = time.monotonic() + timeout_s
    while not is_so():
        over = time.monotonic() >= end
        if over or (process is not None and process.poll() is not None):
            why = f"not so after {timeout_s:.0f} s" if over else "its process ended"
            said = log.read_text(errors="replace")[-3000:] if log else ""
            pytest.fail(f"{why}: {seen() if seen else ''}\n{said}")
        time.sleep(every_s)


def succeeds(ask: Callable[[], object]) -> object:
    """What is answered; False while the server is away."""
    with contextlib.suppress(OSError):
        return ask()
    return False


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / WATCHED).mkdir()
    watched = {"HOPSCOPE_SERVE_WATCH": WATCHED, "HOPSCOPE_SERVE_WATCH_SETTLE": "1"}
    with serving(folder, **watched) as found:
        yield found
