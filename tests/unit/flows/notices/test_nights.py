"""What notices read of reports."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq

from flows.notices.nights import as_page_of, events_before, events_of, wanted_asns
from pipeline.config import NotifyConfig


def night(out, name, n_traces, newest_s=0.0):
    folder = out / name
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"n_traces": [n_traces]}), folder / "events.parquet")
    facts = {"schema_version": 1, "snapshot": name, "versions": {"hopscope": "0"}}
    (folder / "report.json").write_text(json.dumps(facts))


def test_events_of_the_nights_before_come_the_oldest_first(tmp_path):
    for day, n_traces in ((20, 1), (23, 4), (21, 2), (22, 3)):
        night(tmp_path, f"2026-11-{day}", n_traces)
    night(tmp_path, "extra", 9)
    (tmp_path / "2026-11-19").mkdir()  # no comparison
    found = events_before(tmp_path, "2026-11-23", 2)
    assert [rows[0]["n_traces"] for rows in found] == [2, 3]
    assert events_before(tmp_path, "2026-11-20", 7) == [[]]
    assert events_before(tmp_path, "extra", 7) == events_before(tmp_path, "2026-11-23", 0) == []
    (tmp_path / "2026-11-22" / "events.parquet").write_bytes(b"PAR1")
    assert events_of(tmp_path / "2026-11-22") == []


def test_ases_are_wanted_by_number_by_name_and_by_organisation(tmp_path):
    names = {1: "EXAMPLE-NET, NL", 2: "Other", 3: None, 4: "Lab of Example"}
    table = pa.table({"asn": list(names), "name": pa.array(names.values(), pa.string())})
    pq.write_table(table, tmp_path / "ases.parquet")
    as2org = tmp_path / "as2org.txt"
    as2org.write_text("# format:aut|changed|aut_name|org_id|opaque_id|source\n")
    with as2org.open("a") as file:
        file.writelines(
            f"{asn}|20260101|n|{org}||X\n" for asn, org in ((1, "a"), (9, "a"), (2, "b"))
        )
    wanted = NotifyConfig(notify_org=("example",), notify_asn=(7,))
    assert wanted_asns(NotifyConfig(), tmp_path) is None
    assert wanted_asns(wanted, tmp_path) == {1, 4, 7}
    assert wanted_asns(wanted, tmp_path, as2org=as2org) == {1, 4, 7, 9}
    assert wanted_asns(wanted, tmp_path / "none", as2org=tmp_path / "none") == {7}


def test_only_ases_with_a_page_have_a_link(tmp_path):
    (tmp_path / "as").mkdir()
    (tmp_path / "as" / "7.html").touch()
    page = as_page_of(tmp_path, "http://127.0.0.1/reports/n/index.html")
    assert (page(7), page(8)) == ("http://127.0.0.1/reports/n/as/7.html", "")
