"""Files whose names are not UTF-8, refused: the snapshot is written, and says why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipeline.config import IngestConfig
from pipeline.stages.ingest import ingest
from pipeline.store import open_snapshot

EDGES = "0 1\n1 2\n"
SEVERAL = ("ip2as", "delegated", "ixp", "host_names")
TABLES = ("ip2as", "aliases", "as_rel", "as2org", "ixp", "delegated", "as_names", "host_names")
NAME = os.fsdecode(b"bad\xff.txt")
FAULTS = {"useless": b"\x00\x01\n", "missing": b""}


def put(path: Path, content: bytes) -> None:
    if content:
        path.write_bytes(content)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("option", TABLES)
def test_a_table_that_cannot_be_used(tmp_path, option, fault):
    edges, table, store = tmp_path / "e.txt", tmp_path / NAME, tmp_path / "store"
    edges.write_text(EDGES)
    put(table, FAULTS[fault])
    given = {option: (table,) if option in SEVERAL else table}
    summary = ingest(IngestConfig(inputs=(edges,), store=store, asn=5, **given))
    assert not summary.complete
    with open_snapshot(store, summary.snapshot) as snapshot:
        [entry] = [each for each in snapshot.manifest["inputs"] if each["status"] == "rejected"]
    assert entry["path"] == f"{tmp_path}/bad\\xff.txt"
    assert entry["error"].startswith(f"{entry['path']}: ")


@pytest.mark.parametrize("content", [b"0 1\nno edge\xff", b"\x1f\x8bnot gzip", b"\x00"])
def test_an_input_that_cannot_be_used(tmp_path, content):
    edges, store = tmp_path / "e.txt", tmp_path / "store"
    edges.write_text(EDGES)
    put(tmp_path / NAME, content)
    ingest(IngestConfig(inputs=(edges, tmp_path / NAME), store=store, asn=5, snapshot="s"))
    with open_snapshot(store, "s") as snapshot:
        paths = {each["path"] for each in snapshot.manifest["inputs"]}
    assert f"{tmp_path}/bad\\xff.txt" in paths
