"""What decides between steps of a search for eccentricities: on cores, on a GPU, on a cluster."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """Numbers that ``strategy.choose_step`` compares with; answers never depend on them.

    Attributes
    ----------
    few : int
        Up to this many pending nodes are searched one by one.
    few_are_ends : bool
        Whether likely ends of longest paths are searched first for every question; otherwise only
        for diameters, alternating with central nodes for the rest.
    n_first : int
        Searches before anything else is tried on short graphs.
    hops_each : int
        On long graphs one search per this many hops: a sweep costs more the longer they are.
    few_lanes, many_lanes : int
        Pending nodes of one component that a small sweep and the largest sweep carry.
    few_lanes_searches, many_lanes_searches : int
        Searches on one core that a sweep of this size costs, on graphs of up to sweep_hops;
        on longer ones that times (hops / sweep_hops) ** sweep_growth: measured at 10, 32 and 92
        hops.
    sweep_hops : int
    sweep_growth : float
    allowance : float
        What may be spent in all before the sweep from every node takes over, as a multiple of its
        cost. The goal is 1.2: the difference is for costs that were predicted too low.
    idle_share : float
        Share of the cost of the rest that may be spent while bounds do not improve.
    sweep_searches : int
        Searches that a sweep costs on a GPU: 3 on a million nodes, 6 on 7 million, 6 on grids.
    patience : int
        Searches on a GPU after which they must have saved as much as they cost.
    """

    few: int = 4
    few_are_ends: bool = False
    n_first: int = 4
    hops_each: int = 4
    few_lanes: int = 64
    many_lanes: int = 512
    few_lanes_searches: int = 6
    many_lanes_searches: int = 25
    sweep_hops: int = 12
    sweep_growth: float = 1.2
    allowance: float = 1.1
    idle_share: float = 0.25
    sweep_searches: int = 6
    patience: int = 2

    def first_searches(self, longest: int) -> int:
        """Searches before anything else is tried, on graphs of that many hops."""
        return max(self.n_first, longest // self.hops_each)

    def longer(self, longest: int) -> float:
        """Cost of a sweep, relative to that on a short graph."""
        return max(1.0, (longest / self.sweep_hops) ** self.sweep_growth)


CORE = Thresholds()
GPU = Thresholds(few_are_ends=True, many_lanes=256)
CLUSTER = Thresholds(few_are_ends=True)  # of its tasks; the most lanes vary by device
