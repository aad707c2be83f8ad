"""What traces show if the owner of every address is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.infer import Observation
from pipeline.infer.ingresses import find_ingresses
from pipeline.infer.traces.links import count_links
from pipeline.infer.traces.merge import merge_addresses
from pipeline.infer.traces.passes import Spools
from pipeline.judge.truth import Truth
from pipeline.model.addresses import format_addrs
from pipeline.model.topology import NO_ASN


@dataclass(frozen=True)
class Visible:
    """What can be found in some traces."""

    entries: frozenset[tuple[str, int]]  # border router, AS from which a trace enters by it
    links: frozenset[frozenset[str]]  # between routers
    addrs: frozenset[str]  # of known routers, that answered as routers
    # Two routers, and unanswered hops between them, 1 or 2.
    gaps: frozenset[tuple[frozenset[str], int]] = frozenset()

    @property
    def borders(self) -> set[str]:
        return {router for router, _ in self.entries}

    def differences(self, other: Visible) -> dict[str, int]:
        """How many things only one of the two has."""
        return {
            name: len(getattr(self, name) ^ getattr(other, name))
            for name in ("entries", "links", "addrs")
            if getattr(self, name) != getattr(other, name)
        }


def find_visible(truth: Truth, observations: Sequence[Observation]) -> Visible:
    """Find what some traces show in a known network."""
    seen = merge_addresses(observations)
    spools = Spools(observations, seen.addrs, 1)
    texts = format_addrs(seen.addrs)
    names = [truth.router_of.get(addr) for addr in texts]
    owner = np.array([NO_ASN if n is None else truth.asn_of[n] for n in names], np.int64)
    unknown = np.full(len(spools.vantages), NO_ASN)
    crossed, pairs = spools.read(
        find_ingresses(np.arange(len(names)), owner, unknown), count_links()
    )
    table = crossed.ingresses
    entries = set()
    for i in np.flatnonzero(~table.candidate).tolist():
        before = table.neighbor_asn[table.neighbor_ptr[i] : table.neighbor_ptr[i + 1]]
        router = names[table.node[i]]
        assert router is not None  # others have no owner
        entries |= {(router, asn) for asn in before.tolist()}

    direct = pairs.n_router + pairs.n_destination > 0
    joined = {
        frozenset((names[near], names[far]))
        for near, far in zip(pairs.near[direct].tolist(), pairs.far[direct].tolist(), strict=True)
    }
    gaps = {
        (frozenset((names[near], names[far])), length)
        for length, n in ((1, pairs.n_past_one), (2, pairs.n_past_two))
        for near, far in zip(pairs.near[n > 0].tolist(), pairs.far[n > 0].tolist(), strict=True)
    }
    answered = zip(texts, names, seen.is_router.tolist(), strict=True)
    return Visible(
        frozenset(entries),
        truth.links & joined,
        frozenset(addr for addr, name, is_router in answered if name is not None and is_router),
        frozenset((ends, n) for ends, n in gaps if len(ends) == 2 and None not in ends),
    )
