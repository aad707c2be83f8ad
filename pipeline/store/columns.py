"""Flat columns in numbered Parquet files: written in row groups cut at AS borders, read by range.

Encodings were chosen on 10.8 M arcs of 4,000 ASes (benchmarks/bench_store.py): BYTE_STREAM_SPLIT
with lz4 takes 1.8 bytes per arc instead of 4.0 and reads faster than plain lz4; dictionaries and
statistics cost time and are not used here. Each page has a CRC that is checked when it is read, so
an altered byte is an error and not a wrong hop count.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kernels.host import n_cores
from pipeline.errors import first_line
from pipeline.store.footers import MAGIC, Footer
from pipeline.store.versions.names import broken, is_file
from pipeline.store.versions.schemas import checked_table

ROW_GROUP = 250_000  # rows; one AS among many then costs about a millisecond
HUGE_ROW_GROUP = 4_000_000  # rows; a graph beyond it takes several row groups, read one by one
PARTS_AHEAD = 16  # parts, of one column if they are large, that are made while one is written
TAKERS = 8  # threads at most that decode row groups of which some rows are taken
CACHE_BYTES = 64 << 20  # decoded row groups that each thread keeps: neighbours are read together


def row_group_ends(ptr: np.ndarray) -> np.ndarray:
    """Cut a file into row groups: at AS borders, and every HUGE_ROW_GROUP within a huge AS.

    Parameters
    ----------
    ptr : (n_ases + 1,) int64
        Rows of AS i of this file are ptr[i]:ptr[i + 1]; ptr[0] is 0.

    Returns
    -------
    (n_row_groups,) int64
        Row after the last of each, ascending.
    """
    ends: list[int] = []
    start = 0
    while start < ptr[-1]:
        end = int(ptr[np.searchsorted(ptr, start + ROW_GROUP, side="right") - 1])
        if end <= start:  # an AS that is larger than a row group
            border = int(ptr[np.searchsorted(ptr, start, side="right")])
            end = min(border, start + HUGE_ROW_GROUP)
        ends.append(end)
        start = end
    return np.array(ends, np.int64)


def write_columns(path: Path, table: pa.Table, ends: Sequence[int] | np.ndarray) -> None:
    """Write a table with the given row group ends (rows)."""
    with writing_columns(path, table.schema) as writer:
        start = 0
        for end in ends:
            n = int(end) - start
            if n:
                writer.write_table(table.slice(start, n), row_group_size=n)
            start += n


@dataclass(frozen=True)
class Written:
    """A file of columns: its rows, and the sha256 of its bytes."""

    n_rows: int
    sha256: str


def write_parts(
    path: Path,
    columns: Mapping[str, Callable[[int, int], pa.Array]],
    ends: Sequence[int] | np.ndarray,
    pool: ThreadPoolExecutor,
) -> Written:
    """Write columns of which ``columns[name](start, stop)`` makes rows.

    Columns of row groups are made and encoded by threads of ``pool``, some of them while others
    are written, so no more are in memory. The file does not depend on how many threads there are.
    """
    bounds = [0, *(int(end) for end in ends)]
    cuts = [(start, stop) for start, stop in itertools.pairwise(bounds) if start < stop]

    def part(names: Iterable[str], start: int, stop: int) -> memoryview:
        return _encoded(pa.table({name: columns[name](start, stop) for name in names}))

    def parts() -> Iterator[tuple[bool, Future[memoryview]]]:
        for start, stop in cuts:
            each = 1 if stop - start > ROW_GROUP else len(columns)
            for first in range(0, len(columns), each):
                names = [*columns][first : first + each]
                yield first == 0, pool.submit(part, names, start, stop)

    footer = Footer(part(columns, 0, 0))
    digest = hashlib.sha256()
    with path.open("wb") as file, ThreadPoolExecutor(1) as beside:

        def put(data: bytes | memoryview) -> None:
            hashing = beside.submit(digest.update, data)
            file.write(data)
            hashing.result()

        put(MAGIC)
        coming = parts()
        waiting = deque(itertools.islice(coming, PARTS_AHEAD))
        while waiting:
            begins, made = waiting.popleft()
            pages = footer.append(made.result(), file.tell(), begins)
            waiting.extend(itertools.islice(coming, 1))
            put(pages)
        put(footer.end())
    return Written(bounds[-1], digest.hexdigest())


def _encoded(table: pa.Table) -> memoryview:
    """A file in memory, of one row group if there are rows."""
    stream = pa.BufferOutputStream()
    with writing_columns(stream, table.schema) as writer:
        if table.num_rows:
            writer.write_table(table, row_group_size=table.num_rows)
    return memoryview(stream.getvalue()).cast("B")


def writing_columns(
    path: Path | pa.NativeFile,
    schema: pa.Schema,
    lists_split: Sequence[str] = (),
    compression: str = "lz4",
) -> pq.ParquetWriter:
    """A writer of tables of a schema; ``lists_split``: lists whose values are rarely repeated."""
    repeated = [f.name for f in schema if pa.types.is_string(f.type)]
    split = [f.name for f in schema if _can_split(f.type)]
    for field in schema:
        if pa.types.is_large_list(field.type):
            # What lists hold is repeated, too: of terms of 5,000 routers, 271 rows differ.
            to = split if field.name in lists_split else repeated
            to.append(f"{field.name}.list.element")
    return pq.ParquetWriter(
        path,
        schema,
        compression=compression,
        use_dictionary=repeated or False,
        column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
        write_statistics=False,
        write_page_checksum=True,
        store_schema=True,
    )


def as_arrow(column: np.ndarray) -> pa.Array:
    """A NumPy column for Parquet; numbers are not copied, texts are UTF-8 (None is null)."""
    if column.strides == (0,) and len(column):  # one value for all
        return pa.repeat(column[0].item(), len(column)).cast(as_arrow(column[:1].copy()).type)
    if column.dtype.kind == "U":
        return pa.array(column, pa.string())
    if column.dtype.kind in "OS":
        return pa.array([None if v is None else str(v) for v in column.tolist()], pa.string())
    return pa.array(np.ascontiguousarray(column))


def _can_split(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)


@dataclass(frozen=True)
class _Piece:
    """Rows of one row group, and where they go."""

    file: int
    group: int
    rows: slice
    at: int

    def copy(self, columns: dict[str, np.ndarray], out: dict[str, np.ndarray]) -> None:
        n = self.rows.stop - self.rows.start
        for name, column in columns.items():
            _put(name, column[self.rows], out[name][self.at : self.at + n])


class ColumnFiles:
    """The numbered files of one kind (``nodes`` or ``arcs``), for many readers.

    Any number of threads may read at once: footers are read once and shared, open files and
    decoded row groups belong to one thread each. ``bring`` gets the name of a file before it is
    opened, and returns its path.
    """

    def __init__(self, paths: Sequence[Path], bring: Callable[[str], Path]):
        self.paths, self._bring = list(paths), bring
        self._metadata: dict[int, tuple[pq.FileMetaData, np.ndarray]] = {}
        self._own = threading.local()

    def n_rows(self, file: int) -> int:
        """Rows of a file, from its footer."""
        return int(self._footer(file)[1][-1])

    def read(
        self,
        file: int,
        starts: np.ndarray,
        stops: np.ndarray,
        out: dict[str, np.ndarray],
        at: int,
        n_threads: int = 1,
    ) -> int:
        """Copy ascending, disjoint ranges of rows into ``out`` from position ``at`` on.

        Parameters
        ----------
        file : int
        starts, stops : (n_ranges,) int64
        out : dict of str to arrays
            Column name -> where it goes.
        n_threads : int
            Threads that decode row groups at once.

        Returns
        -------
        int
            The position after the last row copied.

        Raises
        ------
        StoreError
            If the file is missing, cut short or altered, or lacks a column or row.
        """
        with naming(self.paths[file]):
            bounds = self._footer(file)[1]
            if len(stops) and (starts.min() < 0 or stops.max() > bounds[-1]):
                raise ValueError(f"has {bounds[-1]} rows, row {stops.max() - 1} is requested")
            whole: list[_Piece] = []
            for start, stop in merged(starts, stops):
                group = int(np.searchsorted(bounds, start, side="right")) - 1
                while start < stop:
                    first, last = int(bounds[group]), int(bounds[group + 1])
                    end = min(last, stop)
                    piece = _Piece(file, group, slice(start - first, end - first), at)
                    at += end - start
                    if end - start == last - first:
                        whole.append(piece)
                    else:  # neighbours will want the rest of it
                        piece.copy(self._row_group(file, group, tuple(out)), out)
                    start = end
                    group += 1
            self._read_whole(whole, out, min(n_threads, len(whole)))
        return at

    def take(self, file: int, positions: np.ndarray, out: dict[str, np.ndarray], at: int) -> int:
        """Copy single rows, ascending, repeats allowed; otherwise like ``read``."""
        with naming(self.paths[file]):
            bounds = self._footer(file)[1]
            if len(positions) and positions[-1] >= bounds[-1]:
                raise ValueError(f"has {bounds[-1]} rows, row {positions[-1]} is requested")
            groups, first = np.unique(
                np.searchsorted(bounds, positions, side="right") - 1, return_index=True
            )
            last = np.append(first, len(positions))[1:]
            # Of many row groups none is looked at again soon: nothing is kept.
            n_threads = min(n_cores(), TAKERS) if len(groups) > TAKERS else 1
            row_group = self._decoded if len(groups) > TAKERS else self._row_group

            def take_one(group: int, first: int, last: int) -> None:
                own = positions[first:last] - bounds[group]
                for name, column in row_group(file, group, tuple(out)).items():
                    _put(name, column[own], out[name][at + first : at + last])

            places = (groups.tolist(), first.tolist(), last.tolist())
            if n_threads < 2:
                for place in zip(*places, strict=True):
                    take_one(*place)
            else:
                with ThreadPoolExecutor(n_threads) as pool:
                    list(pool.map(take_one, *places))
        return at + len(positions)

    def _read_whole(self, pieces: list[_Piece], out: dict[str, np.ndarray], n_threads: int) -> None:
        """Copy whole row groups, which will not be needed again soon."""

        def read_one(piece: _Piece) -> None:
            piece.copy(self._decoded(piece.file, piece.group, tuple(out)), out)

        if n_threads < 2:
            for piece in pieces:
                read_one(piece)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            for done in [pool.submit(read_one, piece) for piece in pieces]:
                done.result()

    def _decoded(self, file: int, group: int, names: tuple[str, ...]) -> dict[str, np.ndarray]:
        """Columns of one row group."""
        table = self._open(file).read_row_group(group, columns=list(names), use_threads=False)
        checked_table(self.paths[file], table)
        return {name: _as_numpy(table.column(name)) for name in names}

    def _row_group(self, file: int, group: int, names: tuple[str, ...]) -> dict[str, np.ndarray]:
        """Decoded columns of one row group, kept for the next call of this thread."""
        cache: OrderedDict | None = getattr(self._own, "cache", None)
        if cache is None:
            cache = self._own.cache = OrderedDict()
            self._own.n_bytes = 0
        missing = [name for name in names if (file, group, name) not in cache]
        found = {n: cache[file, group, n] for n in names if n not in missing}
        if missing:
            for name, column in self._decoded(file, group, tuple(missing)).items():
                found[name] = cache[file, group, name] = column
                self._own.n_bytes += column.nbytes
        while self._own.n_bytes > CACHE_BYTES:
            self._own.n_bytes -= cache.popitem(last=False)[1].nbytes
        return found

    def _open(self, file: int) -> pq.ParquetFile:
        opened = getattr(self._own, "files", None)
        if opened is None:
            opened = self._own.files = {}
        if file not in opened:
            opened[file] = pq.ParquetFile(
                self._bring(self.paths[file].name),
                metadata=self._footer(file)[0],
                page_checksum_verification=True,
                pre_buffer=False,
            )
        return opened[file]

    def _footer(self, file: int) -> tuple[pq.FileMetaData, np.ndarray]:
        """Metadata of a file, and the first row of each row group with the number of rows last."""
        if file not in self._metadata:
            with naming(self.paths[file]):
                metadata = pq.read_metadata(self._bring(self.paths[file].name))
            n_rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            self._metadata[file] = metadata, np.append(0, np.cumsum(n_rows)).astype(np.int64)
        return self._metadata[file]


def read_table(
    path: Path, names: Sequence[str] | None = None, optional: Sequence[str] = ()
) -> pa.Table:
    """Some columns of a small file, or all; StoreError that names it if it is broken.

    ``optional`` columns are read besides ``names`` where the file has them.
    """
    with naming(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        lacking = set(names or ()) - set(file.schema_arrow.names)
        if lacking:
            raise KeyError(f"it has no column {', '.join(sorted(lacking))}")
        found = [name for name in optional if name in file.schema_arrow.names]
        table = file.read(columns=None if names is None else [*names, *found])
    return checked_table(path, table) if is_file(path.name) else table


def merged(starts: np.ndarray, stops: np.ndarray) -> list[tuple[int, int]]:
    """Ascending ranges with touching ones joined and empty ones left out."""
    full = stops > starts
    starts, stops = starts[full], stops[full]
    if len(starts) == 0:
        return []
    apart = starts[1:] != stops[:-1]
    return list(
        zip(
            starts[np.append(True, apart)].tolist(),
            stops[np.append(apart, True)].tolist(),
            strict=True,
        )
    )


def _put(name: str, values: np.ndarray, out: np.ndarray) -> None:
    """Copy values, without a change of type."""
    if values.dtype != out.dtype:
        raise ValueError(f"its column {name} is of type {values.dtype}, not {out.dtype}")
    out[:] = values


def _as_numpy(column: pa.ChunkedArray) -> np.ndarray:
    """Null integers become ``NO_ID`` (-1), null texts None."""
    if column.null_count and pa.types.is_integer(column.type):
        column = column.fill_null(-1)
    return column.to_numpy()


@contextmanager
def naming(path: Path):
    """Turn any error from reading a broken file into a StoreError that names it."""
    try:
        yield
    except FileNotFoundError:
        raise broken(path, "is missing (if it has been replaced, open it again)") from None
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise broken(path, f"cannot be read: {first_line(error)}") from error
