"""Full hop matrices as Parquet: one row per (source, node), one file per AS.

In long form, not one column per source: 2,000 sources of a large AS would be 2,000 columns, and a
task with some of them could not write its part by itself. ``node`` counts up within a source and
``ingress`` is constant, so both take almost no space; ``hops`` has few distinct values and takes
4 to 5 bits before compression. A row group holds one source, or several of a small AS, so that
one source is read without the others.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.collect.schema import DISTANCES

# Rows of a row group; about 6 MB on disk for a router-level graph, 14 bytes per row while written.
GROUP_ROWS = 8 << 20
_OPTIONS = {
    "compression": "zstd",
    "use_dictionary": ["ingress", "hops"],
    "column_encoding": {"node": "DELTA_BINARY_PACKED"},
    "write_statistics": ["ingress"],
}


def write_distances(path: Path, blocks: Iterable[tuple[np.ndarray, np.ndarray]]) -> None:
    """Write one file, atomically.

    Parameters
    ----------
    path : Path
    blocks : iterable of (sources, level)
        sources (n,) int32; level (n, n_nodes) of an unsigned or signed integer dtype, in hops;
        the dtype's maximum, or -1, where no path leads.
    """
    # No generator expression: its frame would keep a table alive while the next one is made.
    _write(path, chain.from_iterable(_tables(*block) for block in blocks))


def join_distances(path: Path, parts: Iterable[Path], sources: np.ndarray | None = None) -> None:
    """One file from parts, in the order of their sources; the parts are kept.

    Parameters
    ----------
    path : Path
    parts : iterable of Path
        Each with sources of its own.
    sources : (n,) int32 or None
        Keep these only; None: all.
    """
    files = [pq.ParquetFile(part) for part in parts]
    try:
        # Within a part sources ascend; parts hold ranges that do not overlap.
        files.sort(key=_first_source)
        _write(path, _kept(files, sources))
    finally:
        for file in files:
            file.close()


def _kept(files: list[pq.ParquetFile], sources: np.ndarray | None) -> Iterator[pa.Table]:
    for file in files:
        for i in range(file.num_row_groups):
            table = file.read_row_group(i)
            if sources is not None:
                table = table.filter(pc.is_in(table["ingress"], pa.array(sources, pa.int32())))
            if table.num_rows:
                yield table


def _first_source(file: pq.ParquetFile) -> int:
    if not file.num_row_groups:
        return -1
    statistics = file.metadata.row_group(0).column(0).statistics
    return -1 if statistics is None else int(statistics.min)


def _tables(sources: np.ndarray, level: np.ndarray) -> Iterator[pa.Table]:
    """A block as row groups: columns wider than a level are made for one group at a time."""
    n_sources, n_nodes = level.shape
    step = max(1, GROUP_ROWS // max(1, n_nodes))
    for at in range(0, n_sources, step):
        # A source with more nodes than a group holds is split.
        for first in range(0, max(1, n_nodes), GROUP_ROWS):
            part = level[at : at + step, first : first + GROUP_ROWS]
            yield _table(sources[at : at + step], part, first)


def _table(sources: np.ndarray, level: np.ndarray, first: int) -> pa.Table:
    """Rows of some sources and of nodes from ``first`` on."""
    n_sources, n_nodes = level.shape
    level = np.ascontiguousarray(level)
    unreached = level < 0
    if level.dtype.kind == "u":
        unreached = level == np.iinfo(level.dtype).max
    elif level.dtype.itemsize == 4:
        unreached |= level == np.iinfo(level.dtype).max
    return pa.table(
        [
            pa.array(np.repeat(sources.astype(np.int32), n_nodes)),
            pa.array(np.tile(np.arange(first, first + n_nodes, dtype=np.int32), n_sources)),
            pa.array(level.astype(np.int32).ravel(), mask=unreached.ravel()),
        ],
        schema=DISTANCES,
    )


def _write(path: Path, tables: Iterable[pa.Table]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Two attempts of one task may write at once, on two machines.
    aside = path.with_name(f".{path.name}.{os.uname().nodename}-{os.getpid()}")
    try:
        with pq.ParquetWriter(aside, DISTANCES, **_OPTIONS) as writer:
            for table in tables:
                writer.write_table(table, row_group_size=GROUP_ROWS)
                del table  # before the next one is made
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
