"""CSV and Parquet as Arrow batches of the columns of that name, read bit by bit."""

from __future__ import annotations

import io
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.opening import EXPANSION_FREE, MAX_EXPANSION
from pipeline.model.measured.reading import ReadReport

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

PARQUET = b"PAR1"
# fmt: off
YARRP_FIELDS = [
    "target", "sec", "usec", "type", "code", "ttl", "hop", "rtt", "ipid", "psize", "rsize", "rttl",
    "rtos", "mpls", "count",
]
# fmt: on
_BLOCK_BYTES = 1 << 22
_BATCH_ROWS = 1 << 16
_YARRP_ROW = re.compile(
    rb"^[0-9A-Fa-f:.]+ \d{9,10} \d{1,6} \d{1,3} \d{1,3} \d{1,3} [0-9A-Fa-f:.]+(?: \S+){6,8}$",
    re.MULTILINE,
)
_SETTING = re.compile(r"# (\w+): (.*)")
_MAX_COLUMNS = 200


class CsvHead(NamedTuple):
    """What the beginning of a text says of its columns.

    Attributes
    ----------
    names : list of str
        Of the columns, in lower case.
    separator : str
    n_skipped : int
        Lines before the first row.
    settings : dict
        What yarrp's header says.
    """

    names: list[str]
    separator: str
    n_skipped: int
    settings: dict[str, str]


def csv_head(head: bytes) -> CsvHead | None:
    """Columns of a text that begins so; None if its first line has no separator."""
    text = head.removeprefix(BOM)
    if row := _YARRP_ROW.search(text):
        settings = dict(_SETTING.findall(text[: row.start()].decode("utf-8", "replace")))
        names = settings.get("Output_Fields", "").split()
        n_columns = len(row[0].split())
        if len(names) != n_columns:
            names = [name for name in YARRP_FIELDS if name != "mpls" or n_columns == 15]
        return CsvHead(names[:n_columns], " ", 0, settings)
    line = text.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    separator = next((each for each in ",;\t|" if each in line), "")
    names = [name.strip().strip("\"'#").strip().lower() for name in line.split(separator or ",")]
    if not separator or len(names) > _MAX_COLUMNS or not all(names):
        return None
    return CsvHead(names, separator, 1, {})


class Table(ABC):
    """An opened table.

    Attributes
    ----------
    names : list of str
    settings : dict
        What the header says of the whole table.
    fault : FormatError or None
        What ended the file, once all batches were read.
    n_read, n_runs, last_row, traces
        How far reading is: rows, traces of rows that stand together, the last row, names of traces.
    """

    names: list[str]
    settings: dict[str, str]
    fault: FormatError | None = None

    def __init__(self) -> None:
        self.n_read = self.n_runs = 0
        self.last_row: np.ndarray | None = None
        self.traces: dict[str, int] = {}

    @abstractmethod
    def batches(self, columns: frozenset[str]) -> Iterator[pa.RecordBatch]:
        """All rows; of the columns those that the table has."""


@contextmanager
def open_table(stream: BinaryIO, head: bytes, report: ReadReport) -> Iterator[Table]:
    """The table in a stream that begins with ``head``.

    Raises
    ------
    FormatError
        It is neither CSV nor Parquet, or damaged Parquet.
    """
    if not head.startswith(PARQUET):
        found = csv_head(head)
        if found is None:
            raise FormatError(report.path, "", "no table: its first line names no columns")
        yield _Csv(stream, found, report)
        return
    with tempfile.TemporaryFile() as file:  # Parquet is read from its end
        while block := stream.read(_BLOCK_BYTES):
            file.write(block)
        yield _Parquet(file, report)


class _WholeLines(io.RawIOBase):
    """The lines of a stream: one that a fault cut is left out, and the fault is kept."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream, self._rest, self._ready = stream, b"", memoryview(b"")
        self.fault: FormatError | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        view = memoryview(buffer).cast("B")
        if not self._ready:
            self._ready = memoryview(self._next())
        taken = self._ready[: len(view)]
        view[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)

    def _next(self) -> bytes:
        """Some lines, in UTF-8; nothing at the end."""
        pieces, size = [self._rest], 0
        while size < _BLOCK_BYTES and self.fault is None:
            try:
                piece = self._stream.read(_BLOCK_BYTES - size)
            except FormatError as error:
                self.fault = error
                break
            if not piece:
                break
            pieces.append(piece)
            size += len(piece)
        block = b"".join(pieces)
        stop = block.rfind(b"\n") + 1
        if self.fault is None and (not size or not stop):  # the end, or longer than any row
            stop = len(block)
        lines, self._rest = block[:stop], block[stop:]
        return lines if lines.isascii() else lines.decode("utf-8", "replace").encode()


class _Csv(Table):
    def __init__(self, stream: BinaryIO, head: CsvHead, report: ReadReport) -> None:
        super().__init__()
        self._lines, self._head, self._report = _WholeLines(stream), head, report
        # A name that is given twice stands for its first column.
        self.names = [
            name if name not in head.names[:i] else f"{name} {i}"
            for i, name in enumerate(head.names)
        ]
        self.settings = head.settings

    def batches(self, columns: frozenset[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyarrow import csv

        wanted = [name for name in self.names if name in columns]
        try:
            reader = csv.open_csv(
                pa.PythonFile(self._lines, mode="r"),
                csv.ReadOptions(
                    use_threads=False,
                    block_size=_BLOCK_BYTES,
                    column_names=self.names,
                    skip_rows=self._head.n_skipped,
                ),
                csv.ParseOptions(delimiter=self._head.separator, invalid_row_handler=self._refuse),
                csv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, pa.binary()),
                    include_columns=wanted,
                    strings_can_be_null=False,
                ),
            )
            yield from reader
        except StopIteration:
            pass
        except pa.ArrowInvalid as error:
            if "Empty CSV" not in str(error):
                self.fault = FormatError(self._report.path, "", f"not CSV: {str(error)[:200]}")
        if self._lines.fault is not None:
            self.fault = self._lines.fault

    def _refuse(self, row: Any) -> str:
        if not row.text.startswith("#"):
            place = f"row {row.number}" if row.number is not None else ""
            detail = f"{row.actual_columns}, not {row.expected_columns}: {row.text}"
            self._report.reject(place, "wrong number of columns", detail)
        return "skip"


class _Parquet(Table):
    def __init__(self, file: Any, report: ReadReport) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        super().__init__()
        self._report = report
        self.settings = {}
        n_bytes = file.tell()
        file.seek(0)
        try:
            self._file = parquet.ParquetFile(file, pre_buffer=False)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(error) from None
        groups = self._file.metadata
        claimed = sum(groups.row_group(i).total_byte_size for i in range(groups.num_row_groups))
        if not 0 <= claimed <= max(EXPANSION_FREE, MAX_EXPANSION * n_bytes):
            reason = f"expands to more than {MAX_EXPANSION:,} times its stored size"
            raise FormatError(report.path, "", reason)
        self._names = self._file.schema_arrow.names
        self.names = [name.lower() for name in self._names]

    def _damaged(self, error: Exception) -> FormatError:
        return FormatError(self._report.path, "", f"damaged Parquet: {str(error)[:200]}")

    def batches(self, columns: frozenset[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        wanted = [name for name in self._names if name.lower() in columns]
        try:
            for batch in self._file.iter_batches(_BATCH_ROWS, columns=wanted, use_threads=False):
                yield batch.rename_columns([name.lower() for name in batch.schema.names])
        except (pa.ArrowException, OSError, ValueError) as error:
            self.fault = self._damaged(error)
