"""A signal is a crash unless the server says that the run is being cancelled."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from prefect.exceptions import TerminationSignal
from prefect.states import Cancelled, Cancelling, Completed, Running

from flows.runs import cancelling
from flows.runs.turns import in_turn


def stopped():
    raise TerminationSignal(signal.SIGTERM)


@pytest.fixture
def server(monkeypatch):
    """``says``: the state of this run; None: the server does not answer."""
    there = SimpleNamespace(says=None)

    @contextmanager
    def get_client(*, sync_client: bool):
        assert sync_client
        if there.says is None:
            raise ConnectionError
        yield SimpleNamespace(read_flow_run=lambda _: SimpleNamespace(state=there.says))

    run = SimpleNamespace(flow_run=SimpleNamespace(id="1", name="run", auto_scheduled=False))
    monkeypatch.setattr(cancelling, "get_client", get_client)
    monkeypatch.setattr(cancelling, "FlowRunContext", SimpleNamespace(get=lambda: run))
    return there


@pytest.mark.parametrize("state", [Cancelling(), Cancelled()])
def test_a_run_that_is_being_cancelled_ends_cancelled(server, state, tmp_path):
    server.says = state
    for ended in (
        cancelling.unless_cancelled(stopped),
        in_turn(tmp_path / "none", stopped, makes_store=False),
    ):
        assert ended.is_cancelled()


@pytest.mark.parametrize("state", [Running(), None])
def test_any_other_that_is_stopped_crashes(server, state):
    server.says = state
    with pytest.raises(TerminationSignal):
        cancelling.unless_cancelled(stopped)


def test_work_that_ends_is_what_it_is(server):
    done = Completed()
    assert cancelling.unless_cancelled(lambda: done) is done
