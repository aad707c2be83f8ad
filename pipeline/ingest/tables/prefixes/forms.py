"""Forms of prefix tables in text: which column holds what, told by a header or by the first rows.

| form | a row |
| --- | --- |
| pfx2as | ``prefix length origin`` (CAIDA) |
| prefix list | ``prefix/length origin`` (pyasn, IHR, bdrmapIT; further columns are not read) |
| prefix CSV | the same with commas, or columns named in a header (``prefix,origin``, MaxMind's) |
| ranges | ``first last origin`` with commas or TABs (IP location databases, iptoasn) |
| roas | ``origin, prefix, max length`` with commas (routinator, rpki-client, RIPE's validator) |
"""

from __future__ import annotations

import csv
import ipaddress
import re
from dataclasses import dataclass

ANNOUNCED, RANGES, ROAS = range(3)  # layers: each says what those before it leave open
COMMA, BLANK = 44, 32
COMMENTS = ("#", ";", "%", "//")
_HEAD_BYTES, _HEAD_ROWS = 1 << 14, 20
_NO_COLUMN = -1


@dataclass(frozen=True)
class Form:
    """Which column of a table holds what; -1 where there is no such column.

    Attributes
    ----------
    name : str
        What reports call it.
    expected : str
        What is wrong with a row of too few columns.
    separator : int
        ``COMMA``, or ``BLANK`` for any number of blanks and TABs.
    prefix : int
        Column of the prefix, ``address/length`` unless ``length`` or ``last`` is a column.
    origin, length, last, votes : int
        ``votes``: of the number of peers that see the origin.
    n_columns : int
        That each row must have; 0: as many as are named here, or more.
    layer : int
    place : str
        What a row is called where it is rejected.
    """

    name: str
    expected: str
    separator: int
    prefix: int
    origin: int
    length: int = _NO_COLUMN
    last: int = _NO_COLUMN
    votes: int = _NO_COLUMN
    n_columns: int = 0
    layer: int = ANNOUNCED
    place: str = "line"

    @property
    def least_columns(self) -> int:
        return max(self.prefix, self.origin, self.length, self.last, self.votes) + 1


PFX2AS = Form("pfx2as", "not prefix, length, origin", BLANK, 0, 2, length=1, n_columns=3)
PREFIX_LIST = Form("prefix list", "not prefix/length, origin", BLANK, 0, 1)
PREFIX_CSV = Form("prefix CSV", "not prefix/length, origin", COMMA, 0, 1)
# Rows that are made of the records of JSON.
RECORDS = Form("bgpkit", "not prefix, asn", BLANK, 0, 1, votes=2, place="record")
ROA_RECORDS = Form("roas", "not prefix, asn", BLANK, 0, 1, layer=ROAS, place="record")
NAMES = ("pfx2as", "mrt", "prefix list", "prefix CSV", "bgpkit", "ranges", "roas")

_NAMES = {  # of columns in a header, without blanks, "_" and "-"
    "prefix": ("prefix", "ipprefix", "network", "cidr", "subnet", "route", "block"),
    "first": ("start", "startip", "ipstart", "first", "rangestart", "ipfrom", "firstip"),
    "last": ("end", "endip", "ipend", "last", "rangeend", "ipto", "lastip"),
    "length": ("length", "prefixlength", "plen", "masklen"),
    "origin": (
        *("origin", "asn", "as", "originas", "originasn", "asnumber"),
        "autonomoussystemnumber",
    ),
    "most": ("maxlength", "maxlen"),
}


def form_of(text: bytes) -> tuple[Form, bool]:
    """The form of a table that begins so, and whether its first row is a header.

    Parameters
    ----------
    text : bytes
        Whole lines from the file's beginning.
    """
    lines = text[:_HEAD_BYTES].decode("utf-8", "replace").split("\n")
    rows = [line for line in lines if line.strip() and not line.startswith(COMMENTS)]
    if rows and (named := _named(fields_of(rows[0], COMMA))) is not None:
        return named, True
    for row in rows[:_HEAD_ROWS]:
        separator = COMMA if "," in row.split()[0] else BLANK
        if (form := _by_content(fields_of(row, separator), separator)) is not None:
            return form, False
    return PFX2AS, False


def fields_of(line: str, separator: int) -> list[str]:
    """Columns of a row, without blanks around them, and without quotes between commas."""
    if separator == BLANK:
        return line.split()
    try:
        return [field.strip() for field in next(csv.reader([line], skipinitialspace=True), [])]
    except csv.Error:
        return [field.strip() for field in line.split(",")]


def _named(fields: list[str]) -> Form | None:
    """The form that a header names."""
    words = [re.sub(r"[\s_-]", "", field.lower()) for field in fields]
    at = {
        role: next((i for i, word in enumerate(words) if word in names), _NO_COLUMN)
        for role, names in _NAMES.items()
    }
    origin, first, last, prefix = (at[role] for role in ("origin", "first", "last", "prefix"))
    if origin == _NO_COLUMN:
        return None
    if first != _NO_COLUMN and last != _NO_COLUMN:
        return _ranges(COMMA, first, last, origin)
    if prefix == _NO_COLUMN:
        return None
    if at["most"] != _NO_COLUMN:
        return _roas(prefix, origin)
    return Form("prefix CSV", PREFIX_CSV.expected, COMMA, prefix, origin, length=at["length"])


def _by_content(fields: list[str], separator: int) -> Form | None:
    """The form of one row; None: it is of none that is known."""
    are_addresses = [_is_address(field) for field in fields[:2]]
    if len(fields) >= 3 and all(are_addresses):
        return _ranges(separator, 0, 1, 2)
    if len(fields) >= 2 and _is_prefix(fields[0]):
        return PREFIX_LIST if separator == BLANK else PREFIX_CSV
    if separator == COMMA and len(fields) >= 2 and _is_prefix(fields[1]):
        return _roas(1, 0)
    if len(fields) < 3 or not are_addresses[0] or not fields[1].isdecimal():
        return None
    return PFX2AS if separator == BLANK else Form("prefix CSV", PFX2AS.expected, COMMA, 0, 2, 1)


def _ranges(separator: int, first: int, last: int, origin: int) -> Form:
    expected = "not first, last, origin"
    return Form("ranges", expected, separator, first, origin, last=last, layer=RANGES)


def _roas(prefix: int, origin: int) -> Form:
    return Form("roas", "not origin, prefix", COMMA, prefix, origin, layer=ROAS)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_prefix(text: str) -> bool:
    return "/" in text and _is_address(text.partition("/")[0])
