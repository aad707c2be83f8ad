"""Several prefix tables: which one an address is looked up in first."""

from __future__ import annotations

import numpy as np

from pipeline.ingest.tables.prefixes.forms import ANNOUNCED, RANGES, ROAS
from pipeline.ingest.tables.prefixes.origins import Prefixes
from pipeline.model.addresses import unique_addrs
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.intervals import IntervalTable
from pipeline.model.tables.prefixes import NO_ORIGIN, PrefixTable
from pipeline.model.topology import NO_ASN

_DISAGREES = "prefixes that another AS announces"


class Layers:
    """Prefixes of all files by layer; ``layers[ROAS]`` are those of ROAs."""

    def __init__(self) -> None:
        self._of = [Prefixes() for _ in (ANNOUNCED, RANGES, ROAS)]
        self._reports: list[ReadReport] = []

    def __getitem__(self, layer: int) -> Prefixes:
        return self._of[layer]

    @property
    def n_v4(self) -> int:
        """IPv4 prefixes that were read so far."""
        return sum(layer.v4.n for layer in self._of)

    def begin_file(self, report: ReadReport) -> None:
        """What is added from now on is of the next file."""
        for layer in self._of:
            layer.source = len(self._reports)
        self._reports.append(report)

    def table(self) -> PrefixTable:
        """One table of all layers; the prefixes are dropped."""
        announced, ranges, roas = self._of
        starts_of_roas = roas.starts
        of_roas = roas.table(None)
        tables = [announced.table(of_roas.table), ranges.table(None), of_roas]
        self._note(tables[0].n_changed + tables[1].n_changed)
        self._note_disagreement(tables[0].table, of_roas.table, starts_of_roas)
        whole = tables[0].table
        for other in tables[1:]:
            if other.table.n_prefixes:
                whole = _filled(whole, other.table)
        return whole

    def _note(self, n_changed: int) -> None:
        if n_changed:
            used = next(report for report in self._reports if report.n_records)
            used.notes["listed again with another origin"] += n_changed

    def _note_disagreement(
        self, announced: PrefixTable, roas: PrefixTable, starts: np.ndarray
    ) -> None:
        if not announced.n_prefixes or not len(starts):
            return
        of_announced, of_roas = announced.lookup(starts), roas.lookup(starts)
        n = int(np.count_nonzero((of_announced != of_roas) & (of_announced != NO_ASN)))
        if n:
            last = [report for report in self._reports if report.format == "roas"][-1]
            last.notes[_DISAGREES] += n


def _filled(table: PrefixTable, other: PrefixTable) -> PrefixTable:
    """A table that has the AS of another one where it has none."""
    first = np.union1d(table.v4_first, other.v4_first)
    asn = _v4_at(table, first)
    asn = np.where(asn == NO_ORIGIN, _v4_at(other, first), asn)
    first, asn = _merged(first, asn)
    first6 = unique_addrs([table.v6.first, other.v6.first])
    asn6 = table.v6.lookup(first6)
    asn6 = np.where(asn6 == NO_ASN, other.v6.lookup(first6), asn6)
    first6, asn6 = _merged(first6, asn6)
    n_prefixes = table.n_prefixes + other.n_prefixes
    return PrefixTable(first, asn, IntervalTable(first6, asn6), n_prefixes)


def _v4_at(table: PrefixTable, first: np.ndarray) -> np.ndarray:
    """(n,) uint32: AS of the interval that holds each first address."""
    if not len(table.v4_first):
        return np.zeros(len(first), np.uint32)
    at = np.searchsorted(table.v4_first, first, side="right") - 1
    return np.where(at >= 0, table.v4_asn[np.maximum(at, 0)], np.uint32(NO_ORIGIN))


def _merged(first: np.ndarray, asn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Intervals without those that have the AS of the one before."""
    begins = np.ones(len(first), bool)
    begins[1:] = asn[1:] != asn[:-1]
    return first[begins], asn[begins]
