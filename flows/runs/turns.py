"""Runs on one store take turns: one works, one waits, any other is refused.

A scheduled run has its own place to wait, which a run started by hand cannot take.

This uses locks in the store, not a concurrency limit of Prefect: its leases are lost, and the run
ends, if the server is absent at the wrong moment; and a limit cannot let one run wait and refuse
the next.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.context import FlowRunContext
from prefect.states import Cancelled, Failed, Running, State

from flows.processes.holders import Holder, Seat
from flows.runs.api import PROCESS_LABEL
from flows.runs.cancelling import unless_cancelled
from pipeline.errors import UsageError
from pipeline.places import in_one_line, url_of
from pipeline.terminal import log
from pipeline.terminal.lines import warn

# Files in the store.
WORKING, WAITING = ".nightly-working", ".nightly-waiting"
SCHEDULED_WAITING = ".nightly-waiting-scheduled"
# Longer than the instant for which a working run holds a waiting place, shorter than a wait.
PATIENCE_S = 2.0
LOOK_EVERY_S = 0.1
WAITING_STATE = "Waiting"  # name of the Running state
OVERLAPPING_STATE = "Overlapping"  # name of the Cancelled state

logger = logging.getLogger(__name__)


class Overlapping(UsageError):
    """One run works and one waits: a third is not needed."""


@contextlib.contextmanager
def turn(store: Path, *, patient: bool = False) -> Iterator[None]:
    """Hold the turn of this run on a store; wait for the run that works.

    ``patient``: wait also for a place to wait, as a run that has many turns does.

    Raises
    ------
    Overlapping
        If another run of the same kind (scheduled, or started by hand) waits already; names the
        runs that work and wait.
    OSError
        If the store cannot be written.
    """
    store.mkdir(parents=True, exist_ok=True)
    working = Seat(store / WORKING)
    waiting = Seat(store / (SCHEDULED_WAITING if _is_scheduled() else WAITING))
    me = Holder.me(_name())
    # So that a run whose process was killed can be distinguished from one that works.
    _show(lambda client, run: client.update_flow_run_labels(run, {PROCESS_LABEL: me.to_text()}))
    # Every run passes through a waiting place, so none overtakes the one that waits there.
    place = waiting.take(me, wait=True) if patient else _soon(waiting, me)
    if place is None:
        raise Overlapping(
            f"{_words(working)} is running on {store} and {_words(waiting)} is waiting: "
            f"start another once {_words(waiting)} is running"
        )
    try:
        held = working.take(me)
        if held is None:
            with _shown_as_waiting(f"waiting for {_words(working)}, which is running on {store}"):
                held = working.take(me, wait=True)
    finally:
        os.close(place)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def in_turn(
    store: Path, work: Callable[[], State], *, makes_store: bool, patient: bool = False
) -> State:
    """Work once it is the turn of this run: the state of the work, or why it had no turn.

    Of runs that do not make a store none waits for one that is not there, since that would make its
    folder: they have to say that its name is wrong.
    """
    has_turns = makes_store or store.is_dir() or url_of(store) is not None
    context = FlowRunContext.get()
    log.about(run=str(context.flow_run.id) if context and context.flow_run else None)

    def in_own_turn() -> State:
        with contextlib.ExitStack() as held:
            try:
                if has_turns:
                    held.enter_context(turn(store, patient=patient))
            except Overlapping as error:
                return Cancelled(name=OVERLAPPING_STATE, message=str(error))
            except OSError as error:
                return Failed(message=in_one_line(error))
            return work()

    return unless_cancelled(in_own_turn)


def _soon(seat: Seat, me: Holder) -> int | None:
    end = time.monotonic() + PATIENCE_S
    while (place := seat.take(me)) is None and time.monotonic() < end:
        time.sleep(LOOK_EVERY_S)
    return place


def _words(seat: Seat) -> str:
    return str(seat.holder() or "another run")


def _is_scheduled() -> bool:
    """Whether the schedule of a deployment started this run."""
    context = FlowRunContext.get()
    return bool(context and context.flow_run and context.flow_run.auto_scheduled)


def _name() -> str:
    context = FlowRunContext.get()
    return f"run {context.flow_run.name}" if context and context.flow_run else "a run"


@contextlib.contextmanager
def _shown_as_waiting(text: str) -> Iterator[None]:
    """Show on stderr and on the page of the run which run it waits for."""
    warn(text)
    _show(
        lambda client, run: client.set_flow_run_state(
            run, Running(name=WAITING_STATE, message=text)
        )
    )
    yield
    _show(_running_again)


def _running_again(client: SyncPrefectClient, run: UUID) -> None:
    """Show that a run waits no longer; one that was paused meanwhile stays so."""
    state = client.read_flow_run(run).state
    if state is not None and state.name == WAITING_STATE:
        client.set_flow_run_state(run, Running())


def _show(say: Callable[[SyncPrefectClient, UUID], object]) -> None:
    """For display only: a server that does not answer changes nothing."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    try:
        with get_client(sync_client=True) as client:
            say(client, context.flow_run.id)
    except Exception as error:
        logger.warning("the run's page does not show it: %s", error)
