"""Eccentricity bounds of a graph in parts: each rank has those of its own nodes.

The bounds are those of ``eccentricity.bounds``: the triangle inequality, and for diameters the ball
around a centre. All ranks choose the next source together, from the best that each one has. A
search starts from one node of every component at once; once bounds close little, up to 64 pending
nodes of a few components are searched in one sweep, after which their eccentricities are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.csr import to_host
from kernels.eccentricity.questions import Question, checked_questions
from kernels.eccentricity.results import checked_limit
from kernels.errors import GraphError
from kernels.partition.check import check_part
from kernels.partition.components import part_components
from kernels.partition.exchange import Collective
from kernels.partition.search import PartResult, search
from kernels.partition.split import Part
from kernels.partition.steps import Steps
from kernels.partition.sweep import LANES, SweepSteps, sweep
from kernels.partition.widths.path import shortest_path
from kernels.partition.widths.results import PartWidths
from kernels.partition.widths.strategy import RANKS, PartThresholds, is_sweep_next
from kernels.types import UNREACHED

MOST = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Searches:
    """What a rank searches with; the part is that of the steps, with arrays on their device."""

    part: Part
    steps: Steps
    sweep_steps: SweepSteps
    collective: Collective

    def levels(self, sources: Sequence[int] | np.ndarray) -> PartResult:
        """Levels from some sources."""
        return search(self.steps, self.part, sources, self.collective)


def part_widths(
    searches: Searches,
    questions: Iterable[Question],
    max_searches: int | None = None,
    thresholds: PartThresholds = RANKS,
) -> PartWidths:
    """Answer questions about every component; called by every rank with the same arguments.

    Parameters
    ----------
    searches : Searches
    questions : iterable of str
        Of ``eccentricity.questions.QUESTIONS``; they share all searches.
    max_searches : int or None
        Limit of sources in each component; None: until all is exact.
    thresholds : PartThresholds
        They decide between searches and sweeps.

    Raises
    ------
    GraphError
        If a question is unknown, or none is asked, or ``max_searches`` is negative; or if bounds
        cross: then a search was wrong.
    CheckError
        If the certificate refuses the search that finds the path.
    ExchangeError
        If another rank does not answer.

    Notes
    -----
    Besides the searches, some 50 bytes per own node, 20 of them for a moment. The choice of
    sources differs from that of ``eccentricity``, so intervals and the number of searches do too;
    exact values do not.
    """
    asked, limit = checked_questions(questions), checked_limit(max_searches)
    bounds = _Bounds(searches, asked, limit, thresholds)
    by_upper = False  # the hub first
    while (chosen := bounds.next_sources(by_upper)).size:
        if bounds.is_sweeping:
            bounds.use_sweep(chosen)
        else:
            bounds.use_search(chosen)
        by_upper = not by_upper
    return bounds.results()


class _Bounds:
    """Bounds of one rank's own nodes, and what all ranks know of components."""

    def __init__(
        self,
        searches: Searches,
        questions: tuple[str, ...],
        limit: int | None,
        thresholds: PartThresholds,
    ):
        part = searches.part
        self.searches, self.questions, self.limit = searches, questions, limit
        self.thresholds = thresholds
        if isinstance(part.indptr, np.ndarray):
            self.xp: Any = np
        else:
            import cupy

            self.xp = cupy
        xp, collective = self.xp, searches.collective
        found = part_components(part, collective)
        self.names, self.size, self.component = found.names, found.size, found.own
        n_own, n_components = len(self.component), len(self.names)
        self.first = int(part.split.first[part.rank])
        self.degree = xp.diff(part.indptr[: n_own + 1]).astype(np.int32)
        # A neighbour is 1 hop away, each further hop reaches a new node.
        size = xp.asarray(self.size.astype(np.int32))[self.component]
        is_hub = self.degree == size - 1
        self.lower = xp.where(is_hub, xp.minimum(1, size - 1), 2).astype(np.int32)
        self.upper = xp.where(is_hub, self.lower, size - self.degree).astype(np.int32)
        self.is_searched = xp.zeros(n_own, bool)
        self.centre_level = xp.full(n_own, MOST, np.int32)
        self.has_centre = np.zeros(n_components, bool)
        self.n_searched = np.zeros(n_components, np.int64)
        self.is_sweeping, self.n_steps = False, 0
        self._note_extremes()

    # Reductions over the nodes of each component, of all ranks.

    def _most_of_each(self, values: Any, mask: Any = None, nothing: int = -1) -> np.ndarray:
        """(n_components,) largest of int32 values of own nodes, ``nothing`` where none is."""
        xp, component = self.xp, self.component
        if mask is not None:
            values, component = values[mask], component[mask]
        most = xp.full(len(self.names), nothing, np.int32)
        if len(self.names) == 1:
            if values.size:
                most[0] = values.max()
        else:
            xp.maximum.at(most, component, values)
        return to_host(most).astype(np.int64)

    def _gather(self, *columns: np.ndarray) -> np.ndarray:
        """(n_ranks, n_columns, n_components) int64."""
        every = self.searches.collective.gather(np.concatenate(columns).astype(np.int64))
        return every.reshape(len(every), len(columns), -1)

    def _note_extremes(self) -> None:
        """Largest lower and smallest upper bound of each component."""
        own = (self._most_of_each(self.lower), self._most_of_each(-self.upper, nothing=-MOST))
        every = self._gather(*own).max(axis=0)
        self.most, self.least = every[0], -every[1]
        self.most_of, self.least_of = (
            self.xp.asarray(each.astype(np.int32))[self.component]
            for each in (self.most, self.least)
        )

    # What still matters.

    def _matters(self, question: str) -> Any:
        lower, upper = self.lower, self.upper
        if question == "diameter":
            outside = self.centre_level.astype(np.int64) * 2 > self.most_of
            return (upper > self.most_of) & outside
        if question == "radius":
            return lower < self.least_of
        if question == "center":
            return (lower <= self.least_of) & (lower < upper)
        if question == "periphery":
            return (upper >= self.most_of) & (lower < upper)
        return lower < upper

    def _pending(self) -> Any:
        """Own nodes one of which must still be searched or bounded."""
        pending = self.xp.zeros(len(self.lower), bool)
        for question in self.questions:
            pending |= self._matters(question)
        return pending

    # Choosing sources.

    def next_sources(self, by_upper: bool) -> np.ndarray:
        """Sources of the next step, by the graph's own numbers, the same on all ranks."""
        pending = self._pending()
        n_pending = self._gather(self._count(pending)).sum(axis=0)[0]
        self.is_open = n_pending > 0
        if self.limit is not None:
            self.is_open &= self.n_searched < self.limit
        if not self.is_open.any():
            return np.empty(0, np.int64)
        is_open = self.xp.asarray(self.is_open)[self.component]
        self.n_steps += 1
        facts = (
            int(self.is_open.sum()),
            int(self.n_searched[self.is_open].min()),
            int(n_pending[self.is_open].max()),
        )
        self.is_sweeping = is_sweep_next(*facts, self.n_steps, self.thresholds)
        if self.is_sweeping:
            return self._many(pending & is_open, self._best_end(by_upper))
        if by_upper:
            return self._best(pending & is_open, True)
        # Central nodes bound many others, though perhaps none of them matters.
        central = self._best(is_open & ~self.is_searched & (self.lower < self.upper), False)
        return central if central.size else self._best(pending & is_open, True)

    def _best_end(self, by_upper: bool) -> bool:
        """By upper bounds where only these can matter, by lower where only those; else in turn."""
        asked = set(self.questions)
        if asked <= {"diameter", "periphery"}:
            return True
        return by_upper and not asked <= {"radius", "center"}

    def _count(self, mask: Any) -> np.ndarray:
        xp = self.xp
        return to_host(xp.bincount(self.component[mask], minlength=len(self.names)))

    def _nodes(self, places: np.ndarray) -> np.ndarray:
        """Own nodes by the graph's own numbers."""
        return self.searches.part.split.original(self.first + places)

    def _keys(self, by_upper: bool) -> tuple[Any, Any, Any]:
        """What is compared, in turn, the largest first; then the smallest number.

        By upper bounds, then lower ones, then few links: such nodes lie far out. By lower bounds,
        the least first, then many links.
        """
        if by_upper:
            return self.upper, self.lower, -self.degree
        return -self.lower, self.degree, -self.upper

    def _best(self, mask: Any, by_upper: bool) -> np.ndarray:
        """The node to be searched first of each component that has one in ``mask``."""
        columns = []
        for key in self._keys(by_upper):
            best = self._most_of_each(key, mask, nothing=-MOST)
            columns.append(best)
            mask = mask & (key == self.xp.asarray(best.astype(np.int32))[self.component])
        places = self.xp.arange(len(self.lower), dtype=np.int32)
        place = -self._most_of_each(-places, mask, nothing=-MOST)  # own nodes ascend
        node = np.full(len(place), MOST, np.int64)
        node[place < MOST] = self._nodes(place[place < MOST])
        every = self._gather(*columns, -node)
        is_any = (every[:, 3] > -MOST).any(axis=0)
        chosen = [-max(rows)[3] for rows in every[:, :, is_any].transpose(2, 0, 1).tolist()]
        return np.array(chosen, np.int64)

    def _many(self, mask: Any, by_upper: bool) -> np.ndarray:
        """Up to LANES nodes in ``mask``, those to be searched first."""
        xp = self.xp
        places = xp.flatnonzero(mask)
        key = self._keys(by_upper)[0][places]
        best = to_host(places[xp.argsort(-key, kind="stable")[:LANES]])
        table = np.full((3, LANES), -MOST, np.int64)
        table[0, : len(best)] = to_host(self._keys(by_upper)[0][best])
        table[1, : len(best)] = -self._nodes(best)
        table[2, : len(best)] = to_host(self.component[best])
        every = self.searches.collective.gather(table.ravel()).reshape(-1, 3, LANES)
        key, node, component = every.transpose(1, 0, 2).reshape(3, -1)
        order = np.lexsort((-node, -key))
        order = order[node[order] > -MOST][:LANES]
        if self.limit is not None:
            left = self.limit - self.n_searched
            kept = []
            for i in order.tolist():
                if left[component[i]] > 0:
                    left[component[i]] -= 1
                    kept.append(i)
            order = np.array(kept, np.int64)
        return -node[order]

    # Using what searches find.

    def use_search(self, sources: np.ndarray) -> None:
        """Search from one node of each of some components, and tighten bounds."""
        xp, found = self.xp, self.searches.levels(sources)
        level = found.level[: len(self.lower)]
        reached = level != UNREACHED
        each = self._gather(self._most_of_each(level)).max(axis=0)[0]
        ecc = xp.asarray(each.astype(np.int32))[self.component]
        tighter = xp.maximum(level, ecc - level)
        self.lower = xp.where(reached, xp.maximum(self.lower, tighter), self.lower)
        self.upper = xp.where(reached, xp.minimum(self.upper, ecc + level), self.upper)
        self._note_sources(sources)
        if "diameter" in self.questions:
            self._try_centres(level, each)

    def use_sweep(self, sources: np.ndarray) -> None:
        """Search from many nodes at once: theirs are known then, and others have lower bounds."""
        xp, searches = self.xp, self.searches
        found = sweep(searches.sweep_steps, searches.part, sources, searches.collective)
        deepest = searches.sweep_steps.deepest[: len(self.lower)]
        self.lower = xp.maximum(self.lower, deepest)
        numbers = searches.part.split.renumber(sources).astype(np.int64) - self.first
        is_own = (numbers >= 0) & (numbers < len(self.lower))
        places, values = xp.asarray(numbers[is_own]), xp.asarray(found.eccentricity[is_own])
        self.lower[places] = xp.maximum(self.lower[places], values)
        self.upper[places] = xp.minimum(self.upper[places], values)
        self._note_sources(sources)

    def _note_sources(self, sources: np.ndarray) -> None:
        xp, whole = self.xp, self.searches.part.split
        numbers = whole.renumber(sources).astype(np.int64) - self.first
        places = xp.asarray(numbers[(numbers >= 0) & (numbers < len(self.lower))])
        self.is_searched[places] = True
        own = to_host(xp.bincount(self.component[places], minlength=len(self.names)))
        crossed = int((self.lower > self.upper).sum())
        every = self._gather(own, np.full(len(self.names), crossed))
        self.n_searched += every[:, 0].sum(axis=0)
        if every[:, 1].any():
            raise GraphError(
                f"bounds of {int(every[:, 1, 0].sum())} nodes cross; a search was wrong or of "
                "another graph"
            )
        self._note_extremes()

    def _try_centres(self, level: Any, eccentricity: np.ndarray) -> None:
        """Move each ball to the source just searched, if fewer nodes are then outside."""
        is_open = self.upper > self.most_of
        now = is_open & (level.astype(np.int64) * 2 > self.most_of)
        before = is_open & (self.centre_level.astype(np.int64) * 2 > self.most_of)
        counts = self._gather(self._count(now), self._count(before)).sum(axis=0)
        better = (eccentricity >= 0) & ((counts[0] < counts[1]) | ~self.has_centre)
        self.has_centre |= better
        moved = self.xp.asarray(better)[self.component]
        self.centre_level = self.xp.where(moved, level, self.centre_level)

    # Answers.

    def results(self) -> PartWidths:
        """What is known now, and a longest path."""
        asked = self.questions
        pending = self._pending()
        wide = self._matters("diameter") if "diameter" in asked else None
        columns = (
            self._count(pending),
            self._most_of_each(self.upper, wide),
            self._most_of_each(-self.lower, nothing=-MOST),
        )
        every = self._gather(*columns)
        upper = np.maximum(every[:, 1].max(axis=0), self.most)
        least_lower = np.minimum(-every[:, 2].max(axis=0), self.least)
        largest = int(np.argmax(self.size))
        nodes = self._nodes(np.arange(len(self.lower)))
        center, periphery = self.lower <= self.least_of, self.upper >= self.most_of
        return PartWidths(
            questions=asked,
            names=self.names,
            size=self.size,
            largest=largest,
            exact=every[:, 0].sum(axis=0) == 0,
            n_searches=self.n_searched,
            diameter_lower=self.most.astype(np.int32),
            diameter_upper=upper.astype(np.int32),
            radius_lower=least_lower.astype(np.int32),
            radius_upper=self.least.astype(np.int32),
            path=self._path(largest) if "diameter" in asked else None,
            nodes=nodes.astype(np.int32),
            component=to_host(self.component),
            eccentricity=to_host(self.lower) if "eccentricities" in asked else None,
            is_center=to_host(center) if "center" in asked else None,
            is_periphery=to_host(periphery) if "periphery" in asked else None,
        )

    def _path(self, largest: int) -> np.ndarray:
        """A shortest path in a component, as long as its largest lower bound."""
        is_end = (self.component == largest) & (self.lower == int(self.most[largest]))
        end = self._smallest(is_end)
        found = self.searches.levels([end])
        part, collective = self.searches.part, self.searches.collective
        check_part(part, end, found, collective)
        is_far = found.level[: len(self.lower)] == int(self.most[largest])
        return shortest_path(part, found.level, self._smallest(is_far), collective)

    def _smallest(self, mask: Any) -> int:
        """The smallest node in ``mask``, of all ranks."""
        places = to_host(self.xp.flatnonzero(mask)[:1])
        node = self._nodes(places) if len(places) else np.array([MOST])
        return int(self.searches.collective.gather(node.astype(np.int64)).min())
