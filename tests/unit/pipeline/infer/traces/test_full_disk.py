"""A disk that fills up while scratch files are written: reported, and nothing is kept twice."""

import errno
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import StoreError
from pipeline.infer import infer_topology, samples
from pipeline.infer.traces import spool
from pipeline.infer.traces.observer import Observer
from pipeline.infer.traces.spool import SpoolWriter, read_block
from tests.unit.pipeline.infer.handmade import observe, prefix_table, traces

A, B, C = "20.1.0.10", "20.1.0.20", "20.1.0.30"


class FullDisk:
    """A file that takes some writes and then none."""

    def __init__(self, file, n_writes):
        self._file, self._n_left = file, n_writes

    def write(self, data):
        if self._n_left == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._n_left -= 1
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)


def columns(n_traces):
    """This many traces of one hop."""
    return (
        np.ones(n_traces, np.uint8),
        np.zeros(n_traces, np.uint8),
        np.ones(n_traces, np.uint8),
        np.arange(n_traces, dtype=np.int32),
        np.full(n_traces, 1.5, np.float32),
        np.zeros((n_traces, 2), np.uint64),
        np.zeros(n_traces, np.int32),
        np.zeros(n_traces, np.uint32),
        np.zeros(n_traces, np.uint8),
        np.zeros(n_traces, np.uint8),
    )


def failing_writer(tmp_path, n_writes):
    writer = SpoolWriter(tmp_path / "traces.spool")
    writer._file = FullDisk(writer._file, n_writes)
    return writer


@pytest.mark.parametrize("n_writes", [9, 10, 11, 17])
def test_a_block_that_was_not_written_whole_is_not_listed(tmp_path, monkeypatch, n_writes):
    monkeypatch.setattr(spool, "BLOCK_HOPS", 4)
    writer = failing_writer(tmp_path, n_writes)
    writer.add(*columns(4))
    with pytest.raises(StoreError):
        writer.add(*columns(6))
    assert [block.n_traces for block in writer.blocks] == [4]
    assert read_block(writer.path, writer.blocks[0]).ids.tolist() == [0, 1, 2, 3]


def test_after_a_fault_every_further_use_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "BLOCK_HOPS", 4)
    writer = failing_writer(tmp_path, 2)
    with pytest.raises(StoreError):
        writer.add(*columns(4))
    for _ in range(2):
        with pytest.raises(StoreError, match="No space left"):
            writer.add(*columns(1))
        with pytest.raises(StoreError, match="No space left"):
            writer.close()
    assert writer.blocks == []


def test_the_error_names_the_folder_and_the_reason_and_survives_a_process(tmp_path):
    observer = Observer(tmp_path)
    observer._writer._file = FullDisk(observer._writer._file, 0)
    observer.add(traces(f"{A} {B}"))
    with pytest.raises(StoreError) as caught:
        observer.close()
    text = str(caught.value)
    assert text.startswith(f"{tmp_path}")
    assert "no room for scratch files: No space left on device; free space" in text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text


def test_a_full_disk_is_reported_by_its_reason_for_addresses_too(tmp_path):
    """NumPy's own words there: "20000 requested and 496 written"."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with (
        pytest.raises(StoreError, match="no room for scratch files: No space left on device"),
        spool.scratch_faults(tmp_path),
        Path("/dev/full").open("wb") as file,
    ):
        spool.save_array(file, np.arange(20_000))


def test_a_limit_of_file_sizes_is_said_where_it_is_reached(tmp_path):
    with (
        pytest.raises(StoreError, match=r"File too large; raise the limit .*ulimit -f"),
        spool.scratch_faults(tmp_path),
    ):
        raise OSError(errno.EFBIG, "File too large")


@pytest.mark.parametrize("shape", [(0,), (5,), (3, 2)])
def test_a_saved_array_is_loaded_again(tmp_path, shape):
    array = np.arange(np.prod(shape), dtype=np.uint64).reshape(shape)
    with (tmp_path / "a.npy").open("wb") as file:
        spool.save_array(file, array)
    loaded = np.load(tmp_path / "a.npy")
    assert loaded.dtype == array.dtype
    np.testing.assert_array_equal(loaded, array)


def test_a_disk_that_is_full_in_fact_is_reported_at_the_last_write(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    path = tmp_path / "traces.spool"
    path.symlink_to("/dev/full")
    writer = SpoolWriter(path)
    writer.add(*columns(3))  # less than a buffer: written when the file is closed
    with pytest.raises(StoreError, match="no room for scratch files"):
        writer.close()


def test_a_scratch_folder_that_is_gone_is_an_error_of_scratch_not_of_the_input(tmp_path):
    observer = Observer(tmp_path)
    observer.add(traces(f"{A} {B}"))
    for path in observer._folder.iterdir():
        path.unlink()
    observer._folder.rmdir()
    with pytest.raises(StoreError, match="scratch files cannot be written or read: No such file"):
        observer.close()
    with pytest.raises(StoreError, match="scratch files cannot be written or read: No such file"):
        Observer(tmp_path / "nowhere")


def test_a_full_disk_during_inference_is_an_error_of_scratch(tmp_path, monkeypatch):
    seen = observe(tmp_path, traces(f"{A} {B} {C}"))
    opened = []

    class FullBuckets(samples.Samples):
        def __init__(self, *args):
            super().__init__(*args)
            opened.extend(self._files)
            self._files = [FullDisk(file, 0) for file in self._files]

    monkeypatch.setattr(samples, "Samples", FullBuckets)
    with pytest.raises(StoreError, match="no room for scratch files"):
        infer_topology([seen], prefixes=prefix_table(tmp_path), borders="prefix")
    assert opened
    assert all(file.closed for file in opened)


def test_a_spool_that_is_gone_during_inference_is_an_error_of_scratch(tmp_path):
    seen = observe(tmp_path, traces(f"{A} {B} {C}"))
    seen.spool.unlink()
    with pytest.raises(StoreError, match=f"{seen.spool.parent}: scratch files cannot be"):
        infer_topology([seen], prefixes=prefix_table(tmp_path), borders="prefix")


def test_sample_files_are_closed_when_a_pass_raises(tmp_path, monkeypatch):
    seen = observe(tmp_path, traces(f"{A} {B} {C}"))
    opened = []

    class Failing(samples.Samples):
        def __init__(self, *args):
            super().__init__(*args)
            opened.extend(self._files)

        def add(self, samples):
            raise MemoryError

    monkeypatch.setattr(samples, "Samples", Failing)
    with pytest.raises(MemoryError):
        infer_topology([seen], prefixes=prefix_table(tmp_path), borders="prefix")
    assert opened
    assert all(file.closed for file in opened)
    assert not list(tmp_path.rglob("*.samples"))
