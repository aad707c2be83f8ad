"""However ``make serve`` ends, nothing of it keeps running and no run stays in progress."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest

from flows.processes.holders import Holder, Seat
from flows.processes.server import HOST, free_port
from flows.runs.turns import WORKING
from tests.served import LAB, ROOT, RUN_S, clean_environment, serving, wait_until


def test_kill_of_serve_ends_all_and_a_second_one_is_refused_until_then(tmp_path):
    password = {"PREFECT_SERVER_API_AUTH_STRING": "admin:secret"}
    with serving(tmp_path, **password) as first:
        environment = {k: v for k, v in first.environment.items() if k != "PREFECT_API_URL"}
        again = [sys.executable, "-m", "flows.serve", "--port", "0", "--prefect-port", "0"]
        done = subprocess.run(
            again, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        ports = [first.reports_url.rpartition(":")[2], first.ui_url.rpartition(":")[2]]
        for part in (str(first.process.pid), *ports, "since 20", "PREFECT_HOME", str(first.home)):
            assert part in done.stderr
        assert len(done.stderr.splitlines()) == 1
        # Any shell can start a run by the command that was printed.
        line = next(line for line in first.log.read_text().splitlines() if "deployment run" in line)
        command = shlex.split(line)[1:]
        assert Path(command[0]).is_file()

        store = tmp_path / "store"
        store.mkdir(exist_ok=True)
        turn = Seat(store / WORKING).take(Holder.me("the test"))
        try:
            run = first.start(inputs=[str(LAB)])
            wait_until(lambda: first.state(run)["name"] == "Waiting", RUN_S, None, first.log)
            with urllib.request.urlopen(f"{first.reports_url}/", timeout=30) as answer:
                assert f">{run['name']}</a>: Waiting" in answer.read().decode()
            below = psutil.Process(first.process.pid).children(recursive=True)
            commands = "\n".join(" ".join(process.cmdline()) for process in below)
            for part in ("flows.processes.local_server", "worker start", "prefect.engine"):
                assert part in commands
            first.process.kill()
            # Held until the last of them has ended.
            freed = Seat(first.home / "serve.lock").take(Holder.me("the test"), wait=True)
            _, alive = psutil.wait_procs(below, timeout=10)
        finally:
            os.close(turn)
        os.close(freed)
    assert alive == []


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux signals a parent's end to its child"
)
def test_kill_of_make_ends_serve(tmp_path):
    ports = {"HOPSCOPE_SERVE_PORT": "0", "HOPSCOPE_SERVE_PREFECT_PORT": str(free_port())}
    log = tmp_path / "log"
    with log.open("wb") as output:
        make = subprocess.Popen(
            ["make", "-C", ROOT, "serve", f"PY={sys.executable}", "READY="],
            env=clean_environment(tmp_path / "prefect") | ports,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until(lambda: "Starting Prefect" in log.read_text(), RUN_S, make, log)
        below = psutil.Process(make.pid).children(recursive=True)
    finally:
        make.kill()
        make.wait()
    _, alive = psutil.wait_procs(below, timeout=60)
    for process in alive:
        process.kill()
    assert below
    assert alive == []


# Last of all: it stops what the others use.
def test_closed_terminal_in_the_middle_of_a_run_leaves_no_process_and_no_place_held(served):
    topology = served.out.parent / "large.brite"
    words = [sys.executable, "-m", "pipeline.cli", "generate", "top-down", "--routers", "200000"]
    subprocess.run([*words, "--out", topology], check=True, cwd=ROOT, capture_output=True)
    run = served.start(inputs=[str(topology)])
    wait_until(lambda: "ingest-progress" in served.artifacts(run))
    children = psutil.Process(served.process.pid).children(recursive=True)
    commands = "\n".join(" ".join(child.cmdline()) for child in children)
    for part in ("flows.processes.local_server", "worker start", "prefect.engine"):
        assert part in commands

    served.process.send_signal(signal.SIGHUP)
    assert served.process.wait(60) == 0
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []
    for url in (served.ui_url, served.reports_url):
        with socket.socket() as probe:
            assert probe.connect_ex((HOST, int(url.rpartition(":")[2]))) != 0
    # Nothing else would ever report that it has ended.
    database = Path(served.environment["PREFECT_HOME"]) / "prefect.db"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        states = dict(connection.execute("select name, state_type from flow_run"))
    assert states[run["name"]] == "CRASHED"
    assert "RUNNING" not in states.values()
