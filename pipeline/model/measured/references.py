"""Baselines: RTTs that links add and hops to targets, smoothed over nights.

One row for each series: a link seen from a vantage point, or a pair of vantage point and target.
A series is known by addresses, since numbers of routers are those of one night. There are millions
of series among far fewer addresses, so these are in a table of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from pipeline.model.columns import Flat, empty

OF_PAIR = -1  # instead of a near router


@dataclass(frozen=True, eq=False)
class References:
    """References as they are after some nights, sorted by near, far and vantage point.

    Attributes
    ----------
    near, far, vantage : (n,) int32
        Rows of ``addr``: an address of the near router, ``OF_PAIR`` for a pair; an address of the
        far router, or the target; the vantage point.
    usual : (n,) float32
        Ms that the link adds, or hops to the target.
    usual_before : (n,) float32
        The same before the last value.
    last, before_last : (n,) float32
        Values of the last two nights that had one; NaN for none.
    n_seen : (n,) int16
        Nights that had a value, as far as the type counts.
    n_absent : (n,) int8
        Nights since the last of them.
    addr : (n_addrs, 2) uint64
        Sorted, each once.
    n_nights : int
        Nights that all of this covers.
    since : str
        The first of them.
    """

    near: Annotated[np.ndarray, Flat(np.int32)]
    far: Annotated[np.ndarray, Flat(np.int32)]
    vantage: Annotated[np.ndarray, Flat(np.int32)]
    usual: Annotated[np.ndarray, Flat(np.float32)]
    usual_before: Annotated[np.ndarray, Flat(np.float32)]
    last: Annotated[np.ndarray, Flat(np.float32)]
    before_last: Annotated[np.ndarray, Flat(np.float32)]
    n_seen: Annotated[np.ndarray, Flat(np.int16)]
    n_absent: Annotated[np.ndarray, Flat(np.int8)]
    addr: np.ndarray
    n_nights: int
    since: str

    def __len__(self) -> int:
        return len(self.usual)

    @property
    def is_pair(self) -> np.ndarray:
        """(n,) bool: of a vantage point and a target; else of a link."""
        return self.near == OF_PAIR

    @classmethod
    def none(cls) -> References:
        """Of no night."""
        return empty(cls, addr=np.empty((0, 2), np.uint64), n_nights=0, since="")
