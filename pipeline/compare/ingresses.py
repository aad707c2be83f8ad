"""Ingresses of two nights: moved to another router for the same neighbour, lost, gained.

Also those whose traffic now enters elsewhere (``traffic``).
"""

from __future__ import annotations

import numpy as np

from pipeline.compare.changes import (
    ADDED,
    GAINED,
    LOST,
    NOT_BEFORE,
    REMOVED,
    SHIFTED,
    UNSEEN,
    Changes,
    make_changes,
)
from pipeline.compare.evidence import link_keys
from pipeline.compare.figures.hops import Entries, entries_of, tally
from pipeline.compare.links import Sides, describe, first_nodes, other_router
from pipeline.compare.night import Night
from pipeline.compare.rerouted import Rerouted, n_vantages
from pipeline.compare.traffic import compare_traffic
from pipeline.model.columns.keys import common_rows, distinct_keys, is_among, number_rows, pair_keys


def compare_ingresses(
    sides: Sides, found: Rerouted | None, links: Changes
) -> tuple[list[Changes], np.ndarray]:
    """Compare (AS, neighbour, router) of two nights.

    Parameters
    ----------
    sides : Sides
    found : Rerouted or None
    links : Changes
        Of links: an ingress is lost if a link by which it was entered was removed; else it was not
        observable, unless its pairs show that they enter by another one.

    Returns
    -------
    changes : list of Changes
    moved : (n,) int64
        Links (``pair_keys`` of groups) by which pairs entered that now enter at a router to which
        an ingress moved, and those by which pairs now enter that entered at one from which it did.
    """
    groups = sides.groups
    old, new = _rows(sides.old, groups.old), _rows(sides.new, groups.new)
    number, _ = number_rows(*np.concatenate([old, new], axis=1))
    of_old, of_new = np.split(number, [old.shape[1]])
    old = old[:, _only(of_old, of_new)]
    new = new[:, _only(of_new, of_old)]
    changes, moved = [], np.empty(0, np.int64)
    if found is not None:
        entries = entries_of(found.old), entries_of(found.new)
        moves = _moves(sides, found, *entries, (old, new))
        moved = _links_of(*entries, moves)
        changes += [_moved(sides, moves), *compare_traffic(sides, found, moves)]
        old = _without(old, moves[[0, 1, 2]])
        new = _without(new, moves[[0, 1, 3]])
    for kind, unseen, rows, night, group, of_link in (
        (LOST, UNSEEN, old, sides.old, groups.old, REMOVED),
        (GAINED, NOT_BEFORE, new, sides.new, groups.new, ADDED),
    ):
        which = (links.kind == of_link) & (links.asn != links.other_asn)
        sure = np.concatenate([links.group[which], links.other_group[which]])
        changes.append(
            describe(
                night,
                group,
                first_nodes(group, groups.n)[rows[2]],
                None,
                "ingress",
                kind=np.where(is_among(rows[2], sure), kind, unseen).astype(object),
                asn=rows[0],
                other_asn=rows[1],
            )
        )
    return changes, moved


def _rows(night: Night, group: np.ndarray) -> np.ndarray:
    """(3, n) int64: AS, neighbour and group of each ingress."""
    node = np.repeat(night.ingress, np.diff(night.neighbor_ptr))
    rows = np.array([night.asn_of(node), night.neighbor_asn, group[node]], np.int64)
    return np.array(tally(*rows)[0], np.int64)


def _only(numbers: np.ndarray, others: np.ndarray) -> np.ndarray:
    return ~is_among(numbers, others)


def _without(rows: np.ndarray, moved: np.ndarray) -> np.ndarray:
    number, _ = number_rows(*np.concatenate([rows, moved], axis=1))
    own, others = np.split(number, [rows.shape[1]])
    return rows[:, _only(own, others)]


def _moves(
    sides: Sides,
    found: Rerouted,
    old: Entries,
    new: Entries,
    only: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """(7, n) int64: AS, neighbour, group before and after, pairs, vantage points, traces.

    Pairs entered the AS from the neighbour by a router that is no longer an ingress for it, and
    now enter by one that was none before. The links by which they enter are of one night only: if
    only the owner of a router changed, nothing moved.

    ``old``, ``new``: entries of both nights; ``only``: ingresses that the other one has not.
    """
    old_keys = link_keys(sides.groups.old, sides.old.low, sides.old.high)
    new_keys = link_keys(sides.groups.new, sides.new.low, sides.new.high)
    old_at = np.flatnonzero(_are_at(old, only[0]) & ~is_among(_links(old), new_keys))
    new_at = np.flatnonzero(_are_at(new, only[1]) & ~is_among(_links(new), old_keys))
    of_old, of_new = _numbers(old, new)
    at, now = common_rows(of_old[old_at], of_new[new_at])
    at, now = old_at[at], new_at[now]
    columns = (old.asn[at], old.neighbor[at], old.group[at], new.group[now])
    rows, n_pairs = tally(*columns)
    row, n_rows = number_rows(*columns)
    vantages = n_vantages(row, found.vantage[old.pair[at]], n_rows)
    n_traces = np.bincount(row, found.old_traces[old.pair[at]], n_rows)
    table = np.array([*rows, n_pairs, vantages, n_traces], np.int64)
    # If several routers took the place of one, that of most pairs.
    order = np.lexsort((-table[3], table[4], table[2], table[1], table[0]))
    table = table[:, order]
    last = np.ones(table.shape[1], bool)
    last[:-1] = (table[:3, 1:] != table[:3, :-1]).any(axis=0)
    return table[:, last]


def _are_at(entries: Entries, ingresses: np.ndarray) -> np.ndarray:
    """(n_entries,) bool: whether they are by one of these: AS, neighbour and group, (3, n)."""
    rows = np.array([entries.asn, entries.neighbor, entries.group])
    number, _ = number_rows(*np.concatenate([rows, ingresses], axis=1))
    own, others = np.split(number, [rows.shape[1]])
    return is_among(own, others)


def _links(entries: Entries) -> np.ndarray:
    return pair_keys(entries.before, entries.group)


def _numbers(old: Entries, new: Entries) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of entries, the same for those of one pair into one AS from one neighbour."""
    number, _ = number_rows(
        *(
            np.concatenate([getattr(old, name), getattr(new, name)])
            for name in ("pair", "asn", "neighbor")
        )
    )
    n = len(old.pair)
    return number[:n], number[n:]


def _links_of(old: Entries, new: Entries, moves: np.ndarray) -> np.ndarray:
    """Links by which pairs enter that enter by an ingress of a move on the other night."""
    of_old, of_new = _numbers(old, new)
    left = is_among(of_old, of_new[_are_at(new, moves[[0, 1, 3]])])
    came = is_among(of_new, of_old[_are_at(old, moves[[0, 1, 2]])])
    return distinct_keys(np.concatenate([_links(old)[left], _links(new)[came]]))


def _moved(sides: Sides, moves: np.ndarray) -> Changes:
    groups = sides.groups
    asn, neighbor, before, after, n_pairs, n_of, n_traces = moves
    own = first_nodes(groups.old, groups.n)[before]
    other = first_nodes(groups.new, groups.n)[after]
    if not len(asn):
        return make_changes(0, "ingress", kind=SHIFTED)
    columns = other_router(sides.new, groups.new, other) | {"other_asn": neighbor}
    return describe(
        sides.old,
        groups.old,
        own,
        None,
        "ingress",
        kind=SHIFTED,
        n_pairs=n_pairs,
        n_traces=n_traces,
        n_vantages=n_of,
        **columns | {"asn": asn},
    )
