"""What ``list`` and ``show`` say about a store, and how they print it."""

from __future__ import annotations

import json
import shutil

import pytest

from pipeline.cli import main
from pipeline.config import ListConfig, ShowConfig
from pipeline.errors import StoreError, UsageError
from pipeline.report import write_reports
from pipeline.stages.contents.snapshots import list_snapshots, show
from pipeline.store import open_snapshot
from pipeline.terminal.contents import print_as
from tests.unit.pipeline.report.test_from_store import search
from tests.unit.pipeline.stages.small_store import HOSTILE, A, X, Y, make_store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("small"))


def said(capsys, *words: str) -> tuple[int, str, str]:
    """Exit status, results and messages of one command."""
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out, shown.err


def test_a_list_has_the_totals_of_each_snapshot(store):
    (facts,) = list_snapshots(ListConfig(store))
    assert facts["snapshot"] == "night"
    assert (facts["n_ases"], facts["n_nodes"], facts["n_ingresses"]) == (3, 6, 5)
    assert (facts["node_kind"], facts["n_traces"], facts["fault"]) == ("interface", 6, None)


def test_a_broken_snapshot_is_named_and_the_others_are_listed(store, tmp_path, capsys):
    shutil.copytree(store, tmp_path, dirs_exist_ok=True)
    make_store(tmp_path, "second")
    (next((tmp_path / "versions").glob("night-*")) / "ases.parquet").unlink()
    status, out, err = said(capsys, "list", "--store", tmp_path)
    assert status == 1
    assert "second" in out
    assert "ases.parquet: is missing" in err
    assert main_json(capsys, "list", "--store", tmp_path, status=1)["snapshots"][1]["fault"] is None


def test_a_broken_pointer_is_named_and_the_others_are_listed(store, tmp_path, capsys):
    shutil.copytree(store, tmp_path, dirs_exist_ok=True)
    (tmp_path / "snapshots" / "empty.json").write_bytes(b"")
    status, out, err = said(capsys, "list", "--store", tmp_path)
    assert status == 1
    assert "night" in out
    assert "empty.json: is not a pointer to a snapshot" in err
    listed = main_json(capsys, "list", "--store", tmp_path, status=1)["snapshots"]
    assert [facts["fault"] is None for facts in listed] == [False, True]


def test_json_of_hostile_names_is_inert_in_a_terminal_and_holds_the_same_text(store, capsys):
    status, out, _ = said(capsys, "show", "night", "2", "--json", "--store", store)
    assert status == 0
    assert "\u202e" not in out
    assert "\\u202e" in out
    assert json.loads(out)["as"]["name"] == HOSTILE


def main_json(capsys, *words, status=0) -> dict:
    ended, out, _ = said(capsys, *words, "--json")
    assert ended == status
    return json.loads(out)


def test_a_store_without_snapshots_is_an_error(tmp_path, capsys):
    with pytest.raises(StoreError, match="no snapshot here"):
        list_snapshots(ListConfig(tmp_path))
    assert said(capsys, "list", "--store", tmp_path)[0] == 2


def test_an_as_shows_who_enters_where_and_leaves(store):
    facts = show(ShowConfig("night", store, 2))["as"]
    doors = [
        (row["addr"], row["neighbor_asns"], row["neighbor_n_direct"]) for row in facts["ingresses"]
    ]
    assert doors == [(X, [1], [3]), (Y, [3], [1])]
    assert [row["n_after_gap"] for row in facts["ingresses"]] == [0, 1]
    exits = [(row["addr"], row["neighbor_asns"]) for row in facts["exits"]]
    assert exits == [(X, [3]), (Y, [1, 3])]
    assert [(row["near_asn"], row["far_asn"]) for row in facts["as_links"]] == [(1, 2), (2, 3)]
    assert facts["measured"] is None


def test_an_as_shows_the_rtt_that_it_adds_behind_each_ingress(store):
    """Hops are 10 ms apart: X at TTL 2 and Y at 3 of one trace, of others X alone."""
    rows = {row["addr"]: row for row in show(ShowConfig("night", store, 2))["as"]["ingresses"]}
    assert rows[X]["delay_ms"] == rows[X]["delay_p25_ms"] == rows[X]["delay_p75_ms"] == 10.0
    names = ("delay_n_traces", "delay_n_vantages", "delay_n_negative")
    assert [rows[X][name] for name in names] == [1, 1, 0]
    assert (rows[X]["delay_by_ttl_ms"], rows[X]["delay_by_ttl_n_traces"]) == ([10.0], [1])
    assert rows[Y]["delay_ms"] is None


