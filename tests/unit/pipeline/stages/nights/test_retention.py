"""Old nights go from the store and from the reports, and what stays is named."""

from __future__ import annotations

import re
import shutil

import pytest

from pipeline.report import write_reports
from pipeline.report.comparison import write_comparison
from pipeline.report.nights import NIGHTS_PAGE, write_nights
from pipeline.stages.doctor import examine
from pipeline.stages.nights.retention import keep_nights
from pipeline.store import open_snapshot, snapshot_names
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.test_comparison import some_changes
from tests.unit.pipeline.store.snapshots import some_graphs, write

DAYS = [f"2026-11-{day}" for day in (18, 19, 20, 21)]
LATER = "2026-11-22"


@pytest.fixture
def places(tmp_path):
    for name in [*DAYS, "lab"]:
        report(tmp_path / "store", tmp_path / "out", name)
    return tmp_path / "store", tmp_path / "out"


def report(store, out, name, **manifest):
    """A snapshot and its report."""
    write(store, name, some_graphs(n_ases=2, nodes_each=4), **manifest)
    links, ingresses = {10: [(0, 1)]}, [(10, 0, [20], 3, 0, False)]
    found = MemorySnapshot(links, {10: 2}, ingresses, name=name, manifest=manifest)
    write_reports(found, measured(found), out, options={}, warnings=[], started=0.0)


def test_reports_go_with_their_nights(places):
    store, out = places
    (out / "readme.txt").write_text("mine")
    removed = keep_nights(store, out, 2, DAYS[-1])
    assert removed.snapshots == removed.reports == tuple(DAYS[:2])
    assert removed.warnings == ()
    assert sorted(snapshot_names(store)) == [*DAYS[2:], "lab"]
    assert sorted(path.name for path in out.glob("[!.]*")) == [*DAYS[2:], "lab", "readme.txt"]


def test_the_page_of_all_nights_stays(places):
    store, out = places
    assert write_nights(out, store) == ""
    keep_nights(store, out, 2, DAYS[-1])
    assert write_nights(out, store) == ""
    page = (out / NIGHTS_PAGE).read_text()
    assert [day in page for day in DAYS] == [False, False, True, True]


def test_a_report_with_a_file_of_its_user_and_what_is_no_report_stay(places):
    store, out = places
    (out / DAYS[0] / "as" / "notes.txt").write_text("mine")
    (out / "2026-11-01").mkdir()
    (out / "2026-11-01" / "traces.warts").write_text("data")
    removed = keep_nights(store, out, 2, DAYS[-1])
    assert removed.reports == (DAYS[1],)
    assert (out / DAYS[0] / "as" / "10.html").exists()
    assert (out / "2026-11-01" / "traces.warts").exists()
    said = "\n".join(removed.warnings)
    assert f"{out / DAYS[0]} was not removed: it holds files that hopscope did not write" in said
    assert f"{out / '2026-11-01'} was not removed" in said


@pytest.mark.parametrize("more", [None, "notes.txt", "without one", "folder", "own file"])
def test_a_comparison_without_a_report_goes_with_the_nights_of_its_time(places, more):
    """It is not one of the last nights, and whatever else is there stays."""
    store, out = places
    for day in ("2026-11-17", DAYS[2]):
        shutil.rmtree(out / day, ignore_errors=True)
        write_comparison(out, "earlier", day, *some_changes(), {})
    (out / "2026-11-16").mkdir()
    compared = out / "2026-11-17"
    if more == "notes.txt":
        (compared / more).write_text("mine")
    elif more is not None:
        (compared / "changes.html").unlink()
        if more == "folder":
            (compared / "changes.html").mkdir()
        elif more == "own file":
            (compared / "changes.html").write_text("mine")
    removed = keep_nights(store, out, 2, DAYS[-1])
    assert (out / DAYS[2]).is_dir()
    assert removed.reports == (("2026-11-17", DAYS[0]) if more is None else (DAYS[0],))
    assert compared.exists() == (more is not None)
    assert [f"{compared} was not removed" in said for said in removed.warnings] == (
        [True] if more else []
    )


def test_of_few_reports_none_is_old(places):
    store, out = places
    assert keep_nights(store, out, 4, DAYS[0]).reports == ()
    assert keep_nights(store, out, 3, DAYS[0]).reports == ()
    assert keep_nights(store, out, 2, DAYS[0]).reports == (DAYS[1],)


@pytest.mark.parametrize(
    ("last", "earlier"),
    [
        (f"{DAYS[-1]}T233000Z", DAYS[-1]),
        (f"{DAYS[-1]}T233000Z-10", f"{DAYS[-1]}T233000Z-9"),  # as text the other way round
    ],
)
def test_two_nights_of_one_date_are_two_reports(places, last, earlier):
    """Snapshots and reports agree on which night goes."""
    store, out = places
    shutil.rmtree(out / DAYS[-1])
    (store / "snapshots" / f"{DAYS[-1]}.json").unlink()
    for name in (earlier, last):
        report(store, out, name)
    removed = keep_nights(store, out, 2, last)
    assert removed.snapshots == removed.reports == tuple(DAYS[:3])
    removed = keep_nights(store, out, 1, last)
    assert (removed.snapshots, removed.reports) == ((earlier,), (earlier,))
    assert (out / last).is_dir()


def test_times_of_records_decide_which_report_of_a_date_is_older(places):
    """A folder that says an earlier time may hold the later records."""
    store, out = places
    first, second = f"{LATER}T010000Z", f"{LATER}T020000Z"
    for name, newest_s in ((first, 1795309200.0), (second, 1795305600.0)):  # 22 November, 01:00
        report(store, out, name, inputs=[{"path": "a", "holds": "traces", "newest_s": newest_s}])
    removed = keep_nights(store, out, 1, first)
    assert removed.snapshots == removed.reports == (*DAYS, second)


@pytest.mark.parametrize("what", ["manifest.json", "report.json"])
def test_a_broken_night_is_neither_counted_nor_removed(places, what):
    store, out = places
    for day in (DAYS[0], DAYS[2]):
        with open_snapshot(store, day) as snapshot:
            version = snapshot.path
        path = (version if what == "manifest.json" else out / day) / what
        path.write_bytes(b"")
    removed = keep_nights(store, out, 2, DAYS[-1])
    assert (removed.snapshots, removed.reports) == ((), ())
    starts = [line.partition(": ")[0] for line in removed.warnings]
    assert starts == [
        f"{day} is not one of the last 2 nights, and stays" for day in (DAYS[0], DAYS[2])
    ]
    write(store, LATER, some_graphs(n_ases=2, nodes_each=4))
    assert keep_nights(store, out, 2, LATER).snapshots == (DAYS[1],)
    assert sorted(snapshot_names(store)) == [DAYS[0], *DAYS[2:], LATER, "lab"]


def test_the_doctor_tells_the_space_of_each_night(places):
    store, out = places
    found = {each.subject: each.text for each in examine(store, out)}
    for name in DAYS:
        assert found[f"snapshot {name}"].startswith("every byte unchanged, ")
        assert re.match(r"[1-9][0-9.]* KiB", found[f"report {name}"])
