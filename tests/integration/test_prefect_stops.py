"""Whatever ends ``make serve`` or a nightly run: nothing of it is left running."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

from flows.processes.holders import Holder, Seat
from flows.processes.server import free_port, stop_process
from flows.runs.turns import WORKING
from pipeline.config import GenerateConfig
from pipeline.stages.generate import generate_topology
from tests.served import (
    LAB,
    ROOT,
    RUN_S,
    START_S,
    STOP_S,
    clean_environment,
    serving,
    wait_until,
)


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
            with urllib.request.urlopen(f"{first.reports_url}/", timeout=120) as answer:
                assert re.search(r">night of [0-9: -]+</a>: Waiting", answer.read().decode())
            below = psutil.Process(first.process.pid).children(recursive=True)
            commands = "\n".join(" ".join(process.cmdline()) for process in below)
            for part in ("flows.processes.local_server", "worker start", "prefect.engine"):
                assert part in commands
            first.process.kill()
            # Held until the last of them has ended.
            freed = Seat(first.home / "serve.lock").take(Holder.me("the test"), wait=True)
            _, alive = psutil.wait_procs(below, timeout=STOP_S)
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
        wait_until(lambda: "Starting Prefect" in log.read_text(), RUN_S, make, log, every_s=0.1)
        below = psutil.Process(make.pid).children(recursive=True)
    finally:
        make.kill()
        make.wait()
    _, alive = psutil.wait_procs(below, timeout=STOP_S)
    for process in alive:
        process.kill()
    assert below
    assert alive == []


@pytest.mark.parametrize("module", ["flows.nightly", "flows.serve"])
def test_sigterm_leaves_no_process(tmp_path, module):
    words = ["--port", str(free_port()), "--prefect-port", str(free_port())]
    if module == "flows.nightly":
        topology = tmp_path / "large.brite"
        generate_topology(GenerateConfig(model="top-down", routers=100_000, out=topology))
        words = [str(topology), "--store", "store", "--out", "out", "--workers", "1"]
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *words],
            env=clean_environment(tmp_path / "prefect"),
            cwd=tmp_path,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        busy = "Searching" if module == "flows.nightly" else "Starting Prefect"
        end = time.monotonic() + START_S
        children: list[psutil.Process] = []
        while busy not in log.read_text() or not children:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
            children = psutil.Process(process.pid).children(recursive=True)
        assert any("flows.processes.local_server" in child.cmdline() for child in children)
        process.terminate()
        status = process.wait(STOP_S)
        _, alive = psutil.wait_procs(children, timeout=STOP_S)
    finally:
        stop_process(process)
    assert alive == []
    assert status == (143 if module == "flows.nightly" else 0), log.read_text()
    assert "Traceback" not in log.read_text()
