"""Special-purpose addresses, which belong to no AS whatever a prefix table says.

The ranges are those of the IANA special-purpose registries [1]_ [2]_ that are not globally
reachable, multicast, and everything that IANA has not allocated for global unicast (IPv6 outside
2000::/3). ``allow`` admits ranges where a measurement really uses them, as laboratories use
198.18.0.0/15 and 2001:db8::/32.

References
----------
.. [1] https://www.iana.org/assignments/iana-ipv4-special-registry
.. [2] https://www.iana.org/assignments/iana-ipv6-special-registry
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterable

import numpy as np

from pipeline.errors import UsageError
from pipeline.model.tables.intervals import IntervalTable, Network, prefix_range, table_of
from pipeline.model.topology import NO_ASN

SPECIAL_V4 = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
)
# Outside 2000::/3 there is no global unicast; the mapped IPv4 range is treated as IPv4 above.
SPECIAL_V6 = (
    "::/3",
    "4000::/2",
    "8000::/1",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
)

# Ranges that the registries name within those: to be admitted instead of an eighth of all
# addresses.
_NAMED = (
    "255.255.255.255/32",
    "::/127",  # unspecified and loopback
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "ff00::/8",
)


# Ranges of no interface of any router: this network, loopback, multicast, broadcast, discard. They
# can be admitted, but that is of no use.
OF_NO_ROUTER = frozenset(
    {
        "0.0.0.0/8",
        "127.0.0.0/8",
        "224.0.0.0/4",
        "255.255.255.255/32",
        "::/127",
        "100::/64",
        "ff00::/8",
    }
)


@functools.cache
def special_ranges() -> tuple[str, ...]:
    """Special ranges, the narrowest first: the first that holds an address is what to admit."""
    named = SPECIAL_V4 + SPECIAL_V6 + _NAMED
    return tuple(sorted(named, key=lambda text: -int(text.rpartition("/")[2])))


def parse_prefix(text: str) -> Network:
    """A prefix in its usual notation.

    Raises
    ------
    UsageError
        If the text is not a prefix, or has bits set beyond its length.
    """
    try:
        return ipaddress.ip_network(text.strip())
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not an address prefix ({error}); give one like 198.18.0.0/15"
        ) from error


def check_special(text: str) -> None:
    """Check a prefix that is to be admitted.

    Raises
    ------
    UsageError
        If the text is not a prefix, or none of its addresses is special: then there is nothing to
        admit.
    """
    network = parse_prefix(text)
    special = (ipaddress.ip_network(each) for each in special_ranges())
    if not any(network.version == each.version and network.overlaps(each) for each in special):
        raise UsageError(
            f"--allow-special {text}: no special-purpose range overlaps it, so its addresses need "
            "not be admitted; leave it out, or give a prefix table that covers it (--ip2as)"
        )


def in_prefix(addrs: np.ndarray, network: Network) -> np.ndarray:
    """(n,) bool: which rows of an address column lie in a prefix."""
    (first_high, first_low), (last_high, last_low) = prefix_range(network)
    high, low = addrs[:, 0], addrs[:, 1]
    if first_high != last_high:  # the prefix ends within the high word
        inside = (high >= np.uint64(first_high)) & (high <= np.uint64(last_high))
    else:
        inside = high == np.uint64(first_high)
        inside &= (low >= np.uint64(first_low)) & (low <= np.uint64(last_low))
    if network.version == 6:  # ::/3 holds the mapped range, which is IPv4
        inside &= ~((high == 0) & (low >> np.uint64(32) == np.uint64(0xFFFF)))
    return inside


def special_range(addrs: np.ndarray) -> np.ndarray:
    """Position in ``special_ranges()`` of the narrowest that holds each address; -1 for none.

    Parameters
    ----------
    addrs : (n, 2) uint64

    Returns
    -------
    (n,) int64
    """
    return _special_table().lookup(addrs)


def is_special(addrs: np.ndarray, allow: Iterable[str] = ()) -> np.ndarray:
    """Which addresses belong to no AS because of the range they lie in.

    Parameters
    ----------
    addrs : (n, 2) uint64
    allow : iterable of str
        Prefixes that count as public here.

    Returns
    -------
    (n,) bool

    Raises
    ------
    UsageError
        If an entry of ``allow`` is not a prefix.
    """
    special = special_range(addrs) >= 0
    for text in allow:
        special &= ~in_prefix(addrs, parse_prefix(text))
    return special


@functools.cache
def _special_table() -> IntervalTable:
    ranges = [(*prefix_range(ipaddress.ip_network(t)), i) for i, t in enumerate(special_ranges())]
    # ::/3 holds the range where IPv4 is kept, which is not special as a whole.
    ranges.append((*prefix_range(ipaddress.ip_network("0.0.0.0/0")), NO_ASN))
    ranges.sort(key=lambda entry: (entry[0], [-word for word in entry[1]]))
    start, end, position = zip(*ranges, strict=True)
    return table_of(np.array(start, np.uint64), np.array(end, np.uint64), np.array(position))
