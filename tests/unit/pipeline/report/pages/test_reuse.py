"""Pages of a night before are linked if they show the same, and only then."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from pipeline.report import write_reports
from pipeline.report.pages import reuse
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

LINKS = {10: [(0, 1), (1, 2)], 20: [(0, 1)]}


def snapshot(name: str, links=LINKS, direct: int = 3, **more) -> MemorySnapshot:
    ingresses = [(10, 0, [20], direct, 0, False), (20, 0, [30], 1, 2, False)]
    return MemorySnapshot(links, {10: 3, 20: 3}, ingresses, name=name, **more)


def pages(out, of: MemorySnapshot, measurement=None) -> dict[int, tuple[int, str]]:
    """Inode and text of the page of each AS."""
    made = write_reports(of, measurement or measured(of), out, options={}, warnings=[], started=0.0)
    paths = {asn: made.path / "as" / f"{asn}.html" for asn in (10, 20)}
    return {asn: (path.stat().st_ino, path.read_text()) for asn, path in paths.items()}


CHANGED = {
    "a count of traces": {"direct": 4},
    "a link": {"links": LINKS | {10: [(0, 1), (0, 2)]}},
    "its name": {"names": {10: "Ten"}},
    "an address": {"addrs": {10: ["10.0.0.1", "10.0.0.2", "10.0.0.9"], 20: ["10.0.0.4"] * 3}},
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_what_changed_is_written_again_and_the_rest_linked(tmp_path, change):
    addrs = {10: ["10.0.0.1", "10.0.0.2", "10.0.0.3"], 20: ["10.0.0.4"] * 3}
    first = pages(tmp_path, snapshot("monday", addrs=addrs))
    again = pages(tmp_path, snapshot("tuesday", **{"addrs": addrs} | change))
    assert again[20] == first[20]
    assert again[10][0] != first[10][0]
    plain = pages(tmp_path / "alone", snapshot("tuesday", **{"addrs": addrs} | change))
    assert {asn: text for asn, (_, text) in again.items()} == {
        asn: text for asn, (_, text) in plain.items()
    }
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))
    night = (tmp_path / "tuesday" / "night.js").read_text()
    assert night.startswith('hopscope.night({"snapshot":"tuesday",')


def test_a_page_that_names_a_neighbour_is_written_again_with_its_name(tmp_path):
    first = pages(tmp_path, snapshot("monday"))
    again = pages(tmp_path, snapshot("tuesday", names={20: "Twenty"}))
    assert "AS20 <bdi>Twenty</bdi>" in again[10][1]
    assert again[10][0] != first[10][0]


def test_a_failure_is_written_and_a_page_that_was_cut(tmp_path):
    monday, tuesday = snapshot("monday"), snapshot("tuesday")
    first = pages(tmp_path, monday)
    failed = pages(tmp_path, tuesday, replace(measured(tuesday), failed={0: "worker lost"}))
    assert "worker lost" in failed[10][1]
    assert failed[20] == first[20]
    cut = tmp_path / "tuesday" / "as" / "20.html"
    cut.unlink()
    cut.write_bytes(b"<!doctype")
    again = pages(tmp_path, snapshot("wednesday"))
    assert [text for _, text in again.values()] == [text for _, text in first.values()]


def test_without_hard_links_pages_are_copied(tmp_path, monkeypatch):
    first = pages(tmp_path, snapshot("monday"))

    def refuse(*_given, **_options):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    again = pages(tmp_path, snapshot("tuesday"))
    assert again[10][1] == first[10][1]
    assert again[10][0] != first[10][0]


def test_another_state_of_the_sources_writes_all(tmp_path, monkeypatch):
    first = pages(tmp_path, snapshot("monday"))
    reuse._of_run.cache_clear()
    monkeypatch.setattr(reuse, "_sources", lambda: "another state")
    again = pages(tmp_path, snapshot("tuesday"))
    reuse._of_run.cache_clear()
    assert not {inode for inode, _ in first.values()} & {inode for inode, _ in again.values()}
