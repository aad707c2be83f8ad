"""What of an ingest decides its graphs, under the names by which users give it."""

from __future__ import annotations

from dataclasses import asdict

from pipeline.config import IngestConfig
from pipeline.options import options_of
from pipeline.stages.nights.snapshots import open_night
from pipeline.store import open_snapshot
from tests.integration.measured import path_links, topology
from tests.unit.pipeline.store.snapshots import write

FORMATS = ("pfx2as", "as-rel", "as2org", "delegated", "exchange points", "midar-sets", "as-names")


def test_what_was_given_is_called_as_it_is_typed(tmp_path):
    from pipeline.graphs import build_graphs

    inputs = [{"holds": "table", "format": name, "sha256": name} for name in FORMATS]
    options = asdict(IngestConfig(inputs=(), store=tmp_path)) | {"hopscope": "1", "inputs": []}
    options = {name: str(value) for name, value in options.items()}
    made = build_graphs([topology(7, 6, path_links(6), [0, 2])])
    write(tmp_path, "night", made, inputs=inputs, options=options)
    with open_snapshot(tmp_path, "night") as snapshot:
        names = set(open_night(snapshot).inputs)
    flags = {option.flag for option in options_of(IngestConfig)}
    assert names - flags == {"version of hopscope"}
    assert {"--ip2as", "--as-rel", "--as2org", "--delegated", "--ixp", "--aliases"} < names
    assert {"--allow-special", "--bridge-gaps", "--borders", "--routers"} < names
