"""A snapshot, or one AS of it, as a graph to be written, some ASes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.model.columns.ragged import offsets
from pipeline.model.topology import SILENT
from pipeline.report.tables.node_names import addr_texts, node_texts, rows_texts
from pipeline.store import Snapshot
from pipeline.writers.graph import ROWS_AT_ONCE, WrittenGraph, in_parts

_NODES_AT_ONCE = 1 << 18  # of ASes that are read together
_NODE = pa.schema(
    [("id", pa.int64()), ("asn", pa.int64()), ("addr", pa.string()), ("role", pa.string())]
)


def exported(snapshot: Snapshot, rows: np.ndarray, level: str) -> WrittenGraph:
    """What is written of some AS rows, ascending.

    Parameters
    ----------
    level : str
        ``router``: all routers; ``border``: those with a link to another AS, and the links between
        them; ``as``: a node for each AS.

    Raises
    ------
    StoreError
        If a file is missing, cut short or altered.
    """
    source = _Source(snapshot, rows)
    if level == "as":
        return source.ases()
    return source.borders_only() if level == "border" else source.routers()


class _Source:
    """Nodes of some ASes end to end: node i of row r has the id ``first[r] + i``."""

    def __init__(self, snapshot: Snapshot, rows: np.ndarray):
        self.snapshot, self.rows = snapshot, rows
        self.first = np.zeros(snapshot.n_ases, np.int64)
        self.first[rows] = offsets(snapshot.n_nodes[rows])[:-1]
        self.is_one = len(rows) == 1
        self._has_row = np.zeros(snapshot.n_ases, bool)
        self._has_row[rows] = True
        one = f"AS{snapshot.asn[rows[0]]} of " if self.is_one else ""
        self.name = f"{one}{snapshot.name}"
        self.title = snapshot.as_name[rows[0]] if self.is_one else snapshot.name
        self._borders = self._borders_inside()

    def _borders_inside(self) -> pa.Table:
        """Links between the ASes, with ids of routers as ``tail`` and ``head``."""
        table = self.snapshot.borders()
        asn = self.snapshot.asn
        near, far = (
            np.searchsorted(asn, table[f"{end}_asn"].to_numpy()) for end in ("near", "far")
        )
        kept = self._has_row[near] & self._has_row[far]
        ends = {
            name: self.first[row[kept]] + table[end].to_numpy()[kept].astype(np.int64)
            for name, end, row in (("tail", "near", near), ("head", "far", far))
        }
        rows = {"tail_row": near[kept], "head_row": far[kept]}
        others = table.filter(pa.array(kept)).drop_columns(["near_asn", "near", "far_asn", "far"])
        columns = {name: others[name] for name in others.column_names}
        return pa.table({**ends, **rows, **columns})

    def _parts(self) -> Iterator[np.ndarray]:
        """Rows, some at a time."""
        n_nodes = self.snapshot.n_nodes[self.rows]
        part = (np.cumsum(n_nodes) - n_nodes) // _NODES_AT_ONCE
        yield from np.split(self.rows, np.flatnonzero(np.diff(part)) + 1)

    def routers(self) -> WrittenGraph:
        snapshot = self.snapshot
        n_inside = int(snapshot.n_edges[self.rows].sum())
        return WrittenGraph(
            name=self.name,
            title=self.title,
            weight_unit=snapshot.weight_unit,
            n_nodes=int(snapshot.n_nodes[self.rows].sum()),
            n_edges=n_inside + self._borders.num_rows,
            node_fields=_NODE,
            edge_fields=self._edge_fields(),
            nodes=self._nodes,
            edges=self._edges,
            addresses=self._addresses,
        )

    def _nodes(self) -> Iterator[pa.Table]:
        for rows in self._parts():
            n_nodes = self.snapshot.n_nodes[rows]
            begin = offsets(n_nodes)
            n = int(begin[-1])
            role = np.full(n, "", object)
            for end, n_silent in zip(begin[1:], self.snapshot.n_silent[rows], strict=True):
                role[end - n_silent : end] = SILENT
            ingresses = self.snapshot.ingresses(rows)
            place = begin[np.searchsorted(rows, ingresses.row)] + ingresses.node
            role[place] = np.where(ingresses.candidate, "candidate", "ingress")
            asn = np.repeat(self.snapshot.asn[rows], n_nodes)
            texts = rows_texts(self.snapshot, rows, ROWS_AT_ONCE)
            first = int(self.first[rows[0]])
            for start, addr in zip(range(0, n, ROWS_AT_ONCE), texts, strict=True):
                here = slice(start, start + len(addr))
                number = np.arange(first + start, first + start + len(addr))
                columns = [number, asn[here], addr, pa.array(role[here], pa.string())]
                yield pa.table([pa.array(column) for column in columns], schema=_NODE)

    def _edge_fields(self) -> pa.Schema:
        manifest = self.snapshot.manifest
        fields: list[Any] = [("tail", pa.int64()), ("head", pa.int64())]
        if manifest["has_weights"]:
            fields.append(("weight", pa.float32()))
        for name, kind in manifest["arc_columns"].items():
            is_text = kind == "str"
            fields.append((name, pa.string() if is_text else pa.from_numpy_dtype(np.dtype(kind))))
        return pa.schema(fields)

    def _edges(self, texts: bool) -> Iterator[pa.Table]:
        fields = self._edge_fields()
        for rows in self._parts():
            for row in rows[self.snapshot.n_edges[rows] > 0].tolist():
                for part in self._inside(row, fields):
                    yield self._with_texts(part, np.full(part.num_rows, row), texts)
        for part in in_parts(self._borders):
            ends = [part[name].to_numpy() for name in ("tail_row", "head_row")]
            n = part.num_rows
            columns = {
                field.name: part[field.name]
                if field.name in part.column_names
                else pa.nulls(n, field.type)
                for field in fields
            }
            plain = pa.table(columns).cast(fields)
            yield self._with_texts(plain, ends[0], texts, ends[1])

    def _inside(self, row: int, fields: pa.Schema) -> Iterator[pa.Table]:
        """Links within one AS, each once, sorted by tail, then head; some at a time."""
        graph = self.snapshot.graph(row, weights=True)
        arc_columns = self.snapshot.arc_columns(row)
        first = self.first[row]
        for start in range(0, graph.n_arcs, ROWS_AT_ONCE):
            here = slice(start, min(start + ROWS_AT_ONCE, graph.n_arcs))
            arcs = np.arange(here.start, here.stop)
            tail = np.searchsorted(graph.indptr, arcs, side="right") - 1
            once = tail < graph.indices[here]
            columns: dict[str, Any] = {
                "tail": tail[once] + first,
                "head": graph.indices[here][once].astype(np.int64) + first,
            }
            if graph.weights is not None:
                weight = graph.weights[here][once]
                columns["weight"] = pa.array(weight, mask=np.isnan(weight))
            others = {name: values[here][once] for name, values in arc_columns.items()}
            if once.any():
                yield pa.table(columns | others).select(fields.names).cast(fields)

    def _with_texts(
        self, part: pa.Table, row: np.ndarray, texts: bool, head_row: np.ndarray | None = None
    ) -> pa.Table:
        if not texts:
            return part
        rows = {"tail": row, "head": row if head_row is None else head_row}
        columns = {name: part[name] for name in ("tail", "head")}
        for end, of in rows.items():
            local = part[end].to_numpy() - self.first[of]
            columns[f"{end}_addr"] = node_texts(self.snapshot, of, local)
        if not self.is_one:
            columns |= {f"{end}_asn": self.snapshot.asn[of] for end, of in rows.items()}
        columns |= {name: part[name] for name in part.column_names if name not in rows}
        return pa.table(columns)

    def _addresses(self) -> Iterator[pa.Table]:
        table = self.snapshot.addresses()
        if table is None:
            if self.snapshot.manifest["has_addr"]:
                for part in self._nodes():
                    known = pc.and_(pc.is_valid(part["addr"]), pc.not_equal(part["addr"], ""))
                    yield part.filter(known).select(["id", "addr"])
            return
        asn = table["asn"].to_numpy()
        row = np.minimum(np.searchsorted(self.snapshot.asn, asn), self.snapshot.n_ases - 1)
        kept = np.flatnonzero(self._has_row[row] & (self.snapshot.asn[row] == asn))
        number = self.first[row[kept]] + table["node"].to_numpy()[kept]
        order = np.argsort(number, kind="stable")
        kept, number = kept[order], number[order]
        for start in range(0, len(kept), ROWS_AT_ONCE):
            here = kept[start : start + ROWS_AT_ONCE]
            words = [table[name].to_numpy()[here] for name in ("addr_high", "addr_low")]
            addr = addr_texts(np.stack(words, axis=1))
            yield pa.table({"id": number[start : start + ROWS_AT_ONCE], "addr": addr})

    def borders_only(self) -> WrittenGraph:
        """Routers with a link to another AS of these rows, with numbers from 0 on."""
        whole = self.routers()
        ends = [self._borders[end].to_numpy() for end in ("tail", "head")]
        kept = np.zeros(whole.n_nodes, bool)
        for end in ends:
            kept[end] = True
        if self.is_one:  # its links to others are not among the rows: those of the snapshot are
            table, asn = self.snapshot.borders(), self.snapshot.asn[self.rows[0]]
            for end in ("near", "far"):
                own = table[f"{end}_asn"].to_numpy() == asn
                kept[table[end].to_numpy()[own]] = True
        number = np.cumsum(kept) - 1
        nodes = partial(_kept_nodes, whole.nodes, kept, number)
        edges = partial(_kept_edges, whole.edges, kept, number)
        return replace(
            whole,
            n_nodes=int(kept.sum()),
            n_edges=sum(part.num_rows for part in edges(False)),
            nodes=nodes,
            edges=edges,
            addresses=partial(_kept_nodes, whole.addresses, kept, number),
        )

    def ases(self) -> WrittenGraph:
        """A node for each AS, and a link for each two with links between their routers."""
        snapshot, table = self.snapshot, self._borders
        asn = snapshot.asn[self.rows]
        pairs = np.stack([snapshot.asn[table[f"{end}_row"].to_numpy()] for end in ("tail", "head")])
        pairs.sort(axis=0)
        order = np.lexsort((pairs[1], pairs[0]))
        pairs = pairs[:, order]
        begins = np.ones(pairs.shape[1], bool)
        begins[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
        first = np.flatnonzero(begins)
        columns: dict[str, Any] = {
            "tail": pairs[0, first],
            "head": pairs[1, first],
            "n_links": np.diff(first, append=pairs.shape[1]),
        }
        if "weight" in table.column_names and len(first):
            weight = table["weight"].cast(pa.float32()).to_numpy()[order]
            least = np.fmin.reduceat(weight, first)
            columns["weight"] = pa.array(least, mask=np.isnan(least))
        names = [snapshot.as_name[row] for row in self.rows.tolist()]
        addr = [f"AS{number}" for number in asn.tolist()]
        nodes = pa.table(
            {
                "id": asn,
                "asn": asn,
                "addr": pa.array(addr, pa.string()),
                "name": pa.array(names, pa.string()),
                "n_nodes": snapshot.n_nodes[self.rows],
                "n_edges": snapshot.n_edges[self.rows],
            }
        )
        edges = pa.table(columns)
        return WrittenGraph(
            name=f"ASes of {snapshot.name}",
            title=snapshot.name,
            weight_unit=snapshot.weight_unit,
            n_nodes=nodes.num_rows,
            n_edges=edges.num_rows,
            node_fields=nodes.schema,
            edge_fields=edges.schema,
            nodes=partial(in_parts, nodes),
            edges=lambda texts: in_parts(_as_texts(edges) if texts else edges),
            addresses=lambda: iter(()),
            is_ases=True,
        )


def _as_texts(edges: pa.Table) -> pa.Table:
    texts = {
        f"{end}_addr": pc.binary_join_element_wise("AS", edges[end].cast(pa.string()), "")
        for end in ("tail", "head")
    }
    return pa.table({**{name: edges[name] for name in ("tail", "head")}, **texts,
                     **{n: edges[n] for n in edges.column_names[2:]}})  # fmt: skip


def _kept_nodes(nodes, kept: np.ndarray, number: np.ndarray) -> Iterator[pa.Table]:
    for part in nodes():
        ids = part["id"].to_numpy()
        if kept[ids].any():
            of_these = part.filter(pa.array(kept[ids]))
            at = of_these.schema.get_field_index("id")
            yield of_these.set_column(at, "id", pa.array(number[of_these["id"].to_numpy()]))


def _kept_edges(edges, kept: np.ndarray, number: np.ndarray, texts: bool) -> Iterator[pa.Table]:
    for part in edges(texts):
        both = np.logical_and(*(kept[part[end].to_numpy()] for end in ("tail", "head")))
        if both.any():
            of_these = part.filter(pa.array(both))
            for i, end in enumerate(("tail", "head")):
                ids = number[of_these[end].to_numpy()]
                of_these = of_these.set_column(i, end, pa.array(ids))
            yield of_these
