"""Outputs of other methods: CSV, bdrmapIT's annotations, ITDK files; told by what they hold."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from pipeline.errors import FormatError
from pipeline.ingest.itdk import read_kit
from pipeline.ingest.opening import COMPRESSED_SUFFIXES, open_bytes
from pipeline.judge.outputs.bdrmapit import MAGIC, read_bdrmapit
from pipeline.judge.outputs.output import Output, topology_of_output
from pipeline.judge.tables import Row, read_rows
from pipeline.model.addresses import parse_addrs, sort_addrs
from pipeline.model.columns.ragged import run_starts
from pipeline.model.measured.reading import ReadReport, printable_path
from pipeline.model.topology import NO_ASN

__all__ = ["Output", "read_output", "topology_of_output"]

CONTRADICTS = "another AS or router for an address than said before"
# Lines of an ITDK's files, whatever these are called.
_KIT = re.compile(rb"(?:#[^\n]*\n|\s)*(?:node N|node\.AS N|link L)\d")


def read_output(path: Path) -> tuple[Output, ReadReport]:
    """What a method says, from a file, or from a folder with one ITDK.

    Of an address that comes again the first counts; what says otherwise of it is counted.

    Raises
    ------
    FormatError
        If it cannot be read, or is none of these.
    """
    if path.is_dir():
        endings = [".nodes" + suffix for suffix in ("", *COMPRESSED_SUFFIXES)]
        kits = sorted(one for one in path.iterdir() if one.name.endswith(tuple(endings)))
        if len(kits) != 1:
            reason = f"{len(kits)} files end with .nodes, and it is no store: give one file"
            raise FormatError(path, "", reason)
        return _kit(kits[0])
    with open_bytes(path) as stream:
        head = stream.read(1 << 16)
    if head.startswith(MAGIC):
        return read_bdrmapit(path)
    return _kit(path) if _KIT.match(head) else _table(path)


def _table(path: Path) -> tuple[Output, ReadReport]:
    rows, report = read_rows(path)
    first: dict[str, Row] = {}
    for row in rows:
        if row != first.setdefault(row.address, row):
            report.reject("", CONTRADICTS, ",".join(map(str, row)))
    report.n_records -= report.rejected[CONTRADICTS]
    rows = list(first.values())
    addrs = parse_addrs(row.address for row in rows)
    asn = np.array([row.asn for row in rows], np.int64)
    return Output.of_addresses("CSV", addrs, asn, [row.router for row in rows]), report


def _kit(path: Path) -> tuple[Output, ReadReport]:
    report = ReadReport(printable_path(path), "ITDK")
    kit = read_kit(path, report)
    order = sort_addrs(kit.addr)  # stable: of an address of two routers the first counts
    starts = run_starts(kit.addr[order, 0], kit.addr[order, 1])
    node = kit.node[order]
    again = node != np.repeat(node[starts], np.diff(starts, append=len(order)))
    if n_others := int(np.count_nonzero(again)):
        report.reject("", CONTRADICTS, count=n_others)
    order = order[starts]
    report.n_records = len(order)
    ends = [each for each in (kit.near, kit.far) if each is not None]
    ids = np.unique(np.concatenate([kit.node[order], *ends]))
    asn = np.full(len(ids), NO_ASN)
    at = np.minimum(np.searchsorted(ids, kit.owned), len(ids) - 1)
    known = ids[at] == kit.owned
    asn[at[known]] = kit.asn[known]
    near, far = (np.searchsorted(ids, each) for each in ends) if ends else (None, None)
    router = np.searchsorted(ids, kit.node[order])
    return Output("ITDK", kit.addr[order], router, asn, near, far), report
