"""Interfaces of one router, from a file: ``--aliases``.

Most files are ITDK ``nodes`` [1]_, MIDAR's and kapar's results: lines ``node N1:  addr addr ...``;
``lines`` reads the other forms. The form is recognised by content. Lines that begin with
``#`` are comments, except the heads of MIDAR's sets.

Addresses in 0.0.0.0/8 (and 224.0.0.0/3, in newer files) are placeholders for routers that never
answered and are left out; a node with fewer than two real addresses merges nothing and is not kept,
so memory is that of the alias sets alone. An address in two nodes stays with the first one
(``notes["address of two nodes"]``).

References
----------
.. [1] CAIDA, "Macroscopic Internet Topology Data Kit (ITDK)", README.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np
from numba import njit

from pipeline.ingest.tables.aliases.lines import Form, is_placeholder, read_lines, recognise
from pipeline.ingest.tables.lines import Blocks, read_chunks
from pipeline.ingest.text.addresses import parse_v4
from pipeline.model.addresses import V4_PREFIX, parse_addr, sort_addrs
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.aliases import AliasTable

_NODE, _SLOW, _IGNORED, _BROKEN = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def _parse(data, node, addr, kind, offset):
    """IPv4 addresses of each line; lines with anything else are left to the caller."""
    n_lines, n_addrs, at = 0, 0, 0
    while at < len(data):
        end = at
        while data[end] != 10:
            end += 1
        stop = end - 1 if end > at and data[end - 1] == 13 else end
        offset[n_lines] = at
        first = n_addrs
        if stop == at or data[at] == 35:
            kind[n_lines] = _IGNORED
        elif (
            stop - at < 8
            or data[at] != 110  # "node N"
            or data[at + 1] != 111
            or data[at + 2] != 100
            or data[at + 3] != 101
            or data[at + 4] != 32
        ):
            kind[n_lines] = _BROKEN
        else:
            kind[n_lines] = _NODE
            i = at + 5
            while i < stop and data[i] != 58 and data[i] != 32:
                i += 1
            if i >= stop or data[i] != 58 or i == at + 5:
                kind[n_lines] = _BROKEN
            i += 1
            while i < stop and kind[n_lines] == _NODE:
                while i < stop and (data[i] == 32 or data[i] == 9):
                    i += 1
                start = i
                while i < stop and data[i] != 32 and data[i] != 9:
                    i += 1
                if i == start:
                    break
                number = parse_v4(data, start, i)
                if number < 0:
                    kind[n_lines] = _SLOW
                elif number >> 24 != 0 and number >> 24 < 224:
                    addr[n_addrs] = number
                    node[n_addrs] = n_lines
                    n_addrs += 1
            if kind[n_lines] != _NODE or n_addrs - first < 2:
                n_addrs = first  # nothing to merge, or to be read again
        n_lines += 1
        at = end + 1
    return n_addrs


def _slow_line(line: str, broken: bool) -> list[tuple[int, int]]:
    """Addresses of one line; ValueError with a fixed phrase if it is broken."""
    if broken:
        raise ValueError("not `node N1:  addr addr`")
    try:
        words = [parse_addr(text) for text in line.split(":", 1)[1].split()]
    except ValueError:
        raise ValueError("not an address") from None
    return [word for word in words if not is_placeholder(*word)]


def read_aliases(blocks: Blocks, report: ReadReport) -> AliasTable:
    """Read a table of alias sets.

    Parameters
    ----------
    blocks : iterable of bytes
        Of an opened file.
    report : ReadReport
        Filled: its form as ``format``, sets read as ``n_records`` (addresses of ``.ifaces``, pairs
        of iffinder), broken lines by reason. A file that cannot be read, is cut short or holds
        nothing valid has status ``rejected`` or ``partial`` and says why in ``error``; nothing is
        raised for it.

    Returns
    -------
    AliasTable
    """
    chunks = read_chunks(blocks, report)
    head = list(islice(chunks, 1))
    form = recognise(head[0][1] if head else b"")
    report.format = form.value
    lines = chain(head, chunks)
    if form is Form.NODES:
        addrs, routers = _read_nodes(lines, report)
    else:
        addrs, routers = read_lines(lines, form, report)
    if not report.n_records and not report.skipped:
        report.refuse_empty(
            "no aliases; give ITDK nodes (`node N1:  addr addr`) or ifaces, MIDAR sets, "
            "iffinder output, or the addresses of a router on each line"
        )
    order = sort_addrs(addrs)  # stable: the first node of an address comes first
    addrs, routers = addrs[order], routers[order]
    first = np.ones(len(addrs), bool)
    first[1:] = (addrs[1:] != addrs[:-1]).any(axis=1)
    twice = np.count_nonzero(~first[1:] & (routers[1:] != routers[:-1]))
    if twice:
        report.notes["address of two nodes"] += int(twice)
    return AliasTable(addrs[first], routers[first])


def _read_nodes(
    chunks: Iterator[tuple[int, bytes]], report: ReadReport
) -> tuple[np.ndarray, np.ndarray]:
    """Addresses and routers of ITDK nodes, in the order of the file."""
    addrs, routers = [np.empty((0, 2), np.uint64)], [np.empty(0, np.int64)]
    for first_line, text in chunks:
        data = np.frombuffer(text, np.uint8)
        n_lines = text.count(b"\n")
        # An address takes at least 8 bytes with its blank.
        node, addr = np.empty((2, len(text) // 8 + 1), np.int64)
        kind, offset = np.empty(n_lines, np.uint8), np.empty(n_lines, np.int64)
        n = _parse(data, node, addr, kind, offset)
        low = addr[:n].astype(np.uint64) | V4_PREFIX
        addrs.append(np.column_stack([np.zeros(n, np.uint64), low]))
        routers.append(node[:n] + first_line)
        report.n_records += int(np.count_nonzero(kind == _NODE))
        bounds = np.append(offset, len(text))
        for i in np.flatnonzero((kind == _SLOW) | (kind == _BROKEN)).tolist():
            line = text[bounds[i] : bounds[i + 1]].decode("ascii", "replace").strip()
            try:
                words = _slow_line(line, bool(kind[i] == _BROKEN))
            except ValueError as error:
                report.reject(f"line {first_line + i}", str(error), line)
                continue
            report.n_records += 1
            if len(words) > 1:
                addrs.append(np.array(words, np.uint64))
                routers.append(np.full(len(words), first_line + i, np.int64))
    return np.concatenate(addrs), np.concatenate(routers)
