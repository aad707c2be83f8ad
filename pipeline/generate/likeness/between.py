"""Links between the ASes of a likeness, and the routers at which they end.

The graph of ASes is made like the graph of an AS (``blocks``): which ASes are linked follows the
joint law of their numbers of linked ASes and, where there are as many ASes, of their ingresses. An
AS is in the likeness of one that is linked to as many, so that size and number of linked ASes go
together. How many links two ASes have is drawn from the original's pairs of such numbers, then
fitted so that each AS has as many as the one that it is like, for each ingress (iterative
proportional fitting: Deming, Stephan 1940). How many of its links end at each border router, and
their weights, are as in the original.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.csr import Shard
from pipeline.generate.csr import csr_from_links
from pipeline.generate.likeness.blocks import make_block
from pipeline.generate.likeness.original import Original
from pipeline.model.random_words import GOLDEN, mix_words

_KEY = (1 << 50) + (1 << 41)  # of streams
_MOST_TRIES = 200  # to part a repeated link
_OTHERS = (1 << 51) + (1 << 43)
_WEIGHTS = (1 << 51) + (1 << 44)
_FITS = 50  # of numbers of links; most are near after ten
_FIRST = (1 << 30) + (1 << 29)  # number of the graph of ASes among graphs: there are fewer ASes


@dataclass(frozen=True, eq=False)
class AsLinks:
    """ASes to make, and which of them are linked.

    Attributes
    ----------
    donor : (n_ases,) int64
        Row of the original that each AS is in the likeness of.
    near, far, n_links : (n_pairs,) int64
        Rows of linked ASes, near < far, and how many links they have.
    """

    donor: np.ndarray
    near: np.ndarray
    far: np.ndarray
    n_links: np.ndarray


def ases_like(original: Original, n_ases: int, seed: int) -> AsLinks:
    """ASes in the likeness of the original's, as many as are wanted."""
    shard, n_links = as_graph(original)
    n = original.n_ases
    none = np.zeros(0, np.int64)
    if n == 1:
        return AsLinks(np.zeros(n_ases, np.int64), none, none, none)
    made = make_block(
        shard,
        n_links.astype(np.float32),
        np.zeros(n, bool),
        np.zeros(1, np.int64),
        np.array([n_ases]),
        seed,
        _FIRST,
        mark=_in_powers(np.bincount(original.rows_of(original.ingress), minlength=n)),
    )
    donor = _donors(made.law, made.of_original, original.sizes())
    place = np.argsort(donor, kind="stable")  # of the same number: each AS where its own is
    name = np.empty(n_ases, np.int64)
    name[place] = np.arange(n_ases)
    tail = np.repeat(np.arange(n_ases), np.diff(made.indptr))
    once = tail < made.indices
    ends = np.sort([name[tail[once]], name[made.indices[once]]], axis=0)
    order = np.lexsort((ends[1], ends[0]))
    assert made.values is not None
    counts = made.values[once][order].astype(np.int64)
    return AsLinks(donor[place], ends[0][order], ends[1][order], counts)


def as_graph(original: Original) -> tuple[Shard, np.ndarray]:
    """The graph of ASes, and how many links each arc stands for, int64."""
    n = original.n_ases
    near, far = original.rows_of(original.border_near), original.rows_of(original.border_far)
    keys, counts = np.unique(np.minimum(near, far) * n + np.maximum(near, far), return_counts=True)
    one, other = (ends.astype(np.int32) for ends in np.divmod(keys, n))
    graph = csr_from_links(n, one, other)
    tail = np.repeat(np.arange(n), np.diff(graph.indptr))
    pair = np.minimum(tail, graph.indices) * n + np.maximum(tail, graph.indices)
    shard = Shard(graph.indptr, graph.indices, np.array([0, n], np.int64), trusted=True)
    return shard, counts[np.searchsorted(keys, pair)]


