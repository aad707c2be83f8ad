"""A worker's GPU made ready beside everything else: its context, and the code of searches.

The client plans meanwhile, and the first task reads its graphs before it waits for the end, so that
nothing is compiled twice.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np

from kernels import CSRGraph
from kernels.host import Work
from pipeline.metrics import WORK_VARIABLE
from pipeline.schedule.work import ready

if TYPE_CHECKING:
    from distributed import Worker


def dask_setup(worker: Worker) -> None:
    """Called by Dask in a worker of our own, before it joins its cluster."""
    begin([kind for kind in get_args(Work) if kind in os.environ.get(WORK_VARIABLE, "").split()])


def begin(work: Sequence[Work]) -> None:
    """Start to make the GPU of this process ready for some kinds of work; do not wait."""
    if work:
        ready.begin(functools.partial(_warm_up, tuple(work)))


def _warm_up(work: tuple[Work, ...]) -> None:
    with contextlib.suppress(Exception):  # of CuPy and of kernels: a task reports them
        graph = _pair().to("gpu")
        if "searches" in work:
            from pipeline.schedule.work.searches import search_graph

            for n_sources in (1, 2):  # a search, and a pack
                search_graph(graph, 0, np.zeros(n_sources, np.int32))


@functools.cache
def _pair() -> CSRGraph:
    """Two nodes and a link."""
    return CSRGraph(np.array([0, 1, 2], np.int64), np.array([1, 0], np.int32))
