"""Links to sorted, symmetric adjacency lists; compiled, on several threads.

Every link is first filed under both of its ends by bucket of nodes, in the order of the links, then
each bucket is sorted by itself: it fits into a core's cache. Equal neighbours stay in the order of
their links, so the lists are the same on any number of threads. Work and memory are linear in nodes
and links, whatever their distribution over ASes.

Parallel links (several between the same two nodes) become one: **the lightest, the first of equal
ones**; a weight that is NaN loses against any other. The columns of that link are kept, so a
row of the store never mixes two links, and both directions name the same link.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit

from kernels.host import n_cores

NOT_PLACED = -1  # place of a node that belongs to no AS

_BUCKET_SHIFT = 15  # nodes of a bucket are 2 to this power, at most 16
_IN_BUCKET = (1 << _BUCKET_SHIFT) - 1
_SHORT_ROW = 32  # arcs; longer rows are sorted by numba's merge sort
_FEW_LINKS = 1 << 16  # not worth a second thread


class Adjacency(NamedTuple):
    """Adjacency lists of the nodes of all ASes, side by side, and what is in none.

    Attributes
    ----------
    degree : (n_placed,) int32
    indices : (n_arcs,) int32
        Local ids, ascending within a node.
    link : (n_arcs,) int32 or int64
        The link behind each arc; empty if none is kept.
    n_parallel, n_loops, n_unmapped, n_border : int
        Links that another replaced, from a node to itself, with an end in no AS, between two ASes.
    """

    degree: np.ndarray
    indices: np.ndarray
    link: np.ndarray
    n_parallel: int
    n_loops: int
    n_unmapped: int
    n_border: int


def place_nodes(row: np.ndarray, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Put the nodes of each AS side by side, in their given order.

    Parameters
    ----------
    row : (n_nodes,) int32
        AS row of each node; negative: none.
    n_rows : int

    Returns
    -------
    node_ptr : (n_rows + 1,) int64
        Places of AS row i are node_ptr[i]:node_ptr[i + 1].
    place : (n_nodes,) int64
        Place of each node, ``NOT_PLACED`` without an AS. NumPy's, on huge pages where the system
        gives them: it is read at random.
    """
    node_ptr = np.zeros(n_rows + 1, np.int64)
    place = np.empty(row.size, np.int64)
    _place_nodes(row, node_ptr, place)
    return node_ptr, place


@njit(cache=True, nogil=True)
def _place_nodes(row, node_ptr, place):
    n_rows = node_ptr.size - 1
    for v in range(row.size):
        if row[v] >= 0:
            node_ptr[row[v] + 1] += 1
    for i in range(n_rows):
        node_ptr[i + 1] += node_ptr[i]
    cursor = node_ptr[:n_rows].copy()
    for v in range(row.size):
        place[v] = NOT_PLACED
        if row[v] >= 0:
            place[v] = cursor[row[v]]
            cursor[row[v]] += 1


@njit(cache=True, nogil=True)
def nodes_by_place(place: np.ndarray, n_placed: int) -> np.ndarray:
    """The node at each place; (n_placed,) int64."""
    node = np.empty(n_placed, np.int64)
    for v in range(place.size):
        if place[v] >= 0:
            node[place[v]] = v
    return node


