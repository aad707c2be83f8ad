"""Starting the explorer: what it refuses at once."""

from __future__ import annotations

import pytest

from pipeline.config import ExploreConfig
from pipeline.errors import UsageError
from pipeline.explore.open import serve_explorer


def test_a_store_without_a_snapshot_is_refused(tmp_path):
    config = ExploreConfig(store=tmp_path / "misspelt", port=0, open=False)
    with pytest.raises(UsageError, match="misspelt: no snapshot here"):
        serve_explorer(config, print)
