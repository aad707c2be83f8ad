"""Several topologies as one: nodes and links end to end, columns united.

What one topology has and another lacks is filled: a weight or number by NaN (integers become
float64 then), a text by "", an address by ``::``, an id by ``NO_ID``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pipeline.errors import UsageError
from pipeline.model.choices import MAX_ASN
from pipeline.model.columns import concat
from pipeline.model.columns.ragged import offsets
from pipeline.model.graphs import NO_ID
from pipeline.model.measured.delays import Delays
from pipeline.model.topology import NO_ASN, IngressTable, Topology

MAX_NAMED = 5  # ASNs that an error names


def combine(topologies: Sequence[Topology]) -> Topology:
    """Concatenate topologies; a single one is returned unchanged.

    Raises
    ------
    UsageError
        If two of them hold the same AS, or a number is not an AS number.
    """
    asns = [asns_of(topology.node_asn) for topology in topologies]
    refuse_shared(asns)
    if len(topologies) == 1:
        return topologies[0]
    n_nodes = [t.n_nodes for t in topologies]
    first = offsets(n_nodes)
    weight = None
    if any(t.weight is not None for t in topologies):
        weight = np.concatenate(
            [_or_full(t.weight, t.n_links, np.nan, np.float32) for t in topologies]
        )
    addr = None
    if any(t.node_addr is not None for t in topologies):
        addr = np.concatenate([_or_full(t.node_addr, (t.n_nodes, 2), 0, "u8") for t in topologies])
    node_id = None
    if any(t.node_id is not None for t in topologies):
        node_id = np.concatenate([_or_full(t.node_id, t.n_nodes, NO_ID, "i8") for t in topologies])
    return Topology(
        node_asn=_joined([t.node_asn for t in topologies], np.int64),
        near=_joined([t.near + at for t, at in zip(topologies, first, strict=False)], np.int64),
        far=_joined([t.far + at for t, at in zip(topologies, first, strict=False)], np.int64),
        node_addr=addr,
        node_id=node_id,
        weight=weight,
        weight_unit=_one_word(t.weight_unit for t in topologies if t.weight is not None),
        node_columns=unite_columns([t.node_columns for t in topologies], n_nodes),
        link_columns=unite_columns(
            [t.link_columns for t in topologies], [t.n_links for t in topologies]
        ),
        ingresses=_join_ingresses([t.ingresses for t in topologies], first),
        exits=concat(
            [
                replace(t.exits, node=t.exits.node + at)
                for t, at in zip(topologies, first, strict=False)
            ]
        ),
        kind=_one_word(t.kind for t in topologies) or "router",
        counts=_summed([t.counts for t in topologies]),
        entered_unseen={asn: n for t in topologies for asn, n in t.entered_unseen.items()},
    )


def asns_of(node_asn: np.ndarray) -> np.ndarray:
    """Distinct AS numbers, ascending, ``NO_ASN`` left out; (n_ases,) int64.

    Nodes of one AS mostly follow one another (neighbouring addresses, a file's order), so runs
    are sorted, not nodes.
    """
    if len(node_asn) == 0:
        return np.empty(0, np.int64)
    starts = np.flatnonzero(np.append(True, node_asn[1:] != node_asn[:-1]))
    asn = np.unique(node_asn[starts]).astype(np.int64)
    asn = asn[asn != NO_ASN]
    if len(asn) and (asn[0] < 0 or asn[-1] > MAX_ASN):
        wrong = asn[0] if asn[0] < 0 else asn[-1]
        raise UsageError(f"{wrong} is not an AS number: AS numbers are 0 to {MAX_ASN}")
    return asn


def unite_columns(
    columns: Sequence[dict[str, np.ndarray]], sizes: Sequence[int]
) -> dict[str, np.ndarray]:
    """Columns of several tables end to end; a column that one lacks is filled there."""
    names = list(dict.fromkeys(name for table in columns for name in table))
    united = {}
    for name in names:
        parts = [table.get(name) for table in columns]
        given = [part for part in parts if part is not None]
        if any(part.dtype.kind in "OUS" for part in given):
            filled = [
                np.full(n, "", object) if part is None else part.astype(object)
                for part, n in zip(parts, sizes, strict=True)
            ]
        else:
            filled = [
                np.full(n, np.nan) if part is None else part
                for part, n in zip(parts, sizes, strict=True)
            ]
        united[name] = np.concatenate(filled)
    return united


def refuse_shared(asns: Sequence[np.ndarray], names: Sequence[str] = ()) -> None:
    """Refuse an AS in two topologies: their nodes have no common ids, so it cannot be merged.

    Parameters
    ----------
    asns : sequence of (n_ases,) int64
        Distinct ASes of each topology.
    names : sequence of str
        What the message calls each; without any, the first two that share an AS are not named.

    Raises
    ------
    UsageError
    """
    if len(asns) < 2:
        return
    asn, n_holders = np.unique(np.concatenate(asns), return_counts=True)
    shared = asn[n_holders > 1]
    if len(shared):
        named = ", ".join(f"AS{n}" for n in shared[:MAX_NAMED].tolist())
        more = f" and {len(shared) - MAX_NAMED} more" if len(shared) > MAX_NAMED else ""
        both = [name for name, own in zip(names, asns, strict=False) if shared[0] in own][:2]
        where = f"both {both[0]} and {both[1]}" if both else "two of the inputs"
        raise UsageError(f"{named}{more}: in {where}; ingest these inputs into separate snapshots")


def _joined(parts: list[np.ndarray], dtype) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype, copy=False)


def _or_full(column: np.ndarray | None, shape, value, dtype) -> np.ndarray:
    return np.full(shape, value, dtype) if column is None else column.astype(dtype, copy=False)


def _one_word(words) -> str:
    """The common word; ``mixed`` if they differ, empty if there is none."""
    said = list(dict.fromkeys(words))
    return said[0] if len(said) == 1 else "mixed" if said else ""


def _summed(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for table in counts:
        for name, count in table.items():
            total[name] = total.get(name, 0) + count
    return total


def _join_ingresses(tables: Sequence[IngressTable], first: np.ndarray) -> IngressTable:
    confidence = None
    if any(t.confidence is not None for t in tables):
        confidence = np.concatenate([_or_full(t.confidence, len(t), np.nan, "f4") for t in tables])
    neighbor_ixp = None
    if any(t.neighbor_ixp is not None for t in tables):
        each = [_or_full(t.neighbor_ixp, len(t.neighbor_asn), "", object) for t in tables]
        neighbor_ixp = np.concatenate(each)
    known = [t.neighbor_n_direct for t in tables if t.neighbor_n_direct is not None]
    neighbor_n_direct = _joined(known, np.int64) if len(known) == len(tables) else None
    delays = None
    if any(t.delays is not None for t in tables):
        delays = concat([t.delays or Delays.unknown(len(t)) for t in tables])
    lengths = _joined([np.diff(t.neighbor_ptr) for t in tables], np.int64)
    return IngressTable(
        node=_joined([t.node + at for t, at in zip(tables, first, strict=False)], np.int64),
        neighbor_ptr=offsets(lengths),
        neighbor_asn=_joined([t.neighbor_asn for t in tables], np.int64),
        n_direct=_joined([t.n_direct for t in tables], np.int64),
        n_after_gap=_joined([t.n_after_gap for t in tables], np.int64),
        candidate=_joined([t.candidate for t in tables], np.bool_),
        confidence=confidence,
        neighbor_ixp=neighbor_ixp,
        neighbor_n_direct=neighbor_n_direct,
        delays=delays,
    )
