"""Interfaces of one router, as a file says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.model.columns.sorted_addrs import find_addrs


@dataclass(frozen=True, eq=False)
class AliasTable:
    """Alias sets as two columns.

    Attributes
    ----------
    addrs : (n_addrs, 2) uint64, sorted, distinct
    router : (n_addrs,) int64
        Equal for addresses of one router; the numbers mean nothing else.
    """

    addrs: np.ndarray
    router: np.ndarray

    def routers_of(self, addrs: np.ndarray) -> np.ndarray:
        """(n,) int64: router of each address, -1 where no set holds it."""
        at = find_addrs(self.addrs, addrs)
        return np.where(at >= 0, self.router[at] if len(self.router) else -1, -1)
