"""Whatever ends ``make serve``: nothing of it is left running, and no run stays in progress."""

from __future__ import annotations

import contextlib
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil

from flows.server import HOST
from tests.served import ROOT, RUN_S


# Last in the file: it stops what the others use.
def test_closed_terminal_in_the_middle_of_a_run_leaves_no_process_and_no_place_held(served):
    topology = served.out.parent / "large.brite"
    words = [sys.executable, "-m", "pipeline.cli", "generate", "top-down", "--routers", "200000"]
    subprocess.run([*words, "--out", topology], check=True, cwd=ROOT, capture_output=True)
    deployment = served.post("/deployments/filter", {})[0]
    run = served.post(
        f"/deployments/{deployment['id']}/create_flow_run",
        {"parameters": {"inputs": [str(topology)]}, "state": {"type": "SCHEDULED"}},
    )
    end = time.monotonic() + RUN_S
    while "ingest-progress" not in served.artifacts(run):
        assert time.monotonic() < end
        time.sleep(0.1)
    children = psutil.Process(served.process.pid).children(recursive=True)
    commands = "\n".join(" ".join(child.cmdline()) for child in children)
    for part in ("flows.local_server", "worker start", "prefect.engine"):
        assert part in commands

    served.process.send_signal(signal.SIGHUP)
    assert served.process.wait(60) == 0
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []
    for url in (served.ui_url, served.reports_url):
        with socket.socket() as probe:
            assert probe.connect_ex((HOST, int(url.rpartition(":")[2]))) != 0
    # A run that stays "running" would have every later night cancelled.
    database = Path(served.environment["PREFECT_HOME"]) / "prefect.db"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        states = dict(connection.execute("select name, state_type from flow_run"))
    assert states[run["name"]] == "CRASHED"
    assert "RUNNING" not in states.values()
