"""Which plants anybody can notice on the next night: who knows the router of every address.

A plant is looked for alone, and nights have several: another one may lead away, or leave out, all
pairs that show it. What is asked here is asked of the traces, and of nothing that is made of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tests.oracles.nights.network import Network, measure
from tests.oracles.nights.plants import MIN_GROWTH, Expected, Night, answers
from tests.oracles.nights.seen import Link, growth_seen, links_seen, routers_of

Pair = tuple[int, int]  # numbers of a vantage point's address and of a target's


@dataclass(frozen=True)
class Ways:
    """Pairs that go through each link and router of a night, in order, if every router answers.

    ``through``: those that go on behind a link to a third router, if all three always answer.
    """

    links: dict[Link, set[Pair]]
    routers: dict[int, set[Pair]]
    through: dict[Link, set[Pair]]


def unobservable(
    old: Night,
    new: Night,
    expected: Sequence[tuple[str, Expected]],
    seeds: tuple[int, int],
    before: Ways | None = None,
) -> set[int]:
    """Positions of plants of which nobody can tell; ``seeds``: of who answers on both nights.

    ``before``: ``ways_of`` the old night, where many are compared with it.
    """
    events = [event for _, event in expected]
    hidden: set[int] = set()
    if any(event.gone or event.n_pairs for event in events):
        before, after = before or ways_of(old), ways_of(new)
        looked, stayed = looked_at(before, after), in_place(before, after)
        for i, event in enumerate(events):
            if event.gone and not {event.gone, event.gone[::-1]} & looked:
                hidden.add(i)
            if event.n_pairs > stayed[event.router]:
                hidden.add(i)
    if any(event.width for event in events):
        shown, now = (
            links_seen(night.net, night.measure(seed))
            for night, seed in zip((old, new), seeds, strict=True)
        )
        for i, event in enumerate(events):
            for asn in event.asns if event.width else ():
                if growth_seen(old.net, shown, now, asn, event.width) < MIN_GROWTH:
                    hidden.add(i)
    return hidden


def looked_at(old: Ways, new: Ways) -> set[Link]:
    """Links of which a pair can tell whether they are still there, as CONTRACT's "removed" asks.

    It crossed the link on the old night, and on the new one it crosses the near router towards the
    same target.
    """
    return {link for link, pairs in old.links.items() if pairs & new.routers.get(link[0], set())}


def in_place(old: Ways, new: Ways) -> Counter[int]:
    """For each router the most pairs that reach it by one link, and go on, on both nights."""
    most: Counter[int] = Counter()
    for link, pairs in old.through.items():
        most[link[1]] = max(most[link[1]], len(pairs & new.through.get(link, set())))
    return most


def ways_of(night: Night) -> Ways:
    """Where the pairs of a night go."""
    net: Network = replace(night.net, silent=set(), limited=set(), outgoing=set())
    batch = night.taken(measure(net))
    row, router = routers_of(net, batch)
    pairs = list(zip(batch.src_addr[:, 1].tolist(), batch.dst_addr[:, 1].tolist(), strict=True))
    found = Ways({}, {}, {})
    for each, at in zip(router.tolist(), row.tolist(), strict=True):
        if each >= 0:
            found.routers.setdefault(each, set()).add(pairs[at])
    follows = (row[1:] == row[:-1]) & (router[1:] >= 0) & (router[:-1] >= 0)
    follows = np.append(follows & (router[1:] != router[:-1]), False)
    for at in np.flatnonzero(follows).tolist():
        link = (int(router[at]), int(router[at + 1]))
        found.links.setdefault(link, set()).add(pairs[row[at]])
        if follows[at + 1] and answers(night.net, *link, int(router[at + 2])):
            found.through.setdefault(link, set()).add(pairs[row[at]])
    return found
