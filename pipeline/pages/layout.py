"""Places of nodes for pictures of small graphs, by forces between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_STEPS = 90
_BESIDE = 0.08  # of the height: how far the nearest other nodes lie from a row


def place_by_forces(
    links: np.ndarray, n: int, row: Sequence[int] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Places of linked nodes near one another, of others apart (Fruchterman, Reingold 1991).

    Memory and time of a step grow with n * n, so it is for some hundreds of nodes. The same links
    always give the same places.

    Parameters
    ----------
    links : (n_links, 2) int64
        Both ends of each link.
    n : int
        Number of nodes.
    row : sequence of int
        Nodes that lie in a row, from left to right, such as a path; one alone is placed freely.
        No other node lies on it.

    Returns
    -------
    x, y : (n,) float64
        In [0, 1]; 0.5 where nothing is spread.
    """
    rng = np.random.default_rng(7)
    places = rng.random((n, 2)) - 0.5
    fixed = np.zeros(n, bool)
    if len(row) > 1:
        fixed[list(row)] = True
        places[row, 0] = np.linspace(-0.5, 0.5, len(row))
        places[row, 1] = 0.0
    ideal = 0.9 / np.sqrt(max(1, n))
    for step in range(_STEPS if n > 1 else 0):
        apart = places[:, None, :] - places[None, :, :]
        distance = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-3)
        move = (apart * (ideal**2 / distance**2)[..., None]).sum(axis=1)
        if len(links):
            pull = places[links[:, 0]] - places[links[:, 1]]
            pull *= (np.hypot(pull[:, 0], pull[:, 1]) / ideal)[:, None]
            np.add.at(move, links[:, 0], -pull)
            np.add.at(move, links[:, 1], pull)
        length = np.maximum(np.hypot(move[:, 0], move[:, 1]), 1e-9)
        limit = 0.12 * (1 - step / _STEPS)
        move *= (np.minimum(length, limit) / length)[:, None]
        move[fixed] = 0
        places += move - 0.02 * places * ~fixed[:, None]  # keeps components in sight
    if fixed.any():  # or lines of the row would run through nodes that are not on it
        away = np.where(places[:, 1] < 0, -1, 1) * ~fixed
        places[:, 1] += _BESIDE * (np.ptp(places[:, 1]) or 1) * away
    low, high = places.min(axis=0, initial=0), places.max(axis=0, initial=0)
    spread = np.where(high > low, high - low, 1)
    places = np.where(high > low, (places - low) / spread, 0.5)
    return places[:, 0], places[:, 1]
