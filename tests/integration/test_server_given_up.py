"""A Prefect server that ends too often: its night finishes without it, and can be stopped."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from flows.processes.holders import Holder, Seat
from flows.runs.turns import WORKING
from tests.served import LAB, RUN_S, SERVER, clean_environment, programs_below, wait_until

MAX_RESTARTS = 1
END_S = 100.0  # on a busy machine; seconds on an idle one, and over eight minutes if requests wait
# Its report waits for a file.
PROGRAM = f"""
import pathlib, sys, time
from flows.processes import server
from pipeline.stages import analyze
server.MAX_RESTARTS, report_stage = {MAX_RESTARTS}, analyze.report_stage
def slow(*given):
    pathlib.Path("reporting").touch()
    while not pathlib.Path("report").exists():
        time.sleep(0.1)
    return report_stage(*given)
analyze.report_stage = slow
from flows.nightly import main
sys.exit(main(sys.argv[1:]))
"""


def kill_each_server(process, log):
    killed = set()

    def running():
        return programs_below(process, SERVER) - killed

    while len(killed) <= MAX_RESTARTS:
        wait_until(running, RUN_S, process, log, every_s=0.1)
        for server in running():
            server.kill()
            killed.add(server)


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_night_whose_server_is_given_up_ends(tmp_path, is_stopped):
    words = [str(LAB / "h1.icmp-paris.warts.gz"), "--store", "store", "--out", "out", "--no-pages"]
    words += ["--ip2as", str(LAB / "lab.pfx2as"), "--allow-special", "198.18.0.0/15"]
    words += ["--snapshot", "now", "--workers", "1", "--device", "cpu"]
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            # As flows/__init__.py has it.
            env=clean_environment(tmp_path / "prefect") | {"PREFECT_CLIENT_MAX_RETRIES": "8"},
            cwd=tmp_path,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until((tmp_path / "reporting").exists, RUN_S, process, log)
        kill_each_server(process, log)
        wait_until(lambda: "given up" in log.read_text(), RUN_S, process, log)
        if is_stopped:
            process.terminate()
        else:
            (tmp_path / "report").touch()
        status = process.wait(END_S)
    finally:
        process.kill()
        process.wait()
    said = log.read_text()
    assert f"ended with status 137, after {MAX_RESTARTS} restart: it is given up" in said
    after = said.partition("given up")[2]
    assert "Traceback" not in after
    assert "prefect." not in after.replace("server.log", "")  # no lines of Prefect's own
    if is_stopped:
        assert status == 143, said
        assert "hopscope: stopped" in said
    else:
        assert status == 0, said
        assert "Report: out/now/report.json" in said
    # Another night has its turn at once.
    turn = Seat(tmp_path / "store" / WORKING).take(Holder.me("the test"))
    assert turn is not None
    os.close(turn)
