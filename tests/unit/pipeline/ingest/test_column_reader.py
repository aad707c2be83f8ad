"""The loop of all readers of traces, driven by a format of a few lines that compiles nothing."""

from __future__ import annotations

import io

import numpy as np
import pytest

from pipeline.errors import FormatError
from pipeline.ingest import warts
from pipeline.ingest.column_reader import (
    Broken,
    ColumnReader,
    More,
    Step,
    TraceDecoder,
    Unreadable,
)
from pipeline.ingest.columns import ByteWindow, TraceColumns
from pipeline.model.measured.reading import ReadReport
from tests.unit.pipeline.ingest.warts import warts_bytes as wb


class Letters(TraceDecoder):
    """Records are a letter and a full stop; a capital is a broken one.

    After ``!`` the next record must be looked for. ``#`` ends what can be read. A
    trace starts at the letter's number.
    """

    min_trace_bytes, min_reply_bytes = 2, 1

    def __init__(self, window_bytes: int, max_window_bytes: int) -> None:
        self.window_bytes, self.max_window_bytes = window_bytes, max_window_bytes
        self.sizes: list[int] = []

    def decode(self, window: ByteWindow, at: int, columns: TraceColumns) -> Step:
        self.sizes.append(len(window.data))
        data = window.data[: window.end].tobytes()
        while at < window.end:
            place = f"byte {window.offset + at}"
            stop = data.find(b".", at)
            if data[at : at + 1] == b"!":
                return Broken(at + 1, place, "noise", is_lost=True, if_last="noise to the end")
            if data[at : at + 1] == b"#":
                return Unreadable(place, "a wall")
            if stop < 0 and window.has_room(at):
                return More(at)
            if stop < 0 and not window.final:
                return Broken(at, place, "too long", is_lost=True)
            if stop < 0:
                return Broken(at, place, "no stop", is_lost=True, if_last="cut", is_cut=True)
            record = data[at:stop].strip(b" ")
            if not record.islower():
                return Broken(stop + 1, place, "capital", record.decode())
            row = int(columns.count["n_traces"])
            columns.src_addr[row] = columns.dst_addr[row] = 0
            columns.start_s[row] = record[0]
            columns.count["n_traces"] += 1
            at = stop + 1
        return More(at)

    def resynchronise(self, window: ByteWindow, at: int) -> int | More | None:
        found = window.data[: window.end].tobytes().find(b".", at)
        if found >= 0:
            return found + 1
        return None if window.final else More(window.end)

    def judge(self, window: ByteWindow, fault: FormatError | None) -> FormatError | None:
        return fault


def read(data: bytes, size: int = 8, most: int = 64) -> tuple[str, ReadReport, str, list[int]]:
    report = ReadReport("letters")
    decoder = Letters(size, most)
    letters, error = "", ""
    try:
        for batch in ColumnReader(io.BytesIO(data), report, decoder).batches():
            letters += "".join(chr(int(start)) for start in batch.start_s)
    except FormatError as fault:
        error = str(fault)
    return letters, report, error, decoder.sizes


@pytest.mark.parametrize("size", [2, 3, 8, 1 << 10])
@pytest.mark.parametrize(
    ("data", "letters", "rejected", "error"),
    [
        (b"a.b.c.", "abc", {}, ""),
        (b"a.B.c.", "ac", {"capital": 1}, ""),
        (b"a.!x.c.!y!.d.", "acd", {"noise": 2}, ""),
        (b"a.!" + b"x" * 100 + b".c.", "ac", {"noise": 1}, ""),
        (b"a.!" + b"x" * 100, "a", {"noise": 1}, "letters: byte 2: noise to the end"),
        (b"a.b.c", "ab", {}, "letters: byte 4: cut"),
        (b"a.#b.", "a", {}, "letters: byte 2: a wall"),
        (b"a." + b" " * 30 + b"b.c.", "abc", {}, ""),
        (b"a." + b" " * 200 + b"b.c.", "ac", {"too long": 1}, ""),
        (b"", "", {}, "letters: empty"),
    ],
)
def test_complete_records_are_read_with_any_window(data, letters, rejected, error, size):
    found, report, fault, sizes = read(data, size)
    if size == 1 << 10 and "too long" in rejected:
        letters, rejected = "abc", {}  # it is not, for such a window
    assert found == letters
    assert report.rejected == rejected
    assert fault == error
    assert report.n_records == len(letters)
    assert max(sizes) <= max(size, 64)


def test_rejects_name_their_place_in_the_file_and_what_was_found():
    _, report, _, _ = read(b"a.b.c.d.Ex.f.", size=4)
    (reject,) = report.samples
    assert (reject.place, reject.reason, reject.detail) == ("byte 8", "capital", "Ex")


def test_a_fault_of_the_stream_comes_after_everything_readable_and_before_other_faults():
    class Faulty(io.BytesIO):
        def readinto(self, buffer):
            n_read = super().readinto(buffer)
            if not n_read:
                raise FormatError("x", "", "damaged")
            return n_read

    report = ReadReport("letters")
    read = ColumnReader(Faulty(b"a.b.c"), report, Letters(4, 64)).batches()
    assert next(read).n_traces == 2
    with pytest.raises(FormatError, match="x: damaged"):
        next(read)


def test_notes_of_before_a_window_grew_are_kept(monkeypatch):
    monkeypatch.setattr(warts, "WINDOW_BYTES", 64)
    head = wb.params({27: wb.address("192.0.2.2")})
    silent = wb.record(6, head + b"\0\1" + wb.params({2: b"\1"}) + b"\0\0")  # no address
    long = wb.record(7, b"\0" * 1000)  # a record of another type, larger than the window
    report = ReadReport("bytes")
    for batch in warts.read(io.BytesIO(silent * 3 + long + silent), report):
        assert np.all(np.diff(batch.reply_ptr) == 0)
    assert report.n_records == 4
    assert report.notes == {"replies without an address": 4}
