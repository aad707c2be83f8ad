"""Outcome of reading an input file: records read, skipped and rejected, each by reason."""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pipeline.errors import FormatError, said_by_system
from pipeline.model.words import number

# Rejected records written out for each file and reason; the rest are only counted.
MAX_SAMPLES = 1000
# Types of skipped records distinguished in one file: their names may be a file's own text.
MAX_SKIPPED_TYPES = 50
OTHER_TYPE = "other type"

FileStatus = Literal["ok", "partial", "rejected"]


def printable_path(path: object) -> str:
    """A path as text that any file or page can hold; bytes that are not UTF-8 become ``\\xff``."""
    return os.fsencode(str(path)).decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class Reject:
    """One broken record: its place and what is wrong with it."""

    place: str  # ``line 17``, ``byte 4096``
    reason: str  # a fixed phrase, so that it can be counted
    detail: str = ""  # what was found; third-party text, at most 200 characters


# A note: of traces in which each probe may have gone another way (``TraceBatch.n_classic``).
CLASSIC = "traces by a classic method"
# Notes: of traces that are from no known vantage point, or to no known address.
NO_SOURCE = "traces without a source"
NO_TARGET = "traces without a destination"


@dataclass
class ReadReport:
    """Filled by a reader while it reads one file.

    ``n_records`` counts the records that were used; ``skipped`` those that are valid but not
    ours (a ping among traces), by type; ``rejected`` broken ones, by reason; ``notes`` oddities
    that were read anyway (a late reply), by name. A topology file also says what its nodes are
    (``kind``), which AS numbers it has, and in its header how it was made, if not by measurement
    (``made_by``). ``kept_of`` says how many records of a kind were used and how many there are,
    where a file has several kinds, or ``n_records`` counts something else than records.
    """

    path: str
    format: str = ""
    n_records: int = 0
    n_hops: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    samples: list[Reject] = field(default_factory=list)
    status: FileStatus = "ok"
    error: str = ""  # why the file is partial or rejected
    sha256: str = ""
    size_bytes: int = 0
    newest_s: float = 0.0  # start of the newest record, seconds since 1970 UTC; 0 unknown
    oldest_s: float = 0.0  # likewise, of the oldest one with a known time
    kind: str = ""
    made_by: str = ""
    as_ranges: list[list[int]] = field(default_factory=list)  # first and last of each run
    took_asn: bool = False  # its nodes, or some of them, name no AS and got the one that was given
    kept_of: dict[str, tuple[int, int]] = field(default_factory=dict)
    copy_of: str = ""  # path of a file with the same bytes, which was read instead

    def skip(self, kind: str, count: int = 1) -> None:
        """Count records of another type; beyond ``MAX_SKIPPED_TYPES`` under one name."""
        if kind not in self.skipped and len(self.skipped) >= MAX_SKIPPED_TYPES:
            kind = OTHER_TYPE
        self.skipped[kind] += count

    def reject(self, place: str, reason: str, detail: str = "", count: int = 1) -> None:
        """Count broken records of one reason; the first ``MAX_SAMPLES`` are kept for the log."""
        if self.rejected[reason] < MAX_SAMPLES:
            self.samples.append(Reject(place, reason, detail[:200]))
        self.rejected[reason] += count

    def absorb(self, part: ReadReport, name: str) -> None:
        """Add what was read of a file in this archive; places of its rejects begin with its name.

        Parameters
        ----------
        part : ReadReport
        name : str
            As it may be shown.
        """
        self.n_records += part.n_records
        self.n_hops += part.n_hops
        self.notes.update(part.notes)
        for kind, count in part.skipped.items():
            self.skip(kind, count)
        for sample in part.samples:
            if self.rejected[sample.reason] < MAX_SAMPLES:
                place = f"{name}: {sample.place}" if sample.place else name
                self.samples.append(Reject(place, sample.reason, sample.detail))
        self.rejected.update(part.rejected)
        self.newest_s = max(self.newest_s, part.newest_s)
        if part.oldest_s and part.oldest_s < (self.oldest_s or float("inf")):
            self.oldest_s = part.oldest_s

    @property
    def mostly_rejected(self) -> str:
        """How many records of a kind were rejected, if more than half of a file that is used."""
        if self.status == "rejected":
            return ""
        n_rejected = self.rejected.total()
        kinds = self.kept_of or {"record": (self.n_records, self.n_records + n_rejected)}
        for noun, (n_kept, n) in kinds.items():
            if 2 * n_kept < n and n_rejected:
                share = int(100 * (n - n_kept) / n)  # 99.9 % is not all
                return f"{n - n_kept:,} of {number(n, noun)} rejected ({share} %)"
        return ""

    @property
    def first_reject(self) -> str:
        """Place, reason and finding of the first broken record; "" without one."""
        if not self.samples:
            return ""
        first = self.samples[0]
        place = f"{first.place}: " if first.place else ""
        found = f" ({first.detail})" if first.detail else ""
        return f"{place}{first.reason}{found}"

    def refuse(self, fault: Exception | str, partly: bool = False) -> None:
        """Say why the file cannot be used, or (``partly``) not to its end."""
        self.status = "partial" if partly else "rejected"
        if isinstance(fault, FormatError):  # its text begins with the path as the user gave it
            fault = f"{fault.where}: {fault.reason}" if fault.where else fault.reason
        elif isinstance(fault, OSError):
            fault = said_by_system(fault)
        self.error = printable_path(f"{self.path}: {fault}")

    def refuse_empty(self, reason: str) -> None:
        """Say that nothing in the file can be used; a fault met while reading it explains more."""
        if self.error:
            self.status = "rejected"
        else:
            self.refuse(reason)


def rejects_text(n_rejected: int, rejected: Mapping[str, int]) -> str:
    """How many records were rejected, and for which reasons: in the order in which they come."""
    return f"{number(n_rejected, 'broken record')} rejected: {reasons_text(rejected)}"


def reasons_text(rejected: Mapping[str, int]) -> str:
    """Reasons of rejected records, each with how many have it."""
    return ", ".join(f"{name} ({n})" for name, n in rejected.items())


def inputs_text(inputs: Iterable[Mapping[str, Any]]) -> str:
    """How many files there are, as the terminal counts them, and how many tables beside them.

    Parameters
    ----------
    inputs : iterable of mappings
        Rows of the manifest's ``inputs``; without ``holds``, as in older ones, all are files.
    """
    rows = list(inputs)
    n_tables = sum(row.get("holds") == "table" for row in rows)
    counts = ((len(rows) - n_tables, "file"), (n_tables, "table"))
    return " and ".join(number(n, noun) for n, noun in counts if n)


def newest_record(inputs: Iterable[Mapping[str, Any]]) -> float:
    """Time of the newest record of inputs as a manifest lists them, s since 1970; 0: unknown."""
    return max((float(entry.get("newest_s") or 0.0) for entry in inputs), default=0.0)


def newest_on_calendar(inputs: Iterable[Mapping[str, Any]]) -> float:
    """As ``newest_record`` of inputs that anybody may have written; 0 too if no calendar has it."""
    try:
        newest_s = newest_record(inputs)
        datetime.datetime.fromtimestamp(newest_s, datetime.UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return 0.0
    return newest_s
