"""A synthetic Internet: ASes of very different sizes, the links between them, their ingresses.

Inside, each AS is a Barabasi-Albert graph whose routers are in random order, like routers sorted by
address. Sizes and numbers of ingresses follow ``size_law``; which AS number has which size is
random, and so are the routers that are ingresses.

From each ingress one link goes to an ingress of another AS, drawn uniformly from all of those: an
AS is drawn in proportion to its ingresses, so larger ones more often. The first ingress of an AS
draws from the larger ASes only, so that all are connected. A link drawn from both of its ends is
one link. So every ingress has a link, and some have many.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit

from kernels.csr import hash_arrays
from pipeline.errors import UsageError
from pipeline.generate.barabasi_albert import (
    attach,
    attach_all,
    check_numbers,
    core_ends,
    n_links,
)
from pipeline.generate.csr import (
    ONE_BUCKET,
    SHUFFLE_KEY,
    file_links,
    fill_rows,
    shuffle,
    shuffled_ids,
    split_by_bucket,
)
from pipeline.generate.laws.plane import with_geometry
from pipeline.generate.laws.size_law import as_sizes, bounds, n_ingresses
from pipeline.generate.shares import part
from pipeline.generate.threads import call_each
from pipeline.model.graphs import GraphSet
from pipeline.model.random_words import draw_below, start_stream, stream_start
from pipeline.model.synthetic import FIRST_ASN, MAX_INGRESSES, Parameters
from pipeline.model.topology import Topology

_BLOCK_NODES = 1 << 17  # of ASes that a thread makes at a time; a larger AS is made by all threads
# Keys of random streams: different from those of links inside ASes (the AS) and from one another.
_DRAWN = 0.4  # share of the time that making the graphs takes, where columns are made too
_INGRESS_KEY = np.uint64(1 << 43)  # plus the AS
_BETWEEN_KEY = np.uint64(1 << 44)
_ORDER_KEY = np.uint64((1 << 44) + 1)


def make(given: Parameters) -> Topology:
    """ASes of very different sizes, as ``generate`` takes them."""
    with part(0.0, _DRAWN):
        graphs = make_graphs(given)
    return internet_topology(graphs, seed=given.seed)


def check(given: Parameters) -> None:
    """Raise UsageError unless ASes of these sizes have as many routers in all."""
    bounds(given.n_ases, given.n_routers, smallest=given.smallest, largest=given.largest)


def make_graphs(given: Parameters) -> GraphSet:
    """The same without positions, lengths and other columns."""
    return generate_internet(
        given.n_ases,
        given.n_routers,
        m=given.m,
        seed=given.seed,
        smallest=given.smallest,
        largest=given.largest,
        max_ingresses=given.max_ingresses,
    )


def generate_internet(
    n_ases: int,
    n_routers: int,
    *,
    m: int = 2,
    seed: int = 1,
    smallest: int | None = None,
    largest: int | None = None,
    max_ingresses: int = MAX_INGRESSES,
    n_threads: int | None = None,
) -> GraphSet:
    """The graphs of a synthetic Internet, ready to be written to a store.

    Parameters
    ----------
    n_ases, n_routers : int
        In all; 2 ASes or more, numbered from 1.
    m : int
        Links of each new router inside its AS.
    seed : int
        0 to 2**64 - 1.
    smallest, largest : int or None
        Routers of the smallest and of the largest AS; see ``as_sizes``.
    max_ingresses : int
        Maximum number of ingresses of an AS; see ``n_ingresses``.
    n_threads : int or None
        None: one thread per core. The result is the same on any number.

    Returns
    -------
    GraphSet
        Every AS is connected, and so are the ASes. Node ids number all routers from 0, AS after
        AS; there are no weights and no optional columns.

    Raises
    ------
    UsageError
        If a number is out of range.

    Notes
    -----
    Peak memory is about 13 bytes per router and 4 per arc, with 28 bytes per router and 8 per arc
    of the ASes that are being made.
    """
    check_numbers(n_routers, m, seed)
    if max_ingresses < 1:
        raise UsageError(f"at most {max_ingresses} ingresses per AS: give 1 or more")
    sizes = as_sizes(n_ases, n_routers, smallest=smallest, largest=largest)
    order = np.empty(n_ases, np.int32)
    shuffle(order, np.uint64(seed), _ORDER_KEY)
    sizes = sizes[order]
    m = min(m, int(sizes.max()))
    node_ptr = _summed(sizes)
    arc_ptr = _summed(2 * n_links(sizes, m))
    degree = np.empty(n_routers, np.int32)
    indices = np.empty(int(arc_ptr[-1]), np.int32)
    hashes = _make_all(node_ptr, arc_ptr, m, seed, degree, indices, n_threads)
    return GraphSet(
        asn=np.arange(FIRST_ASN, FIRST_ASN + n_ases, dtype=np.int64),
        node_ptr=node_ptr,
        arc_ptr=arc_ptr,
        degree=degree,
        indices=indices,
        graph_hash=hashes,
        component_count=np.ones(n_ases, np.int64),
        largest_component=sizes.copy(),
        **_borders(sizes, n_ingresses(sizes, smallest=int(sizes.min()), most=max_ingresses), seed),
        node_id=np.arange(n_routers, dtype=np.int64),
    )


def internet_topology(graphs: GraphSet, *, seed: int = 1) -> Topology:
    """The routers and links of a synthetic Internet, with every column that a BRITE file has.

    Parameters
    ----------
    graphs : GraphSet
        Of ``generate_internet``.
    seed : int
        Seed of positions and bandwidths.

    Returns
    -------
    Topology
        Links inside ASes come first, those between ASes last.
    """
    sizes = np.diff(graphs.node_ptr)
    near = np.repeat(np.arange(len(graphs.degree)), graphs.degree)
    far = graphs.indices + np.repeat(graphs.node_ptr[:-1], np.diff(graphs.arc_ptr))
    once = near < far
    ends = [
        graphs.node_ptr[asn - FIRST_ASN] + node
        for asn, node in (
            (graphs.border_near_asn, graphs.border_near),
            (graphs.border_far_asn, graphs.border_far),
        )
    ]
    return with_geometry(
        node_asn=np.repeat(graphs.asn, sizes),
        node_ptr=graphs.node_ptr,
        near=np.concatenate([near[once], ends[0]]),
        far=np.concatenate([far[once], ends[1]]),
        first_node_id=0,
        first_edge_id=0,
        seed=seed,
        drawn=_DRAWN,
    )


def _make_all(
    node_ptr: np.ndarray,
    arc_ptr: np.ndarray,
    m: int,
    seed: int,
    degree: np.ndarray,
    indices: np.ndarray,
    n_threads: int | None,
) -> list[str]:
    """Fill ``degree`` and ``indices``; the ``graph_hash`` of each AS."""
    core = core_ends(m)
    hashes: list[str] = [""] * (len(node_ptr) - 1)

    def hash_one(i: int, indptr: np.ndarray) -> None:
        hashes[i] = hash_arrays(indptr, indices[arc_ptr[i] : arc_ptr[i + 1]])

    def make_some(first: int, last: int) -> None:
        _make_ases(first, last, node_ptr, arc_ptr, m, np.uint64(seed), core, degree, indices)
        for i in range(first, last):
            hash_one(i, _summed(degree[node_ptr[i] : node_ptr[i + 1]]))

    def make_one(i: int) -> np.ndarray:
        n_nodes = int(node_ptr[i + 1] - node_ptr[i])
        with part(0.0, 0.4):  # by time, on two cores
            near, far = attach_all(np.array([0, n_nodes]), m, seed, first=i, n_threads=n_threads)
        indptr = np.empty(n_nodes + 1, np.int64)
        ids = shuffled_ids(n_nodes, seed, i)
        own = indices[arc_ptr[i] : arc_ptr[i + 1]]
        with part(0.4, 1.0):
            file_links(near, far, ids, indptr, own, n_threads)
        np.subtract(
            indptr[1:], indptr[:-1], out=degree[node_ptr[i] : node_ptr[i + 1]], casting="unsafe"
        )
        return indptr

    # One thread hashes a large AS while all make the next.
    with ThreadPoolExecutor(1) as hashing:
        blocks, large = _blocks(node_ptr)
        hashed, made = [], 0.0
        for i in large:
            share = (node_ptr[i + 1] - node_ptr[i]) / node_ptr[-1]
            with part(made, made + share):
                hashed.append(hashing.submit(hash_one, i, make_one(i)))
            made += share
        with part(made, 1.0):
            call_each(make_some, blocks, n_threads)
        for done in hashed:
            done.result()
    return hashes


def _blocks(node_ptr: np.ndarray) -> tuple[list[tuple[int, int]], list[int]]:
    """AS rows in runs that a thread makes at a time, and those that all make together."""
    large = np.flatnonzero(np.diff(node_ptr) > _BLOCK_NODES)
    blocks = []
    for first, stop in itertools.pairwise([-1, *large.tolist(), len(node_ptr) - 1]):
        first += 1
        while first < stop:
            end = np.searchsorted(node_ptr, node_ptr[first] + _BLOCK_NODES, side="right") - 1
            blocks.append((first, min(int(end), stop)))
            first = blocks[-1][1]
    return blocks, large.tolist()


@njit(cache=True, nogil=True)
def _make_ases(first, last, node_ptr, arc_ptr, m, seed, core, degree, indices):
    """Graphs of AS rows first .. last - 1: their links, then shuffled, then filed by row."""
    most_nodes, most_arcs = 0, 0
    for i in range(first, last):
        most_nodes = max(most_nodes, node_ptr[i + 1] - node_ptr[i])
        most_arcs = max(most_arcs, arc_ptr[i + 1] - arc_ptr[i])
    links = np.empty((2, most_arcs // 2), np.int32)
    arcs = np.empty((2, most_arcs), np.int32)
    all_ids, all_cursors = np.empty(most_nodes, np.int32), np.empty(most_nodes, np.int64)
    all_indptr, at = np.empty(most_nodes, np.int64), np.empty(1, np.int64)
    for i in range(first, last):
        n, n_arcs = node_ptr[i + 1] - node_ptr[i], arc_ptr[i + 1] - arc_ptr[i]
        near, far = links[0, : n_arcs // 2], links[1, : n_arcs // 2]
        row, head = arcs[0, :n_arcs], arcs[1, :n_arcs]
        ids, cursor, indptr = all_ids[:n], all_cursors[:n], all_indptr[:n]
        attach(0, n, n, m, stream_start(seed, np.uint64(i)), core, 0, near, far)
        shuffle(ids, seed, SHUFFLE_KEY + np.uint64(i))
        at[0] = 0
        split_by_bucket(near, far, ids, ONE_BUCKET, at, row, head)
        own = indices[arc_ptr[i] : arc_ptr[i + 1]]
        fill_rows(0, 0, n_arcs, row, head, cursor, indptr, own)
        for node in range(n):
            degree[node_ptr[i] + node] = cursor[node] - indptr[node]


def _borders(sizes: np.ndarray, n_each: np.ndarray, seed: int) -> dict[str, Any]:
    """The ingress and border columns of GraphSet."""
    ingress_ptr = _summed(n_each)
    node = np.empty(int(ingress_ptr[-1]), np.int32)
    _choose_ingresses(sizes, ingress_ptr, np.uint64(seed), node)
    near, far = _links_between(sizes, n_each, ingress_ptr, seed)
    row = np.repeat(np.arange(len(sizes)), n_each)
    # Each ingress with the ASes at the other ends of its links, each AS once.
    pairs = np.unique(np.stack([np.append(near, far), row[np.append(far, near)]]), axis=1)
    return {
        "ingress_ptr": ingress_ptr,
        "ingress_node": node,
        "neighbor_ptr": np.searchsorted(pairs[0], np.arange(len(node) + 1)).astype(np.int64),
        "neighbor_asn": pairs[1] + FIRST_ASN,
        "n_direct": np.zeros(len(node), np.int64),  # there are no traces
        "n_after_gap": np.zeros(len(node), np.int64),
        "candidate": np.zeros(len(node), bool),
        "neighbor_n_direct": np.zeros(pairs.shape[1], np.int64),
        "border_near_asn": row[near] + FIRST_ASN,
        "border_near": node[near],
        "border_far_asn": row[far] + FIRST_ASN,
        "border_far": node[far],
    }


@njit(cache=True, nogil=True)
def _choose_ingresses(sizes, ingress_ptr, seed, node):
    """Distinct routers of each AS, ascending: Floyd's sampling (CACM 30, 1987)."""
    state = np.empty(1, np.uint64)
    for i in range(len(sizes)):
        chosen = node[ingress_ptr[i] : ingress_ptr[i + 1]]
        start_stream(state, seed, _INGRESS_KEY + np.uint64(i))
        n = len(chosen)
        for k in range(n):
            newest = sizes[i] - n + k
            drawn = draw_below(state, newest + 1)
            for j in range(k):
                if chosen[j] == drawn:
                    drawn = newest
                    break
            chosen[k] = drawn
        chosen.sort()


