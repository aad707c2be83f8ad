"""A Prefect server that ends is started again, but not forever."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import httpx
import pytest

from flows.processes import server as module
from flows.processes.server import MAX_RESTARTS, free_port, kept_running
from pipeline.pages.local_pages import HOST
from tests.served import wait_until

RESTARTS = f"{MAX_RESTARTS} restarts"


class Server(SimpleNamespace):
    """Ends at once ``n_deaths`` times, then stays."""

    def start(self):
        self.n_starts += 1
        program = "pass" if self.n_starts <= self.n_deaths else "import time; time.sleep(600)"
        self.process = subprocess.Popen([sys.executable, "-c", program])


@pytest.fixture
def started(monkeypatch):
    monkeypatch.setattr(module, "POLL_S", 0.01)
    servers = []

    def start(n_deaths):
        given = {"log": "server.log", "port": free_port(), "process": None, "given_up": ""}
        servers.append(Server(n_starts=0, n_deaths=n_deaths, **given))
        servers[0].start()
        return servers[0]

    yield start
    for server in servers:
        server.process.kill()
        server.process.wait()


def status_of(server):
    """Status of what answers at its port; None if nothing does."""
    try:
        return httpx.post(f"http://{HOST}:{server.port}/api/logs/", content=b"[]").status_code
    except httpx.ConnectError:
        return None


@pytest.mark.parametrize("n_deaths", [0, 1, MAX_RESTARTS])
def test_it_runs_again(started, n_deaths, capfd):
    server = started(n_deaths)
    with kept_running(server):
        wait_until(lambda: server.n_starts == n_deaths + 1, 60)
        assert server.process.poll() is None
    said = capfd.readouterr().err
    assert said.count("the Prefect server ended with status 0: starting it again") == n_deaths


def test_one_that_always_ends_is_given_up_and_requests_fail_at_once(started, capfd):
    server = started(99)
    told = threading.Event()
    with kept_running(server, told.set):
        assert told.wait(60)
        assert server.n_starts == MAX_RESTARTS + 1
        assert server.given_up == f"the Prefect server ended with status 0, after {RESTARTS}"
        wait_until(lambda: status_of(server) == 410, 60)
    assert server.n_starts == MAX_RESTARTS + 1
    assert status_of(server) is None
    said = capfd.readouterr().err
    assert said.count(f"{server.given_up}: it is given up; the run continues") == 1


def test_the_end_of_a_run_starts_nothing(started):
    server = started(0)
    with kept_running(server):
        pass
    server.process.kill()
    server.process.wait()
    assert server.n_starts == 1
