"""The phase of a run in which some ASes go over several workers, each in a gang of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from kernels.host import Work
from pipeline.collect.known import Known
from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.metrics import WidthMetric
from pipeline.model.progress import Progress, ProgressCallback
from pipeline.model.search.tasks import Device, Outcome
from pipeline.model.words import number
from pipeline.schedule.executor import Executor
from pipeline.schedule.gang.choice import choose
from pipeline.schedule.plan.costs import Costs
from pipeline.store import Snapshot

COMPILED: tuple[Work, ...] = ("searches", "parts")  # what ranks run on cores, on GPUs too


class GangPhase:
    """Which of the requested ASes go over several workers, and their outcomes.

    Parameters
    ----------
    snapshot, config, cluster, known
        Of the run.
    rows : (n_rows,) int64
        AS rows requested, ascending.
    kinds : dict of str to tuple of str
        Tasks about widths, and the metrics of each; those in hops alone are found in parts.
    costs : Costs
        By which gangs are expected to take their time.

    Attributes
    ----------
    is_chosen : (n_rows,) bool

    Raises
    ------
    UsageError
        If more ranks are requested than there are workers.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        config: AnalyzeConfig,
        cluster: Executor,
        known: Known,
        rows: np.ndarray,
        kinds: dict[str, tuple[str, ...]],
        costs: Costs,
    ):
        self._snapshot, self._config, self._cluster = snapshot, config, cluster
        self._costs = costs
        self._rows, self._known = rows, known
        self._metrics: tuple[WidthMetric, ...] = tuple(kinds.get("widths", ()))  # type: ignore[arg-type]
        gpu_bytes = [int(f["gpu_bytes"]) for f in cluster.facts.values() if f["gpu"]]
        on_gpus = "gpu" in cluster.devices and bool(gpu_bytes)
        self._device: Device = "gpu" if on_gpus else "cpu"
        self._check(len(gpu_bytes) if on_gpus else len(cluster.facts))
        chosen = choose(
            snapshot.n_nodes[rows],
            snapshot.n_arcs[rows],
            partition=config.partition,
            gpu_bytes=gpu_bytes if on_gpus and not config.distances else (),
        )
        self._chosen = {choice.at: choice for choice in chosen}
        self.is_chosen = np.zeros(len(rows), bool)
        self.is_chosen[list(self._chosen)] = True
        self._report: list[dict[str, Any]] = []

    def _check(self, n_workers: int) -> None:
        asked = self._config.partition
        if asked is not None and asked > n_workers:
            there = number(n_workers, "worker") + (" with a GPU" * (self._device == "gpu"))
            if self._config.scheduler is not None:
                more = f"or start {number(asked - n_workers, 'more worker')} for this scheduler"
            elif self._device == "gpu":
                more = f"or --device cpu --workers {asked} for ranks on cores"
            else:
                more = f"or --workers {asked}"
            raise UsageError(
                f"--partition {asked}: {there} here, and each rank needs its own; "
                f"give --partition {n_workers} or less, {more}"
            )

    def without(self, source_ptr: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Offsets and nodes of the sources of all other ASes."""
        n_sources = np.diff(source_ptr)
        kept = np.repeat(~self.is_chosen, n_sources)
        ends = np.cumsum(np.where(self.is_chosen, 0, n_sources))
        return np.concatenate([[0], ends]).astype(np.int64), sources[kept]

    def outcomes(
        self, source_ptr: np.ndarray, sources: np.ndarray, progress: ProgressCallback
    ) -> Iterator[Outcome]:
        """Run one gang after another, the largest AS first; of equal graphs one stands for all."""
        if not self._chosen:
            return
        # Not for other runs.
        from pipeline.schedule.cluster.workers import compile_once_a_host
        from pipeline.schedule.gang.progress import longest_s
        from pipeline.schedule.gang.rank import GangTask
        from pipeline.schedule.gang.run import GangJob, Gangs

        compile_once_a_host(self._cluster.client, self._cluster.facts, COMPILED)
        gangs = Gangs(cast(Any, self._cluster))  # only clusters have several workers
        self._report = gangs.report
        snapshot, rows = self._snapshot, self._rows
        owner = owner_of_graph(snapshot, rows)
        is_measured = np.ones(len(rows), bool)
        if self._metrics:
            is_measured = self._known.is_measured("widths")
        done = 0
        for at, choice in self._chosen.items():
            sharers = np.flatnonzero(self.is_chosen & (owner == owner[at]))
            if owner[at] != rows[at]:
                continue
            wanted = [sources[source_ptr[i] : source_ptr[i + 1]] for i in sharers.tolist()]
            own_sources = np.unique(np.concatenate(wanted)).astype(np.int32)
            metrics = () if is_measured[sharers].all() else self._metrics
            if not len(own_sources) and not metrics:
                continue
            asn = int(snapshot.asn[rows[at]])
            detail = f"AS{asn} over {number(choice.n_ranks, 'worker')}"
            progress(Progress("search", done, len(self._chosen), "ASes in parts", detail))
            task = GangTask(
                name=f"gang_AS{asn}",
                snapshot=snapshot.address,
                row=int(rows[at]),
                device=self._device,
                workers=(),
                gang="",
                nccl=None,
                sources=own_sources,
                metrics=metrics,
                max_searches=self._config.max_searches,
                verify=self._config.verify,
                deadline_s=gangs.deadline_s,
            )
            sizes = int(snapshot.n_nodes[rows[at]]), int(snapshot.n_arcs[rows[at]])
            cost_s = longest_s(*sizes, len(own_sources), bool(metrics), self._device, self._costs)
            yield from gangs.run(GangJob(task, asn, choice.n_ranks, choice.reason, cost_s))
            done += 1

    def described(self) -> dict[str, Any]:
        """For report.json: what was requested, and what each gang did and why."""
        return {"partition": self._config.partition or "auto", "gangs": self._report}


def owner_of_graph(snapshot: Snapshot, rows: np.ndarray) -> np.ndarray:
    """(n_rows,) int64: for each row the first of ``rows`` that has its graph."""
    first: dict[str, int] = {}
    hashes = snapshot.graph_hash
    return np.array([first.setdefault(hashes[row], row) for row in rows.tolist()], np.int64)
