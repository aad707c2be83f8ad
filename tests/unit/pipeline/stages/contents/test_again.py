"""A message about an earlier snapshot ends in the command that mends it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from pipeline.stages.contents.again import ingest_again


def test_the_command_names_the_store_and_the_snapshot():
    snapshot = SimpleNamespace(name="first", path=Path("my store/versions/first-0123456789ab"))
    assert ingest_again(snapshot) == (
        "`hopscope ingest TRACES --snapshot first --store 'my store'`, with its tables and "
        "options, writes it again"
    )
