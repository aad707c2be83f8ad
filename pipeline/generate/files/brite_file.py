"""Topologies as BRITE files, in the dialect of BRITE's Java engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from kernels.host import n_cores
from pipeline.files import written_whole
from pipeline.generate.files.rows_text import rows_text
from pipeline.model.topology import Topology

_ROWS_AT_ONCE = 1 << 16  # turned into text at a time
_FEW_ROWS = 1 << 16  # written before what writes more is compiled


def write_brite(
    topology: Topology, path: Path, made_by: str = "", model: Sequence[str] = ()
) -> None:
    """Write a topology so that BRITE readers, including ours, read it back unchanged.

    The file appears whole or not at all. Columns that the topology lacks are written as BRITE
    writes what it does not know: 0, or the degree, or the type that fits.

    Parameters
    ----------
    topology : Topology
    path : Path
        Replaced if it exists.
    made_by : str
        The command that makes it again; it is written at the end of the header's first model line,
        which BRITE's readers skip and our reports show.
    model : sequence of str
        Lines that name the model and its numbers, as BRITE writes them; none: those that fit the
        topology, with BRITE's defaults.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    with written_whole(path) as file:
        _write(topology, file, made_by, model or _model(topology))


def _write(topology: Topology, file: BinaryIO, made_by: str, lines: Sequence[str]) -> None:
    n_nodes, n_links = topology.n_nodes, topology.n_links
    file.write(f"Topology: ( {n_nodes} Nodes, {n_links} Edges )\n".encode())
    model, *parts = lines
    if made_by:
        model = f"{model.rstrip()} {made_by}"
    file.write(("\n".join([model, *parts]) + "\n\n").encode())
    file.write(f"Nodes: ( {n_nodes} )\n".encode())
    _write_rows(_node_columns(topology), file)
    file.write(f"\n\nEdges: ( {n_links} )\n".encode())
    _write_rows(_link_columns(topology), file)


def _model(topology: Topology) -> list[str]:
    """The lines that name the model; the parameters are those of a model's defaults."""
    if topology.kind == "as":
        return [f"Model (4 - ASBarabasi):  {topology.n_nodes} 1000 100 1  2  2 10.0 1024.0 "]
    asns, sizes = np.unique(topology.node_asn, return_counts=True)
    routers = f"Model (2 - RTBarabasiAlbert):  {sizes.max(initial=0)} 1000 100 1  2  2 10.0 1024.0 "
    if len(asns) < 2:
        return [routers]
    ases = f"Model (4 - ASBarabasi):  {len(asns)} 1000 100 1  2  2 10.0 1024.0 "
    return ["Model (5 - TopDown)", ases, routers]


def _node_columns(topology: Topology) -> list[np.ndarray]:
    columns, n = topology.node_columns, topology.n_nodes
    node_type = "AS_NODE" if topology.kind == "as" else "RT_NODE"
    if not {"indegree", "outdegree"} <= columns.keys():
        degree = np.bincount(topology.near, minlength=n) + np.bincount(topology.far, minlength=n)
        columns = {"indegree": degree, "outdegree": degree} | columns
    return [
        _ids(topology),
        _whole(columns.get("x", np.broadcast_to(0.0, n))),
        _whole(columns.get("y", np.broadcast_to(0.0, n))),
        columns["indegree"],
        columns["outdegree"],
        topology.node_asn,
        columns.get("type", np.broadcast_to(node_type, n)),
    ]


def _link_columns(topology: Topology) -> list[np.ndarray]:
    columns, n = topology.link_columns, topology.n_links
    near, far, asn = topology.near, topology.far, topology.node_asn
    none = np.broadcast_to(0.0, n)
    length = topology.weight if topology.weight_unit == "length" else None
    directed = columns.get("directed", np.broadcast_to(False, n))
    asn_from = columns["asn_from"] if "asn_from" in columns else asn[near]
    asn_to = columns["asn_to"] if "asn_to" in columns else asn[far]
    return [
        columns.get("edge_id", np.arange(n)),
        near if topology.node_id is None else topology.node_id[near],
        far if topology.node_id is None else topology.node_id[far],
        none if length is None else length.astype(np.float64),
        columns.get("delay", none),
        columns.get("bandwidth", none),
        asn_from,
        asn_to,
        columns["type"] if "type" in columns else _words(asn[near] != asn[far], "E_AS", "E_RT"),
        _words(directed, "D", "U"),
    ]


def _words(mask: np.ndarray, yes: str, no: str) -> np.ndarray:
    """One of two words for each; one word for all where the mask is one value for all."""
    if mask.strides == (0,) and len(mask):
        return np.broadcast_to(yes if mask[0] else no, len(mask))
    return np.where(mask, yes, no)


def _ids(topology: Topology) -> np.ndarray:
    return np.arange(topology.n_nodes) if topology.node_id is None else topology.node_id


def _whole(column: np.ndarray) -> np.ndarray:
    """Coordinates as the Java engine writes them: whole numbers without a fraction."""
    whole = column.astype(np.int64)
    return whole if (whole == column).all() else column


def _write_rows(columns: list[np.ndarray], file: BinaryIO) -> None:
    """Rows as text in their order; parts of them are turned into text by several threads."""
    n_threads = n_cores()
    waiting: deque[Future[pa.Buffer | memoryview]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        for start in range(0, len(columns[0]), _ROWS_AT_ONCE):
            if len(waiting) > n_threads:  # else text accumulates if the disk is slower
                file.write(waiting.popleft().result())
            waiting.append(pool.submit(_text, columns, start))
        for part in waiting:
            file.write(part.result())


def _text(columns: list[np.ndarray], start: int) -> pa.Buffer | memoryview:
    """Some rows from ``start`` on, tab-separated."""
    some = [column[start : start + _ROWS_AT_ONCE] for column in columns]
    if len(columns[0]) > _FEW_ROWS and (text := rows_text(some)) is not None:
        return text
    options = pacsv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    names = [str(i) for i in range(len(columns))]
    stream = pa.BufferOutputStream()
    pacsv.write_csv(pa.table([pa.array(c) for c in some], names=names), stream, options)
    return stream.getvalue()
