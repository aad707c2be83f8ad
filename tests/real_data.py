"""Paths of real measurements; tests that need an absent one are skipped."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
ROOT = Path(os.environ.get("HOPSCOPE_REAL_DATA", REPOSITORY.parent / "shared" / "data"))


def real_data(name: str) -> Path:
    """Path of a real file or folder; skips the test, with the reason, where it is absent."""
    path = ROOT / name
    if not path.exists():
        import pytest  # not installed where programs of this folder make tables of the docs

        pytest.skip(
            f"real data {name} is not on this machine (HOPSCOPE_REAL_DATA names its folder)"
        )
    return path
