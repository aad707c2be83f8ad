"""Which pairs of a vantage point and a target cross what, of a network whose routers are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pipeline.generate.networks.network import Link, Network
from pipeline.generate.networks.night import Night, link_between
from pipeline.generate.networks.numbering import Net
from pipeline.generate.networks.tracing import Campaign, wires_of
from pipeline.generate.networks.walking import WITHOUT_ROUTE
from pipeline.model.columns.ragged import offsets, row_of_value, take_rows

LOOKED_AT, TOWARD = 300_000, 3_000  # pairs at most, and ASes that they go to
Alter = Callable[[Night], None]
Pairs = np.ndarray  # numbers of pairs, ascending
_NONE = np.empty(0, np.int64)


class Ways:
    """Routers that use up a TTL on the way of each pair, and how it ends.

    Attributes
    ----------
    ptr : (n_pairs + 1,) int64
        Routers of pair i are ptr[i]:ptr[i + 1] of ``router``.
    router : int32
    ending : (n_pairs,) uint8
    """

    def __init__(self, ptr: np.ndarray, router: np.ndarray, ending: np.ndarray) -> None:
        self.ptr, self.router, self.ending = ptr, router, ending

    def of(self, pair: int) -> list[int]:
        """Routers on the way of a pair."""
        way: list[int] = self.router[self.ptr[pair] : self.ptr[pair + 1]].tolist()
        return way

    def has_route(self, pairs: Pairs) -> np.ndarray:
        """Of each of some pairs, whether packets come to the AS of their target."""
        return self.ending[pairs] != WITHOUT_ROUTE

    def pairs(self) -> np.ndarray:
        """The pair of each value of ``router``."""
        return row_of_value(self.ptr)

    def changed(self, other: Ways) -> Pairs:
        """Pairs that go another way, or end otherwise."""
        differ = (np.diff(self.ptr) != np.diff(other.ptr)) | (self.ending != other.ending)
        same = np.flatnonzero(~differ)
        ptr, own = take_rows(self.ptr, self.router, same)
        unlike = own != take_rows(other.ptr, other.router, same)[1]
        differ[same[row_of_value(ptr)[unlike]]] = True
        return np.flatnonzero(differ)

    def crossing(self, one: int, other: int) -> Pairs:
        """Pairs on whose ways two routers follow one another, in either order."""
        pair = self.pairs()
        here, there = self.router[:-1], self.router[1:]
        found = ((here == one) & (there == other)) | ((here == other) & (there == one))
        return np.unique(pair[:-1][found & (pair[1:] == pair[:-1])])


class Crossed(dict[Any, Pairs]):
    """Pairs that cross each of some things, in the order in which they are met first.

    None cross what is not in it. Asking does not add it: places are drawn from what is in it, and
    are not to depend on what was asked before.
    """

    def __init__(self, code: np.ndarray, pair: np.ndarray, name: Callable[[int], Any]) -> None:
        super().__init__()
        distinct, first, index = np.unique(code, return_index=True, return_inverse=True)
        n_pairs = int(pair.max(initial=0)) + 1
        both = np.unique(index.reshape(-1) * n_pairs + pair)
        self._pair = both % n_pairs
        self._starts = np.flatnonzero(np.append(True, np.diff(both // n_pairs) > 0))
        if len(both):
            own = np.split(self._pair, self._starts[1:])
            self.update((name(int(distinct[at])), own[at]) for at in np.argsort(first))

    def __missing__(self, key: Any) -> Pairs:
        return _NONE

    def most(self, pairs: Pairs) -> int:
        """How many of some pairs cross the thing that most of them do."""
        if not len(self._pair):
            return 0
        return int(np.add.reduceat(is_in(self._pair, pairs), self._starts, dtype=int).max())


def is_in(values: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Of each value, whether it is among some pairs."""
    among = np.zeros(max(values.max(initial=-1), pairs.max(initial=-1)) + 1, bool)
    among[pairs] = True
    return among[values]


def joined(several: Iterable[Pairs]) -> Pairs:
    """Pairs that are in any."""
    return np.unique(np.concatenate([_NONE, *several]))


def common(one: Pairs, other: Pairs) -> Pairs:
    """Pairs that are in both."""
    return np.intersect1d(one, other, assume_unique=True)


