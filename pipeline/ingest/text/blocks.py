"""Traces in text: blocks of lines, each of which begins with a header, in any number in one file.

For what programs print for people. A format says where a block begins and how it is read; what
stands between blocks, broken blocks, cut files and limits are the same for all.
"""

from __future__ import annotations

import re
from abc import abstractmethod

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.column_reader import Broken, More, Step, TraceDecoder
from pipeline.ingest.columns import ByteWindow, TraceColumns
from pipeline.model.measured.reading import ReadReport

WINDOW_BYTES = 1 << 20
MAX_RECORD_BYTES = 1 << 20  # 255 hops of 60 probes, each with a name


class BrokenLine(Exception):
    """What is wrong with a line of a block; ``number`` counts from its header, which is 0."""

    def __init__(self, number: int, reason: str, line: str) -> None:
        super().__init__(number, reason, line)
        self.number, self.reason, self.line = number, reason, line


class BlockDecoder(TraceDecoder):
    """State of decoding one file: the lines so far.

    Attributes
    ----------
    begins : re.Pattern
        A block begins where it matches, which is at the beginning of a line.
    need : str
        What a file must have that has no block.
    min_trace_bytes, min_reply_bytes : int
        As of ``TraceDecoder``: the least that a block, and an answer in it, takes.
    """

    window_bytes, max_window_bytes = WINDOW_BYTES, MAX_RECORD_BYTES
    begins: re.Pattern[bytes]
    need: str

    def __init__(self, report: ReadReport) -> None:
        self.report = report
        self._n_lines, self._counted_to = 0, 0  # line ends before that place in the window
        self._in_line = False  # the window begins in the middle of a line

    @abstractmethod
    def take(self, text: str, columns: TraceColumns) -> None:
        """Put the traces of one block into the columns.

        Raises
        ------
        BrokenLine
            Nothing was put there.
        """

    @abstractmethod
    def is_whole(self, line: bytes) -> bool:
        """Whether the last line of a file, without a line break, is not cut."""

    def begin(self, window: ByteWindow) -> int:
        return len(BOM) if bytes(window.data[: min(len(BOM), window.end)]) == BOM else 0

    def decode(self, window: ByteWindow, at: int, columns: TraceColumns) -> Step:
        while True:
            start = self._next_begin(window, at)
            self._skip_others(window, at, window.end if start is None else start)
            if start is None:
                return More(self._last_line(window, at))
            stop = self._next_begin(window, start + 1)
            if stop is None and not window.final:
                if window.has_room(start):
                    return More(start)
                place = self._place(window, start)
                detail = f"more than {MAX_RECORD_BYTES} bytes"
                return Broken(start + 1, place, "trace too long", detail, is_lost=True)
            if stop is None and window.fault is not None:
                return More(window.end)  # its end is missing
            text = bytes(window.data[start : window.end if stop is None else stop])
            last = text.rpartition(b"\n")[2]
            if stop is None and last.strip() and not self.is_whole(last):
                place = self._place(window, window.end - len(last))
                cut = "cut short: the last line does not end"
                return Broken(window.end, place, cut, "", is_lost=True, if_last=cut, is_cut=True)
            stop = start + len(text)
            try:
                self.take(text.decode("utf-8", "replace"), columns)
            except BrokenLine as error:
                place = f"line {self._line(window, start) + error.number}"
                return Broken(stop, place, error.reason, error.line)
            at = stop

    def _next_begin(self, window: ByteWindow, at: int) -> int | None:
        """Where the next block begins, from ``at`` on."""
        if self._in_line and at == 0:
            line_end = bytes(window.data[: window.end]).find(b"\n")
            if line_end < 0:
                return None
            at = line_end + 1
        found = self.begins.search(window.data.data, at, window.end)
        if found is None:
            return None
        self._in_line = False
        return found.start()

    def _last_line(self, window: ByteWindow, at: int) -> int:
        """Where the last line of the window begins, which may begin a trace; its end in the end."""
        if window.final:
            return window.end
        line = at + bytes(window.data[at : window.end]).rfind(b"\n") + 1
        self._in_line = line == at and window.end - at > 1 << 16
        return window.end if self._in_line else line

    def _skip_others(self, window: ByteWindow, at: int, stop: int) -> None:
        text = bytes(window.data[at:stop])
        whole = text if window.final or stop < window.end else text[: text.rfind(b"\n") + 1]
        if n := sum(bool(line.strip()) for line in whole.split(b"\n")):
            self.report.skip("other line", n)

    def resynchronise(self, window: ByteWindow, at: int) -> int | More | None:
        found = self._next_begin(window, at)
        if found is not None or window.final:
            return found
        return More(self._last_line(window, at))

    def leave(self, window: ByteWindow, at: int) -> None:
        self._line(window, at)
        self._counted_to = 0

    def judge(self, window: ByteWindow, fault: FormatError | None) -> FormatError | None:
        if fault is None and not self.report.n_records and not self.report.rejected:
            return FormatError(self.report.path, "", self.need)
        return fault

    def _line(self, window: ByteWindow, at: int) -> int:
        """Line of ``at``, counted from the last place that was requested."""
        first, last = sorted((self._counted_to, at))
        n_between = int((window.data[first:last] == 10).sum())
        self._n_lines += n_between if last == at else -n_between
        self._counted_to = at
        return 1 + self._n_lines

    def _place(self, window: ByteWindow, at: int) -> str:
        return f"line {self._line(window, at)}"
