"""Gateways of hosts: addresses seen right before one host are on one router.

A destination that answered and never answered as a router is a host, mostly with one gateway. Each
of its vantages may see another address of that, whichever way its packets came in and with whatever
address the gateway answers. So a host vouches for more than a router on the way does
(``inferred``): for stubs that are entered over several links, nothing else may be seen behind
them.

It vouches for nothing if two of the addresses before it are in one trace, or if they are numbered
from more than ``_MOST_ASES`` ASes: an anycast address is in many places. Where traces were aimed at
routers, which answer a ping with the address that was probed, their neighbours are seen before
them: if more than ``_CONTRADICTED`` of all hosts have two addresses of one trace before them, none
vouches for anything.

Unmapped addresses, those on the LAN of an exchange point and those in a given alias set take no
part.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.routers.conflicts import take_apart
from pipeline.infer.routers.forest import unite
from pipeline.infer.routers.point_to_point import find_watched, watched_pairs
from pipeline.infer.traces.counting import split_key
from pipeline.infer.traces.links import DirectedLinks
from pipeline.infer.traces.passes import Spools
from pipeline.model.columns.ragged import offsets

_MOST_ASES = 3
# If a laboratory's traces are aimed at hosts, none is contradicted; if at routers, half are.
_CONTRADICTED = 0.02


def find_gateways(
    spools: Spools,
    links: DirectedLinks,
    is_router: np.ndarray,
    origin: np.ndarray,
    left_out: np.ndarray,
) -> np.ndarray:
    """Join router addresses that were seen right before one host; two passes over the spools.

    Parameters
    ----------
    spools : Spools
        With the addresses of routers only.
    links : DirectedLinks
        Of all addresses.
    is_router : (n_addrs,) bool
    origin : (n_interfaces,) int64
        AS that each router address is numbered from.
    left_out : (n_interfaces,) bool
        Router addresses that are joined with no others.

    Returns
    -------
    (n_interfaces,) int64
        Smallest interface of those joined.
    """
    n = len(origin)
    behind = is_router[links.near] & ~is_router[links.far] & (links.n_destination > 0)
    new_id = np.cumsum(is_router) - 1
    near, host = new_id[links.near[behind]], links.far[behind]
    kept = ~left_out[near]
    near, host = near[kept], host[kept]
    _, host = np.unique(host, return_inverse=True)
    n_hosts = int(host.max(initial=-1)) + 1
    ases = split_key(np.unique((host.astype(np.int64) << 32) | origin[near]))[0]
    few = np.bincount(ases, minlength=n_hosts) <= _MOST_ASES
    order = np.lexsort((near, host))
    near, host = near[order], host[order]
    near, host = near[few[host]], host[few[host]]
    ptr = offsets(np.bincount(host, minlength=n_hosts))
    pairs, voucher = watched_pairs(ptr, near)
    conflicts = find_watched(spools, ptr, near, pairs, n)
    is_good = np.ones(n_hosts, bool)
    is_good[voucher[np.isin(pairs, conflicts)]] = False
    root = np.arange(n)
    if np.count_nonzero(~is_good) > _CONTRADICTED * np.count_nonzero(np.diff(ptr) > 1):
        return root
    same = (host[1:] == host[:-1]) & is_good[host[1:]]
    unite(root, near[1:][same], near[:-1][same])
    take_apart(spools, root, np.arange(n))
    return root
