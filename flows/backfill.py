"""The flow that makes up for nights that did not happen: a range of dates, oldest first.

Each night takes its own turn on the store, so that tonight's run comes in between. A night that has
a report stays as it is. Notices are those of nightly runs alone.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import glob
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.logging import get_run_logger
from prefect.states import Cancelled, Failed, State

from flows.compare import next_compared
from flows.nightly import shown_night
from flows.options import given_values, with_parameters
from flows.pages.artifacts import show_nights
from flows.runs.cancelling import unless_cancelled
from flows.runs.outcome import EXPECTED, PARTIAL, ended
from flows.runs.turns import in_turn
from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.errors import UsageError
from pipeline.model.words import number
from pipeline.options import config_of, merged, options_of
from pipeline.places import in_one_line

# The date of each night is its name; what is kept is a matter of the nights that follow.
OPTIONS = tuple(
    each
    for each in merged(IngestConfig, AnalyzeConfig)
    if each.name not in ("snapshot", "keep_nights")
)
NO_DATA, THERE = "no data", "has a report already"
_PLACES = ("store", "out")
_FILES = tuple(
    each.name for each in options_of(IngestConfig) if each.kind is Path and each.name not in _PLACES
)


@flow(name="backfill", persist_result=False)
@with_parameters(OPTIONS, first=datetime.date, last=datetime.date)
def backfill(first: datetime.date, last: datetime.date, **parameters: Any) -> State:
    """Make the nights from one date to another that have no report yet, oldest first.

    Paths of inputs and tables hold the date, as in strftime: /data/%Y-%m-%d or
    /data/*.%Y%m%d.warts.gz. Each night is compared with the one before it, and so is the first one
    after the last of them. Other parameters are those of the nightly run.

    Args:
        first: The first date.
        last: The last date.
    """
    try:
        days = days_between(first, last)
        given = given_values(OPTIONS, parameters)
        ingest_config, analyze_config = (
            config_of(IngestConfig, given),
            config_of(AnalyzeConfig, given),
        )
        _check_dated(ingest_config)
    except EXPECTED as error:
        return Failed(message=in_one_line(error))
    return unless_cancelled(lambda: _backfill(days, ingest_config, analyze_config))


def days_between(first: datetime.date, last: datetime.date) -> list[datetime.date]:
    """All dates of a range, both ends included.

    Raises
    ------
    UsageError
        If it ends before it begins.
    """
    n_days = (last - first).days + 1
    if n_days < 1:
        raise UsageError(f"the last date, {last}, is before the first one, {first}")
    return [first + datetime.timedelta(days=i) for i in range(n_days)]


def of_day(config: IngestConfig, day: datetime.date) -> IngestConfig:
    """The config of one night: paths with its date, inputs that are there, and its name."""
    dated = {name: _dated(getattr(config, name), day) for name in _FILES}
    found = [
        Path(path)
        for pattern in dated["inputs"]
        for path in sorted(glob.glob(str(pattern)) or glob.glob(glob.escape(str(pattern))))
    ]
    return dataclasses.replace(
        config, **dated | {"inputs": tuple(dict.fromkeys(found)), "snapshot": day.isoformat()}
    )


def _dated(paths: Any, day: datetime.date) -> Any:
    if isinstance(paths, tuple):
        return tuple(_dated(path, day) for path in paths)
    return Path(day.strftime(str(paths))) if "%" in str(paths) else paths


def _check_dated(config: IngestConfig) -> None:
    days = datetime.date(2001, 2, 3), datetime.date(2002, 3, 4)
    same = [path for path in config.inputs if _dated(path, days[0]) == _dated(path, days[1])]
    if same:
        raise UsageError(
            f"{same[0]}: is the same for every night; give paths with the date in them, "
            "/data/%Y-%m-%d for instance"
        )


def _backfill(
    days: list[datetime.date], ingest_config: IngestConfig, analyze_config: AnalyzeConfig
) -> State:
    from pipeline.report.folder import report_of  # imports that take seconds, not needed to deploy

    became: dict[str, str] = {}
    done: list[str] = []
    complete = True
    for day in days:
        name = day.isoformat()
        config = of_day(ingest_config, day)
        if report_of(analyze_config.out / name) is not None:
            became[name] = THERE
        elif not config.inputs:
            became[name] = NO_DATA
        else:
            state = night(config, analyze_config, return_state=True)
            if state.is_cancelled():
                return Cancelled(message=f"cancelled in {name}, after {number(len(done), 'night')}")
            became[name] = f"{state.name}: {state.message}"
            complete &= state.is_completed() and state.name != PARTIAL
            done += [name] if state.is_completed() else []
        get_run_logger().info("%s: %s", name, became[name])
    warnings = [
        line
        for name in done
        for line in next_compared(analyze_config.store, analyze_config.out, name)
    ]
    show_nights(became | {f"after {done[-1]}": line for line in warnings})
    said = _said(days, became, done)
    if not done and THERE not in became.values():
        return Failed(message=said)
    return ended(said, became, complete=complete and not warnings)


@flow(name="night", flow_run_name="{ingest_config.snapshot}", persist_result=False)
def night(ingest_config: IngestConfig, analyze_config: AnalyzeConfig) -> State:
    """One night of a backfill."""
    work = functools.partial(shown_night, ingest_config, analyze_config, with_next=False)
    return in_turn(ingest_config.store, work, makes_store=True, patient=True)


def _said(days: list[datetime.date], became: dict[str, str], done: list[str]) -> str:
    said = [f"{days[0]} to {days[-1]}: {number(len(done), 'night')} of {len(days)} made"]
    of_kind = {what: [name for name in became if became[name] == what] for what in (THERE, NO_DATA)}
    said += [f"{what}: {_listed(names)}" for what, names in of_kind.items() if names]
    left = [name for name, state in became.items() if state not in (THERE, NO_DATA)]
    if failed := [name for name in left if name not in done]:
        said.append(f"failed: {_listed(failed)} ({became[failed[0]]})")
    return "; ".join(said)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
