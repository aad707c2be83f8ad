"""Rows of the page of all nights: what each report says, and what none says."""

from __future__ import annotations

import json

import pytest

from pipeline.report import write_reports
from pipeline.report.comparison import write_comparison
from pipeline.report.nights.page import nights_page
from pipeline.report.nights.rows import NO_REPORT, OK, PARTIAL, night_rows
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.test_comparison import EVIL, some_changes

COUNTS = {"n_addrs": 2000, "n_addrs_mapped": 1999}


def write_night(out, name, asn=10, **manifest):
    links, ingresses = {asn: [(0, 1), (1, 2)]}, [(asn, 0, [20], 3, 0, False)]
    found = MemorySnapshot(links, {asn: 3}, ingresses, name=name, manifest=manifest)
    return write_reports(found, measured(found), out, options={}, warnings=["one"], started=0.0)


def edit(out, name, **values):
    path = out / name / "report.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_row_has_the_totals_of_its_report_and_the_share_is_rounded_down(tmp_path):
    write_night(tmp_path, "2026-11-21", counts=COUNTS)
    (row,) = night_rows(tmp_path)
    assert (row.name, row.status, row.is_night) == ("2026-11-21", OK, True)
    assert (row.n_ases, row.n_nodes, row.n_ingresses, row.mean_hops) == (1, 3, 1, 1.5)
    assert (row.mapped, row.n_warnings) == (99.9, 1)
    assert row.href == "2026-11-21/index.html"
    assert (row.n_events, row.changes_href) == (None, "")


@pytest.mark.parametrize(
    ("counts", "mapped"),
    [({"n_addrs_mapped": 0}, 0.0), ({"n_addrs_mapped": None}, None), ({"n_addrs": 0}, None)],
)
def test_no_mapped_address_is_a_share_of_0_and_an_unknown_number_none(tmp_path, counts, mapped):
    write_night(tmp_path, "2026-11-21")
    edit(tmp_path, "2026-11-21", counts=COUNTS | counts)
    (row,) = night_rows(tmp_path)
    assert row.mapped == mapped


def test_addresses_in_no_prefix_table_stand_beside_the_share(tmp_path):
    for day, lost in (("20", {}), ("21", {"n_addrs_in_no_table": 7})):
        write_night(tmp_path, f"2026-11-{day}", counts=COUNTS | lost)
    new, old = night_rows(tmp_path)
    assert (new.mapped, new.remark, new.is_mapped_low) == (
        99.9,
        "7 addresses in no prefix table",
        False,
    )
    assert (old.mapped, old.remark, old.is_mapped_low) == (99.9, "", False)
    page = nights_page([new, old])
    assert '99.9\u00a0%, <small class="lost">7 addresses in no prefix table</small><td' in page
    assert 'data-label="mapped">99.9\u00a0%<td' in page
    assert "mapped, per cent <b>99.9</b>, 7 addresses in no prefix table <small>" in page
    assert "those of them that are admitted, but have no AS" in page
    assert "no prefix table" not in nights_page([old])
    edit(tmp_path, "2026-11-21", counts=COUNTS | {"n_addrs_in_no_table": 1000})
    low = night_rows(tmp_path)[0]
    assert '<span class="warn">99.9\u00a0%, <small' in nights_page([low])
    edit(tmp_path, "2026-11-21", counts=COUNTS | {"n_addrs_in_no_table": "many"})
    assert night_rows(tmp_path)[0].remark == ""


def test_the_newest_comes_first_and_other_names_go_by_their_newest_record(tmp_path):
    for name in ("2026-11-20", "2026-11-22"):
        write_night(tmp_path, name)
    write_night(tmp_path, "lab", inputs=[{"path": "a", "newest_s": 1795355600.0}])  # 2026-11-22
    write_night(tmp_path, "older", inputs=[{"path": "a", "newest_s": 1795100000.0}])  # 2026-11-19
    rows = night_rows(tmp_path, ["2026-11-21", "2026-11-20", "stored"])
    assert [row.name for row in rows] == ["lab", "2026-11-22", "2026-11-21", "2026-11-20", "older"]
    assert [row.status for row in rows] == [OK, OK, NO_REPORT, OK, OK]
    assert rows[2].href == ""


