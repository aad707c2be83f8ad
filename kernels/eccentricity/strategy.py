"""Which reductions a search for eccentricities uses, and which step comes next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

FEW = 4  # candidates that are searched one after another without more ado
N_FIRST = 4  # searches before anything else is tried on short graphs
HOPS_EACH = 4  # on long graphs, one more for so many hops: a sweep costs more the longer they are
SEARCH_NS_ARC, SEARCH_NS_NODE = 3, 12  # one search on one core (multi_source.cpu_sweep)
PAIR_NS = 0.5  # a row and a column of landmarks.far_pairs, mostly looked at by blocks
# One step of that: on long graphs a pair far apart takes hundreds, and they end with what they may
# take (``Finishing.room_ns``).
PAIR_STEP_NS = 1
# Searches that a sweep of 64 or of 512 lanes costs on graphs of up to SWEEP_HOPS; on longer ones
# that times (hops / SWEEP_HOPS) ** SWEEP_GROWTH: measured at 10, 32 and 92 hops.
FEW_LANES_SEARCHES, MANY_LANES_SEARCHES = 6, 25
SWEEP_HOPS, SWEEP_GROWTH = 12, 1.2
WORK_NS = 2.2  # a unit of work of a sweep of 512 lanes (near_sweep): 1.1 to 3 on 8,000 nodes
STEP_NS, STEP_NS_NODE = 120_000, 5  # what a step costs beside its searches
# Of the sweep from every node, what may be spent in all before it takes over. It leaves room to
# 1.2 for what was predicted too low.
ALLOWANCE = 1.1
PATIENCE = 0.25
QUICK_NS = 1_000_000  # sweeping from every node costs less than choosing what to search


@dataclass(frozen=True)
class Strategy:
    """Which reductions are used; answers never depend on it, only the time does.

    Attributes
    ----------
    winnow : bool
        For diameters, search only outside a ball around a centre (``bounds``).
    trees : bool
        For diameters, ask only about the deepest node of each pendant tree (``trees``).
    landmarks : bool
        For diameters, look at pairs of nodes that no landmark keeps close (``landmarks``).
    sweeps : bool
        Search from up to 512 candidates at once (``sweeping``), and from the ends that few kept
        searches leave (``searches.farthest``).
    keep : bool
        For the diameter of a graph in one piece, begin with up to 64 searches all levels of which
        are kept and tell which pairs are near (``distance_rows``).
    territories : bool
        For all eccentricities, ask who could be farther away than the farthest that was searched
        (``reductions.references``).
    """

    winnow: bool = True
    trees: bool = True
    landmarks: bool = True
    sweeps: bool = True
    keep: bool = True
    territories: bool = True


Step = Literal["far", "alternate", "pairs", "sweep", "every"]


@dataclass(frozen=True)
class Account:
    """What was spent, and what sweeping from every node would cost; in ns, by counted work.

    Attributes
    ----------
    spent_ns : float
        On this question so far.
    idle_ns : float
        Of that, since what is left last became much less.
    left_ns : float
        Sweeps from all that is left, sources close together.
    whole_ns : float
        The same of all nodes.
    sweep_ns : float
        A sweep from MANY_LANES sources that lie anywhere.
    sweep_saves_ns : float
        What it takes from ``left_ns`` at least, by its own sources.
    """

    spent_ns: float
    idle_ns: float
    left_ns: float
    whole_ns: float
    sweep_ns: float
    sweep_saves_ns: float


def is_beaten(account: Account, next_ns: float, saves_ns: float = 0.0) -> bool:
    """Whether a step of ``next_ns`` is worse than sweeping from all that is left now.

    Bounds may close everything at the next step, or never. So they go on as long as the whole,
    were all that is left swept after it, costs no more than ALLOWANCE times the sweep from every
    node, done at once: whatever they save is theirs to spend. And where they have told nothing
    for PATIENCE times what the rest costs, they are not likely to.
    """
    lost_ns = next_ns - saves_ns
    if account.spent_ns + lost_ns + account.left_ns > ALLOWANCE * account.whole_ns:
        return True
    is_dear = account.spent_ns + lost_ns > (ALLOWANCE - 1) * account.whole_ns
    return is_dear and account.idle_ns + lost_ns > PATIENCE * account.left_ns


def sweep_work(n_nodes: Any, n_arcs: Any, longest: Any, extent: Any) -> Any:
    """Work of sweeps of 512 lanes, see ``near_sweep``, from sources ``extent`` hops apart.

    A node changes on about as many levels. While few do, steps go top-down, else they look at all
    nodes that miss a lane: on short graphs nearly all to the end, on long ones half of them.
    Numbers or arrays of any one shape.
    """
    n_changes = np.minimum(longest, extent + 1)
    share = 0.5 + 0.4 * n_changes / np.maximum(1, longest)
    up = (n_arcs + 2 * n_nodes) * longest * share
    down = n_changes * (1.5 * n_arcs + 0.5 * n_nodes)
    return 2 * n_nodes + np.where(4 * n_arcs * n_changes < up, down, up)


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
    is_flat : bool
        Whether the first searches tell that bounds close nothing (``solver``).
    account : callable
        The account, asked with what the next step costs in ns, None: it is a sweep. It gives None
        while that is too little to matter, or where searches are limited.
    """

    is_diameter: bool
    n_searches: int
    longest: int
    n_candidates: int
    n_pairs: float
    has_landmarks: bool
    is_paired: bool
    search_ns: float
    is_flat: bool = False
    account: Callable[[float | None], Account | None] = lambda next_ns: None


