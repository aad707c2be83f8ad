"""A run that adds to the report of an earlier one, on the same version of the snapshot."""

from __future__ import annotations

import math
import time

from pipeline import __version__
from pipeline.config import AnalyzeConfig
from pipeline.model.search.results import Measurement
from pipeline.report.earlier import measured_metrics, restore
from pipeline.report.folder import earlier_report
from pipeline.report.merging import covers, merge
from pipeline.store import Snapshot


def with_earlier(
    snapshot: Snapshot, measurement: Measurement, config: AnalyzeConfig, started: float
) -> tuple[Measurement, list[dict]]:
    """This run and those of an existing report of this version as one measurement.

    Returns
    -------
    Measurement
        ``measurement`` itself where there is no such report, or nothing in it to keep.
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
        return measurement, [run]
    if covers(snapshot, measured_metrics(report), measurement):
        return measurement, [run]
    kept = [earlier for earlier in report.get("runs") or [] if not _is_replaced(earlier, run)]
    return merge(snapshot, restore(snapshot, report, folder), measurement), [*kept, run]


def _is_replaced(earlier: dict, run: dict) -> bool:
    """Whether a later run replaced all of its results; a limited one only those of the same run."""
    again = not run["asns"] or (earlier["asns"] and set(earlier["asns"]) <= set(run["asns"]))
    is_all = bool(again) and set(earlier["metrics"]) <= set(run["metrics"]) and not run["failed"]
    is_same = set(earlier["metrics"]) == set(run["metrics"]) and _limit(earlier) <= _limit(run)
    return is_all and (run["max_searches"] is None or is_same)


def _limit(run: dict) -> float:
    limit = run.get("max_searches")
    return math.inf if limit is None else limit
