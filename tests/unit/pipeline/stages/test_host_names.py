"""Host names from a file to the store, the terminal, tables and pages; hostile ones harm none."""

from __future__ import annotations

import json
import re
import time

import pyarrow.parquet as pq
import pytest

from pipeline.config import IngestConfig
from pipeline.errors import UsageError
from pipeline.model.addresses import format_addr
from pipeline.report import write_reports
from pipeline.stages.contents.why import reasons_for
from pipeline.stages.ingest import ingest
from pipeline.stages.nights.snapshots import open_night
from pipeline.store import open_snapshot
from tests.markup import Parsed
from tests.real_data import REPOSITORY
from tests.unit.pipeline.report.test_from_store import search
from tests.unit.pipeline.stages.contents.test_snapshots import said

LAB = REPOSITORY / "data" / "samples" / "lab"
TRACES = LAB / "h0.udp-paris.json.gz"
EVIL = "<script>alert(1)</script>\"'&\u202etxt.\x1b[2J"  # has no blank: names end there
PLAIN = EVIL.replace("\x1b", "\ufffd")


def config(store, *names, **more) -> IngestConfig:
    given = {"ip2as": (LAB / "lab.pfx2as",), "allow_special": ("198.18.0.0/15",), **more}
    return IngestConfig(inputs=(TRACES,), store=store, host_names=names, **given)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two snapshots of the same traces: one without names, one where every address has one."""
    folder = tmp_path_factory.mktemp("names")
    ingest(config(folder / "store", snapshot="plain"))
    with open_snapshot(folder / "store", "plain") as snapshot:
        lows = snapshot.addresses()["addr_low"].to_pylist()
    texts = [format_addr(0, low) for low in lows]
    path = folder / "names.txt"
    path.write_text("".join(f"{text}\t{EVIL}-{text}\n" for text in texts) + "1.1.1.1 one.one\n")
    summary = ingest(config(folder / "store", path, snapshot="named"))
    assert summary.complete
    assert not any("without effect" in line for line in summary.warnings)
    return folder / "store"


def written(store, name, out):
    with open_snapshot(store, name) as snapshot:
        made = search(snapshot)
        return write_reports(snapshot, made, out, options={}, warnings=[], started=time.time())


def test_only_names_of_addresses_that_occur_are_kept(store):
    with open_snapshot(store, "named") as named, open_snapshot(store, "plain") as plain:
        kept = named.host_names()
        assert len(kept) == named.addresses().num_rows
        assert plain.host_names() is None
        assert "host_names.parquet" not in plain.manifest["files"]
        named.verify()
        assert kept.name[0].startswith(PLAIN)


def test_names_are_no_change_between_nights(store):
    with open_snapshot(store, "named") as named, open_snapshot(store, "plain") as plain:
        assert open_night(named).inputs == open_night(plain).inputs
        assert any(row["format"] == "host-names" for row in named.manifest["inputs"])


def test_a_router_has_the_name_of_its_smallest_address_that_has_one(store, tmp_path):
    report = written(store, "named", tmp_path)
    for name in ("ingresses", "exits"):
        table = pq.read_table(report.files[name])
        assert "host_name" in table.column_names
        rows = table.to_pylist()
        assert rows
        assert all(row["host_name"] == f"{PLAIN}-{row['addr']}" for row in rows)


def test_pages_show_names_and_escape_them(store, tmp_path):
    report = written(store, "named", tmp_path)
    pages = sorted((report.path / "as").glob("*.html"))
    shown = 0
    for path in pages:
        text = path.read_text()
        assert "alert(1)</script>" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text
        for cell in re.findall(r"<bdi class=host>.*?</bdi>", text):
            parsed = Parsed(cell)
            assert [tag for tag, _ in parsed.elements] == ["bdi"]
            assert parsed.text.startswith(PLAIN.replace("\u202e", "\ufffd"))
            shown += 1
    ingresses = pq.read_table(report.files["ingresses"]).num_rows
    exits = pq.read_table(report.files["exits"]).num_rows
    assert shown == ingresses + exits  # none of these ASes has more than a page shows


def test_pages_without_names_have_no_place_for_them(store, tmp_path):
    report = written(store, "plain", tmp_path)
    for path in (report.path / "as").glob("*.html"):
        assert "host" not in path.read_text()
    assert pq.read_table(report.files["ingresses"])["host_name"].null_count > 0


def test_the_terminal_tells_names_without_being_controlled(store, capsys):
    with open_snapshot(store, "named") as snapshot:
        asn = int(snapshot.asn[snapshot.n_ingresses.argmax()])
    status, out, _ = said(capsys, "show", "named", asn, "--store", store)
    assert status == 0
    first = re.search(r"^(198\.\S+) is <script>", out, re.MULTILINE)[1]
    assert len(re.findall(rf"^{re.escape(first)} is ", out, re.MULTILINE)) == 1
    lookup = said(capsys, "lookup", first, "--snapshot", "named", "--store", store)[1]
    assert "Its host name is <script>alert(1)</script>" in lookup
    prefix = said(capsys, "lookup", f"{first}/24", "--snapshot", "named", "--store", store)[1]
    assert f"{first} is <script>" in prefix or "more address" in prefix
    for text in (out, lookup, prefix):
        assert "\x1b" not in text
        assert "\u202e" not in text
    facts = json.loads(said(capsys, "lookup", first, "--json", "--store", store)[1])
    assert facts["found"][0]["host_name"] == f"{PLAIN}-{first}"
    plain = said(capsys, "lookup", first, "--snapshot", "plain", "--store", store)[1]
    assert "host name" not in plain


def test_names_of_nobody_and_broken_files_are_said_and_harm_nothing(tmp_path):
    nobody, broken = tmp_path / "nobody", tmp_path / "broken"
    nobody.write_text("192.0.2.1 nobody.example\n")
    broken.write_text("192.0.2.0\t24\t64500\n")
    summary = ingest(config(tmp_path / "store", nobody, broken))
    assert re.search(
        rf"--host-names \(names 0 of \d+ addresses: {nobody}, 1 record\)", summary.warnings[0]
    )
    assert any("no host name in it" in line for line in summary.warnings)
    statuses = {report.path.rpartition("/")[2]: report.status for report in summary.reports}
    assert (statuses["nobody"], statuses["broken"]) == ("ok", "rejected")
    assert not summary.complete


def test_names_for_a_topology_without_addresses_are_read_and_said_to_be_without_effect(tmp_path):
    edges, names = tmp_path / "e.txt", tmp_path / "names.txt"
    edges.write_text("0 1\n1 2\n")
    names.write_text("1.1.1.1 one.one\n")
    summary = ingest(
        IngestConfig(inputs=(edges,), store=tmp_path / "store", asn=5, host_names=(names,))
    )
    assert [(r.format, r.status, r.n_records) for r in summary.reports[1:]] == [
        ("host-names", "ok", 1)
    ]
    assert sum("--host-names" in line for line in summary.warnings) == 1
    with open_snapshot(tmp_path / "store") as snapshot:
        assert snapshot.host_names() is None


def test_rules_that_read_ases_need_host_names_and_say_what_they_read(tmp_path, store):
    rules = tmp_path / "rules.jsonl"
    rule = {"domain": "x.net", "re": [r"^as(\d+)-"], "score": {"tp": 99, "fp": 1, "class": "good"}}
    rules.write_text(json.dumps(rule) + "\n")
    with pytest.raises(UsageError, match="--host-names"):
        ingest(config(tmp_path / "s", name_rules=(rules,)))
    with open_snapshot(store, "plain") as plain:
        asn = int(plain.asn[0])
        lows = plain.addresses()["addr_low"].to_pylist()
    names = tmp_path / "names"
    texts = [format_addr(0, low) for low in lows]
    names.write_text("".join(f"{text} as{asn}-{text}.x.net\n" for text in texts))
    summary = ingest(config(tmp_path / "s", names, name_rules=(rules,), snapshot="ruled"))
    assert summary.complete
    assert not any("without effect" in line for line in summary.warnings)
    with open_snapshot(tmp_path / "s", "ruled") as ruled, open_snapshot(store, "plain") as plain:
        assert len(ruled.host_names()) == ruled.addresses().num_rows
        assert len(ruled.asn) < len(plain.asn)  # every name says the same AS
        owners = ruled.reasons().owners
        row = next(
            row
            for row in range(len(owners))
            if any(t.name == "host-names" and not t.n_here for t in owners.terms_of(row))
        )
        told = " ".join(reasons_for(ruled, format_addr(*owners.addr[row].tolist()))["sentences"])
    assert re.search(rf"its host name(s say| says) AS{asn}", told)
    assert "that says another AS" in told or "that say another AS" in told
    names.write_text("".join(f"{text} core.x.net\n" for text in texts))
    summary = ingest(config(tmp_path / "s", names, name_rules=(rules,), snapshot="none"))
    assert any("--name-rules (read an AS in the names of 0 of" in w for w in summary.warnings)
