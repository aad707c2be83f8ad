"""Ranks as threads of this process, for tests of graphs in parts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kernels.partition import ExchangeError, part_of, rows_of, split, thread_collectives


def parts_of(graph, n_ranks, block=None):
    """All parts of a graph."""
    whole = split(graph.indptr, n_ranks, block)
    read = rows_of(graph.indptr, graph.indices)
    return [part_of(whole, rank, read) for rank in range(n_ranks)]


def on_ranks(parts, run, deadline_s=20):
    """``run(part, collective)`` by each rank, in a thread of its own; what they return."""
    return run_ranks(len(parts), lambda rank, link: run(parts[rank], link), deadline_s)


def run_ranks(n_ranks, run, deadline_s=20):
    """``run(rank, collective)`` by each rank, as above."""
    collectives = thread_collectives(n_ranks, deadline_s)

    def one(rank, collective):
        try:
            return run(rank, collective)
        except BaseException:
            collective.close()
            raise

    with ThreadPoolExecutor(n_ranks) as pool:
        tasks = [pool.submit(one, *each) for each in enumerate(collectives)]
        errors = [error for task in tasks if (error := task.exception()) is not None]
    errors.sort(key=lambda error: isinstance(error, ExchangeError))  # causes before consequences
    if errors:
        raise errors[0]
    return [task.result() for task in tasks]


def join_levels(whole, levels):
    """Levels of all nodes, (n_nodes,) int32, from those of each rank's nodes."""
    level = np.full(len(whole.order) * whole.block, -1, np.int32).reshape(-1, whole.block)
    level[whole.order] = np.concatenate(levels).reshape(-1, whole.block)
    return level.reshape(-1)[: whole.n_nodes]