def test_ingresses_of_low_confidence_are_counted_without_candidates(store, capsys):
    one = show(ShowConfig("night", store, 2))["as"]
    first, second = one["ingresses"]
    low = [first | {"confidence": 0.25}, second | {"confidence": 0.25, "candidate": True}]
    print_as({"as": one | {"ingresses": low}})
    assert "1 ingress below an ingress confidence of 0.7" in capsys.readouterr().out


def test_no_ingress_of_a_table_is_certain(store, capsys):
    one = show(ShowConfig("night", store, 2))["as"]
    (first, *_) = one["ingresses"]
    print_as({"as": one | {"ingresses": [first | {"confidence": 0.998}]}})
    out = capsys.readouterr().out
    assert "0.99" in out
    assert "1.00" not in out


def test_candidates_beyond_the_table_are_not_counted_as_ingresses(store, capsys):
    one = show(ShowConfig("night", store, 2))["as"]
    first, last = one["ingresses"][0], one["ingresses"][0] | {"candidate": True}
    for n_ingresses, n_candidates, left in (
        (12, 3, "and 2 more ingresses and 3 more candidates; --json has all"),
        (4, 7, "and 1 more candidate; --json has all"),
        (11, 0, "and 1 more ingress; --json has all"),
        (3, 7, ""),
    ):
        rows = n_ingresses * [first] + n_candidates * [last]
        print_as({"as": one | {"ingresses": rows}})
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if line.startswith("and ")] == ([left] if left else [])


def test_the_last_report_of_this_version_is_told(store, tmp_path, capsys):
    with open_snapshot(store) as snapshot:
        options = {"options": {}, "warnings": [], "started": 0.0, "pages": False}
        write_reports(snapshot, search(snapshot), tmp_path, **options)
    found = show(ShowConfig("night", store, 2, tmp_path))["as"]["measured"]
    assert (found["asn"], found["mean_hops"]) == (2, 1.0)
    out = said(capsys, "show", "night", "2", "--store", store, "--out", tmp_path)[1]
    assert "Measured: mean hops 1.00, median hops 1.0" in out


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({"effective_diameter": 4.9, "effective_error": 0.0}, "effective diameter 4.90"),
        (
            {"weighted_diameter": 1.75e-8, "weighted_radius": 1e12},
            "weighted diameter 1.75e-8, weighted radius 1e+12",
        ),
        (
            {"weighted_diameter": 12.5, "weighted_diameter_lower": 12.5, "weighted_n_center": 1},
            "weighted diameter 12.50, 1 interface in the center by weight",
        ),
        (
            {"diameter": None, "diameter_lower": 7, "diameter_upper": 10, "radius": 4},
            "diameter 7\u201310, radius 4",
        ),
        (
            {"radius": 5, "radius_lower": 5, "n_center": 87, "n_periphery": 9},
            "radius 5, 87 interfaces in the center, 9 interfaces in the periphery",
        ),
        ({"weighted_radius_lower": 1.5, "weighted_radius": None}, "weighted radius at least 1.50"),
        ({"diameter": None, "n_width_searches": 0, "exact": False}, "nothing"),
    ],
)
def test_every_figure_of_the_report_is_told(store, capsys, known, told):
    one = show(ShowConfig("night", store, 2))["as"]
    print_as({"as": one | {"measured": {"status": "ok", "reason": None} | known}})
    assert capsys.readouterr().out.splitlines()[-1] == f"Measured: {told}"


def test_words_are_exact_and_names_cannot_control_the_terminal(store, capsys):
    status, out, err = said(capsys, "show", "night", "--store", store)
    assert status == 0
    assert (
        "6 traces, 3 ASes, 6 interfaces, 2 links inside ASes and 5 between them, 5 ingresses" in out
    )
    assert "5 of 6 addresses mapped or admitted (83.3 %)" in out
    assert "careful" in err
    one = said(capsys, "show", "night", "AS2", "--store", store)[1]
    assert "AS2 <b>Two\ufffd[31m & \ufffdowt</b>: 2 interfaces, 1 link, 1 component" in one
    for text in (out, one):
        assert "router" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "AS1 (3)" in one
    assert X in one


def test_what_is_not_there_is_said_in_one_line(store, capsys):
    there = "which has 3 ASes, namely AS1, AS2, AS3"
    with pytest.raises(UsageError, match=f"AS9 is not in snapshot night, {there}$"):
        show(ShowConfig("night", store, 9))
    for words in (("night", "9"), ("nowhere",), ("../x",)):
        status, out, err = said(capsys, "show", *words, "--store", store)
        assert (status, out, err.count("\n")) == (2, "", 1)


def test_json_holds_every_as(store, capsys):
    facts = main_json(capsys, "show", "night", "--store", store)
    assert [row["asn"] for row in facts["ases"]] == [1, 2, 3]
    assert (
        main_json(capsys, "show", "night", "1", "--store", store)["as"]["ingresses"][0]["addr"] == A
    )
