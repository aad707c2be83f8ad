"""Links to sorted, symmetric adjacency lists, by counting sort; compiled, one pass per step.

The lists are sorted without comparing: every link is first filed under each of its ends in the
order of the links, then the lists are read by ascending node and each entry is filed under the
node it names. So a list comes out ascending, and equal neighbours stay in the order of their
links. Work and memory are linear in nodes and links, whatever their distribution over ASes.

Parallel links (several between the same two nodes) become one: **the lightest, the first of equal
ones**; a weight that is NaN loses against any other. The columns of that link are kept, so a
row of the store never mixes two links, and both directions name the same link.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NOT_PLACED = -1  # place of a node that belongs to no AS


@njit(cache=True, nogil=True)
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
        Place of each node, ``NOT_PLACED`` without an AS.
    """
    node_ptr = np.zeros(n_rows + 1, np.int64)
    for v in range(row.size):
        if row[v] >= 0:
            node_ptr[row[v] + 1] += 1
    for i in range(n_rows):
        node_ptr[i + 1] += node_ptr[i]
    cursor = node_ptr[:n_rows].copy()
    place = np.full(row.size, NOT_PLACED, np.int64)
    for v in range(row.size):
        if row[v] >= 0:
            place[v] = cursor[row[v]]
            cursor[row[v]] += 1
    return node_ptr, place


@njit(cache=True, nogil=True)
def nodes_by_place(place: np.ndarray, n_placed: int) -> np.ndarray:
    """The node at each place; (n_placed,) int64."""
    node = np.empty(n_placed, np.int64)
    for v in range(place.size):
        if place[v] >= 0:
            node[place[v]] = v
    return node


@njit(cache=True, nogil=True)
def count_links(near, far, row, place, degree):
    """Add the links within ASes to ``degree`` (by place).

    Returns how many loops, links with an end in no AS, and links between ASes there are.
    """
    n_loops, n_unmapped, n_border = 0, 0, 0
    for i in range(near.size):
        a, b = near[i], far[i]
        if a == b:
            n_loops += 1
        elif row[a] < 0 or row[b] < 0:
            n_unmapped += 1
        elif row[a] != row[b]:
            n_border += 1
        else:
            degree[place[a]] += 1
            degree[place[b]] += 1
    return n_loops, n_unmapped, n_border


@njit(cache=True, nogil=True)
def file_links(near, far, row, place, node_ptr, start, neighbor, link):
    """File each link within an AS under both of its ends, in the order of the links.

    ``neighbor`` takes local ids, ``link`` positions of links unless it is empty.
    """
    cursor = start[:-1].copy()
    with_links = link.size > 0
    for i in range(near.size):
        a, b = near[i], far[i]
        r = row[a]
        if a == b or r < 0 or r != row[b]:
            continue
        base = node_ptr[r]
        p, q = place[a], place[b]
        neighbor[cursor[p]] = q - base
        neighbor[cursor[q]] = p - base
        if with_links:
            link[cursor[p]] = i
            link[cursor[q]] = i
        cursor[p] += 1
        cursor[q] += 1


@njit(cache=True, nogil=True)
def sort_lists(node_ptr, start, neighbor, link, sorted_neighbor, sorted_link):
    """Read the lists by ascending node and file each entry under the node it names."""
    cursor = start[:-1].copy()
    with_links = link.size > 0
    for r in range(node_ptr.size - 1):
        base = node_ptr[r]
        for v in range(base, node_ptr[r + 1]):
            for k in range(start[v], start[v + 1]):
                u = base + neighbor[k]
                sorted_neighbor[cursor[u]] = v - base
                if with_links:
                    sorted_link[cursor[u]] = link[k]
                cursor[u] += 1


@njit(cache=True, nogil=True)
def is_lighter(a, b):
    """Whether weight a beats weight b; NaN loses against any number."""
    return a < b or (b != b and a == a)


@njit(cache=True, nogil=True)
def merge_parallel(start, neighbor, link, weight, degree):
    """Keep the lightest of equal neighbours, in place; returns the number of arcs left.

    ``degree`` is set to what is left of each list. ``weight`` is by link, or empty.
    """
    n_kept = 0
    with_links, with_weights = link.size > 0, weight.size > 0
    for v in range(start.size - 1):
        first = n_kept
        for k in range(start[v], start[v + 1]):
            if n_kept > first and neighbor[n_kept - 1] == neighbor[k]:
                if with_weights and is_lighter(weight[link[k]], weight[link[n_kept - 1]]):
                    link[n_kept - 1] = link[k]
                continue
            neighbor[n_kept] = neighbor[k]
            if with_links:
                link[n_kept] = link[k]
            n_kept += 1
        degree[v] = n_kept - first
    return n_kept


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
