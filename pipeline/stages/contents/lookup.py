"""Where an address is: its router or interface, and its AS."""

from __future__ import annotations

import ipaddress
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.config import LookupConfig
from pipeline.errors import UsageError
from pipeline.model.addresses import is_v4, parse_addr
from pipeline.model.measured.origins import origins_of
from pipeline.model.words import number
from pipeline.report.tables.node_names import addr_texts
from pipeline.report.tables.places import PLACE_COLUMNS, columns_at
from pipeline.store import Found, Snapshot, addresses_of, find_addresses, open_snapshot

_MAPPED_BITS = 96  # of the IPv6 prefix below which IPv4 addresses are kept
MAX_NEAR = 3  # known addresses, and ASes, that are named around an unknown address
MAX_FOUND = 1000  # addresses of a prefix that are listed; all are counted


def lookup(config: LookupConfig) -> dict[str, Any]:
    """The nodes that have an address, or addresses of a prefix.

    Returns
    -------
    dict
        ``found``: a dict for each address, by address, at most ``MAX_FOUND``; ``n_found``: all.
        ``confidence`` is that of the AS; ``ingress_confidence`` that of an ingress or candidate.

    Raises
    ------
    UsageError
        If no node of the snapshot has such an address.
    StoreError
        If there is no such snapshot, or it is broken.
    """
    with open_snapshot(config.store, config.snapshot) as snapshot:
        found = find(snapshot, config.address)
        if not len(found):
            raise UsageError(not_found(snapshot, config.address))
        shown = slice(0, MAX_FOUND)
        texts = addr_texts(found.addr[shown]).to_pylist()
        places = zip(found.row[shown].tolist(), found.node[shown].tolist(), strict=True)
        confidence = found.confidence[shown].tolist()
        entries = _entries(snapshot, found.row[shown])
        origins = origins_of(snapshot.manifest, snapshot.asn)
        known = snapshot.host_names()
        named = [None] * len(texts) if known is None else known.of(found.addr[shown]).tolist()
        where = _where(snapshot, found.addr[shown])
        rows: list[dict[str, Any]] = []
        for text, (row, node), sure, host, place in zip(
            texts, places, confidence, named, where, strict=True
        ):
            asn = int(snapshot.asn[row])
            role, sure_of_entry = entries.get((row, node), (None, np.nan))
            rows.append(
                {
                    "addr": text,
                    "asn": asn,
                    "name": snapshot.as_name[row] or None,
                    "node": node,
                    "node_kind": origins.kind_of(origins.source_of(asn)),
                    "confidence": None if np.isnan(sure) else sure,
                    "role": role,
                    "ingress_confidence": None if np.isnan(sure_of_entry) else sure_of_entry,
                    "host_name": host,
                    **place,
                }
            )
        if len(rows) == 1:
            every = addresses_of(snapshot, int(found.row[0]), int(found.node[0]))
            rows[0]["addrs"] = addr_texts(every).to_pylist()
        return {"snapshot": snapshot.name, "n_found": len(found), "found": rows}


def _where(snapshot: Snapshot, addrs: np.ndarray) -> list[dict[str, Any]]:
    """Places of addresses, by column."""
    known = snapshot.locations()
    if known is None:
        return [dict.fromkeys(PLACE_COLUMNS) for _ in addrs]
    return pa.table(columns_at(known, known.rows_of(addrs))).to_pylist()


def find(snapshot: Snapshot, address: str) -> Found:
    """Nodes that have an address, or one of a prefix; ValueError if the text is neither."""
    wanted = ipaddress.ip_network(address, strict=False)
    first, last = (parse_addr(str(wanted[at])) for at in (0, -1))
    found = find_addresses(snapshot, first, last)
    if wanted.version == 6 and wanted.prefixlen < _MAPPED_BITS:  # IPv4 is kept there, not meant
        six = ~is_v4(found.addr)
        return Found(found.addr[six], found.row[six], found.node[six], found.confidence[six])
    return found


def _entries(snapshot: Snapshot, rows: np.ndarray) -> dict[tuple[int, int], tuple[str, float]]:
    """Ingresses and candidates of some ASes by AS row and node, with their confidence."""
    table = snapshot.ingresses(np.unique(rows))
    keys = zip(table.row.tolist(), table.node.tolist(), strict=True)
    words = ("candidate" if is_one else "ingress" for is_one in table.candidate.tolist())
    return dict(zip(keys, zip(words, table.confidence.tolist(), strict=True), strict=True))


def not_found(snapshot: Snapshot, address: str) -> str:
    """What to say of an address that is in no AS of a snapshot; what is known around it."""
    if not snapshot.manifest["has_addr"]:
        return (
            f"snapshot {snapshot.name} has no addresses, only ids of its input; "
            "--snapshot NAME searches another"
        )
    return (
        f"{address} is in no AS of snapshot {snapshot.name}: no router answered from it, or its AS "
        f"is unknown; {_around(snapshot, address)}"
    )


def _around(snapshot: Snapshot, address: str) -> str:
    """Known addresses of the same /24, or /64, the nearest first, and their ASes."""
    wanted = ipaddress.ip_network(address, strict=False)
    length = 24 if wanted.version == 4 else 64
    if wanted.prefixlen <= length:
        return "no address of this prefix is known"
    around = wanted.supernet(new_prefix=length)
    found = find(snapshot, str(around))
    if not len(found):
        return f"no address of {around} is known either"
    low = found.addr[:, 1].astype(object)
    distance = np.abs(low - parse_addr(str(wanted[0]))[1])
    nearest = np.argsort(distance, kind="stable")[:MAX_NEAR]
    shown = ", ".join(addr_texts(found.addr[nearest]).to_pylist())
    asns, counts = np.unique(snapshot.asn[found.row], return_counts=True)
    most = np.argsort(-counts, kind="stable")[:MAX_NEAR]
    ases = ", ".join(f"AS{asns[at]} ({counts[at]:,})" for at in most.tolist())
    known = "1 address is" if len(found) == 1 else f"{number(len(found), 'address')} are"
    return f"of {around} {known} known, in {ases}; nearest: {shown}"
