"""Address space: who holds which block, and how links are numbered from it."""

from __future__ import annotations

import copy
import ipaddress
from random import Random

from pipeline.generate.networks.ases import Ases
from pipeline.generate.networks.plan import Plan

Net = ipaddress.IPv4Network | ipaddress.IPv6Network

# Lengths by tier: announced, and of the infrastructure in it.
_LENGTHS = {
    4: {
        "tier1": (15, 19),
        "transit": (17, 21),
        "regional": (19, 23),
        "stub": (22, 25),
        "cloud": (16, 19),
    },
    6: {
        "tier1": (32, 44),
        "transit": (32, 44),
        "regional": (32, 44),
        "stub": (44, 56),
        "cloud": (32, 44),
    },
}
_SPACE = {4: "20.0.0.0/6", 6: "2a00::/12"}
_LARGE_SPACE = "32.0.0.0/3"  # for ASes as the Internet has them
_UNANNOUNCED = {4: "24.0.0.0/9", 6: "2b00::/16"}
_LANS = {4: "195.69.0.0/16", 6: "2001:7f8::/32"}
_PACKED = {
    "tier1": 480,
    "transit": 300,
    "regional": 96,
    "cloud": 400,
    "stub": 24,
}  # links of a packed block


class Allocator:
    """Hands out aligned blocks of a range, one after the other."""

    def __init__(self, block: str | Net) -> None:
        self.block = ipaddress.ip_network(block)
        self._next = int(self.block.network_address)

    def skip_to(self, offset: int) -> None:
        """Start no earlier than this many addresses after the first."""
        self._next = max(self._next, int(self.block.network_address) + offset)

    def take(self, length: int) -> Net:
        size = 1 << (self.block.max_prefixlen - length)
        start = -(-self._next // size) * size
        self._next = start + size
        kind = type(self.block.network_address)
        taken: Net = ipaddress.ip_network((kind(start), length))
        if start + size - 1 > int(self.block.broadcast_address):
            raise ValueError(f"{self.block} is used up; give fewer links, routers or blocks")
        return taken


class Numbering:
    """Blocks of ASes, and the addresses of links that are numbered from them.

    Attributes
    ----------
    prefix, infrastructure : dict of int to network
        What each AS announces, and the block that its routers are numbered from.
    aggregate : dict of int to int
        Stubs whose prefix is part of a provider's, and announced by it alone.
    """

    def __init__(self, plan: Plan, random: Random, ases: Ases) -> None:
        self.version = 6 if plan.ipv6 else 4
        self._plan, self._random, self._tier = plan, random, ases.tier
        self.prefix: dict[int, Net] = {}
        self.infrastructure: dict[int, Net] = {}
        self.aggregate: dict[int, int] = {}
        self.unannounced: list[int] = []
        self._customers: dict[int, Allocator] = {}
        self._links: dict[int, Allocator] = {}
        self._slots: dict[int, list[int]] = {}
        self._lans = Allocator(_LANS[self.version])
        self._allot(ases)
        large = [asn for asn in ases.tier if ases.tier[asn] != "stub"]
        self.private = {asn for asn in large if random.random() < plan.private_inside}
        if plan.ipv6:
            self.private = set()
        self._private = {
            asn: self._private_space(at) for at, asn in enumerate(sorted(self.private))
        }
        self._length = {
            asn: random.choice(plan.ipv6_lengths)
            if plan.ipv6
            else 31
            if random.random() < plan.slash31
            else 30
            for asn in ases.tier
        }

    def copy(self, random: Random) -> Numbering:
        """The same, to number further links from; ``random``: what it draws from."""
        other = copy.copy(self)
        other._random = random
        other.private, other.unannounced = set(self.private), list(self.unannounced)
        other.infrastructure = dict(self.infrastructure)
        other._links = {asn: copy.copy(own) for asn, own in self._links.items()}
        other._private = {asn: copy.copy(own) for asn, own in self._private.items()}
        other._slots = {asn: list(own) for asn, own in self._slots.items()}
        return other

    def _allot(self, ases: Ases) -> None:
        plan, random = self._plan, self._random
        is_large = plan.relationships == "measured" and self.version == 4
        space = Allocator(_LARGE_SPACE if is_large else _SPACE[self.version])
        other = Allocator(_UNANNOUNCED[self.version])
        for asn, tier in ases.tier.items():
            length, inner = _LENGTHS[self.version][tier]
            if is_large:
                length, inner = self._fitting(ases, asn, length, inner)
            above = ases.providers[asn]
            may_be_part = tier == "stub" and len(above) == 1
            if is_large and ases.peers[asn]:  # its links need more room
                may_be_part = False
            if may_be_part and random.random() < plan.from_aggregate:
                self.aggregate[asn] = above[0]
                self.prefix[asn] = self._customers[above[0]].take(24 if self.version == 4 else 48)
                inner = 26 if self.version == 4 else 56
            else:
                self.prefix[asn] = space.take(length)
            own = Allocator(self.prefix[asn])
            self.infrastructure[asn] = own.take(inner)
            own.skip_to(self.prefix[asn].num_addresses // 4)
            self._customers[asn] = own
            if tier in ("transit", "regional") and random.random() < plan.unannounced:
                self.infrastructure[asn] = other.take(inner)
                self.unannounced.append(asn)
            links = Allocator(self.infrastructure[asn])
            links.skip_to(16 if tier == "stub" else 256)
            self._links[asn] = links

    def _fitting(self, ases: Ases, asn: int, length: int, inner: int) -> tuple[int, int]:
        """Lengths of an AS's blocks that are large enough for links to all its customers."""
        n_links = 2 * getattr(self._plan, ases.tier[asn])[1]
        n_links += 2 * (len(ases.customers[asn]) + len(ases.peers[asn]))
        needed = 32 - (256 + 4 * n_links).bit_length()
        return min(length, needed - 4), min(inner, needed)

    def router(self, asn: int, number: int) -> str:
        """Loopback address of a router of an AS, counted from 0."""
        return str(self.infrastructure[asn].network_address + 1 + number)

    def customers(self, asn: int) -> Net:
        """A block for customers of an AS: of one more network behind its routers."""
        return self._customers[asn].take(24 if self.version == 4 else 48)

    def stub_customers(self, asn: int) -> Net:
        """As ``customers``, smaller, of an AS in a prefix of its provider."""
        return self._customers[asn].take(26 if self.version == 4 else 56)

    def exchange(self, n_members: int) -> Net:
        """LAN of an exchange point."""
        if self.version == 6:
            return self._lans.take(64)
        return self._lans.take(22 if n_members > 250 else 24)

    def link(self, asn: int, private: bool = False) -> tuple[str, str]:
        """The two addresses of a link numbered by an AS, in random order."""
        length = self._length[asn]
        if private:
            block = self._private[asn].take(length)
        elif self._plan.packed:
            block = self._packed(asn, length)
        else:
            block = self._links[asn].take(length)
        first = block.network_address + (0 if length in (31, 127) else 1)
        pair = str(first), str(first + 1)
        return pair if self._random.random() < 0.5 else pair[::-1]

    def make_private(self, asn: int, is_private: bool) -> None:
        """Let the inner links of an AS be numbered from private space from here on, or no more."""
        if is_private:
            at = len(self._private)
            self._private.setdefault(asn, self._private_space(at))
            self.private.add(asn)
        else:
            self.private.discard(asn)

    def _private_space(self, at: int) -> Allocator:
        shared = self._plan.private_is_shared
        return Allocator("10.0.0.0/16" if shared else f"10.{at % 250}.0.0/16")

    def _packed(self, asn: int, length: int) -> Net:
        """A random place of a block used densely: neighbors in number are strangers."""
        if asn not in self._slots:
            n = _PACKED[self._tier[asn]]
            self._slots[asn] = list(range(n))
            self._random.shuffle(self._slots[asn])
        if not self._slots[asn]:
            raise ValueError(f"AS{asn} has no place left in its packed block; give fewer links")
        links = self._links[asn].block
        size = 1 << (links.max_prefixlen - length)
        skipped = 16 if self._tier[asn] == "stub" else 256
        start = -(-skipped // size) * size + size * self._slots[asn].pop()
        return ipaddress.ip_network((links.network_address + start, length))
