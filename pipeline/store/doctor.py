"""Checks every byte of a store, and finds leftovers of killed runs in it and next to reports."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from kernels import CSRGraph, GraphError
from pipeline.errors import StoreError
from pipeline.places import url_of
from pipeline.places.command_lines import command_line
from pipeline.store.alone import crashed_alone, forget_crashed
from pipeline.store.counts import check_graph_counts
from pipeline.store.pointers import names_and_faults, open_snapshot, open_version
from pipeline.store.pointers.changing import forget_replaced
from pipeline.store.pointers.garbage import abandoned_versions, remove_abandoned_versions
from pipeline.store.references import (
    orphaned_references,
    reference_file,
    remove_orphaned_references,
)
from pipeline.store.results import (
    check_results,
    first_of_equal,
    keys_of,
    keys_of_weighted,
)
from pipeline.store.running import dead_runs, remove_dead_runs
from pipeline.store.snapshot import Snapshot
from pipeline.store.versions.held import abandoned, own_folder, remove_abandoned
from pipeline.store.versions.listing import pointer_paths
from pipeline.store.versions.mirrored import refresh_pointers
from pipeline.store.versions.names import ASES, POINTERS, broken
from pipeline.store.versions.pointer import pointer_or_none


def check_store(store: Path) -> dict[str, str]:
    """Verify all snapshots of a store: every byte, the values of all tables, and each graph.

    Parameters
    ----------
    store : Path

    Returns
    -------
    dict of str to str
        Snapshot name -> what is wrong with it; empty if it is intact. In order of names.

    Raises
    ------
    StoreError
        If there is no store, or it is not known which snapshots it has.
    """
    store = Path(store)
    refresh_pointers(store)
    paths = pointer_paths(store)
    if not has_store(store):
        made_by = command_line("ingest", "INPUT...", store=store)
        raise StoreError(f"{store}: no store here; {made_by} makes one")
    found = {}
    for path in paths:
        try:
            with open_snapshot(store, path.stem) as snapshot:
                snapshot.verify()
                _check_contents(snapshot)
        except StoreError as error:
            found[path.stem] = str(error)
        else:
            found[path.stem] = ""
    return found


def _check_contents(snapshot: Snapshot) -> None:
    """Read all tables; compare each graph with its hashes and counts, and tables with each other.

    Raises
    ------
    StoreError
        Names the file and the first fault.
    """
    from pipeline.store.agreement import Agreement  # compiled, which only doctor waits for

    weights_hash, agreement = snapshot.weights_hash, Agreement(snapshot)
    for row in range(snapshot.n_ases):
        graph = snapshot.graph(row, weights=True, check=True)
        weights = graph.weights
        known = weights_hash[row] if weights is not None and weights_hash else None
        if known is not None and graph.weights_hash() != known:
            raise _wrong(snapshot, row, "has weights that do not match their hash")
        if weights is not None:  # NaN: none is known, in both directions
            weights = np.where(np.isnan(weights), np.finfo(np.float32).max, weights)
        try:
            CSRGraph(graph.indptr, graph.indices, weights)
        except GraphError as error:
            raise _wrong(snapshot, row, f"is not a graph: {error}") from None
        nodes, of_arcs = snapshot.nodes(row), snapshot.arc_columns(row)
        check_graph_counts(snapshot, row, graph, nodes.columns, of_arcs)
        agreement.check_inside(row, graph, nodes.addr)
    agreement.check_between()
    read: Sequence[Callable[[], object]] = (
        *(snapshot.ingresses, snapshot.exits, snapshot.borders, snapshot.addresses),
        *(
            snapshot.unmapped,
            snapshot.host_names,
            snapshot.locations,
            snapshot.observations,
            snapshot.reasons,
        ),
    )
    for table in read:
        table()


def _wrong(snapshot: Snapshot, row: int, fault: str) -> StoreError:
    return broken(snapshot.path / ASES, f"AS{snapshot.asn[row]} {fault}")


def check_measured(store: Path) -> dict[Path, str]:
    """As ``check_results``, with the graphs of all snapshots that can be opened."""
    keys, sizes = [np.empty((0, 4), np.uint64)], [np.empty(0, np.int64)]
    for name in names_and_faults(store)[0]:
        with contextlib.suppress(StoreError), open_snapshot(store, name) as snapshot:
            keys.append(keys_of(snapshot.graph_hash))
            sizes.append(snapshot.n_nodes)
            if (weights_hash := snapshot.weights_hash) is not None:
                keys.append(keys_of_weighted(snapshot.graph_hash, weights_hash))
                sizes.append(snapshot.n_nodes)
    graphs = np.concatenate(keys)
    once = np.unique(first_of_equal(graphs)) if len(graphs) else np.empty(0, np.int64)
    return check_results(store, graphs[once], np.concatenate(sizes)[once])


def check_replaced(store: Path) -> dict[str, tuple[int, str]]:
    """Verify what snapshots replaced and is kept: name of the snapshot -> bytes, what is wrong."""
    found = {}
    for path in pointer_paths(store):
        pointer = pointer_or_none(path)
        if pointer is None or not pointer.replaced:
            continue
        fault, size = "", 0
        try:
            with open_version(store, pointer.replaced) as version:
                size = version.n_bytes
                version.verify()
        except StoreError as error:
            fault = str(error)
        found[path.stem] = size, fault
    return found


def has_store(store: Path) -> bool:
    """Whether there is a store in a folder; at a URL, whether it has a snapshot."""
    return bool(pointer_paths(store)) if url_of(store) else (store / POINTERS).is_dir()


def bytes_of_snapshot(store: Path, name: str) -> int:
    """Bytes of the files of a snapshot, as its manifest says; 0 if that is broken."""
    try:
        with open_snapshot(store, name) as snapshot:
            size = snapshot.n_bytes
    except StoreError:
        return 0
    reference = reference_file(store, snapshot.version)
    return size + (reference.stat().st_size if reference.is_file() else 0)


def leftovers(store: Path | None, out: Path | None) -> list[Path]:
    """Leftovers of killed runs in a store, in a folder of reports, and of Dask workers here.

    Files of running runs are not among them, nor what a measuring flow left for the reporting one
    within a day.
    """
    found = [path for folder in _folders(store, out) for path in abandoned(folder)]
    if store is None:
        return found
    found += abandoned_versions(store)
    found += orphaned_references(store)
    return [*found, *dead_runs(store), *crashed_alone(store)]


def remove_leftovers(store: Path | None, out: Path | None) -> None:
    """Remove what ``leftovers`` names, and the versions that were replaced.

    Raises
    ------
    OSError
        If a folder cannot be written.
    """
    for folder in _folders(store, out):
        remove_abandoned(folder)
    if store is not None:
        forget_replaced(store)
        remove_abandoned_versions(store)
        remove_orphaned_references(store)
        remove_dead_runs(store)
        forget_crashed(store)


def _folders(store: Path | None, out: Path | None) -> list[Path]:
    given = [folder for folder in (store, out) if folder is not None and folder.is_dir()]
    return [*given, own_folder()]
