"""The source of traces whose format names none: for all files, or by their name."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline.errors import UsageError
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.reading import NO_SOURCE, ReadReport
from pipeline.model.measured.traces import TraceBatch

Words = tuple[int, int]  # of an address
GIVEN = "traces from the vantage point that was given"


class VantagePoint(NamedTuple):
    """An address, and the names of the files whose traces it sent; "" for all others."""

    pattern: str
    addr: Words


def vantage_points(given: Iterable[str]) -> list[VantagePoint]:
    """What ``--vantage`` says.

    Raises
    ------
    UsageError
        If it is neither an address nor a pattern of file names with one.
    """
    points = []
    for text in given:
        pattern, _, addr = text.rpartition("=")
        try:
            points.append(VantagePoint(pattern, parse_addr(addr)))
        except ValueError:
            raise UsageError(
                f"--vantage takes ADDRESS, or PATTERN=ADDRESS like 'ams*.txt=192.0.2.1', not "
                f"{text!r}"
            ) from None
    return points


def sources_of(points: Sequence[VantagePoint], paths: Sequence[Path]) -> list[Words | None]:
    """The source of each file: of the first pattern that its name or path matches.

    Raises
    ------
    UsageError
        If a pattern matches no file.
    """
    found: list[Words | None] = []
    used: set[VantagePoint] = set()
    for path in paths:
        matching = (
            point
            for point in sorted(points, key=lambda point: not point.pattern)
            if not point.pattern
            or any(fnmatch.fnmatchcase(name, point.pattern) for name in (path.name, str(path)))
        )
        point = next(matching, None)
        found.append(point.addr if point else None)
        if point:
            used.add(point)
    for point in points:
        if point.pattern and point not in used and paths:
            raise UsageError(f"--vantage {point.pattern}=...: no file of traces has such a name")
    return found


def lend_source(batch: TraceBatch, source: Words, report: ReadReport) -> None:
    """Make ``source`` that of the traces in a batch that have none."""
    unknown = ~batch.src_addr.any(axis=1)
    if n_unknown := int(np.count_nonzero(unknown)):
        batch.src_addr[unknown] = source
        report.notes[GIVEN] += n_unknown


def told(report: ReadReport) -> None:
    """A file that was read with a source for all traces has none without one."""
    report.notes.pop(NO_SOURCE, None)
