"""A worker's GPU made ready in a thread: begun once, and waited for by what needs the GPU."""

from __future__ import annotations

import threading
from collections.abc import Callable

_thread: threading.Thread | None = None


def begin(make_ready: Callable[[], None]) -> None:
    """Start to make the GPU of this process ready, unless that was begun before; do not wait."""
    global _thread
    if _thread is None:
        _thread = threading.Thread(target=make_ready, daemon=True)
        _thread.start()


def wait() -> None:
    """Return when it is ready, or could not be made so: the first task then says why."""
    if _thread is not None:
        _thread.join()
