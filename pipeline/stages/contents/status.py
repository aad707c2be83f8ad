"""Runs in progress on a store, how long each may still take, and nights that did not happen."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

import orjson

from pipeline.config import StatusConfig
from pipeline.errors import StoreError, UsageError
from pipeline.model.progress import MOST_SHARE, STEPS
from pipeline.model.words import number, rough_duration
from pipeline.places import objects, url_of
from pipeline.report.names import REPORT
from pipeline.report.published import published
from pipeline.stages.freshness import newest_of_reports, old_data
from pipeline.stages.run_metrics import NAME, last_success
from pipeline.store.running import runs_on

CLOCKS_DIFFER_S = 60.0  # of machines that write and read the reports
_LEAST_SHARE = 0.01  # of a step; before, the time left is not estimated


def status(config: StatusConfig) -> list[dict[str, Any]]:
    """Facts of each run on a store that has not ended, the longest first.

    Returns
    -------
    list of dict
        ``command``, ``snapshot``, ``step``, ``title``, ``done`` of ``total`` ``unit``, ``share`` of
        the step (0 to 1, null unknown), ``detail``, ``running_s``, ``told_s_ago``, ``left_s`` of
        the step (null unknown: it has hardly begun, is almost done, or has exact searches open),
        ``dashboard`` (null: none), ``pid``, ``host``, ``is_alive`` (false: it was killed).

    Raises
    ------
    StoreError
        If there is no store.
    """
    url = url_of(config.store)
    if not config.store.is_dir() and (url is None or not objects.entries(url)):
        raise StoreError(f"{config.store}: no store here; give --store the folder of a run")
    now = time.time()
    return [_facts(run, now) for run in runs_on(config.store)]


def lateness(config: StatusConfig) -> str:
    """What to say if no report is as new as ``--max-age`` asks; empty: one is, or it was not asked.

    A report in the future is not new: nights may be missing since. Of reports at a URL what is
    published counts, by whichever machine; in a folder its metrics say it.

    Raises
    ------
    UsageError
        If the folder of reports is not given.
    StoreError
        If the reports are at a URL that cannot be read.
    """
    if config.max_age is None:
        return ""
    if config.out is None:
        raise UsageError("--max-age: give --out the folder of reports")
    reports = published(config.out, REPORT)
    if reports is None:
        written, none = last_success(config.out), f"known to {NAME}"
    else:
        written, none = _last_of(reports, time.time() + CLOCKS_DIFFER_S), "published there"
    if written is None and _is_missing(config.out):
        return f"{config.out}: there is no such folder of reports, so their age is not known"
    if written is None:
        return f"{config.out}: no report without a failed AS is {none}"
    wrong = NAME if reports is None else "that"
    age_s = time.time() - written
    if age_s < -CLOCKS_DIFFER_S:
        return (
            f"{config.out}: the last report without a failed AS was written "
            f"{rough_duration(-age_s)} in the future, so its age is not known: a clock was wrong "
            f"then, or is now; the next such report puts {wrong} right"
        )
    if age_s <= 3600 * config.max_age:
        return ""
    return (
        f"{config.out}: the last report without a failed AS was written {rough_duration(age_s)} "
        f"ago, more than {number(config.max_age, 'hour')}"
    )


def staleness(config: StatusConfig) -> str:
    """What to say if no trace is as new as ``--max-data-age`` asks; empty: one is, or not asked.

    Reports may be new and what was measured old: a collector that died leaves its last files.

    Raises
    ------
    UsageError, StoreError
        As ``lateness``.
    """
    if config.max_data_age is None:
        return ""
    if config.out is None:
        raise UsageError("--max-data-age: give --out the folder of reports")
    if _is_missing(config.out):
        return f"{config.out}: there is no such folder of reports, so their age is not known"
    newest_s = newest_of_reports(config.out)
    if not newest_s:
        return f"{config.out}: no report has traces with a time, so their age is not known"
    ahead_s = newest_s - time.time()
    if ahead_s > CLOCKS_DIFFER_S:
        return (
            f"{config.out}: the newest trace is {rough_duration(ahead_s)} in the future, so the "
            "age of what was measured is not known: a clock was wrong then, or is now"
        )
    old = old_data(newest_s, config.max_data_age)
    return f"{config.out}: {old}" if old else ""


def _is_missing(out: Path) -> bool:
    return url_of(out) is None and not out.is_dir()


def _last_of(reports: list[bytes], latest: float) -> float | None:
    """When the last of some reports that has no failed AS was written, in seconds since 1970 UTC.

    One later than ``latest`` only if there is no other; None: there is none.
    """
    ended = []
    for text in reports:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            report = orjson.loads(text)
            totals = report["totals"]
            if not totals["n_failed"] and not totals["n_partial"]:
                ended.append(float(report["times"]["ended"]))
    return max([at for at in ended if at <= latest] or ended, default=None)


def _facts(run: dict[str, Any], now: float) -> dict[str, Any]:
    share = run["share"]
    if share is None and run["total"]:
        share = run["done"] / run["total"]
    left_s = None
    is_timed = run["is_alive"] and run.get("is_timed", True)  # older runs do not say it
    if is_timed and share is not None and _LEAST_SHARE <= share < MOST_SHARE:
        left_s = max(0.0, (run["told_s"] - run["step_began_s"]) * (1 / share - 1))
    step = STEPS.get(run["step"])
    names = ("command", "snapshot", "step", "done", "total", "unit", "detail", "pid", "host")
    return {
        **{name: run[name] for name in names},
        "title": run["step"] if step is None else step.title,
        "share": share,
        "running_s": round(now - run["started_s"], 1),
        "told_s_ago": round(now - run["told_s"], 1),
        "left_s": None if left_s is None else round(left_s, 1),
        "dashboard": run["dashboard"],
        "is_alive": run["is_alive"],
    }
