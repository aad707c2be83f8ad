"""A Prefect server for flows that run in the process of the tests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect.events.worker import EventsWorker
from prefect.logging.handlers import APILogWorker
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.processes.server import PrefectServer, free_port, prefect_server
from tests.served import START_S, STOP_S, prepare_database


@contextlib.contextmanager
def server_for_flows(home: Path, *, ui: bool) -> Iterator[PrefectServer]:
    """Run a server with a database of its own until the block ends, and send flows to it.

    What Prefect has not sent by then is sent: its threads, which flows on the next server would
    get, would go on trying to reach this one.
    """
    prepare_database(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_HOME", str(home))  # of the server: its automations are of these tests
        patch.setenv("PREFECT_API_BLOCKS_REGISTER_ON_START", "false")
        with prefect_server(free_port(), home / "server.log", ui=ui, scheduler=False) as server:
            server.wait(START_S)
            with temporary_settings({PREFECT_API_URL: server.api_url}):
                try:
                    yield server
                finally:
                    for worker in (EventsWorker, APILogWorker):
                        worker.drain_all(timeout=STOP_S)
