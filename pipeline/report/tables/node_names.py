"""Texts of nodes, many at once: addresses, or the ids of the input where it has no addresses."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.model.addresses import V4_PREFIX, format_addr, is_v4, positions_of
from pipeline.model.columns.keys import ordered_keys
from pipeline.model.graphs import NO_ID
from pipeline.store import NodeTable

MAX_OTHERS = 4  # further addresses of a router that a page names
N_NAMED = 10  # nodes or components of a kind that a page names

_OCTETS = pa.array([str(octet) for octet in range(256)])


def addr_texts(addrs: np.ndarray) -> pa.Array:
    """Texts of an address column; IPv4 in dotted form, IPv6 as RFC 5952 writes it.

    Parameters
    ----------
    addrs : (n, 2) uint64

    Returns
    -------
    pyarrow.StringArray
        n texts, equal to those of ``pipeline.model.addresses.format_addr``.
    """
    v4 = is_v4(addrs)
    if v4.all():
        return _v4_texts(addrs)
    texts = np.empty(len(addrs), object)
    texts[v4] = _v4_texts(addrs[v4]).to_pylist()
    # inet_ntop is C; it writes ::1.2.3.4 for what lies below 2**64, so those go the slow way.
    high = addrs[:, 0] != 0
    packed = addrs[high].astype(">u8").tobytes()
    ntop = socket.inet_ntop
    texts[high] = [ntop(socket.AF_INET6, packed[i : i + 16]) for i in range(0, len(packed), 16)]
    rare = np.flatnonzero(~v4 & ~high)
    texts[rare] = [format_addr(0, low) for low in addrs[rare, 1].tolist()]
    return pa.array(texts, pa.string())


def _v4_texts(addrs: np.ndarray) -> pa.Array:
    number = (addrs[:, 1] ^ V4_PREFIX).astype(np.uint32)
    parts = [_OCTETS.take(pa.array((number >> shift) & 0xFF)) for shift in (24, 16, 8, 0)]
    return pc.binary_join_element_wise(*parts, ".")


def node_texts(snapshot, rows: np.ndarray, nodes: np.ndarray) -> pa.Array:
    """Texts of some nodes of some ASes.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    rows : (n,) int64
        AS row of each node; in any order, repeated ones are looked up once.
    nodes : (n,) int32
        Local node ids.

    Returns
    -------
    pyarrow.StringArray
        The address; the id that the input gives where it has no addresses; null where it has
        neither.
    """
    key = ordered_keys(rows, nodes)
    distinct, where = np.unique(key, return_inverse=True)
    table = snapshot.lookup(distinct >> 32, distinct & 0xFFFF_FFFF)
    return _texts_of(table, len(distinct)).take(pa.array(where))


def other_addresses(snapshot, asn: np.ndarray, nodes: np.ndarray) -> pa.Array:
    """Further addresses of some nodes, as one text each; null for a node with one address.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    asn : (n,) int64
    nodes : (n,) int32
        Local node ids.

    Returns
    -------
    pyarrow.StringArray
        At most ``MAX_OTHERS`` addresses, ascending, and how many more there are.
    """
    table = snapshot.addresses()
    if table is None or not len(nodes):
        return pa.nulls(len(nodes), pa.string())
    named = ordered_keys(table["asn"].to_numpy(), table["node"].to_numpy())
    order = np.argsort(named, kind="stable")  # addresses ascend within a node
    named = named[order]
    key = ordered_keys(asn, nodes)
    first = np.searchsorted(named, key, side="left")
    last = np.searchsorted(named, key, side="right")
    addrs = _addrs_of(table)
    own = snapshot.lookup(np.searchsorted(np.asarray(snapshot.asn), asn), nodes).addr
    texts: list[str | None] = []
    for begin, end, name in zip(first.tolist(), last.tolist(), own, strict=True):
        few = addrs[order[begin : min(end, begin + MAX_OTHERS + 1)]]
        shown = addr_texts(few[(few != name).any(axis=1)][:MAX_OTHERS]).to_pylist()
        if not shown:
            texts.append(None)
            continue
        more = end - begin - 1 - len(shown)
        texts.append(", ".join(shown) + (f" +{more}" if more else ""))
    return pa.array(texts, pa.string())


def host_names(snapshot, rows: np.ndarray, nodes: np.ndarray) -> pa.Array:
    """Host names of some nodes; null where none is known.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    rows : (n,) int64
        AS row of each node.
    nodes : (n,) int32
        Local node ids.

    Returns
    -------
    pyarrow.StringArray
        That of the address that names the node, or else of its smallest which has one.
    """
    known = snapshot.host_names()
    if known is None or not len(rows):
        return pa.nulls(len(rows), pa.string())
    own = pa.array(known.of(snapshot.lookup(rows, nodes).addr), pa.string())
    stored = snapshot.addresses()
    if stored is None:
        return own
    at = positions_of(_addrs_of(stored), known.addr)
    names = known.name[at >= 0]
    named = ordered_keys(*(stored[name].to_numpy()[at[at >= 0]] for name in ("asn", "node")))
    named, first = np.unique(named, return_index=True)  # addresses ascend
    where = pc.index_in(
        pa.array(ordered_keys(np.asarray(snapshot.asn)[rows], nodes)), pa.array(named)
    )
    return pc.coalesce(own, pa.array(names[first], pa.string()).take(where))


def rows_texts(snapshot, rows: np.ndarray, at_once: int) -> Iterator[pa.Array]:
    """Texts of all nodes of some ASes, end to end, at most ``at_once`` at a time.

    They are those of ``node_texts``; reading whole ASes costs less than looking nodes up.
    """
    tables = [snapshot.nodes(row) for row in rows.tolist()]
    n_nodes = np.asarray(snapshot.n_nodes)[rows]
    addr = _joined([table.addr for table in tables], n_nodes, (2,), np.uint64, 0)
    number = _joined([table.id for table in tables], n_nodes, (), np.int64, NO_ID)
    n = int(n_nodes.sum())
    for start in range(0, n, at_once):
        here = slice(start, min(start + at_once, n))
        part = NodeTable(
            None if addr is None else addr[here], None if number is None else number[here]
        )
        yield _texts_of(part, here.stop - start)


def _addrs_of(table: pa.Table) -> np.ndarray:
    """(n, 2) uint64 of the table of addresses of a snapshot."""
    return np.stack([table["addr_high"].to_numpy(), table["addr_low"].to_numpy()], axis=1)


def _joined(
    parts: list[np.ndarray | None], lengths: np.ndarray, shape: tuple, dtype, missing: int
) -> np.ndarray | None:
    """Arrays end to end, ``missing`` where one is None; None where all are."""
    if all(part is None for part in parts):
        return None
    full = [
        np.full((n, *shape), missing, dtype) if part is None else part
        for part, n in zip(parts, lengths.tolist(), strict=True)
    ]
    return full[0] if len(full) == 1 else np.concatenate(full)


def _texts_of(table: NodeTable, n: int) -> pa.Array:
    """Texts of the n rows of a table."""
    if table.addr is not None and (has_addr := table.addr.any(axis=1)).all():
        return addr_texts(table.addr)
    number = np.full(n, NO_ID) if table.id is None else table.id
    texts = pc.cast(pa.array(number, pa.int64(), mask=number == NO_ID), pa.string())
    if table.addr is None:
        return texts
    # No router answers from ::, so zeros mean that a node of a mixed snapshot has no address.
    return pc.replace_with_mask(texts, pa.array(has_addr), addr_texts(table.addr[has_addr]))
