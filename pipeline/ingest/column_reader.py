"""One loop for all readers of traces: read, decode, reject broken records, continue after them.

A format supplies a ``TraceDecoder``. The loop here moves the window over the stream, keeps what is
not whole yet, takes batches out of the columns, counts and names rejects, looks for the next record
after a broken one, and raises what is wrong with a file once everything valid was yielded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, TypeAlias

from pipeline.errors import FormatError
from pipeline.ingest.columns import ByteWindow, TraceColumns, count_batch
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch


class More(NamedTuple):
    """Everything complete was used; ``at``: the record there needs bytes that were not read yet."""

    at: int


class Broken(NamedTuple):
    """A record that cannot be used.

    Attributes
    ----------
    at : int
        Where to continue.
    place, reason, detail : str
        As ``ReadReport.reject`` takes them.
    is_lost : bool
        Whether the next record must be looked for, from ``at`` on; else it begins there.
    if_last : str
        What is wrong with the file if no record follows; "" if nothing is.
    is_cut : bool
        The stream ends in this record: it is rejected only if another one follows.
    """

    at: int
    place: str
    reason: str
    detail: str = ""
    is_lost: bool = False
    if_last: str = ""
    is_cut: bool = False


class Unreadable(NamedTuple):
    """Why the rest of the file cannot be read, and from where on."""

    place: str
    reason: str


Step: TypeAlias = More | Broken | Unreadable


class TraceDecoder(ABC):
    """How a format's records are decoded, and where the next one begins.

    It counts what it skips in the report that it was given. Positions are indexes of
    ``window.data``.

    Attributes
    ----------
    window_bytes : int
        Size of the window, which bounds what one batch holds.
    max_window_bytes : int
        Size to which the window may grow for one record.
    min_trace_bytes, min_reply_bytes : int
        The least bytes that a trace, and a reply of it, take.
    """

    window_bytes: int
    max_window_bytes: int
    min_trace_bytes: int
    min_reply_bytes: int

    def begin(self, window: ByteWindow) -> int:
        """Where the first record may begin in the first window."""
        return 0

    @abstractmethod
    def decode(self, window: ByteWindow, at: int, columns: TraceColumns) -> Step:
        """Decode records from ``at`` on into the columns, up to the first broken one.

        ``More`` in a final window: the stream was read to its end.
        """

    @abstractmethod
    def resynchronise(self, window: ByteWindow, at: int) -> int | More | None:
        """Where the next record begins, at ``at`` or after it; None if there is none in the file.

        ``More.at``: where to look again when the window has moved on.
        """

    def leave(self, window: ByteWindow, at: int) -> None:  # noqa: B027
        """The window was decoded and moves on to ``at``: time to count what kernels have seen."""

    @abstractmethod
    def judge(self, window: ByteWindow, fault: FormatError | None) -> FormatError | None:
        """The error to raise for a file that was read to its end, or to ``fault``."""


class ColumnReader:
    """The traces of one file, in file order.

    Parameters
    ----------
    stream : binary stream with ``readinto``
        Decompressed bytes.
    report : ReadReport
        Filled while ``batches()`` is consumed.
    decoder : TraceDecoder
        Made for this file and this report.
    """

    def __init__(self, stream: BinaryIO, report: ReadReport, decoder: TraceDecoder) -> None:
        self._report = report
        self._decoder = decoder
        self.window = ByteWindow(stream, decoder.window_bytes, decoder.max_window_bytes)
        self._columns = self._room()
        self._lost: Broken | None = None  # the next record is looked for after it
        self._fault: FormatError | None = None

    def batches(self) -> Iterator[TraceBatch]:
        """Yield a batch for each window that holds traces.

        Raises
        ------
        FormatError
            After everything valid: what the stream raised, or what the decoder says of the file.
        """
        window, report = self.window, self._report
        window.move(0)
        at = self._decoder.begin(window)
        while True:
            at = self._read_window(at)
            self._decoder.leave(window, at)
            batch = self._columns.take()
            if batch is not None:
                count_batch(batch, report)
                yield batch
            if window.final or self._fault is not None:
                break
            size = len(window.data)
            window.move(at)
            at = 0
            if len(window.data) != size:
                self._columns = self._room(self._columns)
        for note, count in self._columns.notes().items():
            report.notes[note] += count
        if window.fault is not None:
            raise window.fault
        if window.offset == window.end == 0:
            raise FormatError(report.path, "", "empty")
        fault = self._decoder.judge(window, self._fault)
        if fault is not None:
            raise fault

    def _room(self, before: TraceColumns | None = None) -> TraceColumns:
        """Columns with room for whatever the window can hold; earlier notes are kept."""
        size, decoder = len(self.window.data), self._decoder
        columns = TraceColumns(
            size // decoder.min_trace_bytes + 2, size // decoder.min_reply_bytes + 2
        )
        if before is not None:
            columns.counts[:] = before.counts
        return columns

    def _read_window(self, at: int) -> int:
        """Decode what the window holds from ``at`` on; returns where the rest to keep begins."""
        window, report = self.window, self._report
        while True:
            if self._lost is not None:
                found = self._decoder.resynchronise(window, at)
                if isinstance(found, More):
                    return found.at
                broken, self._lost = self._lost, None
                if found is None:
                    if broken.if_last:
                        self._fault = FormatError(report.path, broken.place, broken.if_last)
                    return window.end
                if broken.is_cut:
                    report.reject(broken.place, broken.reason, broken.detail)
                at = found
            step = self._decoder.decode(window, at, self._columns)
            if isinstance(step, More):
                return step.at
            if isinstance(step, Unreadable):
                self._fault = FormatError(report.path, step.place, step.reason)
                return window.end
            if not step.is_cut:
                report.reject(step.place, step.reason, step.detail)
            if step.is_lost:
                self._lost = step
            at = step.at
