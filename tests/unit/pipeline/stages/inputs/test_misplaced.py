"""Tables given as inputs are answered with the option that takes them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.config import IngestConfig
from pipeline.options import options_of
from pipeline.stages.inputs.files import find_inputs
from pipeline.stages.inputs.misplaced import where_it_belongs
from tests.real_data import REPOSITORY

TABLES = [
    ("--ip2as", "198.51.100.0\t24\t64500\n"),
    ("--ip2as", "2001:db8::\t32\t64500_64501,64502\n"),
    ("--host-names", "1463000000\t198.51.100.1\tr1.example.net\n"),
    ("--host-names", "2001:db8::1 r1.example.net\n"),
    ("--aliases", "# ITDK\nnode N1:  198.51.100.1 198.51.100.2\n"),
    ("--aliases", "198.51.100.1 N1 L1 T\n"),
    ("--aliases", "# made by MIDAR\n# set      0:    151\n198.51.100.1\n"),
    ("--as2org", "# format:org_id|changed|org_name|country|source\nA|2020|A|US|ARIN\n"),
    ("--as2org", '{"asn":"3356","organizationId":"LPL-141-ARIN","type":"ASN"}\n'),
    ("--delegated", "2|apnic|20240101|3|19830613|20240101|+1000\n"),
    ("--delegated", "arin|US|ipv4|198.51.100.0|256|20200101|allocated|a\n"),
]


@pytest.mark.parametrize(("flag", "text"), TABLES)
def test_a_table_given_as_an_input_is_answered_with_its_option(tmp_path, capsys, flag, text):
    path = tmp_path / "table.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(SystemExit, match="2"):
        main(["ingest", str(path), "--store", str(tmp_path / "store")])
    said = capsys.readouterr().err
    assert f"{path}: " in said
    assert flag in said
    others = {each.flag for each in options_of(IngestConfig) if each.rows} - {flag}
    assert not [each for each in others if each in said]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x1f\x8b broken",
        b"a,b\n1,2\n",
        b"traceroute to 198.51.100.9\n 1  198.51.100.1  0.5 ms\n",
        b"notes about node N1: it is old\n",
        b"64500|Name of an AS\n",
        b"\xff\xfe\x00node N1: \n",
    ],
)
def test_other_files_are_answered_with_no_option(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    assert where_it_belongs(path) == ""


def test_a_sample_of_the_repository_and_its_table(tmp_path):
    lab: Path = REPOSITORY / "data" / "samples" / "lab"
    assert "--ip2as" in where_it_belongs(lab / "lab.pfx2as")
    assert where_it_belongs(lab / "as_names.json") == ""


def test_relationships_are_a_graph_by_themselves_and_a_table_beside_traces(tmp_path):
    path = tmp_path / "as-rel.txt"
    path.write_text("64500|64501|-1\n64501|64502|0\n")
    traces = REPOSITORY / "data/samples/atlas/results.jsonl"
    (file,) = find_inputs([path], None, tmp_path / "store").files
    assert file.format == "as_rel"
    beside = find_inputs([path, traces], None, tmp_path / "store").files
    assert "--as-rel" in str(beside[0].error)
    assert beside[1].error is None


def test_what_looks_like_a_table_is_not_looked_for_in_folders(tmp_path):
    (tmp_path / "as-rel.txt").write_text("64500|64501|-1\n64501|64502|0\n")
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n")
    (tmp_path / "graph.mtx").write_text(
        "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"
    )
    rules = tmp_path / "rules.jsonl"  # named as measurements are
    rules.write_text('{"domain": "example.net", "re": ["^as(\\\\d+)$"]}\n')
    found = find_inputs([tmp_path], None, tmp_path / "store")
    assert [file.path.name for file in found.files] == ["graph.mtx"]
    assert len(found.left_alone) == 3
    (given,) = find_inputs([rules], None, tmp_path / "store").files
    assert "--name-rules" in str(given.error)
