"""Contract of all readers of traces; a format's test class inherits these tests.

A class gives ``format``, ``sample`` (below data/samples/), ``traces`` (what the sample holds,
counted by hand: see ``Trace``), ``broken_record`` (bytes that may be between two samples and of
which only they are rejected), ``broken_reason`` (why) and ``labels`` (contents of files, each with
the addresses in it that sent an MPLS label stack). Next to the sample, ``bad/`` holds broken
files and ``bad/expected.json`` what each must give: the error's reason ("" where the file as a
whole is good), the number of traces that are read, and the rejected records by reason. Instead of
a folder, ``bad`` may hold the bytes of each file and what they must give.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import FormatError
from pipeline.ingest import FORMATS, detect_format, open_reader
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import KIND_OTHER, LABELLED, TraceBatch
from tests.addresses import format_addrs
from tests.soak import examples

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


class Trace(NamedTuple):
    """One trace as a test writes it; replies are (ttl, addr, rtt_ms or None, kind)."""

    src: str
    dst: str
    start_s: float
    replies: list[tuple[int, str, float | None, int]]


def unpack(batch: TraceBatch) -> list[Trace]:
    """The traces of a batch, rtt rounded to a microsecond."""
    addrs = format_addrs(batch.addr)
    rtts = [None if math.isnan(rtt) else round(rtt, 3) for rtt in batch.rtt_ms.tolist()]
    rows = list(zip(batch.ttl.tolist(), addrs, rtts, batch.kind.tolist(), strict=True))
    bounds = batch.reply_ptr.tolist()
    return [
        Trace(src, dst, round(start, 6), rows[bounds[i] : bounds[i + 1]])
        for i, (src, dst, start) in enumerate(
            zip(
                format_addrs(batch.src_addr),
                format_addrs(batch.dst_addr),
                batch.start_s.tolist(),
                strict=True,
            )
        )
    ]


def check_batch(batch: TraceBatch) -> None:
    """Fail unless the columns are what TraceBatch promises."""
    n, m = batch.n_traces, batch.n_replies
    columns = {
        "src_addr": ((n, 2), np.uint64),
        "dst_addr": ((n, 2), np.uint64),
        "start_s": ((n,), np.float64),
        "reply_ptr": ((n + 1,), np.int64),
        "ttl": ((m,), np.uint8),
        "addr": ((m, 2), np.uint64),
        "rtt_ms": ((m,), np.float32),
        "kind": ((m,), np.uint8),
    }
    for name, (shape, dtype) in columns.items():
        column = getattr(batch, name)
        assert column.shape == shape, name
        assert column.dtype == dtype, name
    assert n > 0
    assert batch.reply_ptr[0] == 0
    assert batch.reply_ptr[-1] == m
    assert (np.diff(batch.reply_ptr) >= 0).all()
    assert (batch.ttl >= 1).all()
    assert (batch.kind & ~np.uint8(LABELLED) <= KIND_OTHER).all()
    assert not np.isinf(batch.rtt_ms).any()
    assert not (batch.rtt_ms < 0).any()
    assert np.isfinite(batch.start_s).all()
    falls = np.diff(batch.ttl.astype(np.int64)) < 0
    starts = np.zeros(m + 1, bool)
    starts[batch.reply_ptr] = True
    assert not (falls & ~starts[1:m]).any(), "replies of a trace are not by ascending ttl"


def mutations(sample: bytes) -> st.SearchStrategy[bytes]:
    """The sample after a few flips, deletions, insertions, duplications or a cut."""
    place = st.integers(0, max(0, len(sample) - 1))
    edit = st.one_of(
        st.tuples(st.just("flip"), place, st.integers(1, 255)),
        st.tuples(st.just("delete"), place, st.integers(1, 40)),
        st.tuples(st.just("insert"), place, st.binary(min_size=1, max_size=20)),
        st.tuples(st.just("repeat"), place, st.integers(1, 200)),
        st.tuples(st.just("cut"), place, st.just(0)),
    )

    def apply(edits) -> bytes:
        data = bytearray(sample)
        for kind, at, arg in edits:
            at = min(at, len(data))
            if kind == "flip" and at < len(data):
                data[at] ^= arg
            elif kind == "delete":
                del data[at : at + arg]
            elif kind == "insert":
                data[at:at] = arg
            elif kind == "repeat":
                data[at:at] = data[at : at + arg]
            elif kind == "cut":
                del data[at:]
        return bytes(data)

    return st.lists(edit, min_size=1, max_size=4).map(apply)


class TraceReaderContract:
    format: str
    sample: str
    traces: list[Trace]
    broken_record: bytes
    broken_reason: str
    labels: list[tuple[bytes, set[str]]] = []  # none: the format has none
    bad: dict[str, tuple[bytes, dict]] = {}

    @pytest.fixture
    def path(self) -> Path:
        return SAMPLES / self.sample

    def test_only_replies_with_a_label_stack_are_labelled(self):
        assert not self.labels or any(found for _, found in self.labels)
        for content, expected in self.labels:
            report = ReadReport("labels")
            batches = list(FORMATS[self.format].load().read(io.BytesIO(content), report))
            replies = [reply for batch in batches for t in unpack(batch) for reply in t.replies]
            assert len(replies) >= 2, content
            assert {addr for _, addr, _, kind in replies if kind & LABELLED} == expected, content
            n = sum(kind >= LABELLED for *_, kind in replies)
            assert report.notes["replies with MPLS labels"] == n, content

    def sample_bytes(self) -> bytes:
        return (SAMPLES / self.sample).read_bytes()

    def read_file(self, path: Path) -> tuple[list[Trace], ReadReport, FormatError | None]:
        """Everything that a file gives, and the error that ended it."""
        report = ReadReport(str(path))
        traces: list[Trace] = []
        try:
            for batch in open_reader(path, report, self.format)[1]:
                check_batch(batch)
                traces += unpack(batch)
        except FormatError as error:
            return traces, report, error
        return traces, report, None

    def read_bytes(self, data: bytes) -> tuple[list[Trace], ReadReport, FormatError | None]:
        """As read_file, without a file."""
        report = ReadReport("bytes")
        traces: list[Trace] = []
        try:
            for batch in FORMATS[self.format].load().read(io.BytesIO(data), report):
                check_batch(batch)
                traces += unpack(batch)
        except FormatError as error:
            return traces, report, error
        return traces, report, None

    def test_the_sample_gives_the_traces_counted_by_hand(self, path):
        traces, report, error = self.read_file(path)
        assert error is None
        assert traces == self.traces
        assert report.n_records == len(self.traces)
        assert report.n_hops == sum(len(trace.replies) for trace in self.traces)
        assert not report.rejected
        assert report.status == "ok"
        assert report.newest_s == pytest.approx(max(trace.start_s for trace in self.traces))
        assert report.size_bytes == path.stat().st_size

    def test_the_format_is_detected_by_content(self, path, tmp_path):
        renamed = tmp_path / "noname"
        renamed.write_bytes(path.read_bytes())
        assert detect_format(renamed) == self.format

    @pytest.mark.parametrize("ending", sorted(COMPRESS))
    def test_compressed_files_give_the_same(self, path, tmp_path, ending):
        packed = tmp_path / "packed"
        packed.write_bytes(COMPRESS[ending](path.read_bytes()))
        assert detect_format(packed) == self.format
        traces, report, error = self.read_file(packed)
        assert error is None
        assert traces == self.traces
        assert report.size_bytes == packed.stat().st_size

    def test_a_cut_compressed_file_gives_what_it_holds_and_then_an_error(self, path, tmp_path):
        packed = tmp_path / "cut.gz"
        packed.write_bytes(gzip.compress(path.read_bytes(), 0)[:-9])
        traces, report, error = self.read_file(packed)
        assert error is not None
        assert "cut short" in error.reason
        assert str(packed) in str(error)
        assert traces == self.traces[: len(traces)]
        assert len(traces) >= len(self.traces) - 1
        assert report.status == ("partial" if traces else "rejected")
        assert report.error == str(error)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)

    @pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["plain", "gzip"])
    def test_an_empty_file_is_named(self, tmp_path, content):
        empty = tmp_path / "nothing"
        empty.write_bytes(content)
        traces, report, error = self.read_file(empty)
        assert traces == []
        assert error is not None
        assert "empty" in error.reason
        assert "nothing" in str(error)
        assert report.status == "rejected"

    @pytest.mark.parametrize("content", [b"\x00" * 5000, b"It was a dark night.\n" * 300])
    def test_a_file_that_is_something_else_is_named(self, tmp_path, content):
        other = tmp_path / "other"
        other.write_bytes(content)
        traces, report, error = self.read_file(other)
        assert traces == []
        assert error is not None
        assert "other" in str(error)
        assert report.status == "rejected"

    def test_a_broken_record_loses_only_itself(self):
        sample = self.sample_bytes()
        traces, report, error = self.read_bytes(sample + self.broken_record + sample)
        assert error is None
        assert traces == self.traces * 2
        assert dict(report.rejected) == {self.broken_reason: 1}
        assert report.samples[0].place

    def test_reading_in_small_steps_gives_the_same(self, path):
        class Dribble(io.RawIOBase):
            def __init__(self, data):
                self.data = io.BytesIO(data)

            def readable(self):
                return True

            def readinto(self, buffer):
                return self.data.readinto(memoryview(buffer)[:7])

        report = ReadReport("dribble")
        reader = FORMATS[self.format].load().read(Dribble(path.read_bytes()), report)
        assert [trace for batch in reader for trace in unpack(batch)] == self.traces

    def bad_files(self, folder: Path) -> Iterator[tuple[Path, dict]]:
        """Broken files, and what each must give."""
        for name, (content, want) in self.bad.items():
            (folder / name).write_bytes(content)
            yield folder / name, want
        if not self.bad:
            kept = (SAMPLES / self.sample).parent / "bad"
            expected = json.loads((kept / "expected.json").read_text())
            assert {file.name for file in kept.iterdir()} - {"expected.json"} == set(expected)
            yield from ((kept / name, want) for name, want in expected.items())

    def test_bad_samples_give_the_messages_written_beside_them(self, tmp_path):
        for path, want in self.bad_files(tmp_path):
            traces, report, error = self.read_file(path)
            reason, first, _ = (error.reason if error else "").partition("; first fault: ")
            assert bool(first) == (bool(want["rejected"]) and want["n_traces"] == 0), path.name
            got = {
                "error": reason,
                "n_traces": len(traces),
                "rejected": dict(report.rejected),
            }
            assert got == want, path.name

    def test_a_file_of_broken_records_alone_is_rejected_with_the_first_reason(self, tmp_path):
        path = tmp_path / "broken"
        path.write_bytes(self.broken_record * 3)
        traces, report, error = self.read_file(path)
        assert traces == []
        assert (report.status, report.n_records) == ("rejected", 0)
        assert self.broken_reason in error.reason.partition("; first fault: ")[2]
        assert report.error == str(error)

    @settings(
        max_examples=examples(150),
        deadline=None,  # the first call compiles; the time is taken below
        suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
    )
    @given(data=st.data())
    def test_mutated_samples_give_good_columns_or_a_format_error(self, data):
        mutated = data.draw(mutations(self.sample_bytes()))
        self.read_bytes(self.sample_bytes())
        started = time.process_time()
        traces, report, _ = self.read_bytes(mutated)
        assert report.n_records == len(traces)
        assert time.process_time() - started < 2, "a small file took seconds"
