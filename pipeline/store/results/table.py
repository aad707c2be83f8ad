"""One table of results: segments that are only ever added, and now and then merged into one.

A segment is written under a hidden name, fsynced and renamed: a reader sees all of it or nothing.
Its name begins with the time, so later ones come last; of two results for one key the later
one counts. Any number of runs may read and add at once. One at a time merges segments; what it
removes is then in the new one, so a reader that misses a segment looks again.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.errors import first_line
from pipeline.model.columns import concat, empty, take
from pipeline.model.columns.keys import ordered_keys
from pipeline.store.results.keys import GraphKeys, positions_in
from pipeline.store.results.mirrored import (
    forget_tables,
    refresh_all_segments,
    refresh_segments,
    remove_segments,
    send_segment,
)
from pipeline.store.results.rows import GRAPH, from_rows, keys_in, nights_in, to_rows
from pipeline.store.versions.locks import claim_abandoned, hold_for_writing
from pipeline.store.versions.names import new_token
from pipeline.store.versions.pointer import fsync_file, fsync_folder

RESULTS = "results"  # folder in a store
MAX_SEGMENTS = 8  # of a table; with more, they are made into one
ROW_GROUP = 65_536  # rows
MAX_LOOKS = 5  # at the segments, each after another run had made some into one
KEEP_S = 14 * 86400  # tables of other versions are removed when nothing was added for two weeks

_SUFFIX = ".parquet"
_OF_NODES = {"source", "farthest", "path", "center", "periphery"}  # columns of node ids
_SEGMENT = re.compile(r"[0-9]{20}-[0-9a-f]{12}\.parquet")  # other files are not ours
_MERGING = ".merging"  # held by who makes segments into one

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Lookup(Generic[Found]):
    """Results for some graphs.

    Attributes
    ----------
    found : table of columns
        Its ``row`` is a position among the graphs that were requested; each key once.
    nights : (n_found,) object
        Name of the snapshot whose run measured each row.
    broken : tuple of str
        Segments that could not be read, with the reason; their results count as unknown.
    """

    found: Found
    nights: np.ndarray
    broken: tuple[str, ...] = ()


def result_table(
    store: Path, name: str, version: str, kind: type[Found], plain: dict[str, Any]
) -> ResultTable[Found]:
    """The table of a store for results of one kind and version; nothing is made or read yet.

    Parameters
    ----------
    store : Path
    name : str
        What was requested: letters, digits, ``_`` and ``.``.
    version : str
        Of whatever decides the results: another version is another table.
    kind : type
        Class of the tables of columns.
    plain : dict
        Their fields that are not columns.
    """
    return ResultTable(Path(store) / RESULTS / f"{name}-{version}", kind, plain)


def check_results(
    store: Path, graphs: GraphKeys | None = None, n_nodes: np.ndarray | None = None
) -> dict[Path, str]:
    """Read every byte of all segments of a store; each -> what is wrong with it, or nothing.

    Parameters
    ----------
    store : Path
    graphs : (n, 4) uint64, distinct, and n_nodes : (n,) int64
        Graphs that are known, and their sizes: what was measured of them names no other nodes.
    """
    refresh_all_segments(Path(store) / RESULTS)
    found = {}
    for path in sorted((Path(store) / RESULTS).glob(f"*/[!.]*{_SUFFIX}")):
        if not _SEGMENT.fullmatch(path.name):
            continue
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                for i in range(file.metadata.num_row_groups):
                    table = file.read_row_group(i)
                    if graphs is not None and n_nodes is not None:
                        _check_nodes(table, n_nodes, positions_in(graphs, keys_in(table)))
        except _UNREADABLE as error:
            found[path] = first_line(error)
        else:
            found[path] = ""
    return found


def _check_nodes(table: pa.Table, n_nodes: np.ndarray, at: np.ndarray) -> None:
    """ValueError if a row names a node that its graph, at ``at``, does not have; -1: not known."""
    most = np.append(n_nodes, np.iinfo(np.int64).max)[at]  # -1: the last
    for name in sorted(_OF_NODES & {*table.column_names}):
        column = table.column(name).combine_chunks()
        if not pa.types.is_large_list(column.type):
            nodes, rows = column.to_numpy(zero_copy_only=False), np.arange(len(column))
        else:
            nodes = column.flatten().to_numpy(zero_copy_only=False)
            rows = pc.list_parent_indices(column).to_numpy(zero_copy_only=False)
        if len(wrong := np.flatnonzero(nodes >= most[rows])):
            raise ValueError(f"its column {name} has node {nodes[wrong[0]]}, which is not there")


@dataclass(eq=False)
class ResultTable(Generic[Found]):
    """Results of one kind and version of any number of graphs; see ``result_table``."""

    folder: Path
    kind: type[Found]
    plain: dict[str, Any]

    def find(self, wanted: GraphKeys) -> Lookup[Found]:
        """Everything that is known of some graphs, all different."""
        if not len(wanted):
            return Lookup(empty(self.kind, **self.plain), np.empty(0, object))
        refresh_segments(self.folder)
        for _ in range(MAX_LOOKS):
            with contextlib.suppress(_GoneError):
                return self._find(wanted)
        return self._find(wanted, may_miss=True)

    def append(self, found: Found, keys: GraphKeys, nights: np.ndarray) -> None:
        """Add a segment, if there is a row for it; when this returns, it is on disk.

        Parameters
        ----------
        found : table of columns of n rows
        keys : (n, 4) uint64
        nights : (n,) str

        Raises
        ------
        OSError
            If it cannot be written; the table is then as before.
        """
        if not len(keys):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        before = [_written_ns(path) for path in self.segments()[-1:]]
        at_ns = max(time.time_ns(), *(ns + 1 for ns in before), 0)  # the clock may be set back
        self._write(to_rows(found, keys, nights), at_ns)

    def merge(self, used: Callable[[], GraphKeys | None]) -> None:
        """Make segments into one if there are many, and remove what dead runs left.

        Parameters
        ----------
        used : callable
            Keys of the graphs whose results are kept, all different; None: of all.

        Raises
        ------
        OSError
            If the new one cannot be written; the old ones are then still there.
        """
        if not self.folder.is_dir():
            return
        self._clean()
        if len(self.segments()) <= MAX_SEGMENTS:
            return
        (self.folder / _MERGING).touch()
        with claim_abandoned(self.folder / _MERGING) as is_alone:
            if is_alone:
                self._merge(used())

    def segments(self) -> list[Path]:
        """Files of the table, the oldest first."""
        with contextlib.suppress(OSError):
            names = sorted(filter(_SEGMENT.fullmatch, os.listdir(self.folder)))
            return [self.folder / name for name in names]
        return []

    def forget_old(self) -> None:
        """Remove tables of other versions to which nothing was added for long."""
        forget_tables(self.folder, KEEP_S)
        name = self.folder.name.rpartition("-")[0]
        for other in self.folder.parent.glob(f"{name}-*"):
            with contextlib.suppress(OSError):
                is_other = other != self.folder and other.name.rpartition("-")[0] == name
                if is_other and time.time() - other.stat().st_mtime > KEEP_S:
                    shutil.rmtree(other, ignore_errors=True)

    def _find(self, wanted: GraphKeys | None, may_miss: bool = False) -> Lookup[Found]:
        pieces: list[Any] = [empty(self.kind, **self.plain)]
        nights, broken = [np.empty(0, object)], []
        for path in reversed(self.segments()):  # the first of equal keys is taken
            try:
                table, position = _read(path, wanted)
                if table.num_rows:
                    pieces.append(from_rows(self.kind, self.plain, table, position))
                    nights.append(nights_in(table))
            except FileNotFoundError:
                if not may_miss:
                    raise _GoneError from None
            except _UNREADABLE as error:
                broken.append(f"{path}: {first_line(error)}")
        found = concat(pieces)
        key = found.row.astype(np.int64)
        if hasattr(found, "source"):
            key = ordered_keys(key, found.source)
        first = np.unique(key, return_index=True)[1]
        return Lookup(take(found, first), np.concatenate(nights)[first], tuple(broken))

    def _write(self, table: pa.Table, at_ns: int) -> None:
        name = f"{at_ns:020d}-{new_token()}{_SUFFIX}"
        hidden = self.folder / f".{name}"
        lock = hold_for_writing(hidden)
        try:
            pq.write_table(
                table,
                hidden,
                row_group_size=ROW_GROUP,
                compression="zstd",
                write_page_checksum=True,
            )
            fsync_file(hidden)
            send_segment(hidden, self.folder / name)
            os.rename(hidden, self.folder / name)
            fsync_folder(self.folder)
        except BaseException:
            hidden.unlink(missing_ok=True)
            raise
        finally:
            lock.release()

    def _merge(self, used: GraphKeys | None) -> None:
        paths: list[Path] = []
        tables, parts = [], []
        for path in reversed(self.segments()):
            try:
                table, _ = _read(path, used)
            except _UNREADABLE:  # it stays, for doctor to name
                continue
            paths.append(path)
            tables.append(table)
            parts.append(keys_in(table))
        keys = np.concatenate([np.empty((0, 4), np.uint64), *parts])
        tables = [table for table in tables if table.num_rows]
        if tables:
            table = pa.concat_tables(tables, promote_options="permissive")
            order = _first_of_each(keys, table)
            self._write(table.take(pa.array(order)), _written_ns(paths[0]) + 1)
        remove_segments(paths)
        for path in paths:
            path.unlink(missing_ok=True)

    def _clean(self) -> None:
        for hidden in self.folder.glob(f".*{_SUFFIX}"):
            with claim_abandoned(hidden) as is_abandoned:
                if is_abandoned:
                    hidden.unlink(missing_ok=True)


class _GoneError(Exception):
    """A segment was removed, since another run has just made it part of another one."""


_UNREADABLE = (OSError, ValueError, KeyError, TypeError, pa.ArrowException)


def _read(path: Path, wanted: GraphKeys | None) -> tuple[pa.Table, np.ndarray]:
    """Rows of a segment whose graphs are wanted, and where these are among the wanted."""
    with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
        keys = keys_in(file.read(columns=[GRAPH]))
        if wanted is None:
            return file.read(), np.arange(len(keys))
        position = positions_in(wanted, keys)
        is_wanted = position >= 0
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        bounds = np.append(0, np.cumsum(sizes, dtype=np.int64))
        # Not ``reduceat``: a segment of an earlier version may have no row at all.
        some = np.diff(np.append(0, np.cumsum(is_wanted))[bounds]) > 0
        here = np.repeat(some, np.diff(bounds))
        table = file.read_row_groups(np.flatnonzero(some).tolist())
        return table.filter(pa.array(is_wanted[here])), position[is_wanted]


def _first_of_each(keys: GraphKeys, table: pa.Table) -> np.ndarray:
    """Positions of the first row of each key, in an order by key."""
    columns = [keys[:, 3], keys[:, 2], keys[:, 1], keys[:, 0]]
    if "source" in table.column_names:
        columns.insert(0, table.column("source").to_numpy())
    order = np.lexsort(columns)
    is_new = np.zeros(len(order), bool)
    is_new[:1] = True
    for column in columns:
        is_new[1:] |= column[order[1:]] != column[order[:-1]]
    return order[is_new]


def _written_ns(path: Path) -> int:
    """When a segment was added, from its name; 0 if that is not one of ours."""
    digits = path.name.partition("-")[0]
    return int(digits) if digits.isdecimal() else 0