def test_nights_of_one_date_are_in_the_order_of_their_times_and_numbers(tmp_path):
    date, time = "2026-03-29", "2026-03-29T233000Z"
    names = [f"{time}-{n}" for n in (10, 9, 2)]
    for name in names:
        write_night(tmp_path, name, inputs=[{"path": "a", "newest_s": 1774827000.0}])
    late, early = f"{date}T013000Z", f"{date}T003000Z"  # named by the time of a run, in truth later
    write_night(tmp_path, early, inputs=[{"path": "a", "newest_s": 1774827060.0}])
    rows = night_rows(tmp_path, [late, date])
    assert [row.name for row in rows] == [early, *names, date, late]


def test_what_was_left_out_makes_a_night_partial(tmp_path):
    write_night(tmp_path, "2026-11-20", inputs=[{"path": "a", "status": "rejected"}])
    write_night(tmp_path, "2026-11-21")
    totals = json.loads((tmp_path / "2026-11-21" / "report.json").read_text())["totals"]
    assert night_rows(tmp_path)[0].status == OK
    edit(tmp_path, "2026-11-21", totals=totals | {"n_failed": 1})
    assert [row.status for row in night_rows(tmp_path)] == [PARTIAL, PARTIAL]


def test_a_comparison_gives_its_counts_and_first_event(tmp_path):
    write_night(tmp_path, "night")
    write_comparison(tmp_path, "2026-11-20", "night", *some_changes(), {7: EVIL})
    (row,) = night_rows(tmp_path)
    assert (row.n_events, row.n_changes, row.since) == (13, 16, "2026-11-20")
    assert "0.0.0.9 in AS7 (<script>alert(1)</script>\ufffd" in row.first_event
    assert row.changes_href == "night/changes.html"
    (tmp_path / "night" / "events.parquet").write_bytes(b"PAR1 cut")
    assert night_rows(tmp_path)[0].n_events is None


def test_a_comparison_of_other_versions_is_not_taken_for_one_of_these(tmp_path):
    version = json.loads((write_night(tmp_path, "night").files["report"]).read_text())
    versions = "old-000000000001", version["snapshot_version"]
    write_comparison(tmp_path, "old", "night", *some_changes(), {}, versions=versions)
    for now, is_earlier in (({}, False), ({"old": versions[0]}, False), ({"old": "old-2"}, True)):
        (row,) = night_rows(tmp_path, versions=now)
        assert (row.since, row.is_since_earlier) == ("old", is_earlier)
    assert "since <bdi>old</bdi>, an earlier version of it" in nights_page([row])
    edit(tmp_path, "night", snapshot_version="night-000000000002")
    assert night_rows(tmp_path)[0].n_events is None


def test_a_generated_night_names_what_made_it(tmp_path):
    write_night(tmp_path, "2026-11-20")
    assert night_rows(tmp_path)[0].made_by == ()
    edit(tmp_path, "2026-11-20", synthetic=[{"made_by": "hopscope generate ba\u202e"}, 7, {}])
    assert night_rows(tmp_path)[0].made_by == ("hopscope generate ba\ufffd",)
    edit(tmp_path, "2026-11-20", synthetic="all")
    assert night_rows(tmp_path)[0].made_by == ()


def test_folders_that_are_not_our_reports_are_left_out(tmp_path):
    write_night(tmp_path, "2026-11-21")
    (tmp_path / "<b>bold").mkdir()
    (tmp_path / "2026-11-19").symlink_to(tmp_path / "2026-11-21")
    (tmp_path / "2026-11-18").write_text("a file")
    (tmp_path / "2026-11-21").rename(tmp_path / "other")  # its report names another folder
    assert night_rows(tmp_path) == []
    (tmp_path / "other").rename(tmp_path / "2026-11-21")
    assert [row.name for row in night_rows(tmp_path)] == ["2026-11-21"]


@pytest.mark.parametrize("damage", [None, [], "text", 7, {"n_ases": "many", "mean_hops": {}}])
def test_a_damaged_report_costs_its_own_figures(tmp_path, damage):
    write_night(tmp_path, "2026-11-20")
    write_night(tmp_path, "2026-11-21")
    edit(tmp_path, "2026-11-21", totals=damage, counts=damage, inputs=damage, warnings=damage)
    damaged, whole = night_rows(tmp_path)
    assert (damaged.name, damaged.n_ases, damaged.mean_hops) == ("2026-11-21", None, None)
    assert whole.n_ases == 1


def test_a_time_that_no_calendar_has_is_no_error(tmp_path):
    for newest in (1e300, "soon", [1], -1e18):
        write_night(tmp_path, "lab", inputs=[{"path": "a", "newest_s": 1.0}])
        edit(tmp_path, "lab", inputs=[{"path": "a", "newest_s": newest}])
        assert [row.name for row in night_rows(tmp_path)] == ["lab"]
