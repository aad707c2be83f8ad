"""What the index says first, and of mapped addresses, and the rows that its script gets."""

from __future__ import annotations

import json
import re
import time

import pytest

from pipeline.model.search.results import THIS_PROCESS
from pipeline.report import write_reports
from pipeline.report.pages.index_page import headline
from pipeline.report.pages.run_facts import describe_run
from pipeline.report.tables.summarise import summarise
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

TRACES = {"path": "a.warts", "format": "warts", "status": "ok"}
MAP = {"path": "b.brite", "format": "brite", "kind": "router", "as_ranges": [[10, 20]]}


def written(folder, manifest: dict, n_direct: int = 7, warnings=(), **measurement):
    snapshot = MemorySnapshot(
        {10: [(0, 1)], 20: []},
        {10: 2, 20: 1},
        [(10, 0, [20], n_direct, 0, False), (10, 1, [20], 2 * n_direct, 0, False)],
        manifest=manifest,
    )
    return write_reports(
        snapshot,
        measured(snapshot, **measurement),
        folder,
        options={},
        warnings=list(warnings),
        started=time.time(),
    ).path


def rows(report) -> dict:
    text = (report / "ases.js").read_text(encoding="ascii")
    return json.loads(re.fullmatch(r"hopscope\.load\((.*)\);\n", text).group(1))


@pytest.mark.parametrize(
    ("n_mapped", "share", "warns"),  # in one line
    [(999, "99.9\u00a0%", False), (900, "90.0\u00a0%", False), (899, "89.9\u00a0%", True)],
)
def test_the_mapped_share_is_a_tile_that_warns_below_nine_in_ten(tmp_path, n_mapped, share, warns):
    counts = {"n_addrs": 1000, "n_addrs_mapped": n_mapped}
    page = (written(tmp_path, {"inputs": [TRACES], "counts": counts}) / "index.html").read_text()
    tile = re.search(r"<div( class=\"warn\")?><dt>mapped</dt><dd>(.*?) <small>(.*?)</small>", page)
    assert tile.groups() == (
        ' class="warn"' if warns else None,
        share,
        f"{n_mapped} of 1,000 addresses",
    )


def test_the_tile_of_the_mapped_share_says_how_many_are_in_no_table_and_warns_of_many(tmp_path):
    for lost, warns in ((0, False), (99, False), (101, True)):
        counts = {"n_addrs": 1000, "n_addrs_mapped": 1000, "n_addrs_in_no_table": lost}
        report = written(tmp_path / str(lost), {"inputs": [TRACES], "counts": counts})
        page = (report / "index.html").read_text()
        remark = f", {lost} of them in no prefix table" if lost else ""
        tile = f"<dt>mapped</dt><dd>100.0\u00a0% <small>1,000 of 1,000 addresses{remark}</small>"
        colour = ' class="warn"' if warns else ""
        assert f"<div{colour}>{tile}" in page
        fact = f"1,000 of 1,000 addresses mapped or admitted (100.0\u00a0%){remark}</dd>"
        assert f"<dt>addresses</dt><dd>{fact}" in page
        night = (report / "night.js").read_text()
        assert f"(100.0\\u00a0%){remark}." in night
        assert f'"is_mapped_low":{"true" if warns else "false"}' in night


def test_without_traces_there_is_no_mapped_share_and_no_entering_trace(tmp_path):
    report = written(tmp_path, {"inputs": [MAP], "kind": "router"}, 0)
    assert "<dt>mapped</dt>" not in (report / "index.html").read_text()
    assert "n_entering" not in rows(report)


def test_the_script_has_the_traces_that_entered_each_as(tmp_path):
    found = rows(written(tmp_path, {"inputs": [TRACES]}))
    assert found["asn"] == [10, 20]
    assert found["n_entering"] == [21, 0]


def test_the_list_knows_how_many_digits_its_numbers_have(tmp_path):
    """``written`` has AS10 and AS20."""
    assert 'style="--digits: 2"' in (written(tmp_path, {}) / "index.html").read_text()


def test_the_root_is_no_common_folder(tmp_path):
    paths = ("/a/x.warts", "/b/y.warts")
    inputs = [{"path": path, "format": "warts", "status": "ok"} for path in paths]
    page = (written(tmp_path, {"inputs": inputs}) / "index.html").read_text()
    assert all(f"<bdi>{path}</bdi>" in page for path in paths)
    assert "in <bdi>/</bdi>" not in page


