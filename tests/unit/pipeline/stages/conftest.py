from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def prefixes(tmp_path) -> Path:
    """A table of the sample's addresses: AS64500 and AS64501."""
    path = tmp_path / "prefixes"
    path.write_text("198.51.100.0\t24\t64500\n203.0.113.0\t24\t64501\n")
    return path
