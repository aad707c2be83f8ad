"""What of an ingest decides its graphs, under the names by which users give it."""

from __future__ import annotations

from dataclasses import asdict

import pytest

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
    inputs.append({"holds": "traces", "format": "warts", "sha256": "traces"})
    options = asdict(IngestConfig(inputs=(), store=tmp_path)) | {"inputs": []}
    options |= {"hopscope": "1", "inference_rules": "1"}
    options = {name: str(value) for name, value in options.items()}
    made = build_graphs([topology(7, 6, path_links(6), [0, 2])])
    write(tmp_path, "night", made, inputs=inputs, options=options)
    with open_snapshot(tmp_path, "night") as snapshot:
        names = set(open_night(snapshot).inputs)
    flags = {option.flag for option in options_of(IngestConfig)}
    assert names - flags == {"version of hopscope", "rules of inference"}
    assert {"--ip2as", "--as-rel", "--as2org", "--delegated", "--ixp", "--aliases"} < names
    assert {"--allow-special", "--bridge-gaps", "--borders", "--routers"} < names


@pytest.mark.parametrize("made", ["file", "generator"])
def test_what_no_topology_has_is_no_other_option(tmp_path, made):
    from pipeline.graphs import build_graphs

    graphs = build_graphs([topology(7, 6, path_links(6), [0, 2])])
    deciding = {"hopscope": "1", "borders": "prefix", "routers": "inferred", "asn": 7}
    traces = [{"holds": "traces", "format": "warts"}]
    topologies = [{"holds": "topology", "format": "brite"}] if made == "file" else []
    given = {"hopscope": "2", "routers": 6, "borders": "elected", "asn": 7}
    write(tmp_path, "traces", graphs, inputs=traces, options=deciding)
    write(tmp_path, "later", graphs, inputs=traces, options=deciding | {"hopscope": "2"})
    write(tmp_path, "made", graphs, inputs=topologies, options=given)
    write(tmp_path, "as_8", graphs, inputs=topologies, options=given | {"asn": 8})
    nights = {}
    for name in ("traces", "later", "made", "as_8"):
        with open_snapshot(tmp_path, name) as snapshot:
            nights[name] = open_night(snapshot)
    columns = {"silent routers": "inferred"}
    nights["traces"].inputs.update(columns)
    nights["later"].inputs.update(columns)
    assert nights["made"].other_inputs(nights["traces"]) == []
    assert nights["traces"].other_inputs(nights["made"]) == []
    assert nights["traces"].other_inputs(nights["later"]) == ["version of hopscope"]
    assert nights["made"].other_inputs(nights["as_8"]) == ["--asn"]
    assert nights["as_8"].other_inputs(nights["traces"]) == ["--asn"]