def choose_step(strategy: Strategy, now: Progress) -> Step:
    """The step that is likely to answer soonest.

    Returns
    -------
    str
        ``far``: search the likeliest end of a longest path; ``alternate``: in turn that and a
        central node; ``pairs``: ask landmarks; ``sweep``: search many candidates at once;
        ``every``: search all that matter, by sweeps from nodes that lie close together.

    Notes
    -----
    Nothing expensive is begun before searches have cost about as much: so the whole costs at most
    a few times what the best order of steps would have; ``is_beaten`` ends what gains too little.
    """
    step = _next_step(strategy, now)
    if now.n_candidates <= FEW or not strategy.sweeps:
        return step
    if now.is_flat:
        return "every"
    next_ns = None
    if step != "sweep":
        is_pairs = step == "pairs"
        next_ns = (_pairs_searches(now) if is_pairs else 1) * now.search_ns + STEP_NS
    account = now.account(next_ns)
    if account is None:
        return step
    if next_ns is None:
        is_worse = is_beaten(account, account.sweep_ns, account.sweep_saves_ns)
    else:
        is_worse = is_beaten(account, next_ns)
    return "every" if is_worse else step


def _longer(now: Progress) -> float:
    """How many times as much as on a short graph a sweep costs."""
    return max(1.0, (now.longest / SWEEP_HOPS) ** SWEEP_GROWTH)


def _pairs_searches(now: Progress) -> float:
    """What asking landmarks costs, in searches."""
    sweep = 0 if now.has_landmarks else FEW_LANES_SEARCHES * _longer(now)
    return sweep + now.n_pairs * PAIR_NS / now.search_ns


def _next_step(strategy: Strategy, now: Progress) -> Step:
    """The same, whatever was spent."""
    longer = _longer(now)
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
    cost = _pairs_searches(now)
    if strategy.landmarks and cost <= min(spent, now.n_candidates):
        return "pairs"
    cost = MANY_LANES_SEARCHES * longer  # of one; they end as soon as nothing is left
    n_sweeps = -(-now.n_candidates // 512)
    if strategy.sweeps and cost <= spent and n_sweeps * cost <= now.n_candidates:
        return "sweep"
    return "alternate"
