"""A connected component of another size: its degrees, and its links between classes of degrees.

*Degrees* follow the original's by rank (Mahadevan, Hubble, Krioukov, Huffaker, Vahdat: Orbis:
rescaling degree correlations to generate annotated Internet topologies, SIGCOMM 2007): a router
takes the degree at its share of the ranking, interpolated between neighbours of the ranking at
logarithmic scale. Above the largest degree d a power law goes on, whose exponent is Hill's estimate
(1975) from the largest degrees: the s routers that take the place of one have degrees
(1 - g) d x ** -g, x from 0 to 1, which add up to s d as if all had d. So the mean degree stays and
the largest grows with s ** g.

*Classes* keep their shares of the routers; in a smaller component neighbouring degrees are of one
class where one alone would have no router. *Links between classes* are the original's, of which
rows and columns are multiplied until they add up to the new degrees (Sinkhorn, Knopp 1967): of all
matrices with these sums the one nearest to the original's, so that the preference of each class for
each other stays. No cell exceeds the number of pairs of routers. Fractions are rounded down and the
rest of each row is filled where fractions were largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

_MOST_EXPONENT = 0.9  # of ranks; with 1 the mean of degrees would not be finite
_TAIL = 0.5  # power of the number of routers whose degrees Hill's estimate uses
_ROUNDS = 300  # of fitting; most end after some ten
_CLOSE = 1e-7  # largest relative error of a row
_CLIPS = 6  # times that cells are cut to the number of pairs, and fitted again


@dataclass(frozen=True, eq=False)
class ScaledComponent:
    """Nodes of each class, their degrees in the order of classes, and links between classes."""

    n_nodes: np.ndarray
    degree: np.ndarray
    near: np.ndarray
    far: np.ndarray
    n_links: np.ndarray


def classes_of_scaled(degrees: np.ndarray, n_nodes: int) -> np.ndarray:
    """Class of each node of a component that is to have ``n_nodes``, by ascending degree.

    Parameters
    ----------
    degrees : (n_original,) int64
    n_nodes : int

    Returns
    -------
    (n_original,) int64
        The smallest degree of the class.
    """
    values, counts = np.unique(degrees, return_counts=True)
    ends = _shares(counts, n_nodes)
    # A class begins after the last degree that gives it a node; what is left joins the last one.
    gives = np.diff(ends, prepend=0) > 0
    begins = np.concatenate([[True], gives[:-1]])
    if not gives[-1] and gives.any():
        last = np.flatnonzero(gives)[-1]
        begins[last + 1 :] = False
    smallest = values[begins][np.cumsum(begins) - 1]
    return smallest[np.searchsorted(values, degrees)]


def scaled_component(
    degrees: np.ndarray,
    class_sizes: np.ndarray,
    cells: tuple[np.ndarray, np.ndarray, np.ndarray],
    n_nodes: int,
) -> ScaledComponent:
    """Scale a component.

    Parameters
    ----------
    degrees : (n_original,) int64
    class_sizes : (n_classes,) int64
        Nodes of each class of the original, by ascending degree (``classes_of_scaled``).
    cells : near, far, n_links
        Links between its classes.
    n_nodes : int
    """
    new_sizes = np.diff(_shares(class_sizes, n_nodes), prepend=0)
    new = scaled_degrees(degrees, n_nodes)
    class_ptr = np.concatenate([[0], np.cumsum(new_sizes)])
    ends = np.add.reduceat(new, class_ptr[:-1])
    near, far, n_links = cells
    matrix = np.zeros((len(new_sizes), len(new_sizes)))
    matrix[near, far] += n_links
    matrix[far, near] += n_links  # a class's links to itself have both ends there
    most = np.outer(new_sizes, new_sizes).astype(np.float64)
    most[np.diag_indices(len(new_sizes))] -= new_sizes
    if n_nodes > 2:  # two routers of degree 1 that are linked would be a component
        leaves = np.maximum.reduceat(new, class_ptr[:-1]) == 1
        most[np.ix_(leaves, leaves)] = 0
    fitted = _fitted(matrix, ends.astype(np.float64), most)
    near, far, n_links = _rounded(fitted, ends, most)
    return ScaledComponent(new_sizes, new, near, far, n_links)


def scaled_degrees(degrees: np.ndarray, n_nodes: int) -> np.ndarray:
    """Ascending degrees of ``n_nodes`` nodes, in the likeness of ``degrees``; connectable."""
    ranked = np.sort(degrees)[::-1].astype(np.float64)
    n = len(ranked)
    place = (np.arange(n_nodes) + 0.5) * (n / n_nodes)  # 0 .. n
    new = np.exp(np.interp(place - 0.5, np.arange(n), np.log(np.maximum(ranked, 1))))
    first = place < 1
    if n_nodes > n:
        power = _exponent(ranked)
        new[first] = ranked[0] * (1 - power) * place[first] ** -power
    new = np.sort(np.clip(np.rint(new), 1, n_nodes - 1).astype(np.int64))
    return _adding_up(new, round(int(degrees.sum()) * n_nodes / n))


def _exponent(ranked: np.ndarray) -> float:
    """Hill's estimate of the exponent g of degrees by rank, degree ~ rank ** -g."""
    n_tail = min(max(10, int(len(ranked) ** _TAIL)), len(ranked) - 1)
    if n_tail < 1:
        return 0.0
    return float(min(np.log(ranked[:n_tail] / ranked[n_tail]).mean(), _MOST_EXPONENT))