@pytest.mark.parametrize(
    ("n_files", "n_tables", "bad", "said"),
    [
        (14, 2, "", "14 files and 2 tables"),
        (1, 1, "", "1 file and 1 table"),
        (2, 1, "partial", "2 files and 1 table, 1 incomplete"),
        (3, 0, "", "3 files"),
    ],
)
def test_tables_are_not_counted_as_files(tmp_path, n_files, n_tables, bad, said):
    files = [TRACES | {"path": f"{i}.warts", "holds": "traces"} for i in range(n_files)]
    files[0]["status"] = bad or "ok"
    tables = [
        {"path": f"{i}.txt", "format": "pfx2as", "status": "ok", "holds": "table"}
        for i in range(n_tables)
    ]
    page = (written(tmp_path, {"inputs": files + tables}) / "index.html").read_text()
    assert f"<dt>inputs</dt><dd>{said}</dd>" in page


@pytest.mark.parametrize(("n", "said"), [(1, "1 more is in"), (2, "2 more are in")])
def test_what_a_list_leaves_out_is_counted(tmp_path, n, said):
    inputs = [{"path": f"{i}.warts", "format": "warts", "status": "ok"} for i in range(200 + n)]
    report = written(tmp_path, {"inputs": inputs}, warnings=[f"w{i}" for i in range(20 + n)])
    assert (report / "index.html").read_text().count(f">{said} <a") == 2


@pytest.mark.parametrize(
    ("busy_share", "said"),
    [
        ({"tcp://a": 0.5, "tcp://b": 1.0}, "2 workers, busy 75 % of the time"),
        ({THIS_PROCESS: 1.0}, "the command itself, without workers"),
        ({THIS_PROCESS: 0.2, f"{THIS_PROCESS} (2)": 0.8}, "the command itself, without workers"),
    ],
)
def test_a_run_without_workers_does_not_count_any(tmp_path, busy_share, said):
    report = written(tmp_path, {"inputs": [TRACES]}, busy_share=busy_share)
    assert said in (report / "index.html").read_text()


def headline_of(ingresses: list[tuple], manifest: dict | None = None) -> str:
    """Of AS 10, a line of four nodes and one beside it, and of AS 20, a single node."""
    snapshot = MemorySnapshot(
        {10: [(0, 1), (1, 2), (2, 3)], 20: []}, {10: 5, 20: 1}, ingresses, manifest=manifest
    )
    summary = summarise(snapshot, measured(snapshot))
    return headline(summary, describe_run(snapshot, summary, version="0", written=0.0))


@pytest.mark.parametrize(
    ("ingresses", "manifest", "wanted"),
    [
        (
            [(10, 0, [20], 3, 0, False)],
            None,
            "Traffic enters 1 of 2 ASes by 1 interface; half of what an ingress reaches lies within"
            " 2 hops of it; 33 % of the interfaces are unreached.",
        ),
        (
            [(10, 1, [20], 3, 0, False), (20, 0, [10], 1, 0, False)],
            {"kind": "router"},
            "Traffic enters 2 ASes by 2 routers; half of what an ingress reaches lies within 1 hop"
            " of it; 17 % of the routers are unreached.",
        ),
        (
            [(20, 0, [10], 1, 0, False)],
            {},
            "Traffic enters 1 of 2 ASes by 1 interface; 83 % of the interfaces are unreached.",
        ),
        (
            [(10, 0, [20], 0, 0, False)],
            {"kind": "router", "inputs": [MAP]},
            "1 of 2 ASes has 1 ingress; half of what an ingress reaches lies within 2 hops of it;"
            " 33 % of the routers are unreached.",
        ),
        (
            [(10, 0, [20], 0, 4, True)],
            None,
            "No AS of this report has an ingress, so there are no hops to count.",
        ),
    ],
    ids=["one of two", "routers", "no pairs", "topology", "candidates alone"],
)
def test_the_first_sentence_counts_ases_ingresses_and_hops(ingresses, manifest, wanted):
    assert headline_of(ingresses, manifest) == wanted
