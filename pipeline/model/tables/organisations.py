"""Which ASes are of one organisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Organisations:
    """Organisation of each AS.

    Attributes
    ----------
    asn : (n_ases,) int64, sorted, distinct
    organisation : (n_ases,) int64
        Equal for ASes of one organisation; the numbers mean nothing else.
    as_names : mapping of int to str
        Short names of ASes (``aut_name``); third-party text. Not all have one.
    names : sequence of str
        By the numbers of organisations, each distinct; third-party text.
    """

    asn: np.ndarray
    organisation: np.ndarray
    as_names: Mapping[int, str] = field(default_factory=dict)
    names: Sequence[str] = ()

    def of(self, asn: np.ndarray) -> np.ndarray:
        """Organisation of each AS, (n,) int64; ``UNKNOWN`` if not listed."""
        if not len(self.asn):
            return np.full(len(asn), UNKNOWN)
        at = np.minimum(np.searchsorted(self.asn, asn), len(self.asn) - 1)
        return np.where(self.asn[at] == asn, self.organisation[at], UNKNOWN)

    def names_of(self, asn: np.ndarray) -> dict[int, str]:
        """Name of the organisation of each AS that is listed, where organisations have names."""
        numbers = self.of(asn).tolist() if self.names else []
        pairs = zip(asn.tolist(), numbers, strict=False)
        return {one: self.names[number] for one, number in pairs if number != UNKNOWN}