class Seen:
    """The unaltered network, and which pairs cross what; of many traces some pairs alone.

    Attributes
    ----------
    n_pairs, n_looked_at : int
        Pairs that are measured, and those that are numbered here, from 0 on.
    vantage, target : (n_looked_at,) int
        Number of the vantage point, and row of ``Targets``.
    routers, ases, transit : Crossed
        Of each router, AS that answers, and AS that others pass through.
    links, borders : Crossed
        Of two routers or ASes that follow one another where both answer: links in the direction of
        packets, borders with the lower AS first.
    """

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self._picked = campaign.pairs(LOOKED_AT, TOWARD)
        lengths = [len(each) for each in self._picked]
        self.n_pairs = campaign.n_traces // len(campaign.methods)
        self.n_looked_at = sum(lengths)
        self.vantage = np.repeat(np.arange(len(lengths)), lengths)
        self.target = np.concatenate([_NONE, *self._picked]).astype(np.int64)
        network, given = campaign.network, campaign.network.answers
        self.able = np.ones(len(network.asn_of), bool)
        self.able[list(given.silent | given.limited)] = False
        self.ways = self._walk(campaign.wires)
        self._cross()

    def _cross(self) -> None:
        pair, router = self.ways.pairs(), self.ways.router.astype(np.int64)
        asn_of = np.array(self.network.asn_of, np.int64)
        n, able = len(asn_of), self.able[router]
        self.routers = Crossed(router, pair, int)
        own, asn = pair[able], asn_of[router[able]]
        self.ases = Crossed(asn, own, int)
        starts = np.flatnonzero(np.append(True, np.diff(own) > 0)) if len(own) else _NONE
        ends = np.append(starts[1:], len(own)) - 1 if len(own) else _NONE
        length = ends - starts + 1
        between = (asn != np.repeat(asn[starts], length)) & (asn != np.repeat(asn[ends], length))
        self.transit = Crossed(asn[between], own[between], int)
        here, there = router[:-1], router[1:]
        follow = (pair[1:] == pair[:-1]) & able[1:] & able[:-1] & (here != there)
        here, there, own = here[follow], there[follow], pair[:-1][follow]
        self.links = Crossed(here * n + there, own, lambda code: divmod(code, n))
        a, b = asn_of[here], asn_of[there]
        low, high, apart = np.minimum(a, b), np.maximum(a, b), a != b
        self.borders = Crossed(
            (low << 32 | high)[apart], own[apart], lambda code: divmod(code, 1 << 32)
        )

    def _walk(self, wires: Any) -> Ways:
        walked = self.campaign.walk(wires, self._picked)
        pair = np.concatenate([_NONE, *(part.pair for part in walked)])
        length = np.concatenate([_NONE, *(np.diff(part.ptr) for part in walked)])
        router = np.concatenate([np.empty(0, np.int32), *(part.router for part in walked)])
        ending = np.concatenate([np.empty(0, np.uint8), *(part.ending for part in walked)])
        order = np.argsort(pair)
        ptr, routers = take_rows(offsets(length), router, order)
        return Ways(ptr, routers, ending[order])

    @property
    def network(self) -> Network:
        return self.campaign.network

    def altered(self, alter: Alter) -> Night:
        """The unaltered night, altered."""
        night = self.campaign.night.copy()
        alter(night)
        return night

    def ways_if(self, alter: Alter) -> Ways:
        """The ways of the same pairs once a night is altered."""
        campaign = self.campaign
        return self._walk(wires_of(self.altered(alter), campaign.delays, campaign.law))

    def touched(self, alter: Alter) -> Pairs:
        """Pairs that go another way, or end otherwise, once a night is altered."""
        return self.ways.changed(self.ways_if(alter))

    def answers(self, router: int) -> bool:
        """Whether a router of the unaltered network always answers."""
        return bool(self.able[router])

    def homes(self) -> set[int]:
        """ASes of vantage points."""
        return {vantage.asn for vantage in self.network.vantages}

    def n_vantages(self, pairs: Pairs) -> int:
        """Vantage points of some pairs."""
        return len(np.unique(self.vantage[pairs]))

    def pairs_into(self, prefixes: set[Net]) -> Pairs:
        """Pairs whose target is in one of some blocks."""
        campaign = self.campaign
        chosen = np.array([block.prefix in prefixes for block in campaign.blocks], bool)
        return np.flatnonzero(chosen[campaign.targets.block][self.target])

    def both_ways(self, one: int, other: int) -> Pairs:
        """Pairs that cross a link in either direction."""
        return joined(self.links[ends] for ends in ((one, other), (other, one)))

    def link(self, one: int, other: int) -> Link:
        return link_between(self.network, one, other)
