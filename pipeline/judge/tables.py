"""Tables of addresses as CSV: what a method says, or what an operator knows.

    address,asn,router
    192.0.2.1,AS64496,r1

Fields are separated by commas, semicolons, TABs or bars, with a first line that names them, or
without one in this order. Names of a column: ``address``, ``addr``, ``ip``; ``asn``, ``as``,
``owner``; ``router``, ``node``. Further columns are not read, so that the CSV of bdrmapIT fits. An
AS is a whole number, perhaps with ``AS`` before it; empty, 0 and -1: none is said, nor by what is
below in bdrmapIT's, which numbers exchange points so; elsewhere that is broken. A
number with a dot is broken: it may be ASdot (RFC 5396), or a spreadsheet may have made it decimal.
Lines that begin with # are left out, broken ones are counted by reason.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import FormatError
from pipeline.ingest.opening import table_blocks
from pipeline.ingest.tables.lines import read_lines
from pipeline.judge.ground_truth import plain_text
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport, printable_path
from pipeline.model.topology import NO_ASN
from pipeline.model.words import number

ADDRESS, ASN, ROUTER = "address", "asn", "router"
_OF_BDRMAPIT = "conn_asn"  # a column that no other has
_NAMES = {
    ADDRESS: ("address", "addr", "ip"),
    ASN: ("asn", "as", "owner"),
    ROUTER: ("router", "node"),
    _OF_BDRMAPIT: (_OF_BDRMAPIT,),
}
_SEPARATORS = ",;\t|"
_DOTTED = "an AS number with a dot: write it as a whole number, ASdot 1.10 as 65546"
_SHOWN = 60  # characters of a line that an error quotes
_MOST_NAME = 255  # characters of the name of a router


class Row(NamedTuple):
    """One line: an address in its one spelling, its AS or ``NO_ASN``, its router or empty."""

    address: str
    asn: int
    router: str


def read_rows(path: Path) -> tuple[list[Row], ReadReport]:
    """Rows of a table of addresses, and what was left out.

    Raises
    ------
    FormatError
        If the file cannot be read, or has no such row.
    """
    report = ReadReport(printable_path(path), "csv")
    rows = []
    columns: Mapping[str, int] | None = None
    for place, cells in lines_of(path, report):
        if columns is None:
            columns = _columns(cells)
            if columns is not None:
                continue
            columns = {ADDRESS: 0, ASN: 1, ROUTER: 2}
        try:
            rows.append(_row(cells, columns))
        except ValueError as error:
            report.reject(place, str(error), ",".join(cells))
    report.n_records = len(rows)
    if not rows:
        raise FormatError(path, "", _why_none(report))
    return rows, report


def _why_none(report: ReadReport) -> str:
    """Why a file has no row, without its path."""
    if report.error:
        return report.error.removeprefix(f"{report.path}: ")
    reason = "no line of `address,asn` or `address,asn,router` in it"
    if not report.samples:
        return reason
    first, n = report.samples[0], report.rejected.total()
    found = first.detail if len(first.detail) <= _SHOWN else f"{first.detail[:_SHOWN]}..."
    return f"{reason}; {number(n, 'line')} rejected, {first.place}: {first.reason} ({found})"


def lines_of(path: Path, report: ReadReport) -> Iterator[tuple[str, list[str]]]:
    """Cells of each line, and its place; lines that begin with # are left out."""
    with closing(table_blocks(path, report)) as blocks:
        separator = ""
        for place, line in read_lines(blocks, report):
            if line.startswith("#"):
                continue
            separator = separator or next((one for one in _SEPARATORS if one in line), ",")
            try:
                cells = next(csv.reader([line], delimiter=separator))
            except csv.Error:
                report.reject(place, "no fields", line)
                continue
            yield place, [cell.strip() for cell in cells]


def _columns(cells: Sequence[str]) -> dict[str, int] | None:
    """Positions of the columns that a first line names; None: it names none."""
    words = [cell.lower() for cell in cells]
    found = {
        column: next(words.index(name) for name in names if name in words)
        for column, names in _NAMES.items()
        if any(name in words for name in names)
    }
    return found if {ADDRESS, ASN} <= found.keys() else None


def _row(cells: Sequence[str], columns: Mapping[str, int]) -> Row:
    """ValueError with a fixed phrase."""
    if len(cells) <= max(columns[ADDRESS], columns[ASN]):
        raise ValueError("fewer fields than address and AS")
    try:
        address = plain_text(cells[columns[ADDRESS]])
    except ValueError:
        raise ValueError("not an address") from None
    at = columns.get(ROUTER, len(cells))
    router = cells[at] if at < len(cells) else ""
    if len(router) > _MOST_NAME:
        raise ValueError(f"a router of more than {_MOST_NAME} characters")
    text = cells[columns[ASN]]
    is_exchange = _OF_BDRMAPIT in columns and re.fullmatch(r"-[0-9]+", text)
    return Row(address, NO_ASN if is_exchange else as_number(text), router)


def as_number(text: str) -> int:
    """An AS number, or ``NO_ASN``; ValueError with a fixed phrase."""
    digits = text.upper().removeprefix("AS").strip()
    if not digits:
        return NO_ASN
    if re.fullmatch(r"[0-9]+\.[0-9]+", digits):
        raise ValueError(_DOTTED)
    if len(digits) > 11 or not digits.removeprefix("-").isdecimal() or not digits.isascii():
        raise ValueError("not an AS number")
    asn = int(digits)
    if not -1 <= asn <= MAX_ASN:
        raise ValueError("not an AS number")
    return asn if asn > 0 else NO_ASN
