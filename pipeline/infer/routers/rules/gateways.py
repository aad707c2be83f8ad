"""Gateways: addresses that are the last routers before one host, or before the same destinations.

A destination that answered, and never as a router, is a host, mostly with one gateway. Each vantage
point may see another address of this gateway, whichever way packets came in and with whatever
address it responds. So a host is stronger evidence than a router on the way (``merge``): all
addresses seen right before it are one router. In stubs that are entered over several links, nothing
else may be seen behind that router.

Destinations that did not answer are evidence about dead ends where traces to the same destinations
end (``dead_ends``). Other last routers may be further away.

Neither is evidence if two of the addresses are in one trace, or if they are of more than
``_MOST_ASES`` ASes: an anycast address is in many places. If the destinations are routers, which
answer a ping with the address that was probed, their neighbours are seen before them: if more than
``_CONTRADICTED`` of all hosts have two addresses of one trace before them, no host is evidence.

Unmapped addresses and those in a given alias set take no part. Addresses on the LAN of an exchange
point do, though the prefix of the LAN says nothing about their AS.

That what precedes one address is one router is the common successor of Rocketfuel [1]_ and APAR
[2]_, there of routers. That hosts are stronger evidence, and when none is believed, is our own.

References
----------
.. [1] N. Spring, R. Mahajan, D. Wetherall, "Measuring ISP topologies with Rocketfuel", SIGCOMM
   2002.
.. [2] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.routers.groups import find_watched, watched_pairs
from pipeline.infer.routers.rules.dead_ends import DEAD_ENDS, DeadEnds
from pipeline.infer.routers.rules.one_trace import take_apart
from pipeline.infer.rule import Rule, Rules
from pipeline.infer.traces.distinct import DistinctPaths
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, is_among, split_key
from pipeline.model.columns.ragged import offsets
from pipeline.model.forest import unite

GATEWAYS = Rule(
    "gateways",
    "routers",
    "all routers right before one host are its gateway",
    "destinations that answered, and the hop before",
    source="APAR (Gunes and Sarac, ToN 2009), common successors",
)

_MOST_ASES = 3
# If a laboratory's traces are aimed at hosts, none is contradicted; if at routers, half are.
_CONTRADICTED = 0.02


def find_gateways(
    paths: DistinctPaths,
    dead_ends: DeadEnds,
    all_links: DirectedLinks,
    is_router: np.ndarray,
    *,
    origin: np.ndarray,
    left_out: np.ndarray,
    on_lan: np.ndarray,
    rules: Rules,
) -> np.ndarray:
    """Join the addresses of gateways.

    Parameters
    ----------
    paths : DistinctPaths
    dead_ends : DeadEnds
    all_links : DirectedLinks
        Of all addresses.
    is_router : (n_addrs,) bool
    origin : (n_interfaces,) int64
        AS that each router address is numbered from.
    left_out : (n_interfaces,) bool
        Router addresses that are joined with no others.
    on_lan : (n_interfaces,) bool
        As from ``find_exchange_lans``.
    rules : Rules

    Returns
    -------
    (n_interfaces,) int64
        Smallest interface of those joined.
    """
    n = len(origin)
    behind = is_router[all_links.near] & ~is_router[all_links.far] & (all_links.n_destination > 0)
    behind &= GATEWAYS in rules
    new_id = np.cumsum(is_router) - 1
    end, same_aims = dead_ends if DEAD_ENDS in rules else DeadEnds.none()
    near = np.append(new_id[all_links.near[behind]], end)
    host = np.append(all_links.far[behind], len(is_router) + same_aims)
    near, host = near[~left_out[near]], host[~left_out[near]]
    numbers, host = np.unique(host, return_inverse=True)
    n_hosts = len(numbers)
    numbered = ~on_lan[near]
    ases = split_key(distinct_keys((host[numbered] << 32) | origin[near[numbered]]))[0]
    few = np.bincount(ases, minlength=n_hosts) <= _MOST_ASES
    order = np.lexsort((near, host))
    near, host = near[order], host[order]
    near, host = near[few[host]], host[few[host]]
    ptr = offsets(np.bincount(host, minlength=n_hosts))
    pairs, voucher = watched_pairs(ptr, near)
    conflicts = find_watched(paths, ptr, near, pairs, n)
    is_good = np.ones(n_hosts, bool)
    is_good[voucher[is_among(pairs, conflicts)]] = False
    root = np.arange(n)
    n_asked = np.count_nonzero((numbers < len(is_router)) & (np.diff(ptr) > 1))
    if np.count_nonzero(~is_good) > _CONTRADICTED * n_asked:  # no trace shows two dead ends
        return root
    same = (host[1:] == host[:-1]) & is_good[host[1:]]
    unite(root, near[1:][same], near[:-1][same])
    take_apart(paths, root, np.arange(n), rules)
    return root
