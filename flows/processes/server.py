"""A Prefect server as a child process: started, waited for, stopped."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from flows.processes.die_with_parent import STOP_TIMEOUT_S, tied
from flows.processes.gone import answering_gone
from pipeline.errors import UsageError
from pipeline.files import private_folder
from pipeline.model.words import number
from pipeline.pages.local_pages import HOST, origins
from pipeline.terminal.lines import warn

POLL_S = 1.0  # between two looks at whether a server still runs
START_TIMEOUT_S = 180.0  # 6 s on an idle machine, 20 s the first time, more on a busy one
MAX_RESTARTS = 3  # of a server that ended, within an hour or a run
SERVER_PORTS = range(20_000, 30_000)  # Linux gives ports from 32,768 on to those that ask for any
PORTS_TRIED = 100
PRIVATE_UMASK = 0o077  # of a server: its database holds secrets and the key to them
MAX_LOG_BYTES = 10_000_000  # then a new log is begun, and the previous one is kept beside it


def auth_string() -> str | None:
    """``user:password`` that requests to Prefect carry, from Prefect's settings."""
    from prefect.settings import get_current_settings  # a second

    settings = get_current_settings()
    secret = settings.api.auth_string or settings.server.api.auth_string
    return secret.get_secret_value() if secret else None


def free_port() -> int:
    """A free port of 127.0.0.1.

    It is of a range from which systems give none to a connection, or to a server that asks for
    any: seconds pass until the server that it is for takes it.
    """
    drawn = random.SystemRandom().sample(SERVER_PORTS, PORTS_TRIED)
    for port in (*drawn, 0):
        with socket.socket() as probe:
            # A port that an earlier run left a moment ago is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind((HOST, port))
                return probe.getsockname()[1]
    raise UsageError(f"no free port on {HOST}")


def stop_process(process: subprocess.Popen, timeout_s: float = STOP_TIMEOUT_S) -> None:
    """Ask a child and all of its process group to end; kill them after a while.

    The child must have been started with ``start_new_session=True``.
    """
    for request, wait_s in ((signal.SIGTERM, timeout_s), (signal.SIGKILL, timeout_s)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, request)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait_s)
            break
    # Grandchildren that outlive their parent.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def prefect_home() -> Path:
    """PREFECT_HOME, which only this user may enter: Prefect keeps the key of its secrets there.

    Raises
    ------
    UsageError
        As ``private_folder``.
    """
    return private_folder(Path(os.environ["PREFECT_HOME"]), "PREFECT_HOME")


def open_log(path: Path) -> IO[bytes]:
    """Open a log of this user alone for appending; a long one is renamed to ``NAME.1`` first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > MAX_LOG_BYTES:
            path.replace(path.with_name(f"{path.name}.1"))
    return open(path, "ab", opener=functools.partial(os.open, mode=0o600))


@contextlib.contextmanager
def prefect_server(
    port: int, log: Path, *, ui: bool, scheduler: bool, held: Sequence[int] = ()
) -> Iterator[PrefectServer]:
    """Run a Prefect server on 127.0.0.1, for this machine only, and stop it on every exit.

    Call it from the main thread: the server ends with the thread that started it.

    Parameters
    ----------
    port : int
        Must be free.
    log : Path
        Where the server writes, at the end.
    ui : bool
        Whether it serves pages.
    scheduler : bool
        Whether it schedules deployments and marks late runs.
    held : sequence of int
        Descriptors of locks, which are held until the server, too, has ended.

    Yields
    ------
    PrefectServer
        Call its ``wait`` before the first request.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PREFECT_API_URL"}
    environment |= {
        "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
        "PREFECT_SERVER_UI_ENABLED": str(ui),
        "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": str(scheduler),
        "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": str(scheduler),
        # Pages use the API of the default port unless ours is set.
        "PREFECT_SERVER_UI_API_URL": f"http://{HOST}:{port}/api",
        # What ended 90 days ago (PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD) goes.
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": os.environ.get(
            "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED", "events,flow_runs"
        ),
        # By default pages of every site may read the answers.
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": ",".join(origins(port)),
    }
    if ui:  # for links in what automations send
        environment.setdefault("PREFECT_UI_URL", f"http://{HOST}:{port}")
    server = PrefectServer(port, log, environment, held)
    try:
        server.start()
        yield server
    finally:
        if server.process is not None:
            stop_process(server.process)


@contextlib.contextmanager
def kept_running(
    server: PrefectServer, when_given_up: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Start a server again when it ends, at most ``MAX_RESTARTS`` times, until the block ends.

    A run continues in the meantime, and reports to it afterwards. If the server ends once more it
    is given up: ``when_given_up`` is called, in another thread, and requests to it fail at once.
    At its end the block stops a server that was started again.
    """
    over = threading.Event()

    def watch() -> None:
        n_starts = 1
        while not over.wait(POLL_S):  # a server ends with the thread that started it
            if server.process is None or server.process.poll() is None:
                continue
            ended = f"the Prefect server ended with status {server.process.returncode}"
            if n_starts > MAX_RESTARTS:
                server.given_up = f"{ended}, after {number(MAX_RESTARTS, 'restart')}"
                when_given_up()
                warn(
                    f"{server.given_up}: it is given up; the run continues, but Prefect records "
                    f"neither what follows nor how it ends; see {server.log}"
                )
                break
            warn(f"{ended}: starting it again; see {server.log}")
            server.start()
            n_starts += 1
        while not over.is_set():
            # Another process may have the port for an instant.
            with contextlib.suppress(OSError), answering_gone(server.port):
                over.wait()
            over.wait(POLL_S)

    thread = threading.Thread(target=watch, name="prefect server", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class PrefectServer:
    """A server that is starting or running."""

    def __init__(self, port: int, log: Path, environment: dict[str, str], held: Sequence[int]):
        self.port, self.log = port, log
        self._environment, self._held = environment, tuple(held)
        self._said_before = 0  # bytes in the log
        self.given_up = ""  # why it is not started again
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start it, or restart it if it has ended."""
        with open_log(self.log) as output:
            self._said_before = output.tell()
            self.process = subprocess.Popen(
                tied([sys.executable, "-m", "flows.processes.local_server", str(self.port)]),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
                pass_fds=self._held,
                umask=PRIVATE_UMASK,
            )

    @property
    def api_url(self) -> str:
        return f"http://{HOST}:{self.port}/api"

    def wait(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Return when the server answers.

        Raises
        ------
        UsageError
            If it ends or does not answer in time; names its log.
        """
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            if self.process is not None and self.process.poll() is not None:
                raise UsageError(
                    f"the Prefect server ended with status {self.process.returncode}: {self._why()}"
                )
            with (
                contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError),
                urllib.request.urlopen(f"{self.api_url}/health", timeout=2) as answer,
            ):
                if answer.status == 200:
                    return
            time.sleep(0.1)
        raise UsageError(f"the Prefect server did not answer in {timeout_s:.0f} s: {self._why()}")

    def _why(self) -> str:
        said = self.log.read_bytes()[self._said_before :].decode(errors="replace")
        lines = said.strip().splitlines()
        return f"{lines[-1] if lines else 'it printed nothing'} (log: {self.log})"
