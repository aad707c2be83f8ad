"""What is wrong by kind: a row for each error, as a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pipeline.judge.truth import Truth
from pipeline.model.topology import NO_ASN

# Kinds of wrong owners, the most telling first.
NOWHERE, NO_AS = "not named", "in no AS"
SIBLING = "a sibling"
TO_CUSTOMER = "a provider's router given to its customer"
TO_PROVIDER = "a customer's router given to its provider"
TO_PEER = "a router given to a peer"
TO_NEIGHBOR = "a router given to a neighbouring AS"
TWO_AWAY, FURTHER = "an AS two away", "an AS further away"
OTHER = "another AS"  # where not all links are known
# Kinds of wrong ingresses in the right AS.
UNKNOWN_ROUTER = "of no known router"
NO_BORDER = "not a border router"
NOT_ADJACENT = "neighbour not adjacent"
# Kinds of missed border routers.
WRONGLY_STATED = "an ingress there has a wrong AS or neighbour"
ELSEWHERE = "its addresses are in another AS"
NO_INGRESS = "no ingress there"
# Kinds of links that are false or missed.
INSIDE, BETWEEN = "inside an AS", "between two ASes"


class Error(NamedTuple):
    """One error; columns of the table of errors. What does not apply is empty.

    ``what``: ``ingress``, ``border missed``, ``address``, ``link false``, ``link missed`` or
    ``router`` (addresses of several routers on one); ``addr``: several of a ``router``; ``router``:
    of the truth, two of a link; ``asn``: as stated; ``neighbor_asns``: of an ingress.
    """

    what: str
    kind: str
    addr: str = ""
    router: str = ""
    asn: int | None = None
    true_asn: int | None = None
    neighbor_asns: str = ""
    true_neighbor_asns: str = ""
    confidence: float | None = None


@dataclass(frozen=True)
class Neighborhood:
    """ASes and what they are to one another.

    Attributes
    ----------
    near : mapping
        ASes with a link to each.
    """

    truth: Truth
    near: Mapping[int, set[int]]

    @classmethod
    def of(cls, truth: Truth) -> Neighborhood:
        near: dict[int, set[int]] = defaultdict(set)
        for router, others in truth.neighbor_asns.items():
            for other in others:
                near[truth.asn_of[router]].add(other)
                near[other].add(truth.asn_of[router])
        return cls(truth, dict(near))

    def kind(self, stated: int | None, true: int) -> str:
        """How an AS that is stated of a router is wrong; None: no node has the address."""
        if stated is None:
            return NOWHERE
        if stated == NO_ASN:
            return NO_AS
        orgs, relation = self.truth.organisations, self.truth.relationships
        if stated in orgs and orgs[stated] == orgs.get(true):
            return SIBLING
        if relation.get((true, stated)) == -1:
            return TO_CUSTOMER
        if relation.get((stated, true)) == -1:
            return TO_PROVIDER
        if 0 in (relation.get((true, stated)), relation.get((stated, true))):
            return TO_PEER
        here, there = self.near.get(true, set()), self.near.get(stated, set())
        if stated in here:
            return TO_NEIGHBOR
        if not here.isdisjoint(there):
            return TWO_AWAY
        return FURTHER if self.truth.is_whole and self.truth.has_links else OTHER


def errors_of(faults: Mapping[str, Sequence[Any]], truth: Truth) -> Iterator[Error]:
    """A row for each fault of ``find_faults``, in its order."""
    around = Neighborhood.of(truth)
    for one in faults["ingresses"]:
        yield _ingress(one, around)
    stated = {one["router"] for one in faults["ingresses"]}
    elsewhere = {router for _, _, router, _ in faults["addresses"]}
    for router, asn in faults["borders_missed"]:
        kind = ELSEWHERE if router in elsewhere else NO_INGRESS
        kind = WRONGLY_STATED if router in stated else kind
        yield Error("border missed", kind, router=router, true_asn=asn)
    for addr, stated, router, true in faults["addresses"]:
        known = None if stated == NO_ASN else stated
        yield Error("address", around.kind(stated, true), addr, router, known, true)
    for kind in ("false", "missed"):
        for pair in faults[f"links_{kind}"]:
            is_inside = len({truth.asn_of[router] for router in pair}) == 1
            where = INSIDE if is_inside else BETWEEN
            yield Error(f"link {kind}", where, router=" ".join(pair))
    for own in faults["mixed_nodes"]:
        routers = {router or "?" for router in own.values()}
        yield Error("router", "of several", " ".join(own), " ".join(sorted(routers)))


def _ingress(one: Mapping[str, Any], around: Neighborhood) -> Error:
    if one["true_asn"] is None:
        kind = UNKNOWN_ROUTER
    elif one["asn"] != one["true_asn"]:
        kind = around.kind(one["asn"], one["true_asn"])
    else:
        kind = NOT_ADJACENT if one["true_neighbor_asns"] else NO_BORDER
    return Error(
        "ingress",
        kind,
        one["addr"],
        one["router"] or "",
        one["asn"],
        one["true_asn"],
        " ".join(map(str, one["neighbor_asns"])),
        " ".join(map(str, one["true_neighbor_asns"])),
        one["confidence"],
    )
