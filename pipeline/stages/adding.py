"""A run that adds to the report of an earlier one, on the same version of the snapshot."""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from pipeline import __version__
from pipeline.collect.known import known_results
from pipeline.config import AnalyzeConfig
from pipeline.model.search.results import Measurement
from pipeline.report.earlier import measured_metrics, restore
from pipeline.report.folder import earlier_report
from pipeline.report.merging import covers, merge
from pipeline.schedule.run import known_whole, measured_before
from pipeline.store import Snapshot


def with_earlier(
    snapshot: Snapshot, measurement: Measurement, config: AnalyzeConfig, started: float
) -> tuple[Measurement, list[dict]]:
    """This run and those of an existing report of this version as one measurement.

    Returns
    -------
    Measurement
        ``measurement`` itself where there is no such report, or nothing in it to keep. Without one,
        what failed though its graph was measured before, and only was to be measured again, has the
        figures of then.
    list of dict
        Runs that measured it, for ``report.json``: if two name an AS and a metric, the figures are
        from the last one, unless it failed there; what it knows only bounds of, because of its
        ``max_searches``, is from all of them.

    Raises
    ------
    UsageError
        If what is there is not a report of ours, or is broken.
    """
    run = {
        "started": started,
        "ended": time.time(),
        "metrics": list(measurement.metrics),
        "asns": sorted(config.asns),  # empty: all
        "n_ases": len(measurement.rows),
        "failed": sorted(int(snapshot.asn[row]) for row in measurement.failed),
        "max_searches": config.max_searches,
        "hopscope": __version__,
    }
    folder = config.out / snapshot.name
    report = earlier_report(folder)
    if report is None or report.get("snapshot_version") != snapshot.version:
        before = _known_of_failed(snapshot, measurement, config)
        return measurement if before is None else merge(snapshot, before, measurement), [run]
    if covers(snapshot, measured_metrics(report), measurement):
        return measurement, [run]
    kept = [earlier for earlier in report.get("runs") or [] if not _is_replaced(earlier, run)]
    return merge(snapshot, restore(snapshot, report, folder), measurement), [*kept, run]


def _known_of_failed(
    snapshot: Snapshot, measurement: Measurement, config: AnalyzeConfig
) -> Measurement | None:
    """What earlier runs found of the graphs of ASes that failed when all was measured again.

    None where there is nothing, or this run could use it from the beginning.
    """
    if not measurement.failed or again_of(config) == ():
        return None
    rows = np.array(sorted(measurement.failed), np.int64)
    for _ in range(2):  # of all, then of those of which everything is known
        if not len(rows):
            return None
        asns = snapshot.asn[rows].tolist()
        known = known_results(snapshot, config.store, asns, measurement.metrics)
        rows = known.rows[known_whole(snapshot, measurement.metrics, known)]
    before = measured_before(snapshot, replace(config, metrics=measurement.metrics), known)
    return replace(
        known.mark(before),
        snapshot=snapshot.name,
        version=snapshot.version,
        metrics=measurement.metrics,
    )


def again_of(config: AnalyzeConfig) -> Collection[str] | None:
    """Kinds of tasks that a run measures again, though the store knows results; None: all."""
    # Certificates need the levels of a search, and hop matrices are these levels.
    return None if config.full or config.verify else {"search"} if config.distances else ()


def _is_replaced(earlier: dict, run: dict) -> bool:
    """Whether a later run replaced all of its results; a limited one only those of the same run."""
    again = not run["asns"] or (earlier["asns"] and set(earlier["asns"]) <= set(run["asns"]))
    is_all = bool(again) and set(earlier["metrics"]) <= set(run["metrics"]) and not run["failed"]
    is_same = set(earlier["metrics"]) == set(run["metrics"]) and _limit(earlier) <= _limit(run)
    return is_all and (run["max_searches"] is None or is_same)


def _limit(run: dict) -> float:
    limit = run.get("max_searches")
    return math.inf if limit is None else limit
