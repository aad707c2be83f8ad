"""What is in a store: its snapshots, one of them, one AS of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.config import ListConfig, ShowConfig
from pipeline.errors import StoreError, UsageError, first_line
from pipeline.model.measured.origins import origins_of
from pipeline.model.words import number
from pipeline.places import shown
from pipeline.places.command_lines import command_line
from pipeline.report.folder import earlier_report
from pipeline.report.names import ASES
from pipeline.report.published import bring_reports
from pipeline.report.tables.neighbors import as_link_table, exit_table, ingress_columns
from pipeline.report.tables.node_names import node_texts
from pipeline.stages.contents.replaced import kept_of
from pipeline.stages.warnings import snapshot_warnings
from pipeline.store import Snapshot, open_snapshot
from pipeline.store.pointers import names_and_faults

# Counts of a manifest that a list of snapshots shows.
_TOTALS = ("n_ases", "n_nodes", "n_edges", "n_ingresses", "n_candidates", "n_border_links")
LARGEST_NAMED = 5  # ASes that are named where another one is not there
# Columns of an AS in the store, as in ases.parquet.
_OF_AS = (
    "n_nodes",
    "n_edges",
    "n_components",
    "largest_component",
    "n_ingresses",
    "n_candidates",
    "n_unmapped",
    "n_entered_unseen",
    "n_mpls_links",
    "n_may_hide_links",
    "n_silent",
)


def list_snapshots(config: ListConfig) -> list[dict]:
    """Facts of each snapshot of a store, the one ingested last at the end.

    Returns
    -------
    list of dict
        With ``fault``: why a snapshot cannot be opened, else None. Those whose pointers are broken
        come first: when they were ingested is unknown.

    Raises
    ------
    StoreError
        If there is no snapshot.
    """
    names, faults = names_and_faults(config.store)
    if not names and not faults:
        open_snapshot(config.store)  # says that there is none, and what makes one
    found: list[dict] = [{"snapshot": name, "fault": str(e)} for name, e in faults.items()]
    for name in names:
        try:
            with open_snapshot(config.store, name) as snapshot:
                facts = snapshot_facts(snapshot) | {"fault": None}
                facts["report_fault"] = other_report(snapshot, config.out)
                found.append(facts | {"replaced": kept_of(config.store, name)})
        except StoreError as error:
            found.append({"snapshot": name, "fault": str(error)})
    return found


def snapshot_facts(snapshot: Snapshot) -> dict[str, Any]:
    """What a snapshot holds, from its manifest."""
    manifest = snapshot.manifest
    counts = manifest.get("counts") or {}
    origins = origins_of(manifest, snapshot.asn)
    return {
        "snapshot": snapshot.name,
        "version": snapshot.version,
        "created": manifest.get("created"),
        "node_kind": origins.kind,
        **{name: manifest.get(name) for name in _TOTALS},
        "n_silent": counts.get("silent_routers", 0),
        "n_may_hide_links": counts.get("links_that_may_hide"),
        "n_traces": counts.get("n_traces"),
        "n_traces_kept": snapshot.n_traces_kept,
        "n_addrs": counts.get("n_addrs"),
        "n_addrs_mapped": counts.get("n_addrs_mapped"),
        "n_addrs_in_no_table": counts.get("n_addrs_in_no_table"),
        "weight_unit": snapshot.weight_unit or None,
        "n_inputs": len(manifest.get("inputs") or []),
        "synthetic": origins.facts(),
        "warnings": snapshot_warnings(manifest),
    }


def show(config: ShowConfig) -> dict[str, Any]:
    """Facts of a snapshot with a row for each AS (``ases``), or those of one AS.

    Raises
    ------
    UsageError
        If the snapshot does not have the AS.
    StoreError
        If there is no such snapshot, or it is broken.
    """
    with open_snapshot(config.store, config.snapshot) as snapshot:
        facts = snapshot_facts(snapshot)
        facts["report_fault"] = other_report(snapshot, config.out)
        facts["replaced"] = kept_of(config.store, config.snapshot)
        if config.asn is None:
            return facts | {"ases": as_rows(snapshot)}
        return facts | {"as": as_facts(snapshot, row_of(snapshot, config.asn), config.out)}


def row_of(snapshot: Snapshot, asn: int) -> int:
    """Row of an AS that a user named; UsageError if the snapshot does not have it."""
    try:
        return snapshot.row_of(asn)
    except KeyError:
        largest = snapshot.asn[np.argsort(-snapshot.n_nodes, kind="stable")[:LARGEST_NAMED]]
        named = ", ".join(f"AS{each}" for each in largest.tolist())
        which = "the largest are" if snapshot.n_ases > len(largest) else "namely"
        raise UsageError(
            f"AS{asn} is not in snapshot {snapshot.name}, which has "
            f"{number(snapshot.n_ases, 'AS')}, {which} {named}"
        ) from None


def as_facts(snapshot: Snapshot, row: int, out: Path | None) -> dict[str, Any]:
    """One AS: counts, ingresses, exits, linked ASes, and what its last report measured."""
    rows = np.array([row])
    asn = int(snapshot.asn[row])
    origins = origins_of(snapshot.manifest, snapshot.asn)
    source = origins.source_of(asn)
    return {
        "asn": asn,
        "name": snapshot.as_name[row] or None,
        **_organisation(snapshot, row),
        "node_kind": origins.kind_of(source),
        "made_by": (source.made_by or None) if source else None,
        **{name: int(getattr(snapshot, name)[row]) for name in _OF_AS},
        "graph_hash": snapshot.graph_hash[row],
        "ingresses": _ingresses(snapshot, rows),
        "exits": exit_table(snapshot, rows).to_pylist(),
        "as_links": as_link_table(snapshot, rows).to_pylist(),
        "measured": measured(snapshot, asn, out),
    }


def _organisation(snapshot: Snapshot, row: int) -> dict[str, Any]:
    """The organisation of an AS, and its other ASes in the snapshot; None where it is not known."""
    names = snapshot.as_organisation
    name = names[row] or None
    others = [int(snapshot.asn[i]) for i, one in enumerate(names) if one == name and i != row]
    return {"organisation": name, "organisation_asns": others if name else None}


def report_folder(snapshot: Snapshot, out: Path | None) -> Path | None:
    """The report of this version of a snapshot in a folder of reports; None: there is none.

    Raises
    ------
    UsageError
        If what lies there is not a report of ours.
    """
    if out is not None:
        bring_reports(out)
    folder = None if out is None else out / snapshot.name
    report = None if folder is None else earlier_report(folder)
    is_own = report is not None and report.get("snapshot_version") == snapshot.version
    return folder if is_own else None


def other_report(snapshot: Snapshot, out: Path | None) -> str | None:
    """What to say if the report of a name is of another version of it; None: it is not.

    Raises
    ------
    UsageError
        If what lies there is not a report of ours.
    """
    if out is None or report_folder(snapshot, out) is not None:
        return None
    if earlier_report(out / snapshot.name) is None:
        return None
    store = snapshot.path.parents[1]
    command = command_line("analyze", "--snapshot", snapshot.name, store=store, out=out)
    return (
        f"{shown(out / snapshot.name)}: the report there is of another version of {snapshot.name} "
        "than the store has now, so its figures are not those of this one; "
        f"{command} writes its own"
    )


def measured(snapshot: Snapshot, asn: int, out: Path | None) -> Mapping[str, Any] | None:
    """The row of an AS in ``ases.parquet`` of the report of this version; None: there is none.

    Raises
    ------
    UsageError
        If a folder was given and its report is not one of ours.
    """
    folder = report_folder(snapshot, out)
    if folder is None:
        return None
    try:
        table = pq.read_table(folder / ASES, filters=pc.field("asn") == asn)
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{folder / ASES}: {first_line(error)}") from None
    return next(iter(table.to_pylist()), None)


def _ingresses(snapshot: Snapshot, rows: np.ndarray) -> list[dict]:
    """Ingresses of an AS, those with the most traces first, candidates last."""
    found = snapshot.ingresses(rows)
    order = np.lexsort((found.node, -found.n_after_gap, -found.n_direct, found.candidate))
    addr = node_texts(snapshot, found.row, found.node)
    table = pa.table(ingress_columns(snapshot, found, addr)).take(pa.array(order))
    return table.drop_columns(["asn"]).to_pylist()


def as_rows(snapshot: Snapshot, row: int | None = None) -> list[dict]:
    """Counts of each AS, or of one."""
    some = slice(None) if row is None else slice(row, row + 1)
    columns = {name: getattr(snapshot, name)[some].tolist() for name in _OF_AS}
    names = [name or None for name in snapshot.as_name[some]]
    return [
        dict(zip(("asn", "name", *columns), one, strict=True))
        for one in zip(snapshot.asn[some].tolist(), names, *columns.values(), strict=True)
    ]