def adjacency(
    near: np.ndarray,
    far: np.ndarray,
    row: np.ndarray,
    place: np.ndarray,
    node_ptr: np.ndarray,
    weight: np.ndarray,
    keep_links: bool,
) -> Adjacency:
    """Sorted neighbours of the nodes of all ASes, from links; threads share the work.

    Parameters
    ----------
    near, far : (n_links,) int64 or int32
    row : (n_nodes,) int32
        AS row of each node; negative: none.
    place, node_ptr
        Of ``place_nodes``.
    weight : (n_links,) float32
        By which one of parallel links is kept; empty: the first is.
    keep_links : bool
        Whether to say which link is behind each arc.

    Notes
    -----
    Peak memory besides the result is 6 bytes per arc, 10 with links.
    """
    n_placed = int(node_ptr[-1])
    n_buckets = (max(n_placed, 1) - 1 >> _BUCKET_SHIFT) + 1
    n_threads = n_cores() if len(near) > _FEW_LINKS else 1
    cuts = np.linspace(0, len(near), n_threads + 1).astype(np.int64).tolist()
    if len(node_ptr) == 2 and n_placed == len(row):  # one AS: each node is at its own place
        row, place = row[:0], place[:0]
    parts = [(near[a:b], far[a:b], row, place) for a, b in itertools.pairwise(cuts)]
    link_dtype = np.int32 if len(near) < 2**31 else np.int64
    with ThreadPoolExecutor(n_threads) as pool:
        counts = np.zeros((n_threads, n_buckets), np.int64)
        found = list(pool.map(_count_links, *zip(*parts, strict=True), counts))
        # Bucket after bucket, and in each the arcs of one thread after those of another.
        at = np.cumsum(counts.T.ravel()) - counts.T.ravel()
        at = at.reshape(n_buckets, n_threads).T.copy()
        n_arcs = int(counts.sum())
        bucket_ptr = np.append(at[0], n_arcs)
        n_kept_links = n_arcs if keep_links else 0
        own, neighbor = np.empty(n_arcs, np.uint16), np.empty(n_arcs, np.int32)
        behind = np.empty(n_kept_links, link_dtype)
        list(
            pool.map(
                lambda i: _file_links(*parts[i], node_ptr, cuts[i], at[i], own, neighbor, behind),
                range(n_threads),
            )
        )
        indices, link = np.empty(n_arcs, np.int32), np.empty(n_kept_links, link_dtype)
        degree = np.zeros(n_placed, np.int32)

        def fill(bucket: int) -> int:
            arcs = slice(bucket_ptr[bucket], bucket_ptr[bucket + 1])
            of_links = arcs if keep_links else slice(0, 0)
            nodes = slice(bucket << _BUCKET_SHIFT, bucket + 1 << _BUCKET_SHIFT)
            return _fill_bucket(
                own[arcs],
                neighbor[arcs],
                behind[of_links],
                weight,
                degree[nodes],
                indices[arcs],
                link[of_links],
            )

        n_left = np.array(list(pool.map(fill, range(n_buckets))), np.int64)
    left_ptr = np.append(0, np.cumsum(n_left))
    if left_ptr[-1] < n_arcs:  # what was behind a bucket's parallel links moves up
        for column in (indices, link) if keep_links else (indices,):
            for bucket in range(n_buckets):
                moved = column[bucket_ptr[bucket] : bucket_ptr[bucket] + n_left[bucket]]
                column[left_ptr[bucket] : left_ptr[bucket + 1]] = moved
        indices = indices[: left_ptr[-1]].copy()
        link = link[: left_ptr[-1]]
    n_loops, n_unmapped, n_border = np.sum(found, axis=0).tolist()
    n_parallel = (n_arcs - int(left_ptr[-1])) // 2
    return Adjacency(degree, indices, link, n_parallel, n_loops, n_unmapped, n_border)


@njit(cache=True, nogil=True)
def _count_links(near, far, row, place, counts):
    """Add the ends of links within ASes to ``counts`` by bucket.

    Returns how many loops, links with an end in no AS, and links between ASes there are. ``row``
    and ``place`` are empty if all nodes are of one AS, in their order.
    """
    n_loops, n_unmapped, n_border = 0, 0, 0
    if row.size == 0:
        for i in range(near.size):
            if near[i] == far[i]:
                n_loops += 1
            else:
                counts[near[i] >> _BUCKET_SHIFT] += 1
                counts[far[i] >> _BUCKET_SHIFT] += 1
        return n_loops, n_unmapped, n_border
    for i in range(near.size):
        a, b = near[i], far[i]
        if a == b:
            n_loops += 1
        elif row[a] < 0 or row[b] < 0:
            n_unmapped += 1
        elif row[a] != row[b]:
            n_border += 1
        else:
            counts[place[a] >> _BUCKET_SHIFT] += 1
            counts[place[b] >> _BUCKET_SHIFT] += 1
    return n_loops, n_unmapped, n_border


