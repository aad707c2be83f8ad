"""Processes that this one starts: what reaches them of signals, and how they end with it."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker

from pipeline.processes.stopping import SIGNALS


@contextlib.contextmanager
def children_end_on_error() -> Iterator[None]:
    """End the processes that the block has started if it raises: a pool would wait for them.

    Ctrl-C reaches them too, from the terminal; SIGTERM and SIGHUP may reach this process alone.
    """
    before = multiprocessing.active_children()
    try:
        yield
    except BaseException:
        for process in multiprocessing.active_children():
            if process not in before:
                process.kill()
        raise


@contextlib.contextmanager
def no_interrupt_in_children() -> Iterator[None]:
    """Ctrl-C goes to all processes of the terminal; only this one reacts, and it ends its workers.

    A signal mask passes to threads and to what they start: the cluster's event loop, started in
    here, keeps SIGINT blocked, and so do the processes that it starts now and later.
    """
    with _blocked("SIGINT"):
        yield


@contextlib.contextmanager
def no_stops_in_children() -> Iterator[None]:
    """As ``no_interrupt_in_children``, for every signal that stops this process.

    ``timeout``, systemd and batch systems send SIGTERM to all processes of a group at once. The
    processes started in here end with this one, or are killed: SIGTERM cannot end them, so they
    must not be those of a pool, which ends the rest by SIGTERM once one has died.
    """
    with _blocked(*SIGNALS):
        yield


@contextlib.contextmanager
def _blocked(*names: str) -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    numbers = {getattr(signal, name) for name in names}
    # multiprocessing's tracker outlives SIGINT and SIGTERM, but not SIGHUP, and complains then.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*numbers, signal.SIGHUP})
    try:
        resource_tracker.ensure_running()  # if a child started it, it would unblock SIGINT there
        signal.pthread_sigmask(signal.SIG_SETMASK, before | numbers)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
