"""Numbers that plans and what executes them share: one value, handed in."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.distance_distribution import MAX_EXACT, N_SOURCES
from kernels.eccentricity import CLUSTER, Thresholds


@dataclass(frozen=True)
class PlanThresholds:
    """What plans compare with; results never depend on it, only the time does.

    Attributes
    ----------
    steps : Thresholds
        Of a search for eccentricities whose searches are tasks: when it goes on to sweeps.
    many_results, min_workers : float, int
        A candidate is worth a task where a search takes as long as so many results take the
        client, which is one thread, and where more workers share the searches than one task saves
        by the reductions that only it has: on two cores that was first in all that was measured,
        on four no more.
    many_lanes_bytes : int
        Most lanes hold 128 bytes a node; where that is more, a sweep carries few.
    thread_window : int
        Tasks in flight for each worker thread: one runs, one is on its way.
    many_window, small_nodes : int
        So many tasks of ASes of no more nodes at least: these are short.
    max_exact, n_sources : int
        Largest graph, in nodes, all nodes of which are sources of an effective diameter; sources
        of a larger one.
    """

    steps: Thresholds = CLUSTER
    many_results: float = 4.0
    min_workers: int = 4
    many_lanes_bytes: int = 512 << 20
    thread_window: int = 2
    many_window: int = 64
    small_nodes: int = 100_000
    max_exact: int = MAX_EXACT
    n_sources: int = N_SOURCES


THRESHOLDS = PlanThresholds()
