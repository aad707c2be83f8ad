"""Rows of a column by their numbers, taken where they are read: no copy of all of them is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Gathered:
    """``column[rows]``, some rows at a time.

    A large graph has two arcs a link, and columns of links of 8 bytes: copies for all arcs would
    take as much memory as the graph and the links together.

    Attributes
    ----------
    column : (n,) array
    rows : (n_rows,) integers
        Which row of the column each one is.
    """

    column: np.ndarray
    rows: np.ndarray

    @property
    def dtype(self) -> np.dtype:
        return self.column.dtype

    @property
    def itemsize(self) -> int:
        return self.column.itemsize

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: Any) -> Any:
        """Of a slice, a mask or numbers an array; of a number a value."""
        return np.take(self.column, self.rows[which])

    def tolist(self) -> list:
        return self[:].tolist()
