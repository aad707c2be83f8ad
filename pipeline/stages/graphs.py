"""One graph to search: a file, an AS of a snapshot, or a graph that was kept under a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from kernels import CSRGraph
from pipeline.collect.known import known_longest_path
from pipeline.config import GenerateConfig
from pipeline.errors import UsageError
from pipeline.generate import MODELS, check, generate
from pipeline.graphs import build_graphs
from pipeline.infer.declared import declare
from pipeline.ingest import open_reader
from pipeline.model.choices import MAX_ASN, as_number_in, is_name
from pipeline.model.graphs import GraphSet
from pipeline.model.measured.reading import ReadReport, printable_path
from pipeline.model.named_graph import NamedGraph
from pipeline.model.topology import Topology
from pipeline.model.words import number
from pipeline.options import config_of, options_of
from pipeline.stages.contents.snapshots import row_of
from pipeline.stages.generate import OPTIONS, parameters_of
from pipeline.store import Snapshot, open_snapshot, snapshot_names

AS_WORD = re.compile(r"AS\d{1,10}", re.ASCII | re.IGNORECASE)
_ONE_ASN = 0  # of a file whose graph is searched whole


def load_graph(said: str, store: Path | None, snapshot: str | None) -> NamedGraph:
    """The graph that a user names.

    Parameters
    ----------
    said : str
        ``AS3356`` of a snapshot; the name of a snapshot of one AS; else a file.
    store : Path or None
    snapshot : str or None
        Of the AS; None: the one ingested last. Files and kept graphs have none.

    Raises
    ------
    UsageError
        If it cannot be found or is not a graph; says what there is.
    FormatError, StoreError
        If a file or a snapshot is broken.
    """
    if AS_WORD.fullmatch(said):
        if store is None:
            raise UsageError(
                f"{said} is an AS of a snapshot: give --store DIR, too (./{said} is a file)"
            )
        asn = as_number_in(said)
        if asn is None:
            raise UsageError(f"{said}: an AS number lies between 0 and {MAX_ASN}")
        return _of_as(store, snapshot, asn)
    if store is not None and is_name(said) and said in snapshot_names(store):
        return _of_name(store, said)
    path = Path(said)
    if not path.exists():
        kept = "" if store is None else f", and no snapshot {said!r} in {store}: {_kept(store)}"
        raise UsageError(
            f"{printable_path(path)}: no such file{kept}; give the file of a graph, or with "
            "--store DIR the name of a snapshot of one AS, or an AS like AS3356"
        )
    return read_graph(path)


def read_graph(path: Path) -> NamedGraph:
    """The graph of a file, whole: of all its ASes, with the links between them.

    Raises
    ------
    UsageError
        If it holds traces.
    FormatError
        If it is of no known format, cut short, or holds no graph.
    """
    report = ReadReport(printable_path(path))
    if path.is_dir():
        raise UsageError(f"{report.path} is a folder: give one file")
    topology: Topology | None = None
    format, items = open_reader(path, report)
    if format.kind != "topology":
        raise UsageError(
            f"{report.path} holds traces, not a graph: ingest it, then search an AS of the "
            "snapshot (hopscope search ALGORITHM AS3356 --store DIR)"
        )
    for item in items:
        assert isinstance(item, Topology)  # FORMATS says that this format yields them
        topology = item
    assert topology is not None  # else the reader has raised
    found = graph_of(topology, path.name)
    broken = sum(report.rejected.values())
    if broken:
        reasons = ", ".join(f"{reason} ({n:,})" for reason, n in report.rejected.items())
        lost = report.mostly_rejected
        said = (
            f"{lost}: {reasons}" if lost else f"{number(broken, 'broken line')} left out: {reasons}"
        )
        found.warnings.append(f"{report.path}: {said}")
        found = replace(found, is_mostly_broken=bool(lost))
    return found


def generated_graph(model: str, given: Mapping[str, Any]) -> NamedGraph:
    """A graph made by a model from options of ``generate``, by their fields' names, as text.

    Raises
    ------
    UsageError
        If the model or a value is wrong; says what it takes.
    """
    if model not in MODELS or MODELS[model].makes_graphs:
        raise UsageError(f"unknown model {model!r}; give one of: {', '.join(one_graph_models())}")
    own = ("routers", "seed", *(OPTIONS[field] for field in MODELS[model].options))
    known = {option.name: option for option in options_of(GenerateConfig)}
    values: dict[str, Any] = {"model": model}
    for name, value in given.items():
        if name not in own:
            raise UsageError(f"{name!r} is not an option of {model}; it takes {', '.join(own)}")
        if value not in ("", None):
            values[name] = known[name].parse(value, name.replace("_", " "))
    if "routers" not in values:
        raise UsageError("give the number of routers")
    parameters = parameters_of(config_of(GenerateConfig, _with_defaults(values)), model)
    check(model, parameters)
    return graph_of(generate(model, parameters), model)


def one_graph_models() -> list[str]:
    """Models whose topology is searched as one graph."""
    return [name for name, row in MODELS.items() if not row.makes_graphs]


def _with_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    options = options_of(GenerateConfig)
    return {option.name: option.default for option in options if not option.is_required} | {
        **values
    }


def graph_of(topology: Topology, name: str) -> NamedGraph:
    """The graph of a topology, whole, whatever its ASes."""
    one = replace(topology, node_asn=np.full(topology.n_nodes, _ONE_ASN, np.int64))
    kind = one.kind
    if kind == "as":  # its nodes are ASes; only their number matters here
        one = replace(one, kind="router")
    graphs = build_graphs([declare(one, asn=None, ingresses=None)])
    return replace(graph_of_set(graphs, name), kind=kind)


def graph_of_set(graphs: GraphSet, name: str) -> NamedGraph:
    """The only graph of a set of one AS."""
    indptr = np.zeros(len(graphs.degree) + 1, np.int64)
    np.cumsum(graphs.degree, out=indptr[1:])
    return NamedGraph(
        name,
        CSRGraph(indptr, graphs.indices, _usable(graphs.weights), trusted=True),
        graphs.kind,
        graphs.weight_unit,
        node_id=_ids(graphs.node_id),
        node_addr=graphs.node_addr,
    )


def _of_name(store: Path, name: str) -> NamedGraph:
    with open_snapshot(store, name) as snapshot:
        if snapshot.n_ases != 1:
            raise UsageError(
                f"snapshot {name} has {number(snapshot.n_ases, 'AS')}: give one of them, as in "
                f"AS{snapshot.asn[0]} --snapshot {name}"
            )
        return of_snapshot(store, snapshot, 0, name)


def _of_as(store: Path, name: str | None, asn: int) -> NamedGraph:
    with open_snapshot(store, name) as snapshot:
        return of_snapshot(store, snapshot, row_of(snapshot, asn), f"AS{asn} of {snapshot.name}")


def of_snapshot(store: Path, snapshot: Snapshot, row: int, name: str) -> NamedGraph:
    """The graph of one AS row, with everything that its nodes are called."""
    graph = snapshot.graph(row, weights=True)
    weights = _usable(graph.weights)
    nodes = snapshot.nodes(row)
    addrs = addr_node = None
    table = snapshot.addresses() if nodes.addr is not None else None
    if table is not None:
        own = table.filter(pc.equal(table.column("asn"), int(snapshot.asn[row])))
        addrs = np.stack([own.column(key).to_numpy() for key in ("addr_high", "addr_low")], axis=1)
        addr_node = own.column("node").to_numpy().astype(np.int64)
    return NamedGraph(
        name,
        CSRGraph(graph.indptr, graph.indices, weights, trusted=True),
        snapshot.kind,
        snapshot.weight_unit,
        _ids(nodes.id),
        nodes.addr,
        addrs,
        addr_node,
        longest_path=partial(known_longest_path, store, str(snapshot.graph_hash[row])),
    )


def _usable(weights: np.ndarray | None) -> np.ndarray | None:
    """Weights if every link has one: a search by weight needs them all."""
    return None if weights is None or np.isnan(weights).any() else weights


def _ids(ids: np.ndarray | None) -> np.ndarray | None:
    """Ids that say more than the number of the node."""
    return None if ids is None or np.array_equal(ids, np.arange(len(ids))) else ids


def _kept(store: Path) -> str:
    if not store.is_dir():
        return "there is no such folder"
    names = snapshot_names(store)
    return f"there are {', '.join(names[-10:])}" if names else "it has none"
