"""Barabasi-Albert graphs: a new node links to m older ones, in proportion to their degrees.

Barabasi, Albert: Emergence of scaling in random networks, Science 286 (1999). As BRITE does it, a
graph starts from m + 1 nodes all linked to one another (fewer where it has fewer nodes). A
neighbour is drawn in constant time from the list of all link ends, in which a node of degree d
appears d times (Batagelj, Brandes: Efficient generation of large random networks, 2005); BRITE's
own search through all nodes is quadratic.

No list is kept: the entry at a position follows from the seed and the position, so threads divide
the nodes among them and the result is the same for any number of threads (Sanders, Schulz: Scalable
generation of scale-free graphs, Information Processing Letters 116, 2016). Departure from both: a
node that drew one neighbour twice draws again, by further words of its own. The list keeps the
first draw, or all that follows would depend on every such repair; so the probabilities follow
degrees that count a link drawn twice as two links. That affects only a few hubs among the first
nodes.
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit

from kernels import CSRGraph
from pipeline.errors import UsageError
from pipeline.generate.csr import csr_from_links, shuffled_ids
from pipeline.generate.laws.plane import check_plane, routers_in_plane
from pipeline.generate.shares import part
from pipeline.generate.threads import call_each
from pipeline.model.random_words import below, stream_start, word_at
from pipeline.model.synthetic import Parameters, check_links, check_others
from pipeline.model.topology import Topology

_NODES_AT_ONCE = 1 << 17  # that a thread attaches at a time: a few milliseconds
_DRAWN = 0.1  # share of the time that drawing the links takes
_NEXT_TRY = 1 << 32  # distance between the words of a link's further draws; links are fewer


def links(
    node_ptr: np.ndarray, places: tuple[np.ndarray, np.ndarray], given: Parameters
) -> tuple[np.ndarray, np.ndarray]:
    """Links of graphs side by side, as ``flat_links`` gives them."""
    return attach_all(node_ptr, given.m, given.seed)


def check(given: Parameters) -> None:
    """Raise UsageError if a new router is to have more links than there are others."""
    check_others(given.n_routers, given.m, given.n_routers - 1)
    check_plane(given, given.n_routers)


def generate_barabasi_albert(
    n_routers: int, *, m: int = 2, seed: int = 1, asn: int | None = None
) -> Topology:
    """One router-level graph, as BRITE's RTBarabasiAlbert.

    Parameters
    ----------
    n_routers : int
    m : int
        Links of each new router.
    seed : int
        0 to 2**64 - 1.
    asn : int or None
        AS of all routers; None: no AS, which is -1 in BRITE's files.

    Returns
    -------
    Topology
        Connected; node ids 0 .. n_routers - 1; columns as the BRITE reader gives them.

    Raises
    ------
    UsageError
        If a number is out of range.
    """
    check_numbers(n_routers, m, seed)
    with part(0.0, _DRAWN):
        near, far = attach_all(np.array([0, n_routers], np.int64), m, seed)
    return routers_in_plane(near, far, n_nodes=n_routers, seed=seed, drawn=_DRAWN, asn=asn)


def barabasi_albert_graph(
    n_nodes: int,
    *,
    m: int = 2,
    seed: int = 1,
    shuffled: bool = False,
    n_threads: int | None = None,
) -> CSRGraph:
    """The graph of ``generate_barabasi_albert`` only, made directly as CSR arrays.

    Parameters
    ----------
    n_nodes : int
    m : int
        Links of each new node.
    seed : int
        0 to 2**64 - 1.
    shuffled : bool
        Give the nodes ids in random order, as routers sorted by address have. Otherwise ids are
        in the order in which nodes were added, so small ids have many neighbours.
    n_threads : int or None
        None: one thread per core. The result is the same on any number.

    Returns
    -------
    CSRGraph
        On the host; connected.

    Raises
    ------
    UsageError
        If a number is out of range.

    Examples
    --------
    >>> barabasi_albert_graph(10_000)
    CSRGraph(10000 nodes, 19997 edges, cpu)
    """
    check_numbers(n_nodes, m, seed)
    near, far = attach_all(np.array([0, n_nodes], np.int64), m, seed, n_threads=n_threads)
    ids = shuffled_ids(n_nodes, seed) if shuffled else None
    return csr_from_links(n_nodes, near, far, ids=ids, n_threads=n_threads)


def check_numbers(n_routers: int, m: int, seed: int) -> None:
    """Raise UsageError unless a model can work with these."""
    if n_routers < 1:
        raise UsageError(f"{n_routers} routers: give 1 or more")
    if m < 1:
        raise UsageError(f"{m} links per new router: give 1 or more")
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed {seed}: give a whole number from 0 to {2**64 - 1}")
    check_links(n_routers, m)


def n_links(n_nodes: np.ndarray, m: int) -> np.ndarray:
    """Links of graphs of ``n_nodes`` nodes, int64."""
    n_first = np.minimum(n_nodes, m + 1)
    return n_first * (n_first - 1) // 2 + (n_nodes - n_first) * m


def attach_all(
    node_ptr: np.ndarray, m: int, seed: int, *, first: int = 0, n_threads: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Links of graphs side by side; the same with any number of threads.

    Parameters
    ----------
    node_ptr : (n_graphs + 1,) int64
        Nodes of graph i are node_ptr[i] .. node_ptr[i + 1] - 1.
    m, seed : int
        Graph i uses a random stream of its own, keyed by (seed, first + i).
    first : int
        Number of the first graph.
    n_threads : int or None
        None: one thread per core.

    Returns
    -------
    near, far : (n_links,) int32
        Graph after graph; near is the newer node, ascending. No loops, no duplicates, each graph
        connected.
    """
    sizes = np.diff(node_ptr)
    m = min(m, int(sizes.max(initial=1)))  # beyond that, all nodes are linked to one another
    link_ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_links(sizes, m))])
    near, far = np.empty(int(link_ptr[-1]), np.int32), np.empty(int(link_ptr[-1]), np.int32)
    cuts = np.append(np.arange(0, node_ptr[-1], _NODES_AT_ONCE), node_ptr[-1]).tolist()
    given = (
        node_ptr,
        link_ptr,
        np.int64(m),
        np.uint64(seed),
        np.uint64(first),
        core_ends(m),
        near,
        far,
    )
    call_each(_attach_nodes, [(*cut, *given) for cut in itertools.pairwise(cuts)], n_threads)
    return near, far


