"""Address columns from text and back."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pipeline.model.addresses import format_addr, parse_addr


def parse_addrs(texts: Iterable[str]) -> np.ndarray:
    """(n, 2) uint64 of some addresses."""
    words = [parse_addr(text) for text in texts]
    return np.array(words, np.uint64).reshape(len(words), 2)


def format_addrs(addrs: np.ndarray) -> list[str]:
    """Texts of an address column, in its order."""
    return [format_addr(high, low) for high, low in addrs.tolist()]
