"""Digests of our own sources: what distinguishes one state of the code from another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

N_DIGITS = 12
SOURCES = ("*.py", "*.cu", "*.cuh")


def digest_of_sources(folders: Iterable[Path], patterns: Sequence[str] = SOURCES) -> str:
    """Twelve hex digits of the names and bytes of the sources below some folders."""
    sha = hashlib.sha256()
    for folder in folders:
        for path in sorted(path for pattern in patterns for path in folder.rglob(pattern)):
            sha.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return sha.hexdigest()[:N_DIGITS]
