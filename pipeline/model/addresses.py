"""IP addresses as columns of two 64-bit words.

An address column has shape (n, 2), dtype uint64: the high and the low half of the 128-bit address
as numbers, so that comparing (high, low) compares addresses. IPv4 is stored mapped
(``::ffff:a.b.c.d``): high 0, low ``0xffff_aabbccdd``. Text is used only for input and output.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from socket import AF_INET, inet_pton

import numpy as np

from pipeline.model.columns.keys import number_rows
from pipeline.model.columns.ragged import run_starts

V4_HIGH = np.uint64(0)
V4_PREFIX = np.uint64(0xFFFF_0000_0000)  # the low word of ::ffff:0.0.0.0
# Ids of nodes without addresses have their AS as the high word, AS 0 this one: ``::/31`` is no
# router's. Addresses of ``::/64`` are those of traces.
HIGH_OF_AS_0 = 1 << 32
# Ranges that every network may use, each for itself: one address may be that of many routers, so
# they are not admitted, but placed by the routers around them (``infer.owners.private``).
PRIVATE = frozenset(
    {
        "10.0.0.0/8",
        "100.64.0.0/10",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "fc00::/7",
        "fe80::/10",
    }
)
MAPPED_V4 = ipaddress.IPv6Network("::ffff:0:0/96")  # where IPv4 addresses are kept


def parse_addr(text: str) -> tuple[int, int]:
    """High and low word of one address; raises ValueError if the text is not an address."""
    try:  # several times faster than what follows
        return 0, int(V4_PREFIX) | int.from_bytes(inet_pton(AF_INET, text))
    except OSError:
        addr = ipaddress.ip_address(text)
    number = int(addr) | int(V4_PREFIX) if addr.version == 4 else int(addr)
    return number >> 64, number & 0xFFFF_FFFF_FFFF_FFFF


def is_v4(addrs: np.ndarray) -> np.ndarray:
    """(n,) bool: which rows are (mapped) IPv4 addresses."""
    return (addrs[:, 0] == V4_HIGH) & ((addrs[:, 1] >> np.uint64(32)) == np.uint64(0xFFFF))


def is_private(addrs: np.ndarray) -> np.ndarray:
    """(n,) bool: which rows are in the ``PRIVATE`` ranges."""
    v4 = is_v4(addrs)
    result = np.zeros(len(addrs), bool)
    for network in map(ipaddress.ip_network, PRIVATE):
        first = int(network.network_address)
        if network.version == 4:
            free = np.uint64(32 - network.prefixlen)
            result |= v4 & (addrs[:, 1] >> free == (first | int(V4_PREFIX)) >> int(free))
        else:
            free = np.uint64(64 - network.prefixlen)
            result |= addrs[:, 0] >> free == first >> 64 >> int(free)
    return result


def naming_addrs(
    addrs: np.ndarray, node: np.ndarray, n_links: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The address that names each node: a public one if there is any, and the one with most links.

    If an address is on a node by mistake, the node is still called what most of it is.

    Parameters
    ----------
    addrs : (n, 2) uint64
    node : (n,) int64
        Node of each address.
    n_links : (n,) int64 or None
        Of each address; of equal ones the smallest address counts. None: that alone.

    Returns
    -------
    node : (n_nodes,) int64
        Those that have an address, ascending.
    position : (n_nodes,) int64
        In ``addrs``.
    """
    rank = np.zeros(len(addrs), np.int64) if n_links is None else -n_links
    order = np.lexsort((addrs[:, 1], addrs[:, 0], rank, is_private(addrs), node))
    first = order[run_starts(node[order])]
    return node[first], first


def format_addr(high: int, low: int) -> str:
    """Text of one address; IPv4 in dotted form."""
    high, low = int(high), int(low)
    if high == 0 and low >> 32 == 0xFFFF:
        return str(ipaddress.IPv4Address(low & 0xFFFF_FFFF))
    return str(ipaddress.IPv6Address((high << 64) | low))


def parse_addrs(texts: Iterable[str]) -> np.ndarray:
    """(n, 2) uint64 of some addresses; ValueError if a text is not an address."""
    words = [parse_addr(text) for text in texts]
    return np.array(words, np.uint64).reshape(len(words), 2)


def format_addrs(addrs: np.ndarray) -> list[str]:
    """Texts of an address column, in its order."""
    return [format_addr(high, low) for high, low in addrs.tolist()]


def sort_addrs(addrs: np.ndarray) -> np.ndarray:
    """Positions that sort an address column by address."""
    return np.lexsort((addrs[:, 1], addrs[:, 0]))


def positions_of(table: np.ndarray, addrs: np.ndarray) -> np.ndarray:
    """Position of each address in an address column; -1 where it is not there.

    Parameters
    ----------
    table : (n_table, 2) uint64, distinct
    addrs : (n, 2) uint64

    Returns
    -------
    (n,) int64
    """
    both = np.concatenate([table, addrs])
    order = sort_addrs(both)  # stable: of two equal ones, that of the table is first
    first = run_starts(both[order, 0], both[order, 1])
    found = np.empty(len(both), np.int64)
    found[order] = np.repeat(order[first], np.diff(first, append=len(both)))
    found = found[len(table) :]
    return np.where(found < len(table), found, -1)


def number_addrs(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """``unique_addrs``, and the row there of each address.

    Parameters
    ----------
    columns : sequence of (n, 2) uint64

    Returns
    -------
    table : (n_table, 2) uint64
    rows : list of (n,) int32
        One for each column.
    """
    both = np.concatenate([np.empty((0, 2), np.uint64), *columns])
    row, n = number_rows(both[:, 0], both[:, 1])
    row = row.astype(np.int32)
    table = np.empty((n, 2), np.uint64)
    table[row] = both
    return table, np.split(row, np.cumsum([len(column) for column in columns])[:-1])


def unique_addrs(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Sorted distinct addresses of several columns."""
    both = np.concatenate([np.empty((0, 2), np.uint64), *columns])
    both = both[sort_addrs(both)]
    if len(both) == 0:
        return both
    first = np.ones(len(both), bool)
    first[1:] = (both[1:] != both[:-1]).any(axis=1)
    return both[first]