def _adding_up(degrees: np.ndarray, wanted: int) -> np.ndarray:
    """Change degrees by as little as possible until they add up; ascending."""
    n = len(degrees)
    wanted = max(wanted + wanted % 2, 2 * (n - 1))  # those of a tree at least
    wanted = min(wanted, n * (n - 1))
    while (lacking := wanted - int(degrees.sum())) != 0:
        can = np.flatnonzero(degrees < degrees.max() if lacking > 0 else degrees > 2)
        if not len(can):
            can = np.flatnonzero(degrees < n - 1 if lacking > 0 else degrees > 1)
        chosen = can[np.linspace(0, len(can) - 1, min(abs(lacking), len(can))).astype(np.int64)]
        degrees[chosen] += 1 if lacking > 0 else -1
    return np.sort(degrees)


def _shares(counts: np.ndarray, n_nodes: int) -> np.ndarray:
    """Where each class ends if their shares stay; from the largest degrees on, rounded."""
    above = np.cumsum(counts[::-1])[::-1] - counts  # of larger degrees
    ends = np.rint(above * (n_nodes / counts.sum())).astype(np.int64)
    return n_nodes - ends


@njit(cache=True, nogil=True)
def _fitted(matrix, sums, most):
    """The symmetric matrix with these row sums nearest to ``matrix``, cells up to ``most``."""
    n = len(sums)
    if matrix.sum() == 0:  # a single router has no preference
        matrix = most
    fitted = np.where(most > 0, matrix * (sums.sum() / max(matrix.sum(), 1.0)), 0.0)
    root = np.empty(n)
    for _ in range(_CLIPS):
        for _ in range(_ROUNDS):
            furthest = 0.0
            for i in range(n):
                row = fitted[i].sum()
                ratio = sums[i] / row if row > 0 else 1.0
                furthest = max(furthest, abs(ratio - 1))
                root[i] = np.sqrt(ratio)
            if furthest < _CLOSE:
                break
            for i in range(n):
                for j in range(n):
                    fitted[i, j] *= root[i] * root[j]
        is_cut = False
        for i in range(n):
            for j in range(n):
                if fitted[i, j] > most[i, j]:
                    fitted[i, j] = most[i, j]
                    is_cut = True
        if not is_cut:
            break
    return fitted


def _rounded(
    fitted: np.ndarray, sums: np.ndarray, most: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whole cells, near <= far, that add up to ``sums`` where any do."""
    n = len(sums)
    links = fitted.copy()
    links[np.diag_indices(n)] /= 2  # ends to links
    room = most.copy()
    room[np.diag_indices(n)] /= 2
    whole = np.floor(links + 1e-9)
    whole = np.triu(whole).astype(np.int64)
    lacking = sums - whole.sum(axis=0) - whole.sum(axis=1)
    part = np.triu(links - np.floor(links + 1e-9))
    near, far = np.nonzero(part > 0)
    order = np.argsort(-part[near, far], kind="stable")
    _fill(near[order], far[order], whole, room.astype(np.int64), lacking)
    near, far = np.nonzero(whole)
    return near, far, whole[near, far]


@njit(cache=True, nogil=True)
def _fill(near, far, whole, room, lacking):
    """Add links, first to the given cells in their order, then anywhere, then by exchange."""
    n = len(lacking)
    for a in range(n):  # rows of which fitting left more than they can have
        b = 0
        while lacking[a] < 0 and b < n:
            first, second = min(a, b), max(a, b)
            if whole[first, second] > 0:
                whole[first, second] -= 1
                lacking[a] += 1
                lacking[b] += 1
            else:
                b += 1
    for i in range(len(near)):
        _add_link(near[i], far[i], whole, room, lacking)
    for a in range(n - 1, -1, -1):
        for b in range(n - 1, -1, -1):
            while lacking[a] > 0 and _add_link(min(a, b), max(a, b), whole, room, lacking):
                pass
    # Two rows that lack a link but may have none with each other take the ends of another link.
    for a in range(n - 1, -1, -1):
        for b in range(a, -1, -1):
            while lacking[a] > 0 and lacking[b] > (1 if a == b else 0):
                if not _exchange(a, b, whole, room, lacking):
                    break


@njit(cache=True, nogil=True)
def _add_link(a, b, whole, room, lacking):
    if lacking[a] < (2 if a == b else 1) or lacking[b] < 1 or whole[a, b] >= room[a, b]:
        return False
    whole[a, b] += 1
    lacking[a] -= 1
    lacking[b] -= 1
    return True


@njit(cache=True, nogil=True)
def _exchange(a, b, whole, room, lacking):
    n = len(lacking)
    for c in range(n):
        for d in range(c, n):
            if whole[c, d] == 0:
                continue
            for x, y in ((c, d), (d, c)):
                first, second = (min(a, x), max(a, x)), (min(b, y), max(b, y))
                need = 2 if first == second else 1
                if first == (c, d) or second == (c, d):
                    continue
                if whole[first] + need > room[first] or whole[second] + need > room[second]:
                    continue
                whole[c, d] -= 1
                whole[first] += 1
                whole[second] += 1
                lacking[a] -= 1
                lacking[b] -= 1
                return True
    return False
