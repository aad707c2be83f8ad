"""Processes that this one starts: what reaches them of signals, and how they end with it."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker


@contextlib.contextmanager
def children_end_on_error() -> Iterator[None]:
    """End the processes that the block has started if it raises: a pool would wait for them.

    Ctrl-C reaches them too, from the terminal; SIGTERM and SIGHUP reach this process alone.
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
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # a child would start it, and unblock SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