def _links_between(
    sizes: np.ndarray, n_each: np.ndarray, ingress_ptr: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Links between ASes, each once, sorted: positions in the ingress table, near < far."""
    by_size = np.argsort(-sizes, kind="stable")
    ranked_ptr = _summed(n_each[by_size])  # ingresses, AS after AS by size
    drawn = np.empty(int(ranked_ptr[-1]), np.int64)
    _draw_other_ends(ranked_ptr, np.uint64(seed), drawn)
    at = np.repeat(ingress_ptr[by_size] - ranked_ptr[:-1], n_each[by_size]) + np.arange(len(drawn))
    ends = np.stack([at, at[drawn]])
    near, far = np.unique(np.sort(ends, axis=0), axis=1)
    return near, far


@njit(cache=True, nogil=True)
def _draw_other_ends(ptr, seed, drawn):
    """For each ingress one of another AS; the first of an AS draws from those before."""
    state = np.empty(1, np.uint64)
    start_stream(state, seed, _BETWEEN_KEY)
    for i in range(len(ptr) - 1):
        own = ptr[i + 1] - ptr[i]
        for k in range(ptr[i], ptr[i + 1]):
            if k == ptr[i] and i > 0:
                drawn[k] = draw_below(state, ptr[i])
            else:
                other = draw_below(state, ptr[-1] - own)
                drawn[k] = other if other < ptr[i] else other + own


def _summed(counts: np.ndarray) -> np.ndarray:
    """(n + 1,) int64: the sums before each, and the total."""
    before = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=before[1:])
    return before
