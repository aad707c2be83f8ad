"""A comparison goes with the versions of the nights that it compared."""

from __future__ import annotations

import pytest

from pipeline.report import write_reports
from pipeline.report.compared import COMPARISON, Compared, compared_in
from pipeline.report.comparison import write_comparison
from tests.unit.pipeline.report.memory import measured
from tests.unit.pipeline.report.test_comparison import some_changes
from tests.unit.pipeline.report.test_folder import snapshot

ONE, TWO = "night-000000000001", "night-000000000002"
OLD, OLDER = "old-000000000002", "old-000000000001"


def left_out(which, out, command):
    """The line of a comparison that was left out."""
    again = f"`hopscope compare {command} --store 'a store' --out {out}` makes it again"
    return f"the comparison {which} and was left out; {again}"


def report(out, version, **more):
    found = snapshot()
    found.version = version
    said = {"options": {"store": "a store"}, "warnings": [], "started": 0.0}
    return write_reports(found, measured(found), out, **said, **more)


def compare(out, *versions):
    changes = some_changes()
    changes[0].asn[:] = 10  # which has a page
    return write_comparison(out, "old", "night", *changes, {}, versions=versions or ("", ""))


def shown(out):
    """Whether files, index and page of an AS show a comparison; they agree on it."""
    folder = out / "night"
    pages = (folder / "index.html").read_text(), (folder / "as" / "10.html").read_text()
    links = 'href="changes.html"' in pages[0], "What changed since" in pages[1]
    files = {(folder / name).exists() for name in COMPARISON}
    (found,) = {*links, *files}
    return found


def test_it_says_which_versions_it_is_of(tmp_path):
    folder = compare(tmp_path, OLD, ONE).folder
    assert compared_in(folder) == Compared("old", "night", OLD, ONE)
    assert compared_in(tmp_path) == Compared("", "")


@pytest.mark.parametrize(
    ("versions", "which"),
    [
        ((OLD, ONE), "with old is not of this version of night"),
        ((), "with old is not of this version of night"),
        ((OLDER, TWO), "with old is of an earlier version of old"),
        ((OLD, TWO), ""),
    ],
    ids=["new night replaced", "versions unknown", "old night replaced", "the same"],
)
def test_a_report_of_another_version_leaves_it_out_and_says_so(tmp_path, versions, which):
    report(tmp_path, ONE if versions[1:] != (TWO,) else TWO)
    compare(tmp_path, *versions)
    assert shown(tmp_path)
    line = which and left_out(which, tmp_path, "old night")
    assert report(tmp_path, TWO, versions={"old": OLD}).left_out == line
    assert shown(tmp_path) == (not which)


@pytest.mark.parametrize("versions", [(OLD, ONE), ()])
def test_a_report_of_the_same_version_keeps_it(tmp_path, versions):
    compare(tmp_path, *versions)  # before there is a report
    for known in ({}, {"other": OLDER}, {"old": OLD}):
        assert report(tmp_path, ONE, versions=known).left_out == ""
        assert shown(tmp_path)


def test_what_cannot_be_read_is_left_out_with_the_version_beside_it(tmp_path):
    report(tmp_path, ONE)
    (compare(tmp_path, OLD, ONE).folder / "events.parquet").write_bytes(b"PAR1 cut")
    assert report(tmp_path, ONE).left_out == ""
    line = left_out("is of another version", tmp_path, "OLD NEW")
    assert report(tmp_path, TWO).left_out == line
    assert not any((tmp_path / "night" / name).exists() for name in COMPARISON)


def test_a_report_shows_no_comparison_of_another_version(tmp_path):
    report(tmp_path, ONE)
    compare(tmp_path, OLD, ONE)
    compare(tmp_path, OLD, TWO)
    folder = tmp_path / "night"
    assert 'href="changes.html"' not in (folder / "index.html").read_text()
    assert "What changed since" not in (folder / "as" / "10.html").read_text()
    assert report(tmp_path, TWO).left_out == ""
    assert shown(tmp_path)
