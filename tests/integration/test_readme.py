"""Every command of the README is run here, in its order, in a copy of the working tree's layout.

Those of ``hopscope`` that need no cluster of their own are run in this process, on that of the
tests; ``make demo`` and the command that joins a cluster start it as a user does.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.processes.server import free_port
from tests.commands import hopscope
from tests.real_data import REPOSITORY
from tests.served import prepare_database

README = REPOSITORY / "README.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIMEOUT_S = 900  # under load a demo that compiles first takes some minutes

# Commands that run until stopped, and what they print when they are ready.
SERVERS = {
    "make serve": "Stop with Ctrl-C",
    ".venv/bin/dask scheduler": "Scheduler at:",
    ".venv/bin/dask worker": "Registered to:",
}
# Ports of those servers; another program of this machine may use them.
PORTS = ("4200", "8786", "8787")
# This test is part of it; instead the Makefile is checked to run pytest.
RECURSIVE = "make test"
HOPSCOPE = ".venv/bin/hopscope"
SCHEDULER = "HOPSCOPE_SCHEDULER"


def commands() -> list[str]:
    lines = "\n".join(BLOCK.findall(README.read_text())).splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def test_what_the_commands_leave_in_a_clone_is_ignored_by_git():
    words = shlex.split(" ".join(commands()))
    made = {place for word, place in itertools.pairwise(words) if word in ("--store", "--out")}
    assert {"mystore", "topology.brite"} < made
    lines = (REPOSITORY / ".gitignore").read_text().splitlines()
    assert made <= {line.strip("/") for line in lines if line.startswith("/")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """What a user sees after a clone and ``make``: links to the tree, outputs of its own."""
    folder = tmp_path_factory.mktemp("readme")
    for path in REPOSITORY.iterdir():
        if path.name not in (".git", ".venv", "demo", "mystore", "reports", ".prefect"):
            (folder / path.name).symlink_to(path)
    # The interpreter that runs the tests, under the name that the README uses.
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def wait_until_up(shown: str, process: subprocess.Popen, log: Path) -> None:
    """Wait until a server has said in its output that it is ready."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        text = log.read_text(errors="replace")
        assert process.poll() is None, f"ended early:\n{text[-2000:]}"
        if shown in text:
            return
        time.sleep(0.5)
    pytest.fail(f"{shown!r} was not said in {TIMEOUT_S} s:\n{log.read_text()[-2000:]}")


def test_each_command_of_the_readme_does_what_it_says(folder, scheduler_address):
    # Empty VENV: make takes the python3 on PATH, and installs nothing over the packages in use.
    environment = dict(os.environ, VENV="", PREFECT_HOME=str(folder / ".prefect"))
    environment["PATH"] = f"{sys.prefix}/bin{os.pathsep}{environment['PATH']}"
    environment.pop("PREFECT_API_URL", None)
    prepare_database(folder / ".prefect")
    # Modules by their own paths, not by the links here: numba finds what it compiled by paths.
    environment |= {"PYTHONPATH": str(REPOSITORY), "PYTHONSAFEPATH": "1"}
    ports = {port: str(free_port()) for port in PORTS}
    environment |= {"HOPSCOPE_SERVE_PREFECT_PORT": ports["4200"], "HOPSCOPE_SERVE_PORT": "0"}
    exported: dict[str, str] = {}
    running: list[subprocess.Popen] = []
    ran = []
    try:
        for number, written in enumerate(commands()):
            command = re.sub(rf"\b({'|'.join(PORTS)})\b", lambda port: ports[port[0]], written)
            words = shlex.split(command)
            if words[0] == "export":
                exported |= dict(word.split("=", 1) for word in words[1:])
                environment |= exported
                continue
            if command == RECURSIVE:
                shown = subprocess.run(
                    ["make", "-n", "test"],
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                )
                assert "-m pytest" in shown.stdout
                ran.append(command)
                continue
            if words[0] == HOPSCOPE and "--scheduler" not in words:
                done = hopscope(words[1:], folder, exported | {SCHEDULER: scheduler_address})
                assert done.status == 0, f"{command}: exit {done.status}:\n{done.said[-4000:]}"
                ran.append(command)
                continue
            log = folder / f"command-{number}.log"
            server = next((up for name, up in SERVERS.items() if command.startswith(name)), None)
            with log.open("wb") as output:
                process = subprocess.Popen(
                    words,
                    cwd=folder,
                    env=environment,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                )
            if server is not None:
                running.append(process)
                wait_until_up(server, process, log)
            else:
                try:
                    status = process.wait(TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    pytest.fail(f"{command}: no end in {TIMEOUT_S} s:\n{log.read_text()[-2000:]}")
                assert status == 0, f"{command}: exit {status}:\n{log.read_text()[-4000:]}"
                assert "Traceback" not in log.read_text(), f"{command}:\n{log.read_text()[-4000:]}"
            ran.append(command)
    finally:
        for process in reversed(running):
            process.send_signal(signal.SIGTERM)
        for process in running:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
    assert len(ran) >= 14
    for name in ("demo/reports", "reports/lab", "reports/brite", "reports/today"):
        assert list((folder / name).rglob("index.html")), f"{name} holds no report"
    assert list((folder / "reports" / "brite" / "distances").glob("*.parquet"))
