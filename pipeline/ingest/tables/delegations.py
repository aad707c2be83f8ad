"""Who holds addresses and AS numbers: extended delegation files of the regional registries.

A line is ``registry|cc|type|start|value|date|status|holder`` [1]_, perhaps with more fields after
it. ``value`` counts addresses for ``ipv4`` and numbers for ``asn``, and is a prefix length for
``ipv6``. Blocks and AS numbers of one holder have the same ``holder`` in one registry. What is
allocated or assigned is read; available and reserved space has no holder. The lines of a file's
head, its version and its sums, are not records.

A holder is not always an operator: a national registry may hold thousands of AS numbers. So
holders of more than ``MAX_ASES`` say nothing about who uses their blocks. If a block
has two entries, the holder whose name sorts first is taken (``notes["blocks of two holders"]``); if
blocks are nested, the narrowest counts.

References
----------
.. [1] APNIC and others, "RIR statistics exchange format", extended, version 2.3.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.ingest.tables.lines import Blocks, read_lines
from pipeline.model.addresses import MAPPED_V4
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.delegations import Delegations
from pipeline.model.tables.intervals import Network, prefix_range, table_of

MAX_ASES = 64
_HELD = ("allocated", "assigned")
_TYPES = ("asn", "ipv4", "ipv6")


@dataclass
class _Found:
    blocks: dict[Network, str] = field(default_factory=dict)
    asns: dict[str, list[range]] = field(default_factory=dict)


def read_delegations(files: Sequence[Blocks], reports: Sequence[ReadReport]) -> Delegations:
    """Read delegation files into one table.

    Parameters
    ----------
    files : sequence of iterables of bytes
        The blocks of each opened file.
    reports : sequence of ReadReport
        One for each file, filled: lines used as ``n_records``, broken ones by reason. A file that
        cannot be read, is cut short or holds no block and no AS number of a known holder has status
        ``rejected`` or ``partial`` and says why in ``error``; nothing is raised for it. One whose
        head names no records, or with space without a single holder, is valid.
    """
    found = _Found()
    for blocks, report in zip(files, reports, strict=True):
        report.format = "delegated"
        is_empty = False  # as the line of its version says
        for place, line in read_lines(blocks, report):
            if line.startswith("#"):
                continue
            fields = line.split("|")
            if _is_of_head(fields):
                is_empty |= fields[3] == "0"
                continue
            try:
                report.n_records += _add(fields, found, report)
            except ValueError as error:
                report.reject(place, str(error), line)
        if not report.n_records and (report.rejected or not (is_empty or report.skipped)):
            report.refuse_empty(
                "no block or AS number of a holder; give a registry's file "
                "delegated-...-extended-latest"
            )
    return _table(found)


def _is_of_head(fields: list[str]) -> bool:
    """Whether a line is that of the version, ``2.3|ripencc|serial|...``, or a sum."""
    is_version = fields[0].replace(".", "", 1).isdecimal()
    return len(fields) > 5 and (is_version or fields[-1] == "summary")


def _add(fields: list[str], found: _Found, report: ReadReport) -> bool:
    """Keep what a line says; returns whether it names a holder."""
    if len(fields) < 7 or fields[2] not in _TYPES:
        raise ValueError("not registry|cc|type|start|value|date|status|holder")
    if fields[6] not in _HELD:
        report.skip(fields[6][:20])
        return False
    if len(fields) < 8 or not fields[7]:
        raise ValueError("no holder; not an extended file")
    holder = f"{fields[0]}|{fields[7]}"
    if fields[2] == "asn":
        first, count = _number(fields[3]), _number(fields[4])
        if not 0 < first <= first + count - 1 <= MAX_ASN:
            raise ValueError("not AS numbers")
        found.asns.setdefault(holder, []).append(range(first, first + count))
        return True
    for network in _networks(fields[2], fields[3], fields[4]):
        other = found.blocks.setdefault(network, holder)
        if other != holder:
            report.notes["blocks of two holders"] += 1
            found.blocks[network] = min(holder, other)
    return True


def _number(text: str) -> int:
    if not (0 < len(text) <= 10 and text.isascii() and text.isdecimal()):
        raise ValueError("not a number")
    return int(text)


def _networks(kind: str, start: str, value: str) -> Iterator[Network]:
    """Prefixes that make up a block; ValueError with a fixed phrase if it is not one."""
    size = _number(value)
    try:
        if kind == "ipv6":
            block = ipaddress.IPv6Network((start, size))
            if size and not block.overlaps(MAPPED_V4):
                return iter((block,))
        else:
            first = ipaddress.IPv4Address(start)
            if size:
                return ipaddress.summarize_address_range(first, first + (size - 1))
    except ValueError:
        pass
    raise ValueError("not a block of addresses")


def _table(found: _Found) -> Delegations:
    names = sorted({*found.blocks.values(), *found.asns})
    numbers = {name: i for i, name in enumerate(names)}
    rows = [(*prefix_range(block), numbers[name]) for block, name in found.blocks.items()]
    rows.sort(key=lambda row: (row[0], [-word for word in row[1]]))
    start = np.array([row[0] for row in rows], np.uint64).reshape(len(rows), 2)
    end = np.array([row[1] for row in rows], np.uint64).reshape(len(rows), 2)
    blocks = table_of(start, end, np.array([row[2] for row in rows], np.int64))
    holder: list[int] = []
    asns: list[int] = []
    for name in names:
        # Distinct ones: a file may list one again, and two files of one registry list most twice.
        own = {asn for each in found.asns.get(name, ()) for asn in each[: MAX_ASES + 1]}
        if len(own) <= MAX_ASES:
            holder += [numbers[name]] * len(own)
            asns += sorted(own)
    return Delegations(blocks, np.array(holder, np.int64), np.array(asns, np.int64))
