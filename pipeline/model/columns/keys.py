"""Two numbers as one, by which rows are sorted, counted and looked up."""

from __future__ import annotations

import numpy as np


def pair_keys(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """One number for each pair, in either order.

    Parameters
    ----------
    one, other : (n,) int64
        From 0 to 2**31 - 1: nodes, addresses or rows. AS numbers may be larger.

    Returns
    -------
    (n,) int64
        The smaller one decides first.
    """
    return (np.minimum(one, other) << 32) | np.maximum(one, other)
