"""Why an address is in its AS and on its router, and what else is known of the router."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pipeline.config import WhyConfig
from pipeline.errors import UsageError
from pipeline.infer.owners.terms import host_names
from pipeline.infer.routers.joins import GIVEN
from pipeline.infer.rules import RULES
from pipeline.model.addresses import is_private, parse_addr, positions_of
from pipeline.model.measured.origins import origins_of
from pipeline.model.measured.reasons import Joins, OwnerReasons, Reasons, Term
from pipeline.model.words import confidence_class, number
from pipeline.report.tables.node_names import addr_texts
from pipeline.stages.contents.again import ingest_again
from pipeline.stages.contents.lookup import find, not_found
from pipeline.stages.contents.router import nights_of, router_facts
from pipeline.store import Snapshot, addresses_of, open_snapshot

_RULES = {rule.name: rule for rule in RULES}
_NONE = -1
_SMALL = 0.05  # nats that are shown as 0.0
NO_REASONS = (
    "Snapshot {name} keeps no reasons: there are none without an election of ASes "
    "(--borders prefix, topology files), and older snapshots lack them; {again}."
)


def why(config: WhyConfig) -> dict[str, Any]:
    """What decided the AS and the router of an address, and what is known of the router.

    Returns
    -------
    dict
        As of ``reasons_for``, with ``snapshot``.

    Raises
    ------
    UsageError
        If the snapshot has no such address.
    StoreError
        If there is no such snapshot, or it is broken.
    """
    with open_snapshot(config.store, config.snapshot) as snapshot:
        return {"snapshot": snapshot.name, **reasons_for(snapshot, config.address)}


def reasons_for(snapshot: Snapshot, address: str) -> dict[str, Any]:
    """What decided for the router that has an address, and what is known of it.

    Returns
    -------
    dict
        ``addr``, ``asn`` and ``node`` (None where it is in no AS), ``addrs`` of its router;
        ``name`` of the AS, ``node_kind``, ``confidence`` of the AS and ``confidence_class`` (None
        where there was no election), ``host_names`` by address; ``owners``: a dict for each address
        that stood for a part of the router when ASes were elected; ``joins``: one for each address
        that a rule joined; ``sentences``: both in words; ``links``, ``ingress``, ``exit``,
        ``n_traces``, ``n_vantages``, ``rtt_ms``, ``nearest_vantage``, ``nights``, ``city`` and the
        other columns of a place: as of ``router_facts`` and ``nights_of``, only where it is in an
        AS.

    Raises
    ------
    UsageError
        If the snapshot has no such address.
    """
    kept = snapshot.reasons()
    reasons = kept or Reasons(OwnerReasons.none(), Joins.none())
    found = find(snapshot, address)
    wanted = np.array([parse_addr(address)], np.uint64)
    asn = node = row = None
    every = wanted
    if len(found):
        row, node = int(found.row[0]), int(found.node[0])
        asn = int(snapshot.asn[row])
        every = addresses_of(snapshot, row, node)
    owner_rows, join_rows = reasons.rows_of(every)
    # A private address may be on other routers, too: what is about those is left out.
    elsewhere = is_private(reasons.owners.addr[owner_rows])
    elsewhere &= reasons.owners.asn[owner_rows] != (_NONE if asn is None else asn)
    owner_rows = owner_rows[~elsewhere]
    elsewhere = is_private(reasons.joins.addr[join_rows])
    elsewhere &= positions_of(every, reasons.joins.to[join_rows]) < 0
    join_rows = join_rows[~elsewhere]
    if not len(found) and not len(owner_rows):
        raise UsageError(not_found(snapshot, address))
    owners = [_owner(reasons, at) for at in owner_rows.tolist()]
    joins = [_join(reasons, at) for at in join_rows.tolist()]
    (addr,) = _texts(wanted)
    said = [*_about_owners(addr, asn, owners), *map(_about_join, joins)]
    said = said if kept else [NO_REASONS.format(name=snapshot.name, again=ingest_again(snapshot))]
    if len(found) > 1:
        said.insert(0, f"{addr} is on {len(found)} routers; this is about the first of them.")
    facts = {
        "addr": addr,
        "asn": asn,
        "node": node,
        "addrs": _texts(every),
        **_named(snapshot, row, every),
        **_rated(found.confidence),
        "owners": owners,
        "joins": joins,
        "sentences": said,
    }
    if row is not None and node is not None:
        facts |= router_facts(snapshot, row, node)
        facts["nights"] = nights_of(snapshot, every)
    return facts


def _named(snapshot: Snapshot, row: int | None, addrs: np.ndarray) -> dict[str, Any]:
    origins = origins_of(snapshot.manifest, snapshot.asn)
    source = None if row is None else origins.source_of(int(snapshot.asn[row]))
    known = snapshot.host_names()
    names = [None] * len(addrs) if known is None else known.of(addrs).tolist()
    return {
        "name": None if row is None else snapshot.as_name[row] or None,
        "node_kind": origins.kind_of(source),
        "host_names": {
            text: name for text, name in zip(_texts(addrs), names, strict=True) if name is not None
        },
    }


def _rated(confidence: np.ndarray) -> dict[str, Any]:
    """AS confidence of a router, the same of all its addresses, and its class."""
    if not len(confidence) or np.isnan(confidence[0]):
        return {"confidence": None, "confidence_class": None}
    value = float(confidence[0])
    return {"confidence": value, "confidence_class": confidence_class(value)}


def _owner(reasons: Reasons, row: int) -> dict[str, Any]:
    owners = reasons.owners
    terms = owners.terms_of(row)
    (addr,) = _texts(owners.addr[row : row + 1])
    decided_by = owners.decided_by[row] or None
    return {
        "addr": addr,
        "asn": _known(owners.asn[row]),
        "second_asn": _known(owners.second[row]),
        "nats": round(sum(term.there - term.here for term in terms), 1),
        "decided_by": decided_by,
        "terms": [term._asdict() for term in terms],
    }


def _join(reasons: Reasons, row: int) -> dict[str, Any]:
    joins = reasons.joins
    addr, to = _texts(np.stack([joins.addr[row], joins.to[row]]))
    return {"addr": addr, "to": to, "rule": joins.rule[row], "n_common": int(joins.n_common[row])}


def _texts(addrs: np.ndarray) -> list[str]:
    return addr_texts(addrs).to_pylist()


def _known(asn: int) -> int | None:
    return None if asn == _NONE else int(asn)


def _about_owners(addr: str, asn: int | None, owners: list[dict[str, Any]]) -> list[str]:
    said = [_about_owner(owner, alone=len(owners) == 1) for owner in owners]
    if asn is None:
        said.insert(0, f"{addr} is in no AS.")
    elif not owners:
        said.insert(0, f"{addr} is in AS{asn}: no other AS came close.")
    elif any(owner["asn"] != asn for owner in owners):
        said.insert(0, f"{addr} is in AS{asn}, as most addresses of its router are.")
    return said


def _about_owner(owner: dict[str, Any], alone: bool) -> str:
    """One sentence, or several, in the manner of ``AS64499, not AS64497 (2.1 nats): ...``."""
    here = "no AS" if owner["asn"] is None else f"AS{owner['asn']}"
    of_part = "" if alone else f"{owner['addr']}: "
    second, nats = owner["second_asn"], owner["nats"]
    other = "any other AS" if second is None else f"AS{second}"
    terms = [Term(**term) for term in owner["terms"]]
    decided_by = owner["decided_by"]
    if not terms:
        reason = f": {_says(decided_by)} ({decided_by})" if decided_by else ""
        return f"{of_part}{here}{reason}."
    against = _listed((term.name, term.n_here, term.here) for term in terms if term.here > 0)
    for_it = _listed((term.name, term.n_there, term.there) for term in terms if term.there > 0)
    said = f"{of_part}{here}, not {other} ({nats:.1f} nats)"
    said += f": in {other} it would have {for_it}" if for_it else ""
    said += f"; against that, in {here} it has {against}" if against else ""
    names = next((term for term in terms if term.name == host_names.TERM.name), None)
    if names and names.n_there and not names.n_here:  # none says yet another AS
        n = names.n_there
        said += f"; its host {'name says' if n == 1 else 'names say'} {here}"
    if not decided_by and nats < 0:
        said += f". By itself it would be in {other}: routers beside it got another AS after it"
    if decided_by:
        said += f". What decided was {decided_by}: {_says(decided_by)}"
    return said + "."


def _listed(costs: Iterable[tuple[str, int, float]]) -> str:
    texts = []
    for name, n, nats in sorted(costs, key=lambda cost: (-cost[2], cost[0])):
        if nats >= _SMALL:
            noun, more = _RULES[name].piece if name in _RULES else ("piece", "of other evidence")
            texts.append(f"{number(n, noun)} {more} ({name} {nats:.1f})")
    return ", ".join(texts)


def _about_join(join: dict[str, Any]) -> str:
    said = (
        f"{join['addr']} is on the router of {join['to']}: {_says(join['rule'])} ({join['rule']})"
    )
    if join["n_common"]:
        n = number(join["n_common"], "address")
        follows = "follows" if join["n_common"] == 1 else "follow"
        said += f"; {n} right behind it also {follows} another address of the router"
    return said + "."


def _says(rule: str) -> str:
    if rule == GIVEN:
        return "the alias file says so"
    return _RULES[rule].says if rule in _RULES else "a rule of an earlier version"
