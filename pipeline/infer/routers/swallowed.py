"""Links inside given alias sets: what traces show as two routers, and a file as one."""

from __future__ import annotations

import numpy as np

from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.addresses import format_addr
from pipeline.model.columns.keys import distinct_keys, pair_keys, split_key
from pipeline.model.measured.swallowed import SwallowedLinks
from pipeline.model.tables.aliases import AliasTable


def find_swallowed(
    addrs: np.ndarray, links: DirectedLinks, alias: np.ndarray, aliases: AliasTable
) -> SwallowedLinks:
    """Count the links that have both ends in one alias set.

    A destination's own reply right after another address of its router is not one: some routers
    answer both for a packet that has expired and for one that is for them.

    Parameters
    ----------
    addrs : (n_interfaces, 2) uint64, sorted
    links : DirectedLinks
    alias : (n_interfaces,) int64
        Smallest interface of the set that each interface is in; -1 for none.
    aliases : AliasTable
        The sets.
    """
    same = (links.n_router > 0) & (alias[links.near] >= 0)
    same &= alias[links.near] == alias[links.far]
    pairs = distinct_keys(pair_keys(links.near[same], links.far[same]))  # either direction
    if not len(pairs):
        return SwallowedLinks(0)
    first = distinct_keys(alias[split_key(pairs)[0]])
    numbers, n_addrs = np.unique(aliases.router, return_counts=True)
    size = n_addrs[np.searchsorted(numbers, aliases.routers_of(addrs[first]))]
    largest = int(np.argmax(size))  # of equal ones, that of the smallest address
    return SwallowedLinks(
        len(pairs), len(first), format_addr(*addrs[first[largest]].tolist()), int(size[largest])
    )
