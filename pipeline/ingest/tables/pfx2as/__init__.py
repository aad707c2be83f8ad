"""Addresses to the AS that announces them: CAIDA pfx2as files and longest-prefix match.

A line of a pfx2as file is ``prefix TAB length TAB origin`` [1]_. Forms of an origin:

- ``64500``: one AS.
- ``64500_64501``: **multi-origin**, several ASes announce the prefix: mostly one that uses it, and
  others, such as its provider, on its behalf. So the AS with least address space of its own is
  taken: what its prefixes of one origin cover, each address once; of the family of the prefix, and
  if that is equal, of the other one. Of equal ASes the first is taken, since CAIDA orders them by
  how many of its peers see each as the origin (by number before 2010-10-27). Counted in
  ``notes["multi-origin"]``.
- ``64500,64501``: an **AS set**, left by aggregation, whose order means nothing. The smallest
  number is taken, so that the choice is at least the same everywhere. ``notes["AS set"]``.
- both, ``64500_64501,64502``: of each set the smallest number.

A prefix that is listed twice with different origins takes the smaller one, so that the order of
files does not matter (``notes["listed again with another origin"]``). AS 0 marks space that must
not be announced; a default route would give every unrouted address an AS: both are rejected, and
so are a prefix with bits set beyond its length and an IPv6 prefix that overlaps ::ffff:0:0/96,
where IPv4 is kept: it would route all IPv4.

An address takes the AS of the longest prefix that covers it, or none.

References
----------
.. [1] CAIDA, "Routeviews Prefix to AS mappings (pfx2as) for IPv4 and IPv6", README.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

import numpy as np
from numba import njit

from kernels.errors import HostMemoryError
from pipeline.errors import UsageError
from pipeline.ingest.tables.lines import Blocks, read_chunks
from pipeline.ingest.tables.pfx2as.origins import Prefixes
from pipeline.ingest.text.addresses import parse_v4
from pipeline.model.addresses import MAPPED_V4
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.intervals import Network
from pipeline.model.tables.prefixes import PrefixTable

# Tables of other tools, recognised by their first lines: pyasn's, and ranges with commas.
_PYASN = re.compile(rb"[0-9a-fA-F.:]+/\d+\s+\d+\s*$")
_RANGES = re.compile(rb'"?[0-9a-fA-F.:]+"?,"?[0-9a-fA-F.:]+"?,"?(?:AS)?\d+"?')
_HEAD_BYTES, _HEAD_LINES = 1 << 14, 20
_FAST, _SLOW, _IGNORED = 0, 1, 2


@njit(cache=True, nogil=True)
def _parse(data, prefix, length, origin, kind, offset):
    """Fields of each line of IPv4 with one origin; others are left to the caller (``_SLOW``)."""
    n_lines, at, size = 0, 0, len(data)
    while at < size:
        end = at
        while data[end] != 10:
            end += 1
        stop = end - 1 if end > at and data[end - 1] == 13 else end
        offset[n_lines] = at
        kind[n_lines] = _SLOW
        if stop == at or data[at] == 35:  # nothing, or a comment
            kind[n_lines] = _IGNORED
        else:
            tab1 = at
            while tab1 < stop and data[tab1] != 9 and data[tab1] != 32:
                tab1 += 1
            tab2 = min(tab1 + 1, stop)
            n_bits = np.int64(0)
            while tab2 < stop and 48 <= data[tab2] <= 57 and tab2 - tab1 < 4:
                n_bits = 10 * n_bits + np.int64(data[tab2]) - 48
                tab2 += 1
            number = parse_v4(data, at, tab1)
            well = number >= 0 and tab1 + 1 < tab2 < stop and (data[tab2] == 9 or data[tab2] == 32)
            if well and 0 < n_bits <= 32 and number & ((1 << (32 - n_bits)) - 1) == 0:
                value = np.int64(0)
                i = tab2 + 1
                while i < stop and 48 <= data[i] <= 57 and i - tab2 <= 10:
                    value = 10 * value + np.int64(data[i]) - 48
                    i += 1
                if i == stop and 0 < value <= MAX_ASN:
                    prefix[n_lines], length[n_lines], origin[n_lines] = number, n_bits, value
                    kind[n_lines] = _FAST
        n_lines += 1
        at = end + 1
    return n_lines


def _origins(text: str) -> tuple[tuple[int, ...], bool]:
    """ASes of an origin field, and whether one was a set; ValueError with a fixed phrase."""
    if not text.isascii() or not text.translate({95: "", 44: ""}).isdecimal():
        raise ValueError("origin is not an AS number")
    words = [one.split(",") for one in text.split("_")]
    if not all(0 < len(word) <= 10 and 0 < int(word) <= MAX_ASN for one in words for word in one):
        raise ValueError("origin is not an AS number")
    return tuple(min(map(int, one)) for one in words), any(len(one) > 1 for one in words)


def _slow_line(line: str) -> tuple[Network, tuple[int, ...], bool]:
    """Prefix, origins, and whether one was a set; ValueError with a fixed phrase if broken."""
    fields = line.split()
    if len(fields) != 3:
        raise ValueError("not prefix, length, origin")
    try:
        addr = ipaddress.ip_address(fields[0])
    except ValueError:
        raise ValueError("not an address") from None
    if not fields[1].isdecimal() or int(fields[1]) > addr.max_prefixlen:
        raise ValueError("not a prefix length")
    if int(fields[1]) == 0:
        raise ValueError("a default route")
    try:
        network = ipaddress.ip_network((addr, int(fields[1])))
    except ValueError:
        raise ValueError("bits set beyond the prefix length") from None
    if isinstance(network, ipaddress.IPv6Network) and network.overlaps(MAPPED_V4):
        raise ValueError("covers IPv4-mapped space")
    return network, *_origins(fields[2])


def _read_one(blocks: Blocks, report: ReadReport, found: Prefixes) -> None:
    """Add the prefixes of one file."""
    foreign = ""
    for first_line, text in read_chunks(blocks, report):
        if first_line == 1 and (foreign := foreign_format(text)):
            break
        data = np.frombuffer(text, np.uint8)
        n_lines = text.count(b"\n")
        prefix, length, origin = np.empty((3, n_lines), np.int64)
        kind, offset = np.empty(n_lines, np.uint8), np.empty(n_lines, np.int64)
        _parse(data, prefix, length, origin, kind, offset)
        fast = kind == _FAST
        found.v4.add(prefix[fast], length[fast], origin[fast])
        report.n_records += int(np.count_nonzero(fast))
        bounds = np.append(offset, len(text))
        networks: list[Network] = []
        asns: list[int] = []
        for i in np.flatnonzero(kind == _SLOW).tolist():
            line = text[bounds[i] : bounds[i + 1]].decode("ascii", "replace").strip()
            if not line:
                continue
            try:
                network, origins, has_set = _slow_line(line)
            except ValueError as error:
                report.reject(f"line {first_line + i}", str(error), line)
                continue
            report.n_records += 1
            report.notes["AS set"] += has_set
            report.notes["multi-origin"] += len(origins) > 1 and not has_set
            if len(origins) > 1:
                found.shared.add((network, origins))
            else:
                networks.append(network)
                asns.append(origins[0])
        found.add(networks, asns)
    report.notes = +report.notes  # without zeros
    report.format = "pfx2as"
    if not report.n_records:
        report.refuse_empty(
            foreign or "no line of `prefix length origin`; give a CAIDA pfx2as file"
        )


def foreign_format(text: bytes) -> str:
    """Which other kind of prefix table this is, and how to convert it; empty for a pfx2as file.

    Parameters
    ----------
    text : bytes
        Whole lines from the file's beginning.
    """
    lines = [line for line in text[:_HEAD_BYTES].split(b"\n") if line.strip()]
    rows = [line for line in lines if not line.startswith((b";", b"#"))][:_HEAD_LINES]
    if rows and all(_PYASN.match(row) for row in rows):
        return (
            "a pyasn table (prefix/length, AS), not CAIDA pfx2as; convert it: "
            "zcat -f FILE | grep -v '^;' | tr / '\\t' > FILE.pfx2as"
        )
    if rows and all(_RANGES.match(row) for row in rows):
        return (
            "a table of address ranges (first,last,AS), not CAIDA pfx2as; give a pfx2as file of "
            "https://www.caida.org/catalog/datasets/routeviews-prefix2as/"
        )
    return ""


def read_pfx2as(files: Sequence[Blocks], reports: Sequence[ReadReport]) -> PrefixTable:
    """Read pfx2as files, IPv4 and IPv6, into one table.

    Parameters
    ----------
    files : sequence of iterables of bytes
        The blocks of each opened file.
    reports : sequence of ReadReport
        One per file, filled: prefixes as ``n_records``, broken lines by reason. A file that
        cannot be read, is cut short, holds no prefix or is a table of another format has status
        ``rejected`` or ``partial`` and says why in ``error``; nothing is raised for it.

    Returns
    -------
    PrefixTable
        Empty (``n_prefixes`` 0) if no file held a prefix.

    Raises
    ------
    UsageError
        If the table does not fit into memory. It takes some 45 bytes per IPv4 prefix while it is
        read, 20 if they are sorted and each has one origin.
    """
    found = Prefixes()
    path = ""
    try:
        for blocks, report in zip(files, reports, strict=True):
            path = report.path
            _read_one(blocks, report, found)
        found.choose_origins()
        v6_table, n_v6, n_changed = found.v6.intervals()
        first, asn, n_v4, n_v4_changed = found.v4.intervals()
    except (MemoryError, HostMemoryError) as error:
        raise UsageError(
            f"{path}: the prefix tables do not fit into memory at {found.v4.n:,} IPv4 prefixes "
            f"({str(error) or 'no more memory'}); give fewer or smaller ones with --ip2as"
        ) from None
    if n_changed + n_v4_changed:
        used = next(report for report in reports if report.n_records)
        used.notes["listed again with another origin"] += n_changed + n_v4_changed
    return PrefixTable(first, asn, v6_table, n_v4 + n_v6)
