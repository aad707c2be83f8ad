"""Pages of ASes by several processes: the same bytes, whatever happens to one of them."""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.report.pages.ases import side_by_side
from pipeline.report.pages.html import write_pages
from pipeline.report.pages.run_facts import describe_run
from pipeline.report.tables.summarise import summarise
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import effective_of, widths_of

N_ASES = 9
write_of_process = side_by_side._write


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(side_by_side, "ASES_OF_PART", 2)
    monkeypatch.setattr(side_by_side, "ASES_OF_PROCESS", 1)


@pytest.fixture(autouse=True)
def started():
    """The processes started since the test began, of which it leaves none.

    Beside them may be workers of a cluster that other tests share.
    """
    before = {child.pid for child in multiprocessing.active_children()}

    def since() -> list:
        return [child for child in multiprocessing.active_children() if child.pid not in before]

    yield since
    assert since() == []


@pytest.fixture(scope="module")
def network():
    """ASes of a path each, with ingresses, exits, widths and a figure."""
    asns = range(10, 10 + N_ASES)
    snapshot = MemorySnapshot(
        {asn: [(i, i + 1) for i in range(asn - 6)] for asn in asns},
        {asn: asn - 4 for asn in asns},
        [(asn, i, [asn - 1, asn + 1], 5 + i, 1, False) for asn in asns for i in range(2)],
        names={asn: f"Name of {asn}" for asn in asns},
        addrs={asn: [f"198.51.{asn}.{i}" for i in range(asn - 4)] for asn in asns},
        exits=[(asn, 1, asn + 1, 3) for asn in asns],
        borders=[(asn, asn + 1) for asn in asns],
    )
    rows = [0, 3, 4, 8]
    found = replace(
        measured(snapshot),
        widths=widths_of(snapshot, rows=rows),
        figures={"effective": effective_of(snapshot, 4.25, error=0.5)},
    )
    return snapshot, summarise(snapshot, found)


def pages(network, out: Path, processes: int, **given) -> dict[str, bytes]:
    """Write the pages; their bytes by name, and those of the table about them."""
    snapshot, summary = network
    run = describe_run(snapshot, summary, version="1", written=0.0)
    out.mkdir()
    write_pages(
        summary,
        run,
        out,
        manifest=snapshot.manifest,
        warnings=[],
        busy_share={},
        processes=processes,
        **given,
    )
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*")}


def test_the_bytes_are_the_same_and_all_are_counted_if_others_write_too(network, tmp_path):
    expected = pages(network, tmp_path / "one", 1)
    assert len([name for name in expected if name.startswith("as/")]) == N_ASES
    told: list[int] = []
    assert pages(network, tmp_path / "three", 3, on_progress=told.append) == expected
    assert told == sorted(told)
    assert told[-1] == N_ASES


def test_other_processes_link_pages_of_an_earlier_report(network, tmp_path):
    expected = pages(network, tmp_path / "one", 1)
    assert pages(network, tmp_path / "two", 2, earlier=tmp_path / "one") == expected
    for path in (tmp_path / "one" / "as").iterdir():
        assert path.stat().st_nlink == 2


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def die_after_writing(*given):
    write_of_process(*given)
    die()


def run_out_of_memory(*_):
    raise MemoryError


@pytest.mark.parametrize("fault", [die, die_after_writing, run_out_of_memory])
def test_this_process_writes_what_another_one_could_not(
    network, tmp_path, monkeypatch, caplog, fault
):
    caplog.set_level(logging.WARNING)  # of its handler, which a cluster of other tests silences
    expected = pages(network, tmp_path / "one", 1)
    monkeypatch.setattr(side_by_side, "_write", fault)
    assert pages(network, tmp_path / "two", 2, earlier=tmp_path / "one") == expected
    assert [record.getMessage() for record in caplog.records if "enough memory" in record.message]
    after = {f"as/{path.name}": path.read_bytes() for path in (tmp_path / "one" / "as").iterdir()}
    assert after.items() <= expected.items()


def find_no_room(*_):
    raise OSError(errno.ENOSPC, "No space left on device", "/out/as/7.html")


def test_a_full_disk_is_named_whichever_process_finds_it(network, tmp_path, monkeypatch):
    monkeypatch.setattr(side_by_side, "_write", find_no_room)
    with pytest.raises(OSError, match=r"No space left on device: '/out/as/7\.html'"):
        pages(network, tmp_path / "two", 2)


def test_a_signal_leaves_no_process(network, tmp_path, started):
    def interrupt(_):
        assert len(started()) == 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pages(network, tmp_path / "two", 2, on_progress=interrupt)


def test_few_ases_or_one_core_take_one_process(monkeypatch):
    monkeypatch.setattr(side_by_side, "ASES_OF_PROCESS", 4000)
    monkeypatch.setattr(side_by_side, "n_cores", lambda: 4)
    assert side_by_side.n_processes(7999) == 1
    assert side_by_side.n_processes(8000) == 2
    assert side_by_side.n_processes(47_000) == 4
    assert side_by_side.n_processes(47_000, 1) == 1
    monkeypatch.setattr(side_by_side, "n_cores", lambda: 1)
    assert side_by_side.n_processes(47_000) == 1
    monkeypatch.setattr(side_by_side, "n_cores", lambda: 64)
    assert side_by_side.n_processes(47_000) == side_by_side.MAX_PROCESSES