def core_ends(m: int) -> np.ndarray:
    """Ends of the links of m + 1 nodes all linked to one another, newer end first; int32.

    Those of fewer nodes are a part of it, from its beginning.
    """
    newer, older = np.tril_indices(m + 1, -1)
    return np.stack([newer, older], axis=1).astype(np.int32).ravel()


@njit(cache=True, nogil=True)
def _attach_nodes(first, stop, node_ptr, link_ptr, m, seed, first_graph, core, near, far):
    """Links of the new nodes first .. stop - 1, of any graphs."""
    graph = np.searchsorted(node_ptr, first, side="right") - 1
    while first < stop:
        base, end = node_ptr[graph], min(stop, node_ptr[graph + 1])
        links = slice(link_ptr[graph], link_ptr[graph + 1])
        start = stream_start(seed, first_graph + np.uint64(graph))
        n_nodes = node_ptr[graph + 1] - base
        attach(first - base, end - base, n_nodes, m, start, core, base, near[links], far[links])
        first = end
        graph += 1


@njit(cache=True, nogil=True)
def attach(first, stop, n_nodes, m, start, core, base, near, far):
    """Write the links of the new nodes first .. stop - 1 of one graph.

    Parameters
    ----------
    first, stop, n_nodes, m : int64
        Of the graph's own nodes, 0 .. n_nodes - 1.
    start : uint64
        Start of the graph's stream.
    core : (m * (m + 1),) int32
        ``core_ends(m)``.
    base : int64
        Added to each node written.
    near, far : (n_links,) int32
        Of this graph.
    """
    n_core = min(n_nodes, m + 1)
    core_links = n_core * (n_core - 1) // 2
    for node in range(first, min(stop, n_core)):
        for link in range(node * (node - 1) // 2, node * (node + 1) // 2):
            near[link] = base + node
            far[link] = base + core[2 * link + 1]
    for node in range(max(first, n_core), stop):
        own = core_links + (node - n_core) * m
        for link in range(own, own + m):
            number = link
            other = _end_at(below(word_at(start, number), 2 * own), m, n_core, start, core)
            j = own
            while j < link:
                if far[j] == base + other:
                    number += _NEXT_TRY
                    other = _end_at(below(word_at(start, number), 2 * own), m, n_core, start, core)
                    j = own
                else:
                    j += 1
            near[link] = base + node
            far[link] = base + other


@njit(cache=True, nogil=True)
def _end_at(position, m, n_core, start, core):
    """Node at a position of the list of link ends as first drawn: new at 2i, its choice at 2i + 1.

    A choice is again a position in the list as it was before its node, so it is followed from draw
    to draw, two on average, until it reaches a known end.
    """
    core_links = n_core * (n_core - 1) // 2
    while position >= 2 * core_links:
        link = position >> 1
        newer = (link - core_links) // m
        if position & 1 == 0:
            return n_core + newer
        position = below(word_at(start, link), 2 * (core_links + newer * m))
    return np.int64(core[position])
