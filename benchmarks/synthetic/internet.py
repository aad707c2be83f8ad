"""A synthetic internet to be traced: routers of many ASes, their links and addresses.

- It is ``generate_top_down``: ASes joined by preferential attachment, routers likewise.
- Two joined ASes meet in several places, so that paths are as long as real ones.
- Every link is a /30 out of the space of one of its two ASes; which one, between ASes, is drawn.
  AS i owns one block of public-looking space from 16.0.0.0 on, and announces it as a whole.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.generate.top_down import generate_top_down

FIRST_ADDR = int(ipaddress.ip_address("16.0.0.0"))
LAST_ADDR = int(ipaddress.ip_address("100.0.0.0"))  # no special-purpose range lies between
LINKS = 3  # links of each new router, and of each new AS
CROSSINGS = 4  # links between two ASes that are joined

# Shares of routers by how they answer, of 256.
SILENT, LIMITED, ONE_ADDRESS = 10, 36, 56


@dataclass(frozen=True, eq=False)
class Internet:
    """Routers, links and addresses, arcs grouped by the router that they leave.

    Attributes
    ----------
    asn : (n_routers,) int64
    indptr : (n_routers + 1,) int64
    head : (n_arcs,) int32
        Router that the arc leads to.
    addr : (n_arcs,) uint32
        IPv4 address that the link has at that router.
    delay_us : (n_arcs,) int32
        One way.
    host : (n_routers,) uint32
        First address of the subnet behind the router, the router's own there.
    manner : (n_routers,) uint8
        Below ``SILENT``: never answers; below ``LIMITED``: half of the time; below
        ``ONE_ADDRESS``: always with the same address.
    prefixes : tuple of (str, int)
        Announced prefix and AS.
    """

    asn: np.ndarray
    indptr: np.ndarray
    head: np.ndarray
    addr: np.ndarray
    delay_us: np.ndarray
    host: np.ndarray
    manner: np.ndarray
    prefixes: tuple[tuple[str, int], ...]
    seed: int

    @property
    def n_routers(self) -> int:
        return len(self.asn)


def make_internet(n_ases: int = 300, routers_per_as: int = 1000, seed: int = 1) -> Internet:
    """Draw an internet, addresses included.

    Raises
    ------
    ValueError
        If the ASes need more address space than there is between 16.0.0.0 and 100.0.0.0.
    """
    topology = generate_top_down(n_ases, n_ases * routers_per_as, m=LINKS, seed=seed)
    asn = topology.node_asn
    row = (asn - asn[0]).astype(np.int64)
    rng = np.random.Generator(np.random.PCG64(seed))
    return _number(asn, row, *_add_crossings(topology.near, topology.far, row, rng), seed, rng)


def link_at_random(
    n_ases: int, routers_per_as: int, links_per_as: float, seed: int = 1
) -> Internet:
    """Draw an internet without providers: each link between ASes joins two routers at random.

    The routers of an AS are a ring. ``links_per_as``: links to other ASes that each AS has, in the
    mean.

    Raises
    ------
    ValueError
        As of ``make_internet``; if a router has no link.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    n = n_ases * routers_per_as
    row = np.arange(n) // routers_per_as
    next_one = row * routers_per_as + (np.arange(n) + 1) % routers_per_as
    # A ring of two routers is one link, of one router none.
    inner = np.arange(n)[: n if routers_per_as > 2 else 0]
    if routers_per_as == 2:
        inner = np.arange(0, n, 2)
    ends = rng.integers(0, n, (2, round(n_ases * links_per_as / 2)))
    ends = ends[:, row[ends[0]] != row[ends[1]]]
    near, far = np.append(inner, ends[0]), np.append(next_one[inner], ends[1])
    n_alone = n - len(np.unique(np.append(near, far)))
    if n_alone:
        raise ValueError(f"{n_alone} of {n} routers have no link: more links between ASes needed")
    return _number(row + 1, row, near, far, seed, rng)


