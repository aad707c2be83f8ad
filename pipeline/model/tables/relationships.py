"""Who is whose customer, peer or sibling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.model.choices import MAX_ASN
from pipeline.model.relations import OF_THE_OTHER, UNRELATED

TURNED = np.array(OF_THE_OTHER, np.int8)  # seen from the other AS
TURNED.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Relationships:
    """Pairs of related ASes, each listed both ways.

    Attributes
    ----------
    pairs : (n_pairs,) uint64, sorted, distinct
        ``asn << 32 | other``.
    kind : (n_pairs,) int8
        What the first AS is to the other: ``PEER``, ``PROVIDER``, ``CUSTOMER``, ``SIBLING``.
    """

    pairs: np.ndarray
    kind: np.ndarray

    def of(self, asn: np.ndarray, other: np.ndarray) -> np.ndarray:
        """What each AS is to the other, both (n,) int64; (n,) int8, ``UNRELATED`` if not listed."""
        key = (np.asarray(asn).astype(np.uint64) << np.uint64(32)) | np.asarray(other).astype(
            np.uint64
        )
        if not len(self.pairs):
            return np.zeros(len(key), np.int8)
        at = np.minimum(np.searchsorted(self.pairs, key), len(self.pairs) - 1)
        return np.where(self.pairs[at] == key, self.kind[at], UNRELATED).astype(np.int8)

    def lists(self, asn: np.ndarray) -> np.ndarray:
        """(n,) bool: whether any relationship of each AS is known."""
        if not len(self.pairs):
            return np.zeros(len(asn), bool)
        at = np.searchsorted(self.pairs >> np.uint64(32), asn.astype(np.uint64))
        at = np.minimum(at, len(self.pairs) - 1)
        return (self.pairs[at] >> np.uint64(32)) == asn.astype(np.uint64)

    def among(self, ases: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Related pairs of some ASes.

        Parameters
        ----------
        ases : (n,) int64, sorted, distinct

        Returns
        -------
        row, other : (n_found,) int64
            Positions in ``ases``; sorted by ``row``, then ``other``.
        kind : (n_found,) int8
            What the AS of ``row`` is to the other.
        """
        ends = np.stack([self.pairs >> np.uint64(32), self.pairs & np.uint64(MAX_ASN)])
        ends = ends.astype(np.int64)
        kept = np.isin(ends, ases).all(axis=0)
        row, other = np.searchsorted(ases, ends[:, kept])
        return row, other, self.kind[kept]
