"""Ingest warns of alias sets that the traces contradict, and of no others."""

from __future__ import annotations

import pytest

from pipeline.config import IngestConfig
from pipeline.stages.ingest import ingest
from pipeline.stages.warnings import alias_warnings
from pipeline.store import open_snapshot
from tests.unit.pipeline.stages.test_mapped_share import atlas

HOPS = [f"20.1.0.{i}" for i in range(1, 7)]


@pytest.fixture
def ingested(tmp_path):
    """Warnings, and the counts of the manifest, of one trace with an alias file."""

    def run(text: str) -> tuple[list[str], dict]:
        table, aliases = tmp_path / "prefixes", tmp_path / "own.sets"
        table.write_text("20.1.0.0\t16\t1\n")
        aliases.write_text(text)
        inputs = (atlas(tmp_path / "traces.jsonl", HOPS),)
        given = {"inputs": inputs, "ip2as": (table,), "aliases": aliases, "snapshot": "now"}
        summary = ingest(IngestConfig(store=tmp_path / "store", **given))
        return summary.warnings, open_snapshot(tmp_path / "store").manifest["counts"]

    return run


def test_a_file_with_all_addresses_in_one_line_is_warned_of(ingested):
    (line,), counts = ingested(" ".join(HOPS) + "\n")
    assert line.startswith("traces show 5 links inside 1 set of --aliases ")
    assert "; the largest such set, with 20.1.0.1, has 6 addresses; correct the file" in line
    assert (counts["links_within_alias_sets"], counts["links"]) == (5, 0)


def test_consecutive_hops_in_one_set_are_warned_of(ingested):
    (line,), _ = ingested(" ".join(HOPS[1:4]) + "\n20.1.0.6 20.1.9.9\n")
    assert line.startswith("traces show 2 links inside 1 set of --aliases ")


def test_sets_that_no_trace_contradicts_are_not_warned_of(ingested):
    assert ingested("20.1.0.2 20.1.9.9\n")[0] == []
    assert alias_warnings(None, []) == []
