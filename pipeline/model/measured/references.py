"""Baselines: RTTs that links add and hops to targets, smoothed over nights.

One row for each series: a link seen from a vantage point, or a pair of vantage point and target.
A series is known by addresses, since numbers of routers are those of one night.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from pipeline.model.columns import Flat, empty


@dataclass(frozen=True, eq=False)
class References:
    """References as they are after some nights, sorted by the six columns of addresses.

    Attributes
    ----------
    near_high, near_low : (n,) uint64
        An address of the near router; both 0: the row is of a pair.
    far_high, far_low : (n,) uint64
        An address of the far router, or the target.
    vantage_high, vantage_low : (n,) uint64
    usual : (n,) float32
        Ms that the link adds, or hops to the target.
    usual_before : (n,) float32
        The same before the last value.
    last, before_last : (n,) float32
        Values of the last two nights that had one; NaN for none.
    n_seen : (n,) int32
        Nights that had a value.
    n_absent : (n,) int32
        Nights since the last of them.
    n_nights : int
        Nights that all of this covers.
    since : str
        The first of them.
    """

    near_high: Annotated[np.ndarray, Flat(np.uint64)]
    near_low: Annotated[np.ndarray, Flat(np.uint64)]
    far_high: Annotated[np.ndarray, Flat(np.uint64)]
    far_low: Annotated[np.ndarray, Flat(np.uint64)]
    vantage_high: Annotated[np.ndarray, Flat(np.uint64)]
    vantage_low: Annotated[np.ndarray, Flat(np.uint64)]
    usual: Annotated[np.ndarray, Flat(np.float32)]
    usual_before: Annotated[np.ndarray, Flat(np.float32)]
    last: Annotated[np.ndarray, Flat(np.float32)]
    before_last: Annotated[np.ndarray, Flat(np.float32)]
    n_seen: Annotated[np.ndarray, Flat(np.int32)]
    n_absent: Annotated[np.ndarray, Flat(np.int32)]
    n_nights: int
    since: str

    def __len__(self) -> int:
        return len(self.usual)

    @property
    def keys(self) -> tuple[np.ndarray, ...]:
        """The six columns of addresses."""
        return (
            *(self.near_high, self.near_low, self.far_high, self.far_low),
            *(self.vantage_high, self.vantage_low),
        )

    @property
    def is_pair(self) -> np.ndarray:
        """(n,) bool: of a vantage point and a target; else of a link."""
        return (self.near_high == 0) & (self.near_low == 0)

    @classmethod
    def none(cls) -> References:
        """Of no night."""
        return empty(cls, n_nights=0, since="")
