"""Prefect server and worker, and the reports, all on 127.0.0.1: ``python -m flows.serve``.

Everything that it starts ends with it, however it ends (flows/processes/die_with_parent.py). Only
one ``serve`` per PREFECT_HOME: the workers of two would execute each other's runs.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import os
import shlex
import socket
import subprocess
import sys
import threading
import time
import urllib.error
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import flows
from flows.notices.ready import not_ready
from flows.pages.server import REPORTS, REPORTS_FOLDER, REPORTS_URL, ReportServer
from flows.processes.die_with_parent import STOP_TIMEOUT_S
from flows.processes.holders import Holder, Seat
from flows.processes.missing import why_no_prefect
from flows.processes.server import (
    HOST,
    MAX_RESTARTS,
    PrefectServer,
    auth_string,
    prefect_home,
    prefect_server,
)
from flows.processes.worker import PrefectWorker, prefect_worker
from flows.runs.api import Api, end_lost_runs, existing, schedule_again, why_failed
from flows.runs.arrivals import Arrivals, Watcher
from flows.runs.schedules import check_times, when
from pipeline.config import AnalyzeConfig, IngestConfig, LogConfig, NotifyConfig, ServeConfig
from pipeline.errors import UsageError
from pipeline.options import config_of, merged, options_of, values
from pipeline.places import folder_of, url_of
from pipeline.places.urls import is_url, shown
from pipeline.processes.stopping import Stopping, end_with_parent, stop_on_signals
from pipeline.terminal.arguments import read_words
from pipeline.terminal.lines import fail, flush, print_line, status_of, warn, warn_of_limits

OPTIONS = merged(ServeConfig, LogConfig)
ROOT = Path(flows.__file__).resolve().parents[1]
NIGHTLY = "nightly"  # flow and deployment
POOL = "local"
LOCK = "serve.lock"  # in PREFECT_HOME
ARRIVALS = "arrivals"  # in PREFECT_HOME: what was there when a run was last started for new data
NEW_DATA = "new-data"  # tag of such runs
CLI_TIMEOUT_S = 180.0  # for each step of deploying, on a busy machine
# On each store one run works and one waits, others are refused within seconds; runs on other stores
# work in parallel.
RUNS_AT_ONCE = 4
LOOK_EVERY_S, LOOK_FOR_LOST_RUNS_EVERY_S = 1.0, 5.0
RESTARTS_WITHIN_S = 3600.0  # MAX_RESTARTS of the Prefect server, and of the worker
# After server or worker ended: for how long runs may be found that crashed for that reason, and how
# long before it was missed they may have.
CRASHES_FOR_S, CRASHES_BEFORE_S = 180.0, 10.0
STARTS = 3  # of one such run


_ABOUT = """Example: hopscope serve --store mystore --out reports

