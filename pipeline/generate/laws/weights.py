"""Weights of links by a law, in place of their lengths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pipeline.errors import UsageError
from pipeline.model.random_words import GOLDEN, mix_words
from pipeline.model.synthetic import LAWS, law_of
from pipeline.model.topology import Topology

_KEY = np.uint64(1 << 49)  # a stream apart from those of links and places
_UNIT = 2.0**-53


def with_weights(topology: Topology, law: str | None, seed: int) -> Topology:
    """The topology with weights drawn by a law (``law_of``); None: as it is.

    Raises
    ------
    UsageError
        If the law is unknown.
    """
    if law is None:
        return topology
    try:
        name, numbers = law_of(law)
    except ValueError as error:
        raise UsageError(f"weights {law!r}: give {error}") from None
    with np.errstate(over="ignore"):
        start = mix_words(np.array([seed], np.uint64) + GOLDEN) ^ (_KEY + GOLDEN)
        count = np.arange(1, topology.n_links + 1, dtype=np.uint64)
        words = mix_words(mix_words(start) + count * GOLDEN)
    share = (words >> np.uint64(11)).astype(np.float64) * _UNIT  # in [0, 1)
    weight = _DRAW[name](share, *numbers).astype(np.float32)
    return replace(topology, weight=weight)


def _whole(share: np.ndarray, low: float, high: float) -> np.ndarray:
    return low + np.floor(share * (high - low + 1))


def _uniform(share: np.ndarray, low: float, high: float) -> np.ndarray:
    return low + share * (high - low)


def _exponential(share: np.ndarray, mean: float) -> np.ndarray:
    return -mean * np.log1p(-share)


_DRAW: dict[str, Callable[..., np.ndarray]] = dict(
    zip(LAWS, (_whole, _uniform, _exponential), strict=True)
)
