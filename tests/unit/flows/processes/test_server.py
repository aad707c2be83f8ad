"""A Prefect server that ends is started again, but not forever."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from flows.processes import server as module
from flows.processes.server import MAX_RESTARTS, kept_running
from tests.served import wait_until


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
        servers.append(Server(n_starts=0, n_deaths=n_deaths, log="server.log", process=None))
        servers[0].start()
        return servers[0]

    yield start
    for server in servers:
        server.process.kill()
        server.process.wait()


@pytest.mark.parametrize("n_deaths", [0, 1, MAX_RESTARTS])
def test_it_runs_again(started, n_deaths, capfd):
    server = started(n_deaths)
    with kept_running(server):
        wait_until(lambda: server.n_starts == n_deaths + 1, 60)
        assert server.process.poll() is None
    said = capfd.readouterr().err
    assert said.count("the Prefect server ended with status 0: starting it again") == n_deaths


def test_one_that_always_ends_is_left_alone_in_the_end(started):
    server = started(99)
    with kept_running(server):
        wait_until(lambda: server.n_starts == MAX_RESTARTS + 1, 60)
        assert server.process.wait(60) == 0
    assert server.n_starts == MAX_RESTARTS + 1


def test_the_end_of_a_run_starts_nothing(started):
    server = started(0)
    with kept_running(server):
        pass
    server.process.kill()
    server.process.wait()
    assert server.n_starts == 1