def _donors(law: np.ndarray, of_original: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """For each AS to make one of the original's of its class: each as often as any other."""
    members = np.lexsort((sizes, of_original))
    first = np.searchsorted(of_original[members], np.arange(of_original.max(initial=0) + 2))
    order = np.argsort(law, kind="stable")
    sorted_law = law[order]
    begin = np.searchsorted(sorted_law, sorted_law)
    n_new = np.searchsorted(sorted_law, sorted_law, side="right") - begin
    n_old = np.diff(first)[sorted_law]
    place = ((np.arange(len(law)) - begin + 0.5) * n_old / n_new).astype(np.int64)
    donor = np.empty(len(law), np.int64)
    donor[order] = members[first[sorted_law] + place]
    return donor


def borders_like(
    original: Original,
    links: AsLinks,
    asn: np.ndarray,
    node_ptr: np.ndarray,
    ingress_ptr: np.ndarray,
    ingress_node: np.ndarray,
    seed: int,
) -> dict[str, Any]:
    """The columns of GraphSet about neighbours of ingresses and about links between ASes.

    Parameters
    ----------
    original : Original
    links : AsLinks
    asn : (n_ases,) int64
    node_ptr : (n_ases + 1,) int64
        Routers of each AS.
    ingress_ptr : (n_ases + 1,) int64; ingress_node : (n_ingresses,) int32
        Ingresses of each AS, local node ids.
    seed : int
    """
    counts = _ends_of_routers(original)
    ptr, node, ingress = _border_routers(
        original, counts[0], links.donor, node_ptr, ingress_ptr, ingress_node, seed
    )
    n_each = np.diff(ptr)
    n_links = _fitted_links(original, links, np.diff(ingress_ptr), n_each)
    near_row, far_row = np.repeat(links.near, n_links), np.repeat(links.far, n_links)
    held = (n_each[near_row] > 0) & (n_each[far_row] > 0)
    end_row = np.concatenate([near_row[held], far_row[held]])
    ends = _ends(original, counts, links.donor, ptr, end_row, seed)
    _part_repeated(ends, end_row, seed)
    pairs = np.unique(np.stack(np.split(ends, 2)), axis=1) if len(ends) else np.empty((2, 0), int)
    row = np.repeat(np.arange(len(asn)), n_each)
    # By node, as snapshots are sorted: border routers of an AS do not stand in that order.
    by_node = (node[pairs[1]], row[pairs[1]], node[pairs[0]], row[pairs[0]])
    near, far = pairs[:, np.lexsort(by_node)]  # row[near] < row[far]
    entered, from_row = ingress[np.append(near, far)], row[np.append(far, near)]
    is_ingress = entered >= 0
    entries = np.unique(np.stack([entered[is_ingress], from_row[is_ingress]]), axis=1)
    return {
        "neighbor_ptr": np.searchsorted(entries[0], np.arange(len(ingress_node) + 1)).astype(
            np.int64
        ),
        "neighbor_asn": asn[entries[1]].astype(np.int64),
        "neighbor_n_direct": np.zeros(entries.shape[1], np.int64),
        "border_near_asn": asn[row[near]].astype(np.int64),
        "border_near": node[near],
        "border_far_asn": asn[row[far]].astype(np.int64),
        "border_far": node[far],
        "border_columns": _columns(original, links.donor, row[near], row[far], seed),
    }


def _in_powers(counts: np.ndarray) -> np.ndarray:
    """Counts as powers of 2: 0 for 0, 1 for 1, 2 for 2 and 3, 3 for 4 to 7."""
    return np.ceil(np.log2(counts + 1)).astype(np.int64)


def _fitted_links(
    original: Original, links: AsLinks, n_ingresses: np.ndarray, n_routers: np.ndarray
) -> np.ndarray:
    """How many links each two linked ASes have, one at least.

    Parameters
    ----------
    original : Original
    links : AsLinks
    n_ingresses, n_routers : (n_ases,) int64
        Ingresses of each AS, and routers at which links to others may end.
    """
    n = len(links.donor)
    ends = np.append(original.border_near, original.border_far)
    old_ends, old_ingresses = (
        np.bincount(original.rows_of(nodes), minlength=original.n_ases)[links.donor]
        for nodes in (ends, original.ingress)
    )
    times = np.where(old_ingresses > 0, n_ingresses / np.maximum(old_ingresses, 1), 1.0)
    wanted = old_ends * times
    most = np.maximum(n_routers[links.near] * n_routers[links.far], 1).astype(np.float64)
    fitted = np.clip(links.n_links.astype(np.float64), 1, most)
    for _ in range(_FITS):
        have = np.bincount(links.near, fitted, n) + np.bincount(links.far, fitted, n)
        root = np.sqrt(wanted / np.maximum(have, 1))
        fitted = np.clip(fitted * root[links.near] * root[links.far], 1, most)
    return np.diff(np.floor(np.cumsum(fitted) + 0.5 + 1e-6), prepend=0).astype(np.int64)


def _columns(
    original: Original, donor: np.ndarray, near: np.ndarray, far: np.ndarray, seed: int
) -> dict[str, np.ndarray]:
    """Weights of links between ASes, from the original's between ASes of such sizes.

    ``near``, ``far``: (n_borders,) int64 AS rows.
    """
    if original.border_weight is None or not len(original.border_weight):
        return {}
    size = _in_powers(original.sizes())
    old, new = (
        64 * ends.min(axis=0) + ends.max(axis=0)
        for ends in (
            size[[original.rows_of(original.border_near), original.rows_of(original.border_far)]],
            size[donor[[near, far]]],
        )
    )
    order = np.lexsort((original.border_weight, old))
    keys, first, n_old = np.unique(old[order], return_index=True, return_counts=True)
    at = np.minimum(np.searchsorted(keys, new), len(keys) - 1)  # the next where there is none
    word = mix_words(
        (np.arange(len(new), dtype=np.uint64) + np.uint64((seed ^ _WEIGHTS) % 2**64)) * GOLDEN
    )
    drawn = np.lexsort((word, at))
    n_new = np.bincount(at, minlength=len(keys))
    place = np.arange(len(new)) - np.repeat(np.cumsum(n_new) - n_new, n_new)
    share = (n_old / np.maximum(n_new, 1))[at[drawn]]
    weight = np.empty(len(new), np.float32)
    chosen = first[at[drawn]] + ((place + 0.5) * share).astype(np.int64)
    weight[drawn] = original.border_weight[order][chosen]
    return {"weight": weight}


def _border_routers(
    original: Original,
    of_original: np.ndarray,
    donor: np.ndarray,
    node_ptr: np.ndarray,
    ingress_ptr: np.ndarray,
    ingress_node: np.ndarray,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Routers of each AS at which links to others may end.

    Its ingresses, and as many others to each ingress as in the AS that it is like: traffic leaves
    by them. Which others is drawn.

    Returns
    -------
    ptr : (n_ases + 1,) int64
    node : (n,) int32
        Local node ids, ingresses first.
    ingress : (n,) int64
        Their numbers; -1 for the others.
    """
    is_ingress = np.isin(of_original, original.ingress)
    n_ases = original.n_ases
    n_old, n_others = (
        np.bincount(original.rows_of(nodes), minlength=n_ases)[donor]
        for nodes in (original.ingress, of_original[~is_ingress])
    )
    n_ingresses, sizes = np.diff(ingress_ptr), np.diff(node_ptr)
    more = np.where(n_old > 0, np.rint(n_others * n_ingresses / np.maximum(n_old, 1)), n_others)
    more = np.minimum(more.astype(np.int64), sizes - n_ingresses)
    word = mix_words(
        (np.arange(node_ptr[-1], dtype=np.uint64) + np.uint64((seed ^ _OTHERS) % 2**64)) * GOLDEN
    )
    row = np.repeat(np.arange(len(donor)), n_ingresses)
    word[node_ptr[row] + ingress_node] = np.iinfo(np.uint64).max  # after all others
    ptr = np.zeros(len(donor) + 1, np.int64)
    np.cumsum(n_ingresses + more, out=ptr[1:])
    node, ingress = np.empty(ptr[-1], np.int32), np.full(ptr[-1], -1)
    at = np.arange(len(ingress_node)) + np.repeat(ptr[:-1] - ingress_ptr[:-1], n_ingresses)
    node[at], ingress[at] = ingress_node, np.arange(len(ingress_node))
    for i in np.flatnonzero(more).tolist():
        own = word[node_ptr[i] : node_ptr[i + 1]]
        node[ptr[i + 1] - more[i] : ptr[i + 1]] = np.argsort(own, kind="stable")[: more[i]]
    return ptr, node, ingress


def _ends(
    original: Original,
    counts: tuple[np.ndarray, np.ndarray],
    donor: np.ndarray,
    border_ptr: np.ndarray,
    row: np.ndarray,
    seed: int,
) -> np.ndarray:
    """A border router for each end of a link, by the AS row of the end.

    The ends of an AS are spread over its border routers as in the AS that it is like: its routers
    in the order of their number of ends there take the same shares, ingresses first.
    """
    old_row = original.rows_of(counts[0])
    old_ptr = np.searchsorted(old_row, np.arange(original.n_ases + 1))
    chance = mix_words(
        (np.arange(len(row), dtype=np.uint64) + np.uint64((seed ^ _KEY) % 2**64)) * GOLDEN
    )
    order = np.lexsort((chance, row))
    found = np.empty(len(row), np.int64)
    n_each = np.diff(border_ptr)
    ptr = np.searchsorted(row[order], np.arange(len(donor) + 1))
    for i in np.flatnonzero(np.diff(ptr)).tolist():
        own = slice(old_ptr[donor[i]], old_ptr[donor[i] + 1])
        n_ends = int(ptr[i + 1] - ptr[i])
        found[order[ptr[i] : ptr[i + 1]]] = border_ptr[i] + _spread(
            np.sort(counts[1][own])[::-1], int(n_each[i]), n_ends
        )
    return found


def _part_repeated(ends: np.ndarray, row: np.ndarray, seed: int) -> None:
    """Exchange ends of links that join the same two routers as others, in place.

    An end is exchanged with one of another link of its AS, so each router keeps its number of
    ends. What finds no partner stays: two ASes may have more links than pairs of such routers.

    ``ends``, ``row``: (2 n_links,) int64, near ends, then far ends, and their ASes.
    """
    n = len(ends) // 2
    pair = ends[:n] * (int(ends.max(initial=0)) + 1) + ends[n:]
    first = np.unique(pair, return_index=True)[1]
    repeated = np.setdiff1d(np.arange(n), first)
    if not len(repeated):
        return
    slots = np.argsort(row, kind="stable")
    begin = np.searchsorted(row[slots], row)
    n_of_as = np.searchsorted(row[slots], row, side="right") - begin
    at, slot_of = ends.tolist(), slots.tolist()
    joined = Counter(zip(at[:n], at[n:], strict=True))
    for link in repeated.tolist():
        words = (np.arange(_MOST_TRIES, dtype=np.uint64) + np.uint64(link * _MOST_TRIES)) * GOLDEN
        chance = mix_words(words ^ np.uint64(seed % 2**64)).tolist()
        for n_tried, word in enumerate(chance):
            own = link + n * (n_tried % 2)
            partner = slot_of[int(begin[own]) + word % int(n_of_as[own])]
            other = partner % n
            old = [(at[one], at[one + n]) for one in (link, other)]
            at[own], at[partner] = at[partner], at[own]
            new = [(at[one], at[one + n]) for one in (link, other)]
            if other != link and new[0] != new[1] and not any(joined[each] for each in new):
                joined.subtract(old)
                joined.update(new)
                break
            at[own], at[partner] = at[partner], at[own]
    ends[:] = at


def _ends_of_routers(original: Original) -> tuple[np.ndarray, np.ndarray]:
    """Routers at which links between ASes end, and how many."""
    return np.unique(
        np.concatenate([original.border_near, original.border_far]), return_counts=True
    )


def _spread(counts: np.ndarray, n_routers: int, n_ends: int) -> np.ndarray:
    """Which of ``n_routers`` each of ``n_ends`` is at, by descending counts of the original."""
    if not len(counts):
        counts = np.ones(1, np.int64)
    at = (np.arange(n_routers) + 0.5) * len(counts) / n_routers
    share = counts[at.astype(np.int64)].astype(np.float64)
    # One each, as far as there are ends; the rest by shares.
    once = np.arange(min(n_routers, n_ends))
    rest = n_ends - len(once)
    more = np.maximum(share - 1, 0)
    more = np.ones(n_routers) if more.sum() == 0 else more
    bounds = np.cumsum(more) / more.sum()
    return np.append(once, np.searchsorted(bounds, (np.arange(rest) + 0.5) / max(rest, 1)))
