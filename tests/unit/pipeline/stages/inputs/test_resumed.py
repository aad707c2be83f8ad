"""What an ingest that was killed had read: used by the next one, unless anything differs."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from pipeline.config import IngestConfig
from pipeline.model.measured.reading import ReadReport
from pipeline.stages.ingest import ingest
from pipeline.stages.inputs import resumed
from pipeline.stages.inputs.resumed import RECORD, folder_name, kept
from pipeline.stages.inputs.traces import read_all_traces, read_traces
from pipeline.store.versions import held
from tests.real_data import REPOSITORY

LAB = REPOSITORY / "data" / "samples" / "lab"
FORMAT = "scamper_json"


@pytest.fixture
def trace_file(tmp_path):
    return Path(shutil.copy(LAB / "h0.udp-paris.json.gz", tmp_path / "h0.json.gz"))


def read_into(scratch, path):
    folder = scratch / folder_name(path, FORMAT)
    folder.mkdir(parents=True)
    return folder, read_traces(path, FORMAT, folder)


def test_what_was_read_to_the_end_is_kept(tmp_path, trace_file):
    folder, read = read_into(tmp_path / "scratch", trace_file)
    assert not read.is_kept
    moved = folder.rename(tmp_path / "moved")
    report, observation = kept(moved, trace_file)
    assert report == read.report
    assert (observation.n_traces, observation.n_hops) == (
        read.report.n_records,
        read.observation.n_hops,
    )
    assert (observation.blocks, observation.counts) == (
        read.observation.blocks,
        read.observation.counts,
    )
    assert len(np.load(observation.addrs)) == observation.n_addrs > 0


def test_the_second_reading_reads_only_what_is_not_there(tmp_path, trace_file, monkeypatch):
    other = Path(shutil.copy(LAB / "h7.udp-paris.json.gz", tmp_path / "h7.json.gz"))
    scratch = tmp_path / "scratch"
    read_into(scratch, trace_file)
    opened, reported = [], []

    def opens(path, *given):
        opened.append(path)
        return open_reader(path, *given)

    from pipeline.stages.inputs import traces

    open_reader = traces.open_reader
    monkeypatch.setattr(traces, "open_reader", opens)
    files = [(other, FORMAT), (trace_file, FORMAT)]
    read = read_all_traces(files, scratch, 1, reported.append)
    assert opened == [other]
    assert [file.is_kept for file in read] == [False, True]
    assert [file.report.path for file in read] == [str(other), str(trace_file)]
    sizes = [path.stat().st_size for path, _ in files]
    assert reported[0] == (1, read[1].report.n_records, sizes[1], sum(sizes))
    assert reported[-1][:2] == (2, sum(file.report.n_records for file in read))
    assert [one.n_bytes for one in reported] == sorted(one.n_bytes for one in reported)
    assert reported[-1].share == 1


def changed(path):
    with path.open("ab") as file:
        file.write(b"\0")


def touched(path):
    os.utime(path, ns=(0, 0))


def replaced(path):
    copy = Path(shutil.copy2(path, path.with_suffix(".new")))
    copy.replace(path)


@pytest.mark.parametrize("change", [changed, touched, replaced])
def test_a_file_that_changed_has_another_folder(trace_file, change):
    before = folder_name(trace_file, FORMAT)
    assert folder_name(trace_file, FORMAT) == before
    change(trace_file)
    assert folder_name(trace_file, FORMAT) != before


def test_another_format_or_other_code_has_another_folder(trace_file, monkeypatch):
    before = folder_name(trace_file, FORMAT)
    assert folder_name(trace_file, "warts") != before
    monkeypatch.setattr(resumed, "_code", lambda: "0" * 12)
    assert folder_name(trace_file, FORMAT) != before


def test_a_file_with_a_fault_is_read_again(tmp_path):
    broken = tmp_path / "cut.json.gz"
    broken.write_bytes((LAB / "h0.udp-paris.json.gz").read_bytes()[:-5000])
    folder, read = read_into(tmp_path / "scratch", broken)
    assert read.report.status == "partial"
    assert kept(folder, broken) is None


def with_record(folder, change):
    record = json.loads((folder / RECORD).read_text())
    change(record)
    (folder / RECORD).write_text(json.dumps(record))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / RECORD).unlink(),
        lambda folder: (folder / RECORD).write_text('{"report": '),
        lambda folder: (folder / RECORD).write_text("[]"),
        lambda folder: next(folder.glob("*/addrs.npy")).unlink(),
        lambda folder: with_record(folder, lambda r: r["observation"].update(spool="../x")),
        lambda folder: with_record(folder, lambda r: r["observation"].update(folder="..")),
        lambda folder: with_record(folder, lambda r: r["observation"].pop("spool")),
        lambda folder: with_record(folder, lambda r: r["report"].update(unknown=1)),
    ],
)
def test_what_is_not_complete_is_read_again(tmp_path, trace_file, spoil):
    folder, _ = read_into(tmp_path / "scratch", trace_file)
    spoil(folder)
    assert kept(folder, trace_file) is None
    (read,) = read_all_traces([(trace_file, FORMAT)], folder.parent, 1, lambda *counts: None)
    assert not read.is_kept
    assert kept(folder, trace_file) is not None


def test_a_file_that_is_not_there_has_a_folder_too(tmp_path):
    assert folder_name(tmp_path / "gone", FORMAT).startswith("read-")
    assert kept(tmp_path / "none", tmp_path / "gone") is None


def test_numberings_of_the_killed_run_are_removed(tmp_path, trace_file):
    folder, read = read_into(tmp_path / "scratch", trace_file)
    left = read.observation.spool.parent / "numbering-x.npy"
    left.touch()
    assert kept(folder, trace_file) is not None
    assert not left.exists()


def test_the_next_ingest_takes_over_and_leaves_nothing(tmp_path, trace_file):
    store = tmp_path / "store"
    dead = store / f"{held.READING}0123456789ab"
    read_into(dead / held._FILES, trace_file)
    (dead / held._LOCK).touch()
    (dead / held._FILES / "read-of-another-input").mkdir()
    given = {"ip2as": (LAB / "lab.pfx2as",), "allow_special": ("198.18.0.0/15",)}
    found = ingest(IngestConfig(inputs=(trace_file,), store=store, snapshot="night", **given))
    assert found.n_resumed == 1
    assert not list(store.glob(f"{held.READING}*"))
    wanted = ingest(
        IngestConfig(inputs=(trace_file,), store=tmp_path / "other", snapshot="night", **given)
    )
    assert wanted.n_resumed == 0
    assert (found.n_traces, found.n_nodes, found.n_edges, found.n_ingresses) == (
        wanted.n_traces,
        wanted.n_nodes,
        wanted.n_edges,
        wanted.n_ingresses,
    )


def test_samples_of_rejected_records_survive(tmp_path, trace_file):
    folder, read = read_into(tmp_path / "scratch", trace_file)
    report = ReadReport(str(trace_file), FORMAT)
    report.reject("line 3", "no destination", "x")
    report.skip("ping", 3)
    resumed.keep(folder, report, read.observation)
    assert kept(folder, trace_file)[0] == report
