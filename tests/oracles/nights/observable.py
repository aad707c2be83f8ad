"""Which links of a night anybody can miss on the next one, as CONTRACT's "removed" asks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.model.addresses import V4_PREFIX
from pipeline.model.columns.ragged import row_of_value
from tests.oracles.nights.plants import Night
from tests.unit.pipeline.infer.simulate import Network, measure

Pair = tuple[int, int]  # numbers of a vantage point's address and of a target's


def looked_at(old: Night, new: Night) -> set[tuple[int, int]]:
    """Links (near router, far router) of which a pair can tell whether they are still there.

    It crossed the link on the old night, and on the new one it crosses the near router towards the
    same target; if every router answers.
    """
    links, _ = _pairs(old)
    _, routers = _pairs(new)
    return {(near, far) for (near, far), pairs in links.items() if pairs & routers.get(near, set())}


def _pairs(night: Night) -> tuple[dict[tuple[int, int], set[Pair]], dict[int, set[Pair]]]:
    """Pairs that cross each link, and each router."""
    net: Network = replace(night.net, silent=set(), limited=set(), outgoing=set())
    batch = night.drop(measure(net))
    numbers = (batch.addr[:, 1] ^ V4_PREFIX).astype(np.int64).tolist()
    router = np.array([net.owner.get(number, -1) for number in numbers])
    row = row_of_value(batch.reply_ptr)
    ends = list(zip(batch.src_addr[:, 1].tolist(), batch.dst_addr[:, 1].tolist(), strict=True))
    routers: dict[int, set[Pair]] = {}
    for each, at in zip(router.tolist(), row.tolist(), strict=True):
        if each >= 0:
            routers.setdefault(each, set()).add(ends[at])
    follows = (row[1:] == row[:-1]) & (router[1:] >= 0) & (router[:-1] >= 0)
    links: dict[tuple[int, int], set[Pair]] = {}
    for at in np.flatnonzero(follows & (router[1:] != router[:-1])).tolist():
        link = (int(router[at]), int(router[at + 1]))
        links.setdefault(link, set()).add(ends[row[at]])
    return links, routers
