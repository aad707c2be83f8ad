"""ASes, their relationships and owners.

Tiers as in the Internet: tier 1 ASes peer with one another, transit ASes buy from them, regional
ASes and stubs from these; clouds peer widely. Either evenly, or by the laws of the relationships
that CAIDA inferred (serial-1 of 2012-06-01: 39,406 ASes, 73,324 links to customers, 43,606 pairs of
peers; M. Luckie et al., "AS relationships, customer cones, and validation", IMC 2013): customers
fall with 1 / (rank + 2), peers with 1 / (rank + 6).
"""

from __future__ import annotations

import bisect
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from pipeline.generate.networks.plan import Plan

CUSTOMER, PEER = -1, 0  # what the second AS of a pair is to the first, as in CAIDA's serial-1
TIERS = ("tier1", "transit", "regional", "stub", "cloud")

# Share of ASes with 1, 2, ... providers.
_OF_STUBS = (0.463, 0.418, 0.080, 0.024, 0.008, 0.004, 0.003)
_OF_OTHERS = (0.234, 0.334, 0.217, 0.106, 0.055, 0.022, 0.032)
_PEERING, _PEERINGS = 0.12, 1.1  # ASes that peer, of all; pairs that do, an AS
_SELL_OFFSET, _PEER_OFFSET = 2, 6  # of ranks


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

    def copy(self) -> Ases:
        """The same, to be altered."""
        near = (self.providers, self.customers, self.peers)
        return Ases(
            dict(self.tier),
            dict(self.relationship),
            dict(self.owner),
            list(self.spare),
            *(defaultdict(list, {asn: list(own) for asn, own in each.items()}) for each in near),
        )

    def are_siblings(self, one: int, other: int) -> bool:
        return self.owner[one] == self.owner[other]


def draw_ases(plan: Plan, random: Random) -> Ases:
    """ASes and relationships of a plan."""
    sizes = (plan.n_tier1, plan.n_transit, plan.n_regional, plan.n_stub, plan.n_cloud)
    n_spare = len(plan.exchange_members)
    free = [n for n in range(300, 64000) if n != 23456]
    if sum(sizes) + n_spare > len(free):
        free += range(131_072, 400_000)
    if sum(sizes) + n_spare > len(free):
        raise ValueError(f"{sum(sizes):,} ASes: there are numbers for {len(free) - n_spare:,}")
    numbers = random.sample(free, sum(sizes) + n_spare)
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
    elif plan.relationships == "measured":
        _sell_as_measured(random, ases)
        _peer_as_measured(random, ases)
    else:
        _sell_transit(plan, random, ases)
    for cloud in ases.of("cloud") if plan.relationships == "tiers" else ():
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


def _sell_as_measured(random: Random, ases: Ases) -> None:
    """Providers of all ASes; those that sell are ranked in the order in which they were drawn."""
    tier1 = ases.of("tier1")
    ranked = ases.of("tier1", "transit", "regional")
    for at, one in enumerate(tier1):
        for other in tier1[:at]:
            ases.relate(one, other, PEER)
    share = list(itertools.accumulate(1 / (rank + 1 + _SELL_OFFSET) for rank in range(len(ranked))))
    rank_of = {asn: rank for rank, asn in enumerate(ranked)}
    for asn, tier in ases.tier.items():
        n_above = rank_of.get(asn, len(ranked))  # an AS buys from larger ones
        if tier == "tier1":
            continue
        shares = _OF_OTHERS if asn in rank_of else _OF_STUBS
        wanted = random.choices(range(1, len(shares) + 1), shares)[0]
        if tier == "cloud":
            wanted, n_above = 2, len(tier1)
        chosen: set[int] = set()
        while len(chosen) < min(wanted, n_above):
            chosen.add(bisect.bisect_left(share, random.random() * share[n_above - 1]))
        for rank in sorted(chosen):
            ases.relate(ranked[rank], asn, CUSTOMER)


def _peer_as_measured(random: Random, ases: Ases) -> None:
    """Peers: clouds first, then others that sell, or do not, half of each."""
    clouds, stubs = ases.of("cloud"), ases.of("stub")
    sellers = ases.of("transit", "regional")
    half = min(round(len(ases.tier) * _PEERING / 2), len(sellers), len(stubs))
    others = random.sample(sellers, half) + random.sample(stubs, half)
    random.shuffle(others)
    ranked = clouds + others
    share = list(itertools.accumulate(1 / (rank + 1 + _PEER_OFFSET) for rank in range(len(ranked))))
    wanted = min(round(_PEERINGS * len(ases.tier)), len(ranked) * (len(ranked) - 1) // 4)
    drawn = 0
    for _ in range(10 * wanted):
        if drawn == wanted:
            break
        one, other = random.choices(ranked, cum_weights=share, k=2)
        if one != other and ases.between(one, other) is None:
            ases.relate(one, other, PEER)
            drawn += 1
