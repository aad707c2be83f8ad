"""Prefect server and worker, and the reports, all on 127.0.0.1: ``python -m flows.serve``.

Everything that it starts ends with it, on SIGINT, SIGTERM and SIGHUP.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]

import flows
from flows.pages import REPORTS, REPORTS_FOLDER, REPORTS_URL, ReportServer
from flows.runs import end_lost_runs
from flows.server import HOST, prefect_server, stop_process
from flows.tied import tied
from pipeline.cli.terminal import print_line, warn
from pipeline.errors import UsageError
from pipeline.stopping import stop_on_signals

ROOT = Path(flows.__file__).resolve().parents[1]
POOL = "local"
STOP_TIMEOUT_S = 15.0
LOOK_EVERY_S = 0.5
CLI_TIMEOUT_S = 180.0


def main(arguments: list[str]) -> int:
    """Serve until asked to stop; returns the exit status."""
    options = _options(arguments)
    with stop_on_signals() as stopping:
        try:
            return _serve(options, stopping.asked)
        except KeyboardInterrupt:
            return 0
        except UsageError as error:
            warn(str(error))
            return 2


def _options(arguments: list[str]) -> argparse.Namespace:
    environment = os.environ.get
    parser = argparse.ArgumentParser(
        prog="hopscope serve",
        description="Prefect server and worker, and the reports, on 127.0.0.1. What the nightly "
        "run reads comes from HOPSCOPE_INPUTS, HOPSCOPE_IP2AS and the other HOPSCOPE_* variables.",
    )
    parser.add_argument(
        "--store", type=Path, default=environment("HOPSCOPE_STORE", "store"), help="[%(default)s]"
    )
    parser.add_argument(
        "--out", type=Path, default=environment("HOPSCOPE_OUT", "out"), help="[%(default)s]"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=environment("HOPSCOPE_SERVE_PORT", "8080"),
        help="port of the reports [%(default)s]",
    )
    parser.add_argument(
        "--prefect-port",
        type=int,
        default=environment("HOPSCOPE_SERVE_PREFECT_PORT", "4200"),
        help="port of Prefect [%(default)s]",
    )
    return parser.parse_args(arguments)


def _serve(options: argparse.Namespace, asked_to_stop: threading.Event) -> int:
    if not (ROOT / "prefect.yaml").is_file():
        raise UsageError(
            f"serve runs from a checkout of the repository: {ROOT} has no prefect.yaml, which says "
            "what runs every night"
        )
    # What the nightly run is given by its environment; its own folder is the repository's.
    os.environ["HOPSCOPE_STORE"] = str(options.store.resolve())
    os.environ["HOPSCOPE_OUT"] = str(options.out.resolve())
    for name in ("HOPSCOPE_INPUTS", "HOPSCOPE_IP2AS", "HOPSCOPE_AS_NAMES", "HOPSCOPE_ALIASES"):
        if paths := os.environ.get(name):
            whole = [str(Path(path).resolve()) for path in paths.split(os.pathsep) if path]
            os.environ[name] = os.pathsep.join(whole)
    home = Path(os.environ["PREFECT_HOME"])
    ui_url = f"http://{HOST}:{options.prefect_port}"
    with contextlib.ExitStack() as stack:
        _check_free(options.prefect_port, "--prefect-port")
        reports = stack.enter_context(
            _reports(options.port, options.out.resolve(), ui_url, f"{ui_url}/api")
        )
        print_line("Starting Prefect ...")
        sys.stdout.flush()
        server = stack.enter_context(
            prefect_server(options.prefect_port, home / "server.log", ui=True, scheduler=True)
        )
        server.wait()
        # Runs of a worker that is gone would hold the place of the next run for ever.
        end_lost_runs(server.api_url)
        stack.callback(end_lost_runs, server.api_url)
        environment = os.environ | {
            "PREFECT_API_URL": server.api_url,
            REPORTS_URL: reports.url + REPORTS.rstrip("/"),
            REPORTS_FOLDER: str(reports.out),
        }
        _prefect(["work-pool", "create", POOL, "--type", "process", "--overwrite"], environment)
        _prefect(["deploy", "--all"], environment)
        worker = stack.enter_context(_worker(environment, home / "worker.log"))
        print_line(f"Reports:  {reports.url}/")
        print_line(f"Prefect:  {ui_url}/")
        print_line("Runs every night at 02:15 UTC. Now, in another shell:")
        print_line(f"  PREFECT_API_URL={server.api_url} prefect deployment run nightly/nightly")
        print_line(f"Logs are in {home}. Stop with Ctrl-C.")
        sys.stdout.flush()
        children = {"server": server.process, "worker": worker}
        while not asked_to_stop.wait(1.0):
            for name, process in children.items():
                if process.poll() is not None:
                    warn(
                        f"the Prefect {name} ended with status {process.returncode}: "
                        f"see {home / name}.log"
                    )
                    return 1
    return 0


def _check_free(port: int, option: str) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"port {port} cannot be used ({error}); give another by {option}"
            ) from None


@contextlib.contextmanager
def _reports(port: int, out: Path, ui_url: str, api_url: str) -> Iterator[ReportServer]:
    _check_free(port, "--port")
    with ReportServer(port, out, ui_url, api_url) as server:
        thread = threading.Thread(target=server.serve_forever, name="reports", daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()


@contextlib.contextmanager
def _worker(environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen]:
    words = [sys.executable, "-m", "prefect", "worker", "start", "--pool", POOL]
    with log.open("wb") as output:
        process = subprocess.Popen(
            tied([*words, "--type", "process", "--limit", "2"]),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    with _no_orphans(process.pid):
        try:
            yield process
        finally:
            stop_process(process, STOP_TIMEOUT_S)


@contextlib.contextmanager
def _no_orphans(pid: int) -> Iterator[None]:
    """At the end, end whatever a process started, directly or not, and left behind."""
    parent = psutil.Process(pid)
    below: set[psutil.Process] = set()
    ended = threading.Event()

    def look() -> None:
        # Flow runs have sessions of their own, and their workers another parent once they are
        # gone: note all of them while they live.
        while not ended.wait(LOOK_EVERY_S):
            with contextlib.suppress(psutil.Error):
                below.update(parent.children(recursive=True))
            below.difference_update([process for process in below if not process.is_running()])

    thread = threading.Thread(target=look, name="children", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        left = [process for process in below if process.is_running()]
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, STOP_TIMEOUT_S)


def _prefect(words: list[str], environment: dict[str, str]) -> None:
    """Run one command of Prefect in the repository's root."""
    done = subprocess.run(
        [sys.executable, "-m", "prefect", "--no-prompt", *words],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=CLI_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())
        raise UsageError(f"prefect {words[0]} {words[1]} failed: {said[-500:]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
