"""Kept traces as files of a snapshot, and back: some row groups at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.model.columns.ragged import offsets, row_of_value
from pipeline.model.measured.kept_traces import TARGET_ITSELF, KeptTraces, TraceRows
from pipeline.store.columns import as_arrow, naming, read_table, write_columns, writing_columns
from pipeline.store.observations import read_vantages
from pipeline.store.versions.names import INTERFACES, TRACES, broken
from pipeline.store.versions.schemas import checked_table

MOST_SHARE = 0.25  # of the bytes of all other files
LEAST_BYTES = 1 << 14  # that traces may take whatever the others do
_OWN = 2000  # bytes of a file without rows
_ROW_GROUP = 50_000  # traces: some 5 MB; what a search decodes at a time
_HOPS = ("ttl", "interface", "rtt_ms", "kind")


def write_traces(folder: Path, kept: KeptTraces) -> tuple[dict[str, int], int]:
    """Write both files, after all others of the snapshot.

    Traces that are to be stored in part take at most ``MOST_SHARE`` of what the others take.

    Returns
    -------
    dict, int
        Rows of each file by name, and how many traces are kept.
    """
    others = sum(path.stat().st_size for path in folder.glob("*.*"))
    nodes = pa.array(kept.node, mask=kept.node < 0)
    columns = {"addr_high": as_arrow(kept.addr[:, 0]), "addr_low": as_arrow(kept.addr[:, 1])}
    write_columns(folder / INTERFACES, pa.table(columns | {"node": nodes}), [len(kept.addr)])
    path = folder / TRACES
    most = max(MOST_SHARE * others, LEAST_BYTES) - (folder / INTERFACES).stat().st_size
    while True:
        n_rows = 0
        with writing_columns(path, _SCHEMA, ("interface", "rtt_ms"), compression="zstd") as writer:
            for part in kept.parts:
                table = _table(part())
                n_rows += table.num_rows
                if table.num_rows:
                    writer.write_table(table, row_group_size=_ROW_GROUP)
        size = _size(path)
        if kept.rank is None or size <= most or not n_rows:
            break
        # What is left out is of about the same size; a file has some 2 KB of its own.
        kept = kept.first(int(n_rows * min(0.98 * max(most - _OWN, 0) / size, 0.95)))
    return {INTERFACES: len(kept.addr), TRACES: n_rows}, kept.count()


def _size(path: Path) -> int:
    """Bytes of the traces but for the files they came from, which say nothing about them.

    So the same traces are kept whatever files they were in.
    """
    metadata = pq.read_metadata(path)
    columns = (
        metadata.row_group(group).column(i)
        for group in range(metadata.num_row_groups)
        for i in range(metadata.num_columns)
    )
    return _OWN + sum(
        column.total_compressed_size for column in columns if column.path_in_schema != "input"
    )


_SCHEMA = pa.schema(
    {
        "vantage": pa.int32(),
        "target_high": pa.uint64(),
        "target_low": pa.uint64(),
        "start_s": pa.uint32(),
        "input": pa.int32(),
        "reached": pa.bool_(),
        "further": pa.bool_(),
        "classic": pa.bool_(),
        "ttl": pa.large_list(pa.uint8()),
        "interface": pa.large_list(pa.int32()),
        "rtt_ms": pa.large_list(pa.float32()),
        "kind": pa.large_list(pa.uint8()),
    }
)


def _rounded(rtt_ms: np.ndarray) -> np.ndarray:
    """To 12 significant bits, one part in 4,000: the rest is noise that takes a third of a file."""
    bits = rtt_ms.astype(np.float32).view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x800) & 0xFFFF_F000).astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(rtt_ms), rounded, rtt_ms).astype(np.float32)


def _table(rows: TraceRows) -> pa.Table:
    rows = replace(rows, rtt_ms=_rounded(rows.rtt_ms))
    ptr = pa.array(rows.hop_ptr)
    return pa.table(
        {
            "vantage": pa.array(rows.vantage, mask=rows.vantage < 0),
            "target_high": as_arrow(rows.target_high),
            "target_low": as_arrow(rows.target_low),
            "start_s": pa.array(rows.start_s, mask=rows.start_s == 0),
            "input": as_arrow(rows.input),
            "reached": as_arrow(rows.reached),
            "further": as_arrow(rows.further),
            "classic": as_arrow(rows.classic),
            **{
                name: pa.LargeListArray.from_arrays(ptr, as_arrow(getattr(rows, name)))
                for name in _HOPS
            },
        },
        schema=_SCHEMA,
    )


class StoredTraces:
    """The traces that a snapshot keeps.

    Parameters
    ----------
    folder : Path
        That of the snapshot's files.
    n_nodes : int
        Of all its ASes.

    Attributes
    ----------
    addr : (n_interfaces, 2) uint64
        Ascending; a private address may be on several nodes.
    node : (n_interfaces,) int64
        Node among those of all ASes end to end, in the order of rows; -1 in no AS.
    vantages : (n_vantages, 2) uint64
        Ascending.
    n_rows : int
        Traces; further paths of one measurement are rows of their own.

    Raises
    ------
    StoreError
        If a file is missing, cut short or altered; also by the methods.
    """

    def __init__(self, folder: Path, n_nodes: int):
        table = read_table(folder / INTERFACES, ("addr_high", "addr_low", "node"))
        self.addr = np.stack([table[n].to_numpy() for n in ("addr_high", "addr_low")], axis=1)
        self.node = table["node"].fill_null(-1).to_numpy().astype(np.int64)
        if (self.node >= n_nodes).any() or not _ascends(self.addr):
            raise broken(folder / INTERFACES, "names a node that is not there, or is not sorted")
        vantages = read_vantages(folder)
        self.vantages = np.stack([vantages.addr_high, vantages.addr_low], axis=1)
        self._path = folder / TRACES
        with naming(self._path):
            self.n_rows = pq.read_metadata(self._path).num_rows

    def interfaces_in(self, first: tuple[int, int], last: tuple[int, int]) -> np.ndarray:
        """Rows of ``addr`` from an address to another one, both included."""
        return np.flatnonzero(within(self.addr, first, last))

    def groups(self) -> Iterator[TraceRows]:
        """All traces, some at a time, in their order."""
        with (
            naming(self._path),
            pq.ParquetFile(self._path, page_checksum_verification=True) as file,
        ):
            for group in range(file.num_row_groups):
                table = checked_table(self._path, file.read_row_group(group))
                yield self._rows(table)

    def _rows(self, table: pa.Table) -> TraceRows:
        flat = {
            name: table[name].fill_null(-1 if name == "vantage" else 0).to_numpy()
            for name in ("vantage", "target_high", "target_low", "start_s", "input")
        }
        flags = {name: table[name].to_numpy() for name in ("reached", "further", "classic")}
        hops, lengths = {}, []
        for name in _HOPS:
            column = table[name].combine_chunks()
            if isinstance(column, pa.ChunkedArray):
                column = pa.concat_arrays(column.chunks)
            ends = column.offsets.to_numpy()
            hops[name] = column.flatten().to_numpy(zero_copy_only=False)
            lengths.append(np.diff(ends))
        if any((each != lengths[0]).any() for each in lengths[1:]):
            raise broken(self._path, "has lists of hops of unequal lengths")
        interface, vantage = hops["interface"], flat["vantage"]
        ptr = offsets(lengths[0])
        is_last = np.zeros(len(interface), bool)
        is_last[ptr[1:][lengths[0] > 0] - 1] = True
        if (
            (interface >= len(self.addr)).any()
            or (vantage >= len(self.vantages)).any()
            or ((interface == TARGET_ITSELF) & ~is_last).any()
        ):
            raise broken(self._path, "names what is not in the snapshot")
        return TraceRows(**flat, **flags, hop_ptr=ptr, **hops)

    def addrs_of(self, rows: TraceRows) -> np.ndarray:
        """(n_hops, 2) uint64: the address of each hop."""
        if not len(self.addr):
            addrs = np.zeros((len(rows.interface), 2), np.uint64)
        else:
            addrs = self.addr[np.maximum(rows.interface, 0)]
        own = np.flatnonzero(rows.interface == TARGET_ITSELF)
        trace = row_of_value(rows.hop_ptr)[own]
        addrs[own] = np.stack([rows.target_high[trace], rows.target_low[trace]], axis=1)
        return addrs

    def nodes_of(self, rows: TraceRows) -> np.ndarray:
        """(n_hops,) int64: the node of each hop; -1 for none."""
        known = np.append(self.node, -1)
        return known[rows.interface]

    def vantage_rows(self, first: tuple[int, int], last: tuple[int, int]) -> np.ndarray:
        """Rows of ``vantages`` from an address to another one, both included."""
        return np.flatnonzero(within(self.vantages, first, last))


def within(addrs: np.ndarray, first: tuple[int, int], last: tuple[int, int]) -> np.ndarray:
    """(n,) bool: addresses from one to another one, both included."""
    high, low = addrs[:, 0], addrs[:, 1]
    since = (high > np.uint64(first[0])) | (
        (high == np.uint64(first[0])) & (low >= np.uint64(first[1]))
    )
    until = (high < np.uint64(last[0])) | (
        (high == np.uint64(last[0])) & (low <= np.uint64(last[1]))
    )
    return since & until


def _ascends(addrs: np.ndarray) -> bool:
    high, low = addrs[:, 0], addrs[:, 1]
    falls = (high[1:] < high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] < low[:-1]))
    return not falls.any()
