"""Which ASes are of one organisation."""

from __future__ import annotations

from collections.abc import Mapping
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
    """

    asn: np.ndarray
    organisation: np.ndarray
    as_names: Mapping[int, str] = field(default_factory=dict)

    def of(self, asn: np.ndarray) -> np.ndarray:
        """Organisation of each AS, (n,) int64; ``UNKNOWN`` if not listed."""
        if not len(self.asn):
            return np.full(len(asn), UNKNOWN)
        at = np.minimum(np.searchsorted(self.asn, asn), len(self.asn) - 1)
        return np.where(self.asn[at] == asn, self.organisation[at], UNKNOWN)
