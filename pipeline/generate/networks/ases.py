"""ASes, their relationships and owners.

Tiers as in the Internet: tier 1 ASes peer with one another, transit ASes buy from them, regional
ASes and stubs from these; clouds peer widely.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from pipeline.generate.networks.plan import Plan

CUSTOMER, PEER = -1, 0  # what the second AS of a pair is to the first, as in CAIDA's serial-1
TIERS = ("tier1", "transit", "regional", "stub", "cloud")


@dataclass
class Ases:
    """ASes in the order in which they were drawn.

    ``relationship``: pair of ASes to what the second is to the first, one key a pair.
    ``owner``: AS whose organisation an AS belongs to; itself for most.
    """

    tier: dict[int, str] = field(default_factory=dict)
    relationship: dict[tuple[int, int], int] = field(default_factory=dict)
    owner: dict[int, int] = field(default_factory=dict)
    spare: list[int] = field(default_factory=list)  # numbers for exchange points
    providers: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    customers: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    peers: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def of(self, *tiers: str) -> list[int]:
        return [asn for asn, tier in self.tier.items() if tier in tiers]

    def between(self, one: int, other: int) -> int | None:
        """What is between two ASes, whichever is named first; None: nothing."""
        return self.relationship.get((one, other), self.relationship.get((other, one)))

    def relate(self, one: int, other: int, kind: int) -> None:
        """Make ``other`` a customer or peer of ``one``, unless they are in a relationship."""
        if one == other or self.between(one, other) is not None:
            return
        self.relationship[one, other] = kind
        if kind == CUSTOMER:
            self.providers[other].append(one)
            self.customers[one].append(other)
        else:
            self.peers[one].append(other)
            self.peers[other].append(one)

    def are_siblings(self, one: int, other: int) -> bool:
        return self.owner[one] == self.owner[other]


def draw_ases(plan: Plan, random: Random) -> Ases:
    """ASes and relationships of a plan."""
    sizes = (plan.n_tier1, plan.n_transit, plan.n_regional, plan.n_stub, plan.n_cloud)
    n_spare = len(plan.exchange_members)
    numbers = random.sample([n for n in range(300, 64000) if n != 23456], sum(sizes) + n_spare)
    ases = Ases(spare=numbers[sum(sizes) :])
    given: Iterator[int] = iter(numbers)
    for tier, size in zip(TIERS, sizes, strict=True):
        for _ in range(size):
            ases.tier[next(given)] = tier
    tier1, transit, regional = ases.of("tier1"), ases.of("transit"), ases.of("regional")
    if plan.attachment:
        joined = [asn for asn, tier in ases.tier.items() if tier != "cloud"]
        for one, other in attach(random, len(joined), plan.attachment):
            ases.relate(joined[one], joined[other], PEER)
    else:
        _sell_transit(plan, random, ases)
    for cloud in ases.of("cloud"):
        for provider in random.sample(tier1, min(2, len(tier1))):
            ases.relate(provider, cloud, CUSTOMER)
        share = 0.5 if len(regional) < 100 else 0.15
        for other in transit + regional:
            if random.random() < share:
                ases.relate(cloud, other, PEER)
    ases.owner = {asn: asn for asn in ases.tier}
    for asn in random.sample(regional, min(len(regional), plan.siblings)):
        owners = [above for above in ases.providers[asn] if ases.tier[above] == "transit"]
        if owners:
            ases.owner[asn] = owners[0]
    return ases


def attach(random: Random, n: int, m: int) -> list[tuple[int, int]]:
    """Pairs of n nodes by preferential attachment: each new node brings m links, if there are m.

    A.-L. Barabási and R. Albert, "Emergence of scaling in random networks", Science 286, 1999.
    """
    pairs, ends = [], [0]
    for new in range(1, n):
        chosen: set[int] = set()
        while len(chosen) < min(m, new):
            chosen.add(random.choice(ends))
        pairs += [(old, new) for old in sorted(chosen)]
        ends += [*sorted(chosen), *[new] * len(chosen)]
    return pairs


def _sell_transit(plan: Plan, random: Random, ases: Ases) -> None:
    """Providers of all ASes but clouds, and peers of the large ones."""
    tier1, transit, regional = ases.of("tier1"), ases.of("transit"), ases.of("regional")
    for at, one in enumerate(tier1):
        for other in tier1[:at]:
            ases.relate(one, other, PEER)
    for asn in transit:
        for provider in random.sample(tier1, min(len(tier1), random.choice((1, 2, 2, 3)))):
            ases.relate(provider, asn, CUSTOMER)
    for at, one in enumerate(transit):
        for other in transit[:at]:
            if random.random() < min(0.15, 4 / len(transit)):
                ases.relate(one, other, PEER)
    for asn in regional:
        n = 1 + (random.random() < plan.multihomed)
        for provider in random.sample(transit, min(len(transit), n)):
            ases.relate(provider, asn, CUSTOMER)
        if random.random() < 0.1:
            ases.relate(random.choice(tier1), asn, CUSTOMER)
    for asn in ases.of("stub"):
        above = random.choices([transit, regional or transit, tier1], [4, 5, 1])[0]
        ases.relate(random.choice(above), asn, CUSTOMER)
        if random.random() < plan.multihomed:
            ases.relate(random.choice(transit + regional), asn, CUSTOMER)
