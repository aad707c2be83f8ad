"""Counts of a version, against each other and against what they count.

What follows from one column of the table of ASes or the number of rows of a table is compared at
opening; what needs another table, where that is read; what needs a graph, by ``doctor``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kernels import CSRGraph
from pipeline.model.topology import SILENT
from pipeline.store.tables import Ingresses
from pipeline.store.versions.names import ASES, BORDERS, INGRESSES, MANIFEST, broken


class Counted(Protocol):
    """What is read here of a ``Snapshot``."""

    path: Path
    manifest: dict
    as_numbers: list[str]
    asn: np.ndarray
    n_nodes: np.ndarray
    n_edges: np.ndarray
    n_arcs: np.ndarray
    n_components: np.ndarray
    largest_component: np.ndarray
    n_ingresses: np.ndarray
    n_candidates: np.ndarray


def check_counts(snapshot: Counted) -> None:
    """Compare the counts of each AS with each other, and their sums with the manifest.

    Raises
    ------
    StoreError
        Names the file and the first fault.
    """
    manifest, path = snapshot.manifest, snapshot.path
    n_nodes, n_edges = snapshot.n_nodes, snapshot.n_edges
    n_components, largest = snapshot.n_components, snapshot.largest_component
    most = {
        "n_components": n_nodes,
        "largest_component": n_nodes,
        "n_ingresses": n_nodes,
        "n_candidates": n_nodes,
        "n_silent": n_nodes,
        "n_mpls_links": n_edges,
        "n_may_hide_links": n_edges,
        "n_unmapped": manifest.get("n_unmapped", np.iinfo(np.int64).max),
    }
    # In this order: what is compared later cannot overflow.
    _none(snapshot, "n_edges", n_edges != snapshot.n_arcs // 2)
    _none(snapshot, "n_arcs", snapshot.n_arcs % 2 != 0)
    for name, bound in most.items():
        _none(snapshot, name, getattr(snapshot, name) > bound)
    _none(snapshot, "n_components", n_nodes - n_components > n_edges)
    _none(snapshot, "largest_component", n_components + largest - (n_nodes > 0) > n_nodes)
    _none(snapshot, "largest_component", n_components * largest < n_nodes)
    rows = {name: entry.get("n_rows") for name, entry in manifest["files"].items()}
    n_entered = int(snapshot.n_ingresses.sum() + snapshot.n_candidates.sum())
    if n_entered != rows[INGRESSES]:
        fault = f"counts {n_entered} ingresses and candidates, {INGRESSES} has {rows[INGRESSES]}"
        raise broken(path / ASES, fault)
    held = {
        "n_ases": len(snapshot.asn),
        **{
            name: int(getattr(snapshot, name).sum())
            for name in ("n_nodes", "n_edges", "n_ingresses", "n_candidates")
        },
        "n_border_links": rows[BORDERS],
    }
    for name, n in held.items():
        if manifest.get(name, n) != n:
            raise broken(path / MANIFEST, f"says {name} {manifest[name]}, its tables say {n}")


def check_ingress_counts(snapshot: Counted, found: Ingresses) -> None:
    """Compare the ingresses of each AS with their counts; otherwise as ``check_counts``."""
    for name, rows in (
        ("n_ingresses", found.row[~found.candidate]),
        ("n_candidates", found.row[found.candidate]),
    ):
        n = np.bincount(rows, minlength=len(snapshot.asn))
        _none(snapshot, name, n != getattr(snapshot, name))


def check_graph_counts(
    snapshot: Counted,
    row: int,
    graph: CSRGraph,
    of_nodes: Mapping[str, np.ndarray],
    of_arcs: Mapping[str, np.ndarray],
) -> None:
    """Count components, silent routers and links under MPLS again; as ``check_counts``."""
    from kernels.connected import components  # compiled, which only doctor waits for

    sizes = components(graph).sizes
    found: dict[str, Any] = {
        "n_components": len(sizes),
        "largest_component": sizes.max(initial=0),
    }
    if "n_silent" in snapshot.as_numbers:
        found["n_silent"] = _marked(of_nodes.get(SILENT))
    for name, mark in (("n_mpls_links", "mpls"), ("n_may_hide_links", "may_hide")):
        if name in snapshot.as_numbers:
            found[name] = _marked(of_arcs.get(mark)) // 2
    for name, n in found.items():
        said = getattr(snapshot, name)[row]
        if said != n:
            raise _wrong(snapshot.path, snapshot.asn[row], name, f"{said}, not {n}")


def _marked(column: np.ndarray | None) -> int:
    return 0 if column is None or column.dtype != bool else int(np.count_nonzero(column))


def _none(snapshot: Counted, name: str, is_wrong: np.ndarray) -> None:
    if is_wrong.any():
        row = int(np.flatnonzero(is_wrong)[0])
        said = getattr(snapshot, name)[row]
        raise _wrong(snapshot.path, snapshot.asn[row], name, f"{said}, which cannot be")


def _wrong(path: Path, asn: int, name: str, fault: str) -> Exception:
    return broken(path / ASES, f"says of AS{asn} {name} {fault}")
