"""Files between formats without a store: what is carried, and what is counted as lost."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.cli import main
from pipeline.config import ConvertConfig
from pipeline.errors import FormatError, UsageError
from pipeline.ingest import open_reader
from pipeline.ingest.tables import PREFIXES
from pipeline.model.measured.reading import ReadReport
from pipeline.stages.convert import convert
from pipeline.stages.input_files import TraceFile
from pipeline.writers import WRITERS
from tests.contracts.trace_reader import SAMPLES
from tests.soak import examples
from tests.unit.pipeline.ingest.scamper_json.test_tracelb import DIAMOND

BRITE = SAMPLES / "brite" / "topdown_java.brite"


def read(path, format=None):
    ((topology),) = open_reader(path, ReadReport(str(path)), format)[1]
    return topology


def links_of(topology):
    ids = topology.node_id
    ends = zip(ids[topology.near].tolist(), ids[topology.far].tolist(), strict=True)
    return sorted((min(pair), max(pair)) for pair in ends)


def test_graphml_carries_all_of_brite_and_gives_it_back(tmp_path):
    facts = convert(ConvertConfig(BRITE, tmp_path / "x.graphml"))
    assert facts["lost"] == {}
    there = read(tmp_path / "x.graphml")
    before = read(BRITE)
    assert links_of(there) == links_of(before)
    assert there.node_asn.tolist() == before.node_asn.tolist()
    assert np.sort(there.weight).tolist() == np.sort(before.weight).tolist()
    assert set(there.node_columns) == set(before.node_columns)
    facts = convert(ConvertConfig(tmp_path / "x.graphml", tmp_path / "y.brite"))
    assert links_of(read(tmp_path / "y.brite")) == links_of(before)
    assert facts["lost"] == {"columns of nodes": 5, "columns of links": 7}


@pytest.mark.parametrize("path", sorted((SAMPLES / "brite").glob("*.brite")), ids=lambda p: p.stem)
def test_brite_of_brite_keeps_every_column(path, tmp_path):
    facts = convert(ConvertConfig(path, tmp_path / "again.brite"))
    assert facts["lost"] == {}
    before, again = read(path), read(tmp_path / "again.brite")
    for name in ("node_id", "node_asn", "near", "far", "weight"):
        assert getattr(again, name).tolist() == getattr(before, name).tolist(), name
    for columns in ("node_columns", "link_columns"):
        then, now = getattr(before, columns), getattr(again, columns)
        assert {name: values.tolist() for name, values in now.items()} == {
            name: values.tolist() for name, values in then.items()
        }
    model = "8 - AS File" if before.kind == "as" else "7 - RT File"
    assert f"Model ({model})" in (tmp_path / "again.brite").read_text()


@pytest.mark.parametrize("format", sorted(set(WRITERS) - {"parquet"}))
def test_every_format_is_written_and_those_that_we_read_give_the_links(tmp_path, format):
    out = tmp_path / f"x{WRITERS[format].suffix}"
    facts = convert(ConvertConfig(BRITE, out))
    assert facts["n_edges"] == 5
    assert (facts["lost"] == {}) == (format in ("brite", "gexf", "graphml"))
    if format not in ("dot", "gexf"):
        assert len(links_of(read(out))) == 5


def test_what_is_lost_is_counted(tmp_path):
    facts = convert(ConvertConfig(BRITE, tmp_path / "x.mtx"))
    assert facts["lost"] == {
        "ASes of nodes": 5,
        "columns of nodes": 5,
        "columns of links": 7,
        "ids of nodes": 5,
    }
    (tmp_path / "lists.csv").write_text("0,1,2,2\n1,0\n")
    facts = convert(ConvertConfig(tmp_path / "lists.csv", tmp_path / "x.edges"))
    assert facts["lost"] == {"nodes without a link": 1}


def test_a_kit_becomes_graphml_with_its_ases_and_addresses(tmp_path):
    facts = convert(ConvertConfig(SAMPLES / "itdk/beside/kit.links", tmp_path / "x.graphml"))
    assert facts["lost"] == {}
    topology = read(tmp_path / "x.graphml")
    assert sorted(topology.node_asn.tolist()) == [-1, 64500, 64501, 64501]
    assert topology.node_addr.any(axis=1).sum() == 3


def test_traces_become_a_table_and_nothing_else(tmp_path):
    traces = SAMPLES / "atlas" / "results.jsonl"
    facts = convert(ConvertConfig(traces, tmp_path / "x.csv"))
    rows = list(csv.DictReader((tmp_path / "x.csv").read_text().splitlines()))
    assert len(rows) == facts["n_replies"] > 0
    assert {"vantage", "destination", "ttl", "address", "rtt"} <= set(rows[0])
    convert(ConvertConfig(traces, tmp_path / "x.parquet"))
    assert pq.read_table(tmp_path / "x.parquet").num_rows == len(rows)
    with pytest.raises(UsageError, match="holds traces, which are written as"):
        convert(ConvertConfig(traces, tmp_path / "x.graphml"))


@pytest.mark.parametrize("name", ["x.warts", "x.warts.gz", "x"])
def test_traces_become_warts_that_say_the_same(tmp_path, name):
    traces = SAMPLES / "atlas" / "results.jsonl"
    facts = convert(ConvertConfig(traces, tmp_path / name, None if "." in name else "warts"))
    assert facts["lost"] == {"traces without a destination": 1}
    there, before = TraceFile(tmp_path / name, "warts"), TraceFile(traces, "atlas")
    columns = ["src", "dst", "start_s", "ttl", "addr", "rtt_ms", "kind", "mpls"]
    known = before.table().filter(pc.field("dst").is_valid())
    assert there.table().select(columns) == known.select(columns)
    assert there.report.format == "warts"
    with pytest.raises(UsageError, match="holds a topology; warts holds traces"):
        convert(ConvertConfig(BRITE, tmp_path / "y.warts"))


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".warts"])
def test_of_traces_that_are_cut_short_what_is_whole_is_written(tmp_path, ending):
    whole = SAMPLES / "warts" / "sample.warts"
    n_whole = convert(ConvertConfig(whole, tmp_path / f"whole{ending}"))["n_traces"]
    cut = tmp_path / "cut.warts"
    data = whole.read_bytes()
    cut.write_bytes(data[: len(data) * 6 // 10])
    out = tmp_path / f"x{ending}"
    facts = convert(ConvertConfig(cut, out))
    assert 0 < facts["n_traces"] < n_whole
    assert facts["report"].status == "partial"
    if ending == ".warts":
        table = TraceFile(out, "warts").table()
    else:
        table = pq.read_table(out) if ending == ".parquet" else pacsv.read_csv(out)
    assert table.num_rows == facts["n_replies"] > 0
    cut.write_bytes(data[:30])
    with pytest.raises(FormatError):
        convert(ConvertConfig(cut, tmp_path / f"nothing{ending}"))
    assert not (tmp_path / f"nothing{ending}").exists()


def test_the_paths_of_a_multipath_trace_are_no_traces_without_a_reply(tmp_path):
    (tmp_path / "x.json").write_text(json.dumps(DIAMOND) + "\n")
    facts = convert(ConvertConfig(tmp_path / "x.json", tmp_path / "x.csv"))
    assert facts["n_traces"] == 1
    assert len({row.split(",")[0] for row in (tmp_path / "x.csv").read_text().split()[1:]}) > 1
    assert facts["lost"] == {}


def test_links_as_parquet_are_not_called_traces(tmp_path):
    convert(ConvertConfig(BRITE, tmp_path / "x.parquet"))
    with pytest.raises(FormatError, match=r"of links, as hopscope exports them, give \.csv"):
        convert(ConvertConfig(tmp_path / "x.parquet", tmp_path / "x.graphml"))


def test_a_kit_of_any_name_is_read_with_what_is_beside_it(tmp_path):
    kit = SAMPLES / "itdk/beside/kit.links"
    convert(ConvertConfig(kit, tmp_path / "kit.itdk", "itdk"))
    assert (tmp_path / "kit.itdk.nodes.as").exists()
    assert sorted(read(tmp_path / "kit.itdk").node_asn.tolist()) == [-1, 64500, 64501, 64501]


def test_origins_that_a_table_does_not_keep_are_counted(tmp_path):
    (tmp_path / "x.txt").write_text(
        "192.0.2.0 24 {64497,64500}\n198.51.100.0 24 1_2\n203.0.113.0 24 5\n203.0.113.0 24 6\n"
    )
    facts = convert(ConvertConfig(tmp_path / "x.txt", tmp_path / "x.pfx2as"))
    assert facts["lost"] == {
        "further origins of prefixes": 1,
        "further ASes of AS sets": 1,
        "prefixes listed again with another origin": 1,
    }


def test_a_rib_becomes_a_pfx2as_file_that_says_the_same(tmp_path):
    out = tmp_path / "bird.pfx2as"
    facts = convert(ConvertConfig(SAMPLES / "mrt" / "bird.mrt", out))
    rows = [line.split() for line in out.read_text().splitlines()]
    assert len(rows) == facts["n_prefixes"]
    assert ["20.1.0.0", "20", "196608"] in rows
    assert ["192.0.2.0", "25", "64501"] in rows
    assert ["2001:db8:1::", "48", "64503"] in rows
    tables = [PREFIXES.read_files([path])[0] for path in (SAMPLES / "mrt" / "bird.mrt", out)]
    assert tables[0].v4_first.tolist() == tables[1].v4_first.tolist()
    assert tables[0].v4_asn.tolist() == tables[1].v4_asn.tolist()
    assert tables[0].v6.first.tolist() == tables[1].v6.first.tolist()
    assert tables[0].v6.asn.tolist() == tables[1].v6.asn.tolist()
    with pytest.raises(FormatError):
        convert(ConvertConfig(BRITE, tmp_path / "x.pfx2as"))


def test_what_cannot_be_done_leaves_nothing(tmp_path):
    (tmp_path / "x.txt").write_text("Dear all,\n")
    with pytest.raises(FormatError, match="unknown format"):
        convert(ConvertConfig(tmp_path / "x.txt", tmp_path / "x.graphml"))
    with pytest.raises(UsageError, match=r"no format ends with \.foo"):
        convert(ConvertConfig(BRITE, tmp_path / "x.foo"))
    same = tmp_path / "same.brite"
    same.write_bytes(BRITE.read_bytes())
    with pytest.raises(UsageError, match="is the input"):
        convert(ConvertConfig(same, same))
    assert same.read_bytes() == BRITE.read_bytes()
    assert not (tmp_path / "x.graphml").exists()


def test_the_command_says_what_was_lost_and_how_a_cut_file_ended(tmp_path, capsys):
    cut = tmp_path / "cut.gml"
    cut.write_text("graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ]")
    with pytest.raises(SystemExit, match="1"):
        main(["convert", str(cut), str(tmp_path / "x.mtx")])
    said = capsys.readouterr()
    assert "2 nodes, 1 link" in said.out
    assert "cut short" in said.err
    cut.write_text("source,target,weight\na,b,-1\nb,c,2\n")
    with pytest.raises(SystemExit, match="0"):
        main(["convert", str(cut), str(tmp_path / "x.mtx")])
    assert "noted: values below 0 or too large: not read as weights (2)" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="0"):
        main(["convert", str(BRITE), str(tmp_path / "x.mtx"), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["lost"]["ASes of nodes"] == 5


TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cf", "Co", "Cn")), max_size=8
)


@settings(max_examples=examples(40), deadline=None)
@given(
    names=st.lists(TEXT, min_size=2, max_size=6),
    links=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8),
    data=st.data(),
)
def test_any_names_come_back_from_graphml(tmp_path_factory, names, links, data):
    folder = tmp_path_factory.mktemp("names")
    rows = [(a % len(names), b % len(names)) for a, b in links]
    quoted = [name.replace("&", "&#38;").replace('"', "&#34;") for name in names]
    nodes = "".join(f'node [ id {i} label "{name}" ]\n' for i, name in enumerate(quoted))
    edges = "".join(f"edge [ source {a} target {b} ]\n" for a, b in rows)
    (folder / "x.gml").write_text(f"graph [\n{nodes}{edges}]\n", encoding="utf-8")
    before = read(folder / "x.gml")
    convert(ConvertConfig(folder / "x.gml", folder / "y.graphml"))
    after = read(folder / "y.graphml")
    assert links_of(after) == links_of(before)
    label = after.node_columns.get("label")
    assert (label.tolist() if label is not None else [""] * len(names)) == (
        before.node_columns["label"].tolist()
    )
