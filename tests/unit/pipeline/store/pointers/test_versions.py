"""Versions of snapshots by name."""

from __future__ import annotations

from pipeline.store.pointers.versions import versions_named
from tests.unit.pipeline.store.snapshots import some_graphs, write


def test_every_name_has_its_version_and_broken_pointers_are_left_out(tmp_path):
    assert versions_named(tmp_path) == {}
    graphs = some_graphs(n_ases=1, nodes_each=3)
    made = {name: write(tmp_path, name, graphs).name for name in "ab"}
    assert versions_named(tmp_path) == made
    (tmp_path / "snapshots" / "b.json").write_text("{")
    assert versions_named(tmp_path) == {"a": made["a"]}
