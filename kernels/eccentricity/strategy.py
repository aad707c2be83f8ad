"""Which reductions a search for eccentricities uses, and which step comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FEW = 4  # candidates that are searched one after another without more ado
N_FIRST = 4  # searches before anything else is tried on short graphs
HOPS_EACH = 4  # on long graphs, one more for so many hops: a sweep costs more the longer they are
SEARCH_NS_ARC, SEARCH_NS_NODE = 3, 12  # one search on one core (multi_source.cpu_sweep)
PAIR_NS = 0.5  # a row and a column of landmarks.far_pairs, mostly looked at by blocks
# Searches that a sweep of 64 or of 512 lanes costs on graphs of up to SWEEP_HOPS; on longer ones
# that times (hops / SWEEP_HOPS) ** SWEEP_GROWTH: measured at 10, 32 and 92 hops.
FEW_LANES_SEARCHES, MANY_LANES_SEARCHES = 6, 25
SWEEP_HOPS, SWEEP_GROWTH = 12, 1.2


@dataclass(frozen=True)
class Strategy:
    """Which reductions are used; answers never depend on it, only the time does.

    Attributes
    ----------
    winnow : bool
        For diameters, search only outside a ball around a centre (``bounds``).
    trees : bool
        For diameters, ask only about the deepest node of each hanging tree (``trees``).
    landmarks : bool
        For diameters, look at pairs of nodes that no landmark keeps close (``landmarks``).
    sweeps : bool
        Search from up to 512 candidates at once (``sweeping``), and from the ends that few kept
        searches leave (``ends_sweep``).
    keep : bool
        For the diameter of a graph in one piece, begin with up to 64 searches all levels of which
        are kept and tell which pairs are near (``kept_levels``).
    territories : bool
        For all eccentricities, ask who could be farther away than the farthest that was searched
        (``territories``).
    """

    winnow: bool = True
    trees: bool = True
    landmarks: bool = True
    sweeps: bool = True
    keep: bool = True
    territories: bool = True


Step = Literal["far", "alternate", "pairs", "sweep"]


@dataclass(frozen=True)
class Progress:
    """What is known when the next step is chosen.

    Attributes
    ----------
    is_diameter : bool
        Whether that is the question.
    n_searches : int
        Done so far.
    longest : int
        Largest lower bound, hops.
    n_candidates : int
    n_pairs : float
        That landmarks would be asked about; infinite if there is no point in it.
    has_landmarks : bool
        Whether their distances are known.
    is_paired : bool
        Whether all candidates are ends of pairs that landmarks have left.
    search_ns : float
        What one search costs.
    """

    is_diameter: bool
    n_searches: int
    longest: int
    n_candidates: int
    n_pairs: float
    has_landmarks: bool
    is_paired: bool
    search_ns: float


def choose_step(strategy: Strategy, now: Progress) -> Step:
    """The step that is likely to answer soonest.

    Returns
    -------
    str
        ``far``: search the likeliest end of a longest path; ``alternate``: in turn that and a
        central node; ``pairs``: ask landmarks; ``sweep``: search many candidates at once.

    Notes
    -----
    Nothing dear is begun before searches have cost about as much: so the whole costs at most a few
    times what the best order of steps would have.
    """
    longer = max(1.0, (now.longest / SWEEP_HOPS) ** SWEEP_GROWTH)
    n_first = max(N_FIRST, now.longest // HOPS_EACH)
    if now.is_diameter and now.n_candidates <= FEW:
        return "far"
    if now.n_searches < n_first:
        return "alternate"
    if not now.is_diameter:
        is_worth = now.n_candidates > MANY_LANES_SEARCHES * longer
        return "sweep" if strategy.sweeps and is_worth else "alternate"
    if now.is_paired:
        is_worth = now.n_candidates > FEW_LANES_SEARCHES * longer
        return "sweep" if strategy.sweeps and is_worth else "far"
    spent = n_first + now.n_searches
    sweep = 0 if now.has_landmarks else FEW_LANES_SEARCHES * longer
    cost = sweep + now.n_pairs * PAIR_NS / now.search_ns
    if strategy.landmarks and cost <= min(spent, now.n_candidates):
        return "pairs"
    cost = MANY_LANES_SEARCHES * longer  # of one; they end as soon as nothing is left
    n_sweeps = -(-now.n_candidates // 512)
    if strategy.sweeps and cost <= spent and n_sweeps * cost <= now.n_candidates:
        return "sweep"
    return "alternate"
