"""Two snapshots of a store to files beside the report of the newer one."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.config import CompareConfig
from pipeline.errors import StoreError, UsageError
from pipeline.graphs import build_graphs
from pipeline.model.topology import Topology
from pipeline.report.compared import compared_in
from pipeline.report.folder import _COMPARISON_FILES, earlier_report
from pipeline.stages.compare import NightCompared, compare, compare_with_night_before
from pipeline.stages.nights.snapshots import night_before
from pipeline.store import open_snapshot
from tests.unit.pipeline.compare.by_hand import ONE, write_night
from tests.unit.pipeline.store.snapshots import write


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = tmp_path_factory.mktemp("nights") / "store"
    for name, router in (("old", 3), ("new", 5)):
        hops = " ".join(f"20.1.0.{i}" for i in (1, 2, router, 4))
        write_night(store, name, {ONE: [f"{hops} > 20.3.0.9"]})
    return store


def test_changes_are_written_beside_the_report_of_the_newer_night(store, tmp_path):
    summary = compare(CompareConfig("old", "new", store, tmp_path))
    assert {name: n for name, n in summary.counts.items() if name.startswith("link")} == {
        "link not observable": 1,
        "link not observable before": 1,
        "link removed": 1,
        "link added": 1,
    }
    rows = pq.read_table(summary.folder / "changes.parquet").to_pylist()
    assert summary.folder == tmp_path / "new"
    removed = next(row for row in rows if row["kind"] == "removed")
    assert {name: value for name, value in removed.items() if value not in (None, 0)} == {
        "what": "link",
        "kind": "removed",
        "asn": 1,
        "addr": "20.1.0.2",
        "other_asn": 1,
        "other_addr": "20.1.0.3",
        "n_traces": 1,
        "n_pairs": 1,
        "n_vantages": 1,
        "n_turned": 1,
        "reason": "a pair that crossed it crosses its near router, and goes elsewhere",
    }
    assert earlier_report(summary.folder) is None  # a report may be written there later


def test_interfaces_are_called_so_where_nothing_was_merged_on_both_nights(tmp_path):
    store = tmp_path / "store"
    for name, third in (("old", 3), ("new", 5)):
        vantages = [f"20.1.{n}.1" for n in range(8)]
        lines = {at: [f"{at} 20.1.9.2 20.1.9.{third} 20.1.9.4 > 20.3.0.9"] for at in vantages}
        write_night(store, name, lines)
    assert open_snapshot(store, "new").kind == "interface"
    summary = compare(CompareConfig("old", "new", store, tmp_path / "out"))
    assert summary.events[0]["kind"] == "router renumbered"  # the name in the file
    assert summary.events[0]["text"].startswith("An interface of AS1 was renumbered: 20.1.9.3")
    page = summary.page.read_text().split("<main>")[1]
    assert "interfaces renumbered" in page
    assert "same interface" in page
    assert "router" not in page


def test_what_is_no_report_stays(store, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine.txt").touch()
    with pytest.raises(UsageError, match=r"holds mine\.txt"):
        compare(CompareConfig("old", "new", store, tmp_path))
    with pytest.raises(UsageError, match="lies in the store"):
        compare(CompareConfig("old", "new", store, store / "out"))


def table_of_a_user(path):
    pq.write_table(pa.table({"event": ["concert"], "text": ["Friday"]}), path)


@pytest.mark.parametrize("name", sorted(_COMPARISON_FILES))
def test_files_of_users_with_names_of_a_comparison_stay_where_there_is_no_report(
    store, tmp_path, name
):
    path = tmp_path / "new" / name
    path.parent.mkdir()
    table_of_a_user(path) if path.suffix == ".parquet" else path.write_text("<title>Mine</title>")
    before = path.read_bytes()
    said = f"{path.parent}: holds {name}, which hopscope did not write; a comparison would replace"
    with pytest.raises(UsageError) as refused:
        compare(CompareConfig("old", "new", store, tmp_path))
    assert str(refused.value).startswith(said)
    assert str(refused.value).endswith("it: give --out another folder, or move it away")
    with pytest.raises(UsageError, match="which hopscope did not write; a report would"):
        earlier_report(path.parent)
    assert [each.name for each in path.parent.iterdir()] == [name]
    assert path.read_bytes() == before


def test_links_of_users_with_names_of_a_comparison_stay(store, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "changes.html").symlink_to("elsewhere.html")
    with pytest.raises(UsageError, match=r"changes\.html, which hopscope did not write"):
        compare(CompareConfig("old", "new", store, tmp_path))


def test_a_comparison_takes_the_place_of_one_that_was_cut_short(store, tmp_path):
    folder = compare(CompareConfig("old", "new", store, tmp_path)).folder
    for name in ("hopscope.js", "hopscope.css", "changes.html", "events.parquet"):
        (folder / name).unlink()
        assert compare(CompareConfig("old", "new", store, tmp_path)).folder == folder


@pytest.mark.parametrize(
    ("old", "new", "error", "said"),
    [
        ("old", "old", UsageError, "both are old; give two snapshots"),
        ("older", "new", StoreError, "no snapshot 'older'"),
    ],
)
def test_what_cannot_be_compared_is_refused(store, tmp_path, old, new, error, said):
    with pytest.raises(error, match=said):
        compare(CompareConfig(old, new, store, tmp_path))


def report(store, out, name, **other):
    """As much of a report as shows that there is one."""
    with open_snapshot(store, name) as snapshot:
        facts = {"schema_version": 1, "snapshot": name, "snapshot_version": snapshot.version}
    (out / name).mkdir(parents=True, exist_ok=True)
    text = json.dumps(facts | {"versions": {"hopscope": "0"}} | other)
    (out / name / "report.json").write_text(text)


def test_the_night_before_is_one_of_traces_with_a_report_of_the_version_in_the_store(
    store, tmp_path
):
    assert night_before(store, tmp_path, "new") is None  # no report
    report(store, tmp_path, "old", snapshot_version="old-000000000000")
    assert night_before(store, tmp_path, "new") is None
    report(store, tmp_path, "old")
    assert night_before(store, tmp_path, "new") == "old"
    assert night_before(store, tmp_path, "old") is None
    (tmp_path / "old" / "report.json").write_text("not ours")
    assert night_before(store, tmp_path, "new") is None


def test_figures_that_cannot_be_read_are_a_warning_that_names_the_file(store, tmp_path):
    config = CompareConfig("old", "new", store, tmp_path)
    assert compare(config).warnings == []  # no report of either: nothing to compare
    report(store, tmp_path, "old")
    report(store, tmp_path, "new")
    with open_snapshot(store, "new") as snapshot:
        table = pa.table({"asn": snapshot.asn, "mean_hops": [1.5] * snapshot.n_ases})
    for name in ("old", "new"):
        pq.write_table(table, tmp_path / name / "ases.parquet")
    assert compare(config).warnings == []
    os.truncate(tmp_path / "old" / "ases.parquet", 50)
    summary = compare(config)
    (line,) = summary.warnings
    assert line.startswith(f"{tmp_path / 'old' / 'ases.parquet'}: cannot be read (")
    assert line.endswith("so hops, diameter and radius of old are not compared")
    assert str(tmp_path / "old") in summary.page.read_text()
    (tmp_path / "old" / "report.json").write_text("")
    assert compare(config).warnings[0].startswith(f"{tmp_path / 'old'}: is not a whole report")


def test_a_comparison_has_the_versions_and_a_report_of_another_one_is_named(store, tmp_path):
    report(store, tmp_path, "new")
    summary = compare(CompareConfig("old", "new", store, tmp_path))
    nights = [open_snapshot(store, name).version for name in ("old", "new")]
    assert compared_in(summary.folder) == ("old", "new", *nights)
    assert "another version" not in " ".join(summary.warnings)
    report(store, tmp_path, "new", snapshot_version="new-000000000000")
    (line,) = compare(CompareConfig("old", "new", store, tmp_path)).warnings
    assert line.startswith(f"{tmp_path / 'new'}: the report is of another version of new than")
    command = f"hopscope analyze --snapshot new --store {store} --out {tmp_path}"
    assert line.endswith(f"; `{command}` writes it again")


def test_routers_of_as_0_have_the_ids_of_their_input_and_short_addresses_stay(tmp_path):
    store = tmp_path / "store"
    asn, number = np.array([0, 0, 2]), np.array([0, 75, 135])
    for name, links in (("old", [(0, 1), (0, 2), (1, 2)]), ("new", [(0, 1)])):
        near, far = np.array(links).T
        made = Topology(node_asn=asn, near=near, far=far, node_id=number)
        write(store, name, build_graphs([made]))
    summary = compare(CompareConfig("old", "new", store, tmp_path / "out"))
    rows = pq.read_table(summary.folder / "changes.parquet").to_pylist()
    links = {(row["addr"], row["other_addr"]) for row in rows if row["kind"] == "removed"}
    assert links == {("0", "135"), ("75", "135")}
    addrs = np.array([[0, 0x10002], [0, 75], [0x2001_0DB8 << 32, 5]], np.uint64)
    for name, n_links in (("v6", 2), ("cut", 1)):
        near, far = np.arange(n_links), np.arange(n_links) + 1
        made = Topology(node_asn=np.array([1, 1, 2]), near=near, far=far, node_addr=addrs)
        write(store, name, build_graphs([made]))
    summary = compare(CompareConfig("v6", "cut", store, tmp_path / "out"))
    rows = pq.read_table(summary.folder / "changes.parquet").to_pylist()
    (removed,) = [row for row in rows if row["kind"] == "removed"]
    assert (removed["addr"], removed["other_addr"]) == ("::4b", "2001:db8::5")


def test_nights_are_in_the_order_of_their_records_and_topologies_are_none(tmp_path):
    store, out = tmp_path / "store", tmp_path / "out"
    line = {ONE: ["20.1.0.1 20.1.0.2 > 20.3.0.9"]}
    for name, newest_s in (("c", 300.0), ("a", 100.0), ("d", 100.0), ("b", 200.0)):
        write_night(store, name, line, newest_s=newest_s)
    write(store, "topology", inputs=[{"newest_s": 250.0}])
    for name in ("a", "b", "c", "d", "topology"):
        report(store, out, name)
    found = {name: night_before(store, out, name) for name in "abcd"}
    assert found == {"a": None, "d": "a", "b": "d", "c": "b"}
    assert compare_with_night_before(store, out, "topology") == NightCompared(None)
    assert compare_with_night_before(store, out, "a") == NightCompared(None)
    summary = compare_with_night_before(store, out, "c").summary
    assert (summary.old, summary.page.exists()) == ("b", True)


def test_a_run_by_hand_under_another_name_is_not_the_night_before_of_a_date(tmp_path):
    store, out = tmp_path / "store", tmp_path / "out"
    names = ("first", "2026-11-20", "extra", "2026-11-21", "more")
    for i, name in enumerate(names):
        write_night(store, name, {ONE: ["20.1.0.1 20.1.0.2 > 20.3.0.9"]}, newest_s=100.0 * i)
        report(store, out, name)
    assert {name: night_before(store, out, name) for name in names} == {
        "first": None,
        "2026-11-20": "first",  # there is no other date
        "extra": "2026-11-20",
        "2026-11-21": "2026-11-20",
        "more": "2026-11-21",
    }
    compared = compare_with_night_before(store, out, "2026-11-21")
    assert (compared.summary.old, compared.passed_over) == ("2026-11-20", [])


def damage(store, out, night, what):
    """Damage a night; the file that a warning should name."""
    with open_snapshot(store, night) as snapshot:
        version = snapshot.path
    if what == "report.json":
        (out / night / what).write_bytes(b"")
        return out / night
    if what == "version":
        shutil.rmtree(version)
        return store / "snapshots" / f"{night}.json"
    if what == "manifest.json":
        os.truncate(version / what, 100)
    else:
        (version / what).unlink()
    return version / what


@pytest.fixture
def nights(tmp_path):
    """Store and reports of four nights of traces, and of one of another name."""
    store, out = tmp_path / "store", tmp_path / "out"
    for i, name in enumerate(("2026-11-01", "2026-11-02", "2026-11-03", "extra", "2026-11-04")):
        write_night(store, name, {ONE: ["20.1.0.1 20.1.0.2 > 20.3.0.9"]}, newest_s=100.0 * i)
        report(store, out, name)
    return store, out


@pytest.mark.parametrize("what", ["manifest.json", "nodes-000.parquet", "version", "report.json"])
def test_a_broken_night_before_is_passed_over_and_named(nights, what):
    store, out = nights
    named = damage(store, out, "2026-11-02", what)
    compared = compare_with_night_before(store, out, "2026-11-03")
    assert compared.summary.old == "2026-11-01"
    (line,) = compared.passed_over
    begins = f"2026-11-03 was compared with 2026-11-01, not with 2026-11-02: {named}: "
    assert line.startswith(begins)
    assert "hopscope analyze --snapshot" in line if what == "report.json" else "doctor" in line
    # A sound night is nearer.
    assert compare_with_night_before(store, out, "2026-11-04").passed_over == []


def test_broken_nights_before_which_there_is_no_sound_one_are_named(nights):
    store, out = nights
    for name in ("2026-11-01", "2026-11-02", "extra"):
        damage(store, out, name, "manifest.json")
    compared = compare_with_night_before(store, out, "2026-11-03")
    assert compared.summary is None
    starts = [line.partition(": ")[0] for line in compared.passed_over]
    assert starts == [f"2026-11-03 was not compared with 2026-11-0{day}" for day in (1, 2)]


def test_a_broken_night_long_before_is_not_named_where_two_nights_share_a_date(tmp_path):
    """The night before has date and time as its name, which text order puts behind the date."""
    store, out = tmp_path / "store", tmp_path / "out"
    names = ("2026-03-27", "2026-03-29T003000Z", "2026-03-29")
    for i, name in enumerate(names):
        write_night(store, name, {ONE: ["20.1.0.1 20.1.0.2 > 20.3.0.9"]}, newest_s=100.0 * i + 1)
        report(store, out, name)
    damage(store, out, "2026-03-27", "manifest.json")
    compared = compare_with_night_before(store, out, "2026-03-29")
    assert (compared.summary.old, compared.passed_over) == ("2026-03-29T003000Z", [])


def test_a_broken_night_without_a_report_is_none_to_compare_with(nights):
    store, out = nights
    damage(store, out, "2026-11-02", "manifest.json")
    shutil.rmtree(out / "2026-11-02")
    compared = compare_with_night_before(store, out, "2026-11-03")
    assert (compared.summary.old, compared.passed_over) == ("2026-11-01", [])


def test_the_comparison_with_the_night_before_is_not_replaced_by_another_one(tmp_path):
    store, out = tmp_path / "store", tmp_path / "out"
    for i, name in enumerate("abc"):
        write_night(store, name, {ONE: ["20.1.0.1 20.1.0.2 > 20.3.0.9"]}, newest_s=100.0 * i)
        report(store, out, name)
    compare(CompareConfig("a", "c", store, out))  # nothing is there yet
    compare_with_night_before(store, out, "c")
    before = (out / "c" / "events.parquet").read_bytes()
    with pytest.raises(UsageError, match="holds what changed since b, the night before it"):
        compare(CompareConfig("a", "c", store, out))
    assert (out / "c" / "events.parquet").read_bytes() == before
    assert compare(CompareConfig("b", "c", store, out)).old == "b"  # the same one again
    assert compare(CompareConfig("a", "c", store, tmp_path / "other")).page.exists()


@pytest.mark.parametrize(
    ("nights", "given", "is_said"),
    [
        ({"a": 100.0, "b": 200.0}, ("a", "b"), False),
        ({"a": 100.0, "b": 200.0}, ("b", "a"), True),
        # Records of the same time, and records without one: names that are dates decide.
        ({"2026-11-20": 100.0, "2026-11-21": 100.0}, ("2026-11-21", "2026-11-20"), True),
        ({"2026-11-20": 0.0, "2026-11-21": 100.0}, ("2026-11-21", "2026-11-20"), True),
        ({"2026-11-20": 0.0, "2026-11-21": 0.0}, ("2026-11-20", "2026-11-21"), False),
        ({"a": 0.0, "b": 0.0}, ("b", "a"), False),
    ],
)
def test_nights_in_reverse_order_are_said_to_be(tmp_path, nights, given, is_said):
    store = tmp_path / "store"
    for name, newest_s in nights.items():
        write_night(store, name, {ONE: ["20.1.0.1 20.1.0.2 > 20.3.0.9"]}, newest_s=newest_s)
    summary = compare(CompareConfig(*given, store, tmp_path / "out"))
    old, new = given
    assert bool(summary.warnings) == is_said
    page = summary.page.read_text()
    assert (f"{old} is newer than {new}, so" in page) == is_said
    for line in summary.warnings:
        assert line.endswith(
            f"`hopscope compare {new} {old} --store {store} --out {tmp_path / 'out'}`"
        )


def test_a_night_that_was_not_measured_is_said_to_be_synthetic(store, tmp_path):
    made_by = "hopscope generate ba --seed 7 <b>"
    source = {"path": "", "format": "generated", "kind": "router", "as_ranges": [[1, 1]]}
    nights = tmp_path / "store"
    write_night(nights, "night", {ONE: ["20.1.0.1 20.1.0.2 > 20.3.0.9"]})
    write(nights, "made", inputs=[source | {"made_by": made_by, "holds": "topology"}])
    summary = compare(CompareConfig("made", "night", nights, tmp_path / "out"))
    said = f"made is synthetic, not measured: all made by {made_by}"
    assert said in summary.warnings
    page = summary.page.read_text()
    assert said.replace("<b>", "&lt;b&gt;") in page
    assert "synthetic" not in " ".join(
        compare(CompareConfig("old", "new", store, tmp_path / "other")).warnings
    )


def test_nights_by_other_rules_or_without_their_traces_are_told_in_a_line(tmp_path):
    store = tmp_path / "store"
    for name, rules, kept in (("a", None, False), ("b", 6, True), ("c", 6, True)):
        options = {} if rules is None else {"inference_rules": rules}
        write_night(store, name, {ONE: ["20.1.0.1 > 20.3.0.9"]}, options=options, observations=kept)
    (line,) = compare(CompareConfig("a", "b", store, tmp_path / "out")).warnings
    assert line == (
        "a and b: rules of inference differ (none and 6), and with them what is inferred; a keeps "
        "no traces as compared today, so links and routers are compared by plain difference; "
        "ingest what was measured again"
    )
    assert compare(CompareConfig("b", "c", store, tmp_path / "out")).warnings == []
