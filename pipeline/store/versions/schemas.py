"""What each table of a version must hold: types, where nulls are, ranges of values, its order.

Checksums say that a file is what its manifest says, not that the two are from hopscope. A table is
checked against this page before anything is made of it, so that forged files are an error that
names the column, and neither a wrong figure nor an accident in a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.errors import first_line
from pipeline.model.columns.ragged import run_starts
from pipeline.store.versions.names import (
    ADDRESSES,
    ASES,
    BORDERS,
    EXITS,
    HOST_NAMES,
    INGRESSES,
    INTERFACES,
    JOINS,
    LOCATIONS,
    OBSERVATIONS,
    PATHS,
    REASONS,
    TRACES,
    UNMAPPED,
    VANTAGES,
    broken,
)


@dataclass(frozen=True)
class Column:
    """Type of a column; the least and the greatest value; whether nulls mean something.

    Of lists: ``least`` is that of their values, and ``may_be_null`` is said of lists, too.
    """

    type: pa.DataType
    least: float | None = None
    most: float | None = None
    may_be_null: bool = False
    pattern: str = ""  # that texts match

    def fault(self, values: pa.ChunkedArray) -> str:
        """What is wrong with the values; empty if nothing is."""
        if values.type != self.type:
            return f"is of type {values.type}, not {self.type}"
        if values.null_count and not self.may_be_null:
            return "has nulls"
        if pa.types.is_large_list(self.type):
            return Column(self.type.value_type, self.least, self.most, self.may_be_null).fault(
                pa.chunked_array([chunk.flatten() for chunk in values.chunks], self.type.value_type)
            )
        if self.pattern:
            is_right = pc.match_substring_regex(values, self.pattern)
            return "" if pc.all(is_right).as_py() in (True, None) else "has other texts"
        if self.least is None and self.most is None:
            return ""
        is_float = pa.types.is_floating(self.type)
        if is_float:  # NaN: not known
            values = values.filter(pc.invert(pc.is_nan(values)))
        found = pc.min_max(values).as_py()
        low, high = found["min"], found["max"]
        if low is None:
            return ""
        if self.least is not None and low < self.least:
            return f"has {low}, less than {self.least:g}"
        if (self.most is not None and high > self.most) or high == float("inf"):
            return f"has {high}"
        return ""


_HASH = "^[0-9a-f]{64}$"
_ASN, _COUNT, _NODE = Column(pa.uint32()), Column(pa.int64(), 0), Column(pa.int32(), 0)
_ADDR = {"addr_high": Column(pa.uint64()), "addr_low": Column(pa.uint64())}
_FLAG = Column(pa.bool_())
_CONFIDENCE = Column(pa.float32(), 0, 1, may_be_null=True)
_TEXT, _TEXT_OR_NULL = Column(pa.string()), Column(pa.string(), may_be_null=True)
_ROW_OR_NULL = Column(pa.int32(), 0, may_be_null=True)
_RTT = Column(pa.float32(), 0)
_MOST_MS = 1 << 18  # of a difference of RTTs
_DELAY = Column(pa.float32(), -_MOST_MS, _MOST_MS, may_be_null=True)
DELAYS = {
    **dict.fromkeys(("delay_ms", "delay_p25_ms", "delay_p75_ms"), _DELAY),
    **dict.fromkeys(
        ("delay_n_traces", "delay_n_vantages", "delay_n_negative"),
        Column(pa.int64(), 0, may_be_null=True),
    ),
    "delay_by_ttl_ms": Column(pa.large_list(pa.float32()), -_MOST_MS, _MOST_MS, may_be_null=True),
    "delay_by_ttl_n_traces": Column(pa.large_list(pa.int64()), 0, may_be_null=True),
}
# Optional columns of nodes and links whose meaning hopscope itself has given them.
OF_TRACES = {
    "n_traces": _COUNT,
    **dict.fromkeys(("bridged", "mpls", "may_hide", "via_ixp", "siblings", "silent"), _FLAG),
    "as_relation": Column(pa.int8(), 0, 4),
}
NODES = {"degree": _NODE, **_ADDR, "id": Column(pa.int64(), may_be_null=True), **OF_TRACES}
ARCS = {"indices": _NODE, "weight": Column(pa.float32(), 0), **OF_TRACES}

_COUNTS_OF_AS = (
    *("n_nodes", "n_edges", "n_arcs", "n_components", "largest_component", "n_ingresses"),
    *("n_candidates", "n_unmapped", "n_entered_unseen", "n_mpls_links"),
    *("n_may_hide_links", "n_silent"),
    *("node_start", "arc_start"),
)
TABLES: Mapping[str, Mapping[str, Column]] = {
    ASES: {
        "asn": _ASN,
        "name": _TEXT_OR_NULL,
        "organisation": _TEXT_OR_NULL,
        **dict.fromkeys(_COUNTS_OF_AS, _COUNT),
        "graph_hash": Column(pa.string(), pattern=_HASH),
        "weights_hash": Column(pa.string(), may_be_null=True, pattern=_HASH),
        "file": _NODE,
    },
    INGRESSES: {
        "asn": _ASN,
        "node": _NODE,
        "neighbor_asns": Column(pa.large_list(pa.uint32())),
        "neighbor_ixps": Column(pa.large_list(pa.string()), may_be_null=True),
        "neighbor_n_direct": Column(pa.large_list(pa.int64()), 0, may_be_null=True),
        "n_direct": _COUNT,
        "n_after_gap": _COUNT,
        "candidate": _FLAG,
        "confidence": _CONFIDENCE,
        **DELAYS,
    },
    EXITS: {"asn": _ASN, "node": _NODE, "neighbor_asn": _ASN, "n_traces": _COUNT},
    BORDERS: {
        "near_asn": _ASN,
        "near": _NODE,
        "far_asn": _ASN,
        "far": _NODE,
        "weight": Column(pa.float32(), 0),
        **OF_TRACES,
    },
    ADDRESSES: {**_ADDR, "asn": _ASN, "node": _NODE, "confidence": _CONFIDENCE},
    UNMAPPED: _ADDR,
    HOST_NAMES: {**_ADDR, "name": _TEXT},
    LOCATIONS: {
        **_ADDR,
        "latitude": Column(pa.float32(), -90, 90),
        "longitude": Column(pa.float32(), -180, 180),
        "city": _TEXT_OR_NULL,
        "country": _TEXT_OR_NULL,
        "place_rtt_ms": Column(pa.float32(), 0, may_be_null=True),
        "place_far_km": Column(pa.float32(), 0, may_be_null=True),
    },
    REASONS: {
        **_ADDR,
        "asn": Column(pa.uint32(), may_be_null=True),
        "second_asn": Column(pa.uint32(), may_be_null=True),
        "decided_by": _TEXT,
        "terms": Column(pa.large_list(pa.string())),
        **dict.fromkeys(
            ("here", "there", "n_here", "n_there"), Column(pa.large_list(pa.int16()), 0)
        ),
    },
    JOINS: {
        **_ADDR,
        "to_high": Column(pa.uint64()),
        "to_low": Column(pa.uint64()),
        "rule": _TEXT,
        "n_common": _NODE,
    },
    VANTAGES: {**_ADDR, "asn": Column(pa.uint32(), may_be_null=True)},
    OBSERVATIONS: {
        "vantage": _NODE,
        "before": _ROW_OR_NULL,
        "near": _ROW_OR_NULL,
        "far": _NODE,
        "across_gap": _FLAG,
        "n_traces": Column(pa.int32(), 1),
        "rtt_ms": _RTT,
    },
    PATHS: {
        "vantage": _NODE,
        "target_high": Column(pa.uint64()),
        "target_low": Column(pa.uint64()),
        "step": _ROW_OR_NULL,
        "n_traces": Column(pa.int32(), 1),
        "n_hops": Column(pa.uint8()),
        "rtt_ms": _RTT,
        "reached": _FLAG,
        "direct": _FLAG,
    },
    TRACES: {
        "vantage": _ROW_OR_NULL,
        "target_high": Column(pa.uint64()),
        "target_low": Column(pa.uint64()),
        "start_s": Column(pa.uint32(), may_be_null=True),
        "input": _NODE,
        "reached": _FLAG,
        "further": _FLAG,
        "classic": _FLAG,
        "ttl": Column(pa.large_list(pa.uint8())),
        "interface": Column(pa.large_list(pa.int32()), -1),
        "rtt_ms": Column(pa.large_list(pa.float32()), 0),
        "kind": Column(pa.large_list(pa.uint8())),
    },
    INTERFACES: {**_ADDR, "node": _ROW_OR_NULL},
}

# Columns by which the rows of a table ascend, each row once; readers halve these tables.
ORDER: Mapping[str, Sequence[str]] = {
    INGRESSES: ("asn", "node"),
    EXITS: ("asn", "node", "neighbor_asn"),
    BORDERS: ("near_asn", "near", "far_asn", "far"),
    **dict.fromkeys((UNMAPPED, HOST_NAMES, LOCATIONS, VANTAGES), tuple(_ADDR)),
    # A private address may be on several routers.
    ADDRESSES: (*_ADDR, "asn", "node"),
    REASONS: (*_ADDR, "asn"),
    JOINS: (*_ADDR, "to_high", "to_low"),
    PATHS: ("vantage", "target_high", "target_low", "step"),
}


def type_of(kind: str) -> pa.DataType:
    """Of an optional column, by the name of its dtype in the manifest."""
    return pa.string() if kind == "str" else pa.from_numpy_dtype(kind)


def columns_of(file: str) -> Mapping[str, Column]:
    """Columns of a file of a version, those that hopscope itself gives a meaning."""
    if file in TABLES:
        return TABLES[file]
    return NODES if file.startswith("nodes-") else ARCS


def checked_table(path: Path, table: pa.Table) -> pa.Table:
    """A table, or some columns or rows of it, if it holds what a file of that name must hold.

    Raises
    ------
    StoreError
        Names the file, the column and the first fault.
    """
    for name, column in columns_of(path.name).items():
        if name in table.column_names and (fault := column.fault(table.column(name))):
            raise broken(path, f"its column {name} {fault}, so hopscope has not written it")
    if fault := order_fault(path.name, table):
        raise broken(path, fault)
    return table


def order_fault(file: str, table: pa.Table) -> str:
    """How the rows of a table, or some columns of it, do not ascend as in ``ORDER``; "" if so."""
    order = ORDER.get(file, ())
    there = set(table.column_names)
    if order and not set(order) <= there and set(_ADDR) <= there and order[:2] == tuple(_ADDR):
        by = [table.column(name).to_numpy() for name in _ADDR]  # of several nodes: repeats are none
        starts = run_starts(*by)
        if not ascends([column[starts] for column in by]):
            return f"is not sorted by {', '.join(_ADDR)}"
    if order and set(order) <= there and not ascends([_with_least(table[name]) for name in order]):
        return f"is not sorted by {', '.join(order)}, or has a row twice"
    return ""


def _with_least(column: pa.ChunkedArray) -> np.ndarray:
    """Values, -1 for null; none that may be null here is beyond int64."""
    return (column.cast(pa.int64()).fill_null(-1) if column.null_count else column).to_numpy()


def ascends(columns: Sequence[np.ndarray]) -> bool:
    """Whether each row is greater than the one before, by the first columns first."""
    n_pairs = max(len(columns[0]) - 1, 0)
    is_greater, is_equal = np.zeros(n_pairs, bool), np.ones(n_pairs, bool)
    for column in columns:
        before, after = column[:-1], column[1:]
        is_greater |= is_equal & (before < after)
        is_equal &= before == after
    return bool(is_greater.all())


def check_footer(path: Path, manifest: Mapping[str, Any]) -> None:
    """Check the footer of a file: types of columns, which there are, and the number of rows.

    Raises
    ------
    StoreError
        Names the file and the first fault.
    """
    try:
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise broken(path, f"cannot be read: {first_line(error)}") from None
    n_rows = manifest["files"][path.name]["n_rows"]
    if metadata.num_rows != n_rows:
        raise broken(path, f"has {metadata.num_rows} rows, {n_rows} were written")
    if len(set(schema.names)) != len(schema.names):
        raise broken(path, "has two columns of one name")
    if path.name.startswith(("nodes-", "arcs-")):
        said = _graph_columns(path.name.split("-")[0], manifest)
        if sorted(said) != sorted(schema.names):
            differ = ", ".join(sorted(set(said) ^ set(schema.names)) or sorted(said))
            raise broken(path, f"does not have the columns that its manifest says ({differ})")
    for name, column in columns_of(path.name).items():
        if name in schema.names and schema.field(name).type != column.type:
            found = schema.field(name).type
            raise broken(path, f"its column {name} is of type {found}, not {column.type}")


def _graph_columns(kind: str, manifest: Mapping[str, Any]) -> list[str]:
    """Columns of the files ``nodes`` or ``arcs``, as the manifest says."""
    if kind == "arcs":
        return ["indices", *["weight"] * manifest["has_weights"], *manifest["arc_columns"]]
    return [
        "degree",
        *list(_ADDR) * manifest["has_addr"],
        *["id"] * manifest["has_id"],
        *manifest["node_columns"],
    ]
