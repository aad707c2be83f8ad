"""Organisations and relations that files state: by commands, on pages, in tables."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from tests.real_data import REPOSITORY

LAB = REPOSITORY / "data" / "samples" / "lab"
HOSTILE = "Fen <script>alert(1)</script> & Sons"
ORGANISATIONS = f"""# format:org_id|changed|org_name|country|source
A||{HOSTILE}|ZZ|LAB
# format:aut|changed|aut_name|org_id|opaque_id|source
64508||ONE|A||LAB
64503||TWO|A||LAB
64497||THREE|B||LAB
"""


def run(*words) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    return ended.value.code or 0


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stated")
    (folder / "as2org.txt").write_text(ORGANISATIONS)
    (folder / "rel.txt").write_text("64503|64508|-1\n64496|64497|0\n64497|64499|-1\n")
    words = ["--ip2as", LAB / "lab.pfx2as", "--allow-special", "198.18.0.0/15"]
    words += ["--as2org", folder / "as2org.txt", "--as-rel", folder / "rel.txt"]
    words += ["--borders", "prefix", "--routers", "interfaces"]
    words += ["--as-names", LAB / "as_names.json", "--snapshot", "night", "--workers", 1]
    words += ["--store", folder / "store"]
    assert (
        run("ingest", LAB / "h1.icmp-paris.warts.gz", LAB / "h9.icmp-paris.warts.gz", *words) == 0
    )
    words = ["--snapshot", "night", "--store", folder / "store", "--out", folder / "out"]
    assert run("analyze", *words) == 0
    return folder


def test_show_says_organisation_and_relations(made, capsys):
    words = ["show", "night", 64503, "--store", made / "store"]
    assert run(*words) == 0
    shown = capsys.readouterr().out
    assert f"Organisation: {HOSTILE}; its other ASes here: AS64508\n" in shown
    assert "customer, sibling" in shown
    assert run(*words, "--json") == 0
    one = json.loads(capsys.readouterr().out)["as"]
    assert one["organisation_asns"] == [64508]
    stated = {(row["near_asn"], row["far_asn"]): row["relation"] for row in one["as_links"]}
    assert stated[64503, 64508] == "provider"


def test_tables_of_a_report_have_them(made):
    report = made / "out" / "night"
    rows = pq.read_table(report / "ases.parquet", columns=["asn", "organisation"]).to_pylist()
    known = {row["asn"]: row["organisation"] for row in rows if row["organisation"]}
    assert known == {64508: HOSTILE, 64503: HOSTILE, 64497: "B"}
    links = pq.read_table(report / "as_links.parquet").to_pylist()
    stated = {(row["near_asn"], row["far_asn"]): row["relation"] for row in links}
    assert stated[64503, 64508] == "provider"
    assert stated[64496, 64497] == "peer"
    assert None in stated.values()


def test_pages_link_siblings_and_say_what_neighbours_are_without_running_their_names(made):
    page = (made / "out" / "night" / "as" / "64503.html").read_text()
    assert "<script>alert" not in page
    assert "; its other AS here: <a href=64508.html>AS64508</a>" in page
    assert "index.html#q=Fen%20%3Cscript%3Ealert%281%29%3C%2Fscript%3E%20%26%20Sons" in page
    assert "<td>customer, sibling" in page
    index = (made / "out" / "night" / "index.html").read_text()
    assert "<script>alert" not in index
    assert "organisation" in index
    script = (made / "out" / "night" / "ases.js").read_text()
    assert '"Fen \\u003cscript\\u003e' in script