@njit(cache=True, nogil=True)
def _file_links(near, far, row, place, node_ptr, first, at, own, neighbor, behind):
    """File the arcs of links within ASes by bucket, in the order of the links from ``first`` on.

    ``own`` takes the place within the bucket, ``neighbor`` the local id of the other end,
    ``behind`` the link unless it is empty. ``row`` and ``place`` as in ``_count_links``.
    """
    with_links, is_one = behind.size > 0, row.size == 0
    for i in range(near.size):
        a, b = near[i], far[i]
        if a == b:
            continue
        base, s, t = np.int64(0), a, b
        if not is_one:
            r = row[a]
            if r < 0 or r != row[b]:
                continue
            base, s, t = node_ptr[r], place[a], place[b]
        for p, q in ((s, t), (t, s)):
            k = at[p >> _BUCKET_SHIFT]
            at[p >> _BUCKET_SHIFT] = k + 1
            own[k] = p & _IN_BUCKET
            neighbor[k] = q - base
            if with_links:
                behind[k] = first + i


@njit(cache=True, nogil=True)
def _fill_bucket(own, neighbor, behind, weight, degree, indices, link):
    """Sort the arcs of a bucket by node, neighbour and link, and merge parallel ones.

    Sets ``degree`` to what is left of each node; returns how many arcs are left in all.
    """
    with_links, with_weights = behind.size > 0, weight.size > 0
    for k in range(own.size):
        degree[own[k]] += 1
    cursor = np.empty(degree.size, np.int64)
    total = 0
    for v in range(degree.size):
        cursor[v] = total
        total += degree[v]
    for k in range(own.size):
        v = own[k]
        indices[cursor[v]] = neighbor[k]
        if with_links:
            link[cursor[v]] = behind[k]
        cursor[v] += 1
    n_kept = 0
    for v in range(degree.size):
        begin, end = cursor[v] - degree[v], cursor[v]
        _sort_row(indices[begin:end], link[begin:end] if with_links else link[:0])
        first = n_kept
        for k in range(begin, end):
            if n_kept > first and indices[n_kept - 1] == indices[k]:
                if with_weights and is_lighter(weight[link[k]], weight[link[n_kept - 1]]):
                    link[n_kept - 1] = link[k]
                continue
            indices[n_kept] = indices[k]
            if with_links:
                link[n_kept] = link[k]
            n_kept += 1
        degree[v] = n_kept - first
    return n_kept


@njit(cache=True, nogil=True)
def _sort_row(neighbor, link):
    """Sort neighbours, those that are equal in the order in which they are; links go with them."""
    with_links = link.size > 0
    if neighbor.size > _SHORT_ROW:
        order = np.argsort(neighbor, kind="mergesort")
        neighbor[:] = neighbor[order]
        if with_links:
            link[:] = link[order]
        return
    for i in range(1, neighbor.size):
        value, j = neighbor[i], i
        moved = np.int64(link[i]) if with_links else np.int64(0)
        while j > 0 and neighbor[j - 1] > value:
            neighbor[j] = neighbor[j - 1]
            if with_links:
                link[j] = link[j - 1]
            j -= 1
        neighbor[j] = value
        if with_links:
            link[j] = moved


@njit(cache=True, nogil=True)
def is_lighter(a, b):
    """Whether weight a beats weight b; NaN loses against any number."""
    return a < b or (b != b and a == a)


@njit(cache=True, nogil=True)
def collect_borders(near, far, row, place, low, high, link):
    """Links between ASes as places low < high (so by ascending asn), with their positions."""
    n = 0
    for i in range(near.size):
        a, b = near[i], far[i]
        if row[a] < 0 or row[b] < 0 or row[a] == row[b]:
            continue
        low[n] = min(place[a], place[b])
        high[n] = max(place[a], place[b])
        link[n] = i
        n += 1


@njit(cache=True, nogil=True)
def collect_unmapped(near, far, row, as_row, node):
    """Links with one end in an AS and the other in none: the AS row and the node in none."""
    n = 0
    for i in range(near.size):
        a, b = near[i], far[i]
        if (row[a] < 0) == (row[b] < 0):
            continue
        if n < as_row.size:
            as_row[n] = max(row[a], row[b])
            node[n] = b if row[b] < 0 else a
        n += 1
    return n
