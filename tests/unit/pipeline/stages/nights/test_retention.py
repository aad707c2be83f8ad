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
    store, out = tmp_path / "store", tmp_path / "out"
    graphs = some_graphs(n_ases=2, nodes_each=4)
    for name in [*DAYS, "lab"]:
        write(store, name, graphs)
        found = MemorySnapshot({10: [(0, 1)]}, {10: 2}, [(10, 0, [20], 3, 0, False)], name=name)
        write_reports(found, measured(found), out, options={}, warnings=[], started=0.0)
    return store, out


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
