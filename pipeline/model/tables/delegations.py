"""Who holds addresses and AS numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.model.columns.ragged import offset_in_row, offsets, row_of_value
from pipeline.model.tables.intervals import IntervalTable
from pipeline.model.topology import NO_ASN


@dataclass(frozen=True, eq=False)
class Delegations:
    """Blocks and AS numbers by holder.

    Attributes
    ----------
    blocks : IntervalTable
        Its values are holders.
    holder : (n_ases,) int64, sorted
    asn : (n_ases,) int64
        AS numbers of each holder, ascending within one.
    """

    blocks: IntervalTable
    holder: np.ndarray
    asn: np.ndarray

    def holders_of(self, addrs: np.ndarray) -> np.ndarray:
        """(n,) int64: holder of each of (n, 2) uint64 addresses, ``NO_ASN`` without a holder."""
        return self.blocks.lookup(addrs)

    def only_as(self, holder: np.ndarray) -> np.ndarray:
        """(n,) int64: the AS of each holder that has a single one, else ``NO_ASN``."""
        first = np.searchsorted(self.holder, holder)
        one = (np.searchsorted(self.holder, holder, side="right") == first + 1) & (holder >= 0)
        asn = self.asn[np.minimum(first, len(self.asn) - 1)] if len(self.asn) else NO_ASN
        return np.where(one, asn, NO_ASN)

    def ases_of(self, holder: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions in (n,) int64 holders, and an AS of the holder there, for each that it has."""
        first = np.searchsorted(self.holder, holder)
        last = np.searchsorted(self.holder, holder, side="right")
        ptr = offsets(last - first)
        row = row_of_value(ptr)
        return row, self.asn[first[row] + offset_in_row(ptr)]
