"""Which reductions a search for eccentricities uses, and which step comes next.

One policy for cores, GPUs and the tasks of a cluster: ``choose_step`` chooses from what is known
and the thresholds for that place (``thresholds``). Solvers in one process are driven by ``drive``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from kernels.arguments import unexpected
from kernels.eccentricity.thresholds import Thresholds

SEARCH_NS_ARC, SEARCH_NS_NODE = 3, 12  # one search on one core (multi_source.cpu.sweeps)
PAIR_NS = 0.5  # a row and a column of landmarks.far_pairs, mostly looked at by blocks
# One step of that: on long graphs a pair far apart takes hundreds, and they end with what they may
# take (``Finishing.room_ns``).
PAIR_STEP_NS = 1
WORK_NS = 2.2  # a unit of work of a sweep of 512 lanes (near_sweep): 1.1 to 3 on 8,000 nodes
STEP_NS, STEP_NS_NODE = 120_000, 5  # what a step costs besides its searches
QUICK_NS = 2_500_000  # sweeping from every node costs less than choosing what to search
EVEN_NS = 12_500_000  # the same of graphs on which bounds prove little (every_node)


@dataclass(frozen=True)
class Strategy:
    """Which reductions are used; answers never depend on it, only the time does.

    Attributes
    ----------
    winnow : bool
        For diameters, search only outside a ball around a centre (``bounds``).
    trees : bool
        For diameters, ask only about the deepest node of each pendant tree (``pendant_trees``).
    landmarks : bool
        For diameters, look at pairs of nodes that no landmark keeps close (``landmarks``).
    sweeps : bool
        Search from up to 512 pending nodes at once (``sweep``), and from the ends that few kept
        searches leave (``searches.farthest``).
    keep : bool
        For the diameter of a graph in one piece, begin with up to 64 searches whose levels are all
        kept and show which pairs are near (``distance_rows``).
    territories : bool
        For all eccentricities, use reference nodes to find nodes that may be farther away than all
        searched ones (``reductions.references``).
    """

    winnow: bool = True
    trees: bool = True
    landmarks: bool = True
    sweeps: bool = True
    keep: bool = True
    territories: bool = True


def checked_strategy(given: Any) -> Strategy:
    """What was given, all reductions for None; GraphTypeError for anything else."""
    if given is not None and not isinstance(given, Strategy):
        raise unexpected(given, "a Strategy or None")
    return given or Strategy()


Step = Literal["far", "alternate", "pairs", "sweep", "sample", "every"]


@dataclass(frozen=True)
class Account:
    """Cost so far, and the cost of sweeping from every node; in ns, by counted work.

    Attributes
    ----------
    spent_ns : float
        On this question so far.
    idle_ns : float
        Part of it since the rest last became much smaller.
    left_ns : float
        Sweeps from all that is left, sources close together.
    whole_ns : float
        The same of all nodes.
    sweep_ns : float
        A sweep from ``many_lanes`` sources that lie anywhere.
    sweep_saves_ns : float
        What it takes off ``left_ns`` at least, by its own sources.
    is_guess : bool
        Whether ``whole_ns`` is predicted, and a sample of it would cost less than was spent.
    """

    spent_ns: float
    idle_ns: float
    left_ns: float
    whole_ns: float
    sweep_ns: float
    sweep_saves_ns: float
    is_guess: bool = False


def is_beaten(account: Account, at: Thresholds, next_ns: float, saves_ns: float = 0.0) -> bool:
    """Whether a step of ``next_ns`` is worse than sweeping from all remaining nodes now.

    Bounds may close everything at the next step, or never. So steps continue while the total cost,
    if all remaining nodes were swept afterwards, is at most ``allowance`` times that of one sweep
    from every node: work that bounds save may be spent on them. Bounds that have not improved for
    ``idle_share`` of the cost of the rest are unlikely to improve.
    """
    lost_ns = next_ns - saves_ns
    if account.spent_ns + lost_ns + account.left_ns > at.allowance * account.whole_ns:
        return True
    is_expensive = account.spent_ns + lost_ns > (at.allowance - 1) * account.whole_ns
    return is_expensive and account.idle_ns + lost_ns > at.idle_share * account.left_ns


def sweep_work(n_nodes: Any, n_arcs: Any, longest: Any, extent: Any) -> Any:
    """Work of sweeps of 512 lanes, see ``near_sweep``, from sources ``extent`` hops apart.

    A node changes on about ``extent`` levels. While few do, steps go top-down, else they look at
    all nodes that lack a lane: on short graphs nearly all to the end, on long ones half of them.
    Numbers or arrays of any one shape.
    """
    n_changes = np.minimum(longest, extent + 1)
    share = 0.5 + 0.4 * n_changes / np.maximum(1, longest)
    up = (n_arcs + 2 * n_nodes) * longest * share
    down = n_changes * (1.5 * n_arcs + 0.5 * n_nodes)
    return 2 * n_nodes + np.where(4 * n_arcs * n_changes < up, down, up)


@dataclass(frozen=True)
class Facts:
    """What is known when the next step is chosen. Cores, GPUs and clusters know different things.

    Attributes
    ----------
    is_diameter : bool
        Whether that is the question.
    n_searches : int
        Done so far; on a GPU steps, each of which searches every component once.
    longest : int
        Largest lower bound, hops; 0 on a GPU, where it is not copied to the host.
    n_pending : int
        Of one component.
    strategy : Strategy
    n_pairs : float
        Pairs that landmarks would be checked for; infinite if that is pointless.
    has_landmarks : bool
        Whether their distances are known.
    is_paired : bool
        Whether all pending nodes are ends of pairs that landmarks have left.
    search_ns : float
        What one search costs; on cores.
    is_flat : bool
        Whether the first searches show that bounds close nothing (``solver``).
    account : callable or None
        The account, called with the cost of the next step in ns (None: it is a sweep). It returns
        None while that is too little to matter, or if searches are limited. On cores.
    prices : (float, float) or None
        What the next pending nodes cost one by one, and by a sweep, in one unit; None: what
        thresholds say. On a cluster.
    left : sequence of (int, int)
        ``n_searches`` and the sweeps that would have searched all pending, at each choice of
        this question, the present one last. On a GPU.
    has_swept : bool
        Whether this question has come to sweeps before. On a GPU.
    """

    is_diameter: bool
    n_searches: int
    longest: int
    n_pending: int
    strategy: Strategy = Strategy()
    n_pairs: float = math.inf
    has_landmarks: bool = False
    is_paired: bool = False
    search_ns: float = 1.0
    is_flat: bool = False
    account: Callable[[float | None], Account | None] | None = None
    prices: tuple[float, float] | None = None
    left: Sequence[tuple[int, int]] = ()
    has_swept: bool = False


class Solver(Protocol):
    """What ``drive`` needs from a question that is being answered, on any device."""

    @property
    def thresholds(self) -> Thresholds: ...

    def facts(self) -> Facts | None:
        """What is known now; None once the question is answered or no search is left."""

    def take(self, step: Step) -> None:
        """Make the searches of a step and take in what they find."""


def drive(solver: Solver) -> None:
    """Take the steps that are likely to answer soonest, until there is none."""
    while take_next(solver):
        pass


def take_next(solver: Solver) -> bool:
    """Take the next step; False if there is none."""
    now = solver.facts()
    if now is None:
        return False
    solver.take(choose_step(now, solver.thresholds))
    return True


def choose_step(now: Facts, at: Thresholds) -> Step:
    """The step that is likely to answer soonest.

    Returns
    -------
    str
        ``far``: search the likeliest end of a longest path; ``alternate``: that and a central node
        in turn; ``pairs``: ask landmarks; ``sweep``: search many pending nodes at once; ``every``:
        search all that matter, by sweeps from nodes that lie close together; ``sample``: one of
        these, whose work shows what the others cost.

    Notes
    -----
    Nothing expensive is begun before searches have cost about as much: so the whole costs at most
    a few times what the best order of steps would have; ``is_beaten`` ends what gains too little.
    """
    step = _next_step(now, at)
    if now.n_pending <= at.few or not now.strategy.sweeps:
        return step
    if now.is_flat:
        return "every"
    if now.account is None:
        return step
    next_ns = None
    if step != "sweep":
        is_pairs = step == "pairs"
        next_ns = (_pairs_searches(now, at) if is_pairs else 1) * now.search_ns + STEP_NS
    account = now.account(next_ns)
    if account is None:
        return step
    if next_ns is None:
        is_worse = is_beaten(account, at, account.sweep_ns, account.sweep_saves_ns)
    else:
        is_worse = is_beaten(account, at, next_ns)
    if is_worse:
        return "every"
    return "sample" if account.is_guess else step


def _pairs_searches(now: Facts, at: Thresholds) -> float:
    """What asking landmarks costs, in searches."""
    sweep = 0 if now.has_landmarks else at.few_lanes_searches * at.longer(now.longest)
    return sweep + now.n_pairs * PAIR_NS / now.search_ns


def _next_step(now: Facts, at: Thresholds) -> Step:
    """The next step, whatever has been spent."""
    n_first = at.first_searches(now.longest)
    if now.n_pending <= at.few and (now.is_diameter or at.few_are_ends):
        return "far"
    if now.n_searches < n_first:
        return "alternate"
    if now.left:
        return "sweep" if _is_saving_over(now, at) else "alternate"
    if now.prices is not None or not now.is_diameter:
        return "sweep" if now.strategy.sweeps and _is_sweep_cheaper(now, at) else "alternate"
    if now.is_paired:
        return "sweep" if now.strategy.sweeps and _is_sweep_cheaper(now, at) else "far"
    spent = n_first + now.n_searches
    if now.strategy.landmarks and _pairs_searches(now, at) <= min(spent, now.n_pending):
        return "pairs"
    cost = at.many_lanes_searches * at.longer(now.longest)  # they end as soon as nothing is left
    n_sweeps = -(-now.n_pending // at.many_lanes)
    if now.strategy.sweeps and cost <= spent and n_sweeps * cost <= now.n_pending:
        return "sweep"
    return "alternate"


def _is_sweep_cheaper(now: Facts, at: Thresholds) -> bool:
    """Whether the next pending nodes cost less by a sweep than one by one."""
    if now.prices is not None:
        one_by_one, swept = now.prices
        return one_by_one > swept
    is_few = now.is_diameter and now.is_paired
    searches = at.few_lanes_searches if is_few else at.many_lanes_searches
    return now.n_pending > searches * at.longer(now.longest)


def _is_saving_over(now: Facts, at: Thresholds) -> bool:
    """Whether single searches no longer save, in sweeps that are left, what they cost.

    Once they do not, sweeps do the rest.
    """
    n_sweeps = now.left[-1][1]
    if now.has_swept or n_sweeps == 1:
        return True
    if len(now.left) <= at.patience:
        return False
    n_searches, n_before = now.left[-1 - at.patience]
    saved = at.sweep_searches * (n_before - n_sweeps)
    return n_searches >= at.n_first and saved < at.patience
