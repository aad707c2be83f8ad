"""Plain threads over compiled code that releases the interpreter's lock.

numba's own parallel loops are not used: their layers count threads process-wide, and the default
one aborts when two threads enter it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kernels.host import n_cores
from pipeline.generate.shares import part, tell_share

_LARGE = 1 << 17  # nodes of a graph that all threads make together


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


def call_by_graph(
    function: Callable[[int, int | None], object],
    node_ptr: np.ndarray,
    n_threads: int | None = None,
) -> None:
    """Call ``function(graph, n_threads)`` for each of some graphs side by side.

    Large graphs come one after the other, each on all threads; then a thread makes a whole one of
    the others at a time.

    Parameters
    ----------
    function : callable
        Must give the same on any number of threads.
    node_ptr : (n_graphs + 1,) int64
        Nodes of graph i are node_ptr[i] .. node_ptr[i + 1] - 1.
    n_threads : int or None
        None: one thread per core.
    """
    sizes = np.diff(node_ptr)
    is_large = sizes > _LARGE if len(sizes) > 1 else np.ones(len(sizes), bool)
    made = 0.0
    for graph in np.flatnonzero(is_large).tolist():
        share = float(sizes[graph] / max(node_ptr[-1], 1))
        with part(made, made + share):
            function(graph, n_threads)
        made += share
    with part(made, 1.0):
        others = np.flatnonzero(~is_large).tolist()
        call_each(function, [(graph, 1) for graph in others], n_threads)
