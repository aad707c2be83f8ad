"""Plain threads over compiled code that releases the interpreter's lock.

numba's own parallel loops are not used: their layers count threads process-wide, and the default
one aborts when two threads enter it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from kernels.host import n_cores
from pipeline.generate.shares import tell_share


def call_each(
    function: Callable[..., object], parts: Iterable[tuple], n_threads: int | None = None
) -> None:
    """Call ``function(*part)`` for each part, started in their order on ``n_threads`` threads.

    Reports how many have ended (``pipeline.generate.shares``).

    Parameters
    ----------
    function : callable
        Must not depend on which other parts are done.
    parts : iterable of tuples
    n_threads : int or None
        None: one thread per core.
    """
    parts = list(parts)
    n_threads = min(n_threads or n_cores(), len(parts))
    if n_threads <= 1:
        for ended, part in enumerate(parts, start=1):
            function(*part)
            tell_share(ended / len(parts))
        return
    with ThreadPoolExecutor(n_threads) as pool:
        waiting = [pool.submit(function, *part) for part in parts]
        for ended, done in enumerate(waiting, start=1):
            done.result()
            tell_share(ended / len(parts))