def _number(
    asn: np.ndarray,
    row: np.ndarray,
    near: np.ndarray,
    far: np.ndarray,
    seed: int,
    rng: np.random.Generator,
) -> Internet:
    """Give each link a network out of the space of one of its ASes, and each router its hosts."""
    n, n_ases = len(row), int(row[-1]) + 1
    n_links = len(near)
    owner = np.where(rng.random(n_links) < 0.5, row[near], row[far])
    # Networks of an AS one after another, in the order of links, then the subnets of hosts.
    order = np.argsort(owner, kind="stable")
    per_as = np.bincount(owner, minlength=n_ases)
    rank = np.empty(n_links, np.int64)
    rank[order] = np.arange(n_links) - np.repeat(np.cumsum(per_as) - per_as, per_as)
    first_of_as = np.searchsorted(row, np.arange(n_ases))
    size = int((4 * per_as + 4 * np.bincount(row)).max())
    bits = max(8, (size - 1).bit_length())
    if FIRST_ADDR + (n_ases << bits) > LAST_ADDR:
        raise ValueError(f"{n_ases} ASes of 2**{bits} addresses each do not fit; take fewer")
    base = FIRST_ADDR + (np.arange(n_ases, dtype=np.int64) << bits)
    network = base[owner] + 4 * rank
    host = base[row] + 4 * per_as[row] + 4 * (np.arange(n) - first_of_as[row])
    delay_us = rng.integers(100, 3_000, n_links)
    tail, head = np.concatenate([near, far]), np.concatenate([far, near])
    addr = np.concatenate([network + 2, network + 1])
    order = np.argsort(tail, kind="stable")
    return Internet(
        asn=asn,
        indptr=np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=n))]).astype(np.int64),
        head=head[order].astype(np.int32),
        addr=addr[order].astype(np.uint32),
        delay_us=np.concatenate([delay_us, delay_us])[order].astype(np.int32),
        host=host.astype(np.uint32),
        manner=rng.integers(0, 256, n).astype(np.uint8),
        prefixes=tuple(
            (f"{ipaddress.ip_address(int(first))}\t{32 - bits}", int(number))
            for first, number in zip(base, np.unique(asn), strict=True)
        ),
        seed=seed,
    )


def _add_crossings(
    near: np.ndarray, far: np.ndarray, row: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Join ASes that are joined already in more places, at routers drawn by their links."""
    inner = row[near] == row[far]
    ends = np.sort(np.concatenate([near[inner], far[inner]]))
    first = np.searchsorted(row[ends], np.arange(row[-1] + 2))
    new = []
    for end in (near[~inner], far[~inner]):
        which = np.repeat(row[end], CROSSINGS - 1)
        n_ends = first[which + 1] - first[which]
        new.append(ends[first[which] + (rng.random(len(which)) * n_ends).astype(np.int64)])
    return np.concatenate([near, new[0]]), np.concatenate([far, new[1]])


def write_pfx2as(internet: Internet, path: Path) -> None:
    """Write the announced prefixes in CAIDA's format."""
    path.write_text("".join(f"{prefix}\t{asn}\n" for prefix, asn in internet.prefixes))


def write_as_rel(internet: Internet, path: Path) -> None:
    """Write relationships in CAIDA's format: of two ASes with a link, the older is the provider."""
    near = np.repeat(np.arange(internet.n_routers), np.diff(internet.indptr))
    one, other = internet.asn[near], internet.asn[internet.head]
    pairs = np.unique(np.column_stack([one, other])[one < other], axis=0)
    path.write_text("".join(f"{provider}|{customer}|-1\n" for provider, customer in pairs.tolist()))


def write_nodes(internet: Internet, path: Path) -> None:
    """Write the addresses of each router in the format of ITDK nodes."""
    with path.open("w") as file:
        for router in range(internet.n_routers):
            own = internet.addr[internet.indptr[router] : internet.indptr[router + 1]]
            names = (str(ipaddress.ip_address(addr)) for addr in own.tolist())
            file.write(f"node N{router + 1}:  {' '.join(names)}\n")
