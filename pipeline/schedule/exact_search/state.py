"""State of the exact search of one large AS: the next task, and what a finished one proves. Pure.

Outcomes may come in any order, twice or never, or fail: all of that is handled here.
All questions share each search; a source that one question has in flight is not searched for
another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels.eccentricity import Facts
from kernels.errors import GraphError
from kernels.exact_search import EccentricityBounds, lanes_of, plan_questions
from kernels.types import NODE
from pipeline.model.search.exact import (
    NO_BOUND,
    ExactBounds,
    ExactJob,
    ExactPath,
    ExactResult,
    ExactTask,
    OpenedGraph,
)
from pipeline.model.search.tasks import Outcome
from pipeline.model.words import number
from pipeline.schedule.exact_search.result import answered, nothing_known, widths_of
from pipeline.schedule.plan.costs import Costs
from pipeline.schedule.plan.steps import next_search
from pipeline.schedule.thresholds import THRESHOLDS, PlanThresholds

MAX_FAILED = 3  # tasks of one AS that fail for good, each after its attempts
_GIVEN_UP = np.uint8(128)


@dataclass(frozen=True)
class ExactOptions:
    """What decides which sources share a task; see ``plan.steps``."""

    costs: Costs
    n_threads: int = 1
    pack: int | None = None
    max_searches: int | None = None
    run: str = ""
    thresholds: PlanThresholds = THRESHOLDS


class ExactState:
    """One job, from its opening to its answer.

    Parameters
    ----------
    job : ExactJob
    options : ExactOptions
        May be replaced at any time.

    Attributes
    ----------
    answer : ExactResult or None
        Once it is known; tasks may still be in flight then.

    Notes
    -----
    28 bytes per node for one question, 16 more for a second.
    """

    def __init__(self, job: ExactJob, options: ExactOptions):
        self.job, self.options = job, options
        self.answer: ExactResult | None = None
        self._upcoming: ExactTask | None = None
        self._flying: dict[int, ExactTask] = {}
        self._names = np.empty(0, NODE)
        self._bounds: list[EccentricityBounds] = []
        self._turn = 0  # which question chooses next
        # Bit q: question q has the node in flight. _GIVEN_UP: never search it again.
        self._takers = np.empty(0, np.uint8)
        self._is_searched = np.empty(0, bool)
        self._has_failed = np.empty(0, bool)
        self._n_searches = 0
        self._n_taken = np.zeros(1, np.int64)  # sources of each component, searched or in flight
        self._reasons: list[str] = []  # why tasks have failed for good
        self._is_broken = False  # whether a failure was not recovered
        self._stage = "opening"  # then searching, path, over
        none = np.empty(0, NODE)
        if job.n_nodes == 0:
            self._conclude(none)
        else:
            limit = options.max_searches
            self._upcoming = ExactTask(
                "opening", job, none, "cpu", max_searches=limit, run=options.run
            )

    @property
    def n_flying(self) -> int:
        """Tasks that were given out and have not come back."""
        return len(self._flying)

    def next_task(self) -> ExactTask | None:
        """A task to be run now, or None until more results arrive."""
        task, self._upcoming = self._upcoming, None
        if task is None and self._stage == "searching":
            task = self._take()
        if task is not None:
            self._flying[id(task)] = task
        return task

    def cut(self, task: ExactTask, parts: Sequence[ExactTask]) -> None:
        """Replace a task in flight by smaller ones."""
        if parts and self._flying.pop(id(task), None) is not None:
            self._flying |= {id(part): part for part in parts}

    def use(self, outcome: Outcome) -> None:
        """Take the outcome of a task, even one that comes twice or too late."""
        task: ExactTask = outcome.task
        is_flying = self._flying.pop(id(task), None) is not None
        if self._stage == "over":
            return
        if outcome.error is not None:
            if is_flying:
                self._give_back(task, outcome.error)
        elif isinstance(outcome.result, OpenedGraph):
            self._open(outcome.result)
        elif isinstance(outcome.result, ExactPath):
            self._conclude(outcome.result.path)
        elif isinstance(outcome.result, ExactBounds):
            self._tighten(outcome.result, task.alone)
        self._advance()

    def _open(self, opened: OpenedGraph) -> None:
        if self._bounds:
            return
        self._stage = "searching"
        self._names = opened.names
        n_nodes = self.job.n_nodes
        self._takers = np.zeros(n_nodes, np.uint8)
        self._is_searched, self._has_failed = np.zeros(n_nodes, bool), np.zeros(n_nodes, bool)
        component = opened.component
        if component is None:
            component = np.zeros(n_nodes, np.int32)
        degree = opened.degree.astype(np.int32)
        self._n_taken = np.zeros(len(self._names), np.int64)
        for question in plan_questions(self.job.metrics):
            relevant = None
            if question == "diameter" and opened.is_tip is not None:
                relevant = np.unpackbits(opened.is_tip, count=n_nodes).astype(bool)
            self._bounds.append(EccentricityBounds(question, component, degree, relevant))
        if len(opened.tip):
            lower, upper = np.zeros(n_nodes, np.int32), np.full(n_nodes, NO_BOUND, np.int32)
            lower[opened.tip] = opened.tip_lower
            for bounds in self._bounds:
                bounds.update(np.empty(0, NODE), lower, upper)
        if opened.bounds is not None:
            np.add.at(self._n_taken, component[opened.bounds.sources], 1)
            self._tighten(opened.bounds, alone=True)

    def _tighten(self, found: ExactBounds, alone: bool) -> None:
        sources = found.sources
        try:
            for bounds in self._bounds:
                bounds.update(sources, found.lower, found.upper, alone)
        except GraphError as error:  # no result can be trusted
            self._reasons.append(str(error))
            self._is_broken = True
            self._conclude(np.empty(0, NODE), is_known=False)
            return
        self._n_searches += int((~self._is_searched[sources]).sum())
        self._is_searched[sources] = True
        self._takers[sources] = 0

    def _give_back(self, task: ExactTask, error: BaseException) -> None:
        """Release sources that were not searched; those that failed twice are given up."""
        self._reasons.append(str(error))
        self._is_broken |= task.kind != "candidate" or len(self._reasons) >= MAX_FAILED
        if task.kind == "opening":
            self._conclude(np.empty(0, NODE), is_known=False)
        elif task.kind == "path":
            self._conclude(np.empty(0, NODE))
        else:
            sources = task.sources[~self._is_searched[task.sources]]
            again = self._has_failed[sources]
            self._has_failed[sources] = True
            self._takers[sources[again]] |= _GIVEN_UP
            self._is_broken |= bool(again.any())
            self._release(sources[~again])

    def _release(self, sources: np.ndarray) -> None:
        for bounds in self._bounds:
            bounds.release(sources)
        self._takers[sources] = 0
        np.subtract.at(self._n_taken, self._bounds[0].component[sources], 1)

    def _advance(self) -> None:
        """Continue with the path, and with the answer, when nothing is left to search."""
        if self._stage != "searching" or self._upcoming is not None:
            return
        if not all(answered(bounds.question, self._bounds) for bounds in self._bounds):
            if self._flying:
                return
            self._upcoming = self._take()
            if self._upcoming is not None:
                return
        if "diameter" not in self.job.metrics:
            self._conclude(np.empty(0, NODE))
            return
        bounds = self._bounds[0]
        largest = int(np.argmax(bounds.size))
        length = int(max(bounds.most[largest] for bounds in self._bounds))
        ends = (bounds.component == largest) & (bounds.lower == length)
        source = np.flatnonzero(ends)[:1].astype(NODE)
        if length == 0:
            self._conclude(source)
            return
        self._stage = "path"
        self._upcoming = ExactTask("path", self.job, source, "cpu", length=length)

    def _take(self) -> ExactTask | None:
        """Sources of the next question that has some."""
        if len(self._reasons) >= MAX_FAILED:
            return None
        for _ in self._bounds:
            question = self._turn % len(self._bounds)
            self._turn += 1
            if answered(self._bounds[question].question, self._bounds):
                continue
            sources = self._choose(question)
            sources = self._within_limit(sources)
            if len(sources):
                return self._task(sources)
        return None

    def _within_limit(self, sources: np.ndarray) -> np.ndarray:
        """Those of each component that may still be searched; the others are released."""
        component = self._bounds[0].component
        before = self._n_taken[component[sources]] + lanes_of(sources, component)
        np.add.at(self._n_taken, component[sources], 1)
        if self.options.max_searches is None:
            return sources
        beyond = before >= self.options.max_searches
        self._release(sources[beyond])
        return sources[~beyond]

    def _choose(self, question: int) -> np.ndarray:
        """Sources for one question that are not in flight; empty if all relevant ones are."""
        bounds, options = self._bounds[question], self.options
        now = Facts(
            bounds.question == "diameter",
            self._n_searches,
            int(bounds.most.max()),
            len(bounds.pending()),
        )
        given = (options.n_threads, options.costs, options.pack, options.thresholds)
        step, n_each = next_search(self.job, now, *given)
        while True:
            if step != "sweep":
                sources = bounds.take(1, "upper" if step == "far" else None)
            elif bounds.question == "diameter":
                sources = bounds.take(n_each, "upper")
            else:
                half = n_each // 2
                taken = [bounds.take(n_each - half, "upper"), bounds.take(half, "lower")]
                sources = np.concatenate(taken)
            others = self._takers[sources] > 0
            self._takers[sources] |= np.uint8(1 << question)
            if not others.all() or not len(sources):
                return sources[~others]

    def _task(self, sources: np.ndarray) -> ExactTask:
        own = self._bounds[0].component[sources]
        alone = len(np.unique(own)) == len(own)
        return ExactTask(
            "candidate",
            self.job,
            sources,
            self.job.device,
            alone,
            is_connected=len(self._names) == 1,
            run=self.options.run,
        )

    def _conclude(self, path: np.ndarray, is_known: bool = True) -> None:
        """Make the answer. Only proven values are exact, and a diameter only with its path."""
        self._stage = "over"
        if is_known and (self._bounds or not self.job.n_nodes):
            found = (self._names, self._bounds, self._n_searches)
            widths = widths_of(self.job, *found, path)
        else:
            widths = nothing_known(self.job)
        reason, is_failed = "", self._is_broken and not widths.exact[0]
        if is_failed:
            reason = "; ".join(dict.fromkeys(self._reasons))
        elif not widths.exact[0]:
            reason = f"stopped after {number(self._n_searches, 'search')}, the limit"
        self.answer = ExactResult(self.job, widths, reason, is_failed)
        self._bounds = []
        self._takers = self._is_searched = self._has_failed = np.empty(0, bool)
