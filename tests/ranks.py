"""Ranks as threads of this process, for tests of graphs in parts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from kernels.partition import ExchangeError, part_of, rows_of, split, thread_collectives


def parts_of(graph, n_ranks, block=None):
    """All parts of a graph."""
    whole = split(graph.indptr, n_ranks, block)
    read = rows_of(graph.indptr, graph.indices)
    return [part_of(whole, rank, read) for rank in range(n_ranks)]


def on_ranks(parts, run, deadline_s=20):
    """``run(part, collective)`` by each rank, in a thread of its own; what they return."""
    collectives = thread_collectives(len(parts), deadline_s)

    def one(part, collective):
        try:
            return run(part, collective)
        except BaseException:
            collective.close()
            raise

    with ThreadPoolExecutor(len(parts)) as pool:
        tasks = [pool.submit(one, *each) for each in zip(parts, collectives, strict=True)]
        errors = [error for task in tasks if (error := task.exception()) is not None]
    errors.sort(key=lambda error: isinstance(error, ExchangeError))  # causes before consequences
    if errors:
        raise errors[0]
    return [task.result() for task in tasks]