Prefect server and worker, and the reports, on 127.0.0.1. The nightly run takes its
inputs from HOPSCOPE_INPUTS, HOPSCOPE_IP2AS and the other HOPSCOPE_* variables."""


def main(arguments: list[str]) -> int:
    """Serve until stopped; returns the exit status."""
    with stop_on_signals() as stopping:
        try:
            given = read_words(OPTIONS, arguments, "hopscope serve", _ABOUT)
            if given is None:
                return 0
            if given.config(LogConfig).log_format == "json":
                flows.log_as_json()
            config = given.config(ServeConfig)
            if config.with_parent and not end_with_parent(os.getppid()):
                return 0
            warn_of_limits()
            return _serve(config, stopping)
        except KeyboardInterrupt:
            return 0
        except UsageError as error:
            fail(str(error))
            return 2


def _serve(config: ServeConfig, stopping: Stopping) -> int:
    if missing := why_no_prefect("serve"):
        raise UsageError(missing)
    # The nightly run reads its environment; its current folder is ROOT.
    os.environ["HOPSCOPE_STORE"] = url_of(config.store) or str(config.store.resolve())
    os.environ["HOPSCOPE_OUT"] = url_of(config.out) or str(config.out.resolve())
    _make_paths_absolute()
    check_times(config.cron, config.timezone)
    _places(config)
    notify = config_of(NotifyConfig, values(options_of(NotifyConfig), {}))
    home = prefect_home()
    ui_url = f"http://{HOST}:{config.prefect_port}"
    with contextlib.ExitStack() as stack:
        lock = stack.enter_context(_only_one(home, config))
        _check_free(config.prefect_port, "--prefect-port")
        _check_free(config.port, "--port")
        print_line("Starting Prefect ...")
        flush()
        log = home / "server.log"
        server = stack.enter_context(
            prefect_server(config.prefect_port, log, ui=True, scheduler=True, held=[lock])
        )
        api = Api(server.api_url, auth_string())
        run_now = f"PREFECT_API_URL={api.url} {_program('prefect')} deployment run nightly/nightly"
        reports = stack.enter_context(
            _reports(ReportServer(config.port, config.out.resolve(), ui_url, api, run_now))
        )
        server.wait()
        _end_earlier_runs(api, server)
        stack.callback(end_lost_runs, api, no_worker=True)
        environment = os.environ | {"PREFECT_API_URL": api.url, flows.STARTED_IN: os.getcwd()}
        if not reports.elsewhere:
            environment[REPORTS_URL] = reports.url + REPORTS.rstrip("/")
            environment[REPORTS_FOLDER] = str(reports.out)
        if api.auth:
            environment["PREFECT_API_AUTH_STRING"] = api.auth
        is_paused = _make_pool(api.patient(), server)
        _deploy(api, config, environment)
        options = ["--pool", POOL, "--type", "process", "--limit", str(RUNS_AT_ONCE)]
        worker = stack.enter_context(
            prefect_worker(options, ROOT, environment, home / "worker.log", [lock])
        )
        if reports.elsewhere:
            print_line(f"Start:    {reports.url}/")
            print_line(f"Reports:  {reports.elsewhere}, whose pages are not served from here")
        else:
            print_line(f"Reports:  {reports.url}/")
        print_line(f"Prefect:  {ui_url}/")
        print_line(when(existing(api.patient(), NIGHTLY, NIGHTLY), is_paused))
        print_line("To run it now, in another shell:")
        print_line(f"  {run_now}")
        if config.watch:
            arrivals = Arrivals(_places(config), config.watch_settle, home / ARRIVALS)
            start = functools.partial(_start_nightly, api.patient())
            stack.enter_context(Watcher(arrivals, start))
            places = ", ".join(map(shown, config.watch))
            print_line(f"And {config.watch_settle} s after new data have come to {places}.")
        for line in not_ready(notify, api.patient()):
            warn(line)
        print_line(f"Logs are in {home}. Stop with Ctrl-C.")
        flush()
        return _watch(server, worker, api, stopping)


def _places(config: ServeConfig) -> list[str]:
    """What is watched: URLs, and absolute paths.

    Raises
    ------
    UsageError
        If a URL is of another kind, or a folder is not there.
    """
    places = []
    for text in config.watch:
        folder = folder_of(text)
        if url_of(folder) is None and not folder.exists():
            raise UsageError(f"--watch {text}: there is no such folder")
        places.append(url_of(folder) or str(folder.resolve()))
    return places


def _start_nightly(api: Api) -> None:
    """Start a nightly run, now; OSError or ValueError if the server does not."""
    nightly = existing(api, NIGHTLY, NIGHTLY)
    if nightly is None:
        raise UsageError(f"there is no deployment {NIGHTLY}/{NIGHTLY}")
    if nightly["paused"]:
        return
    state = {"type": "SCHEDULED", "message": "new data"}
    api.post(f"/deployments/{nightly['id']}/create_flow_run", {"state": state, "tags": [NEW_DATA]})


def _end_earlier_runs(api: Api, server: PrefectServer) -> None:
    """End the runs of a worker that is gone, which would stay in progress forever.

    Raises
    ------
    UsageError
        If the server, which has just begun and may be busy, does not answer in time.
    """
    end = time.monotonic() + CLI_TIMEOUT_S
    while end_lost_runs(api, no_worker=True) is None:
        if time.monotonic() > end:
            raise UsageError(
                f"Prefect did not list its runs within {CLI_TIMEOUT_S:.0f} s: see {server.log}"
            )
        time.sleep(LOOK_EVERY_S)


class _Restarts:
    """Whether something that ended may be started again: not too often within an hour."""

    def __init__(self, what: str):
        self._what = what
        self._times: collections.deque[float] = collections.deque(maxlen=MAX_RESTARTS)

    def allows(self, status: int, log: Path) -> bool:
        """Say that it ended and what follows; whether it may be started again."""
        now = time.monotonic()
        said = f"the {self._what} ended with status {status}"
        if len(self._times) == MAX_RESTARTS and now - self._times[0] < RESTARTS_WITHIN_S:
            warn(f"{said}, the {MAX_RESTARTS + 1}th time within an hour: see {log}")
            return False
        warn(f"{said}: starting it again; see {log}")
        self._times.append(now)
        return True


def _make_paths_absolute() -> None:
    """Paths in variables become absolute: the nightly run has another current folder."""
    for option in merged(IngestConfig, AnalyzeConfig, NotifyConfig):
        text = os.environ.get(option.variable or "")
        if text and option.kind is Path:
            paths = option.split(text) if option.is_list else [text]
            whole = [path if is_url(path) else str(Path(path).resolve()) for path in paths]
            os.environ[str(option.variable)] = os.pathsep.join(whole)


def _watch(server: PrefectServer, worker: PrefectWorker, api: Api, stopping: Stopping) -> int:
    """Watch server and worker until stopped; returns the exit status."""
    watch = _Watch(server, worker, api)
    while True:
        time.sleep(LOOK_EVERY_S)
        if stopping.is_asked:
            return 0
        if not watch.look():
            return 1


class _Watch:
    """Server and worker as they are looked at, again and again.

    What ended is started again. Runs continue without the server, and report to it afterwards.
    Runs end with the worker. Those that were just starting are scheduled again, each ``STARTS``
    times at most: a server that has just begun may be too busy to answer the next start, too.
    """

    def __init__(self, server: PrefectServer, worker: PrefectWorker, api: Api):
        self._server, self._worker, self._api = server, worker, api
        self._of_server, self._of_worker = _Restarts("Prefect server"), _Restarts("worker")
        self._away = _Away()
        self._is_stopped = False  # the worker, whose runs may not have been ended yet
        self._again: collections.Counter[str] = collections.Counter()
        self._looked = time.monotonic()

    def look(self) -> bool:
        """Start what ended, and end or schedule again what ended with it; False: give up."""
        server, worker, away = self._server, self._worker, self._away
        if server.process is not None and server.process.poll() is not None:
            if not self._of_server.allows(server.process.returncode, server.log):
                return False
            away.note()
            server.start()
            server.wait()
        if not self._is_stopped and worker.process.poll() is not None:
            if not self._of_worker.allows(worker.process.returncode, worker.log):
                return False
            away.note()
            worker.stop()
            self._is_stopped = True
        # Later they would look like those of the next worker. A server that has just begun
        # may be too busy to answer.
        if self._is_stopped and end_lost_runs(self._api, no_worker=True) is not None:
            away.note()
            worker.start_again()
            self._is_stopped = False
        now = time.monotonic()
        if now - self._looked >= LOOK_FOR_LOST_RUNS_EVERY_S:
            self._looked = now
            end_lost_runs(self._api)
            if away.is_recent():
                often = {run for run, starts in self._again.items() if starts >= STARTS}
                self._again.update(schedule_again(self._api, away.since - CRASHES_BEFORE_S, often))
        return True


class _Away:
    """When server or worker were missed first, and last."""

    since = last = 0.0  # seconds since 1970 UTC

    def note(self) -> None:
        """One of them is missed, or back, now."""
        now = time.time()
        if not self.is_recent():
            self.since = now
        self.last = now

    def is_recent(self) -> bool:
        """Whether runs may still be found that crashed for that reason."""
        return time.time() - self.last < CRASHES_FOR_S


@contextlib.contextmanager
def _only_one(home: Path, config: ServeConfig) -> Iterator[int]:
    """Hold the home's lock, for the server and the worker too; yields its descriptor.

    Raises
    ------
    UsageError
        If another serve has it; says which.
    """
    seat = Seat(home / LOCK)
    ports = f"reports on port {config.port}, Prefect on {config.prefect_port}"
    me = Holder.me(f"hopscope serve, {ports}")
    end = time.monotonic() + STOP_TIMEOUT_S
    while (lock := seat.take(me)) is None:
        holder = seat.holder()
        # The processes of a killed one are about to end, and hold the lock until then.
        if holder is None or not holder.is_gone() or time.monotonic() > end:
            raise UsageError(
                f"{home} is in use by {holder or 'another hopscope serve'}: stop it, or set "
                "PREFECT_HOME to another folder and give --port and --prefect-port"
            )
        time.sleep(0.2)
    try:
        yield lock
    finally:
        os.close(lock)


def _program(name: str) -> str:
    """Shell command for a program in the same folder as this Python."""
    program = Path(sys.executable).with_name(name)
    if program.exists():
        return shlex.quote(str(program))
    return f"{shlex.quote(sys.executable)} -m {name}"


def _check_free(port: int, option: str) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"port {port} cannot be used ({error}); give another with {option}"
            ) from None


@contextlib.contextmanager
def _reports(server: ReportServer) -> Iterator[ReportServer]:
    with server:
        thread = threading.Thread(target=server.serve_forever, name="reports", daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()


def _make_pool(api: Api, server: PrefectServer) -> bool:
    """Make the worker's pool, whose template the worker fills in; whether it is paused.

    One that exists stays as its operator left it.

    Raises
    ------
    UsageError
        If the server, which has just begun and may be busy, refuses for longer than ``api`` waits.
    """
    pool: dict[str, Any] = {"name": POOL, "type": "process", "base_job_template": {}}
    try:
        try:
            made = api.post("/work_pools/", pool, CLI_TIMEOUT_S)
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.CONFLICT:
                raise
            error.close()
            made = api.get(f"/work_pools/{POOL}")
        return bool(made["is_paused"])
    except (OSError, ValueError) as error:
        raise UsageError(
            f"Prefect did not create the work pool {POOL}: {why_failed(error)}; see {server.log}"
        ) from None


def _deploy(api: Api, config: ServeConfig, environment: dict[str, str]) -> None:
    """Make or renew the deployments, in a process that imports the flows."""
    words = [api.url, config.cron or "", config.timezone or ""]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "flows.deploy", *words],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CLI_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"the flows were not deployed within {CLI_TIMEOUT_S:.0f} s; try again"
        ) from None
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())
        raise UsageError(f"the flows cannot be deployed: {said[-500:]}")


if __name__ == "__main__":
    sys.exit(status_of(main))
