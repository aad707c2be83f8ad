"""Barabasi-Albert graphs: a new node links to m older ones, the richer the likelier.

Barabasi, Albert: Emergence of scaling in random networks, Science 286 (1999). As BRITE does it, a
graph starts from m + 1 nodes all linked to one another (fewer where it has fewer nodes). A
neighbour is drawn in constant time from the list of all link ends, where a node of degree d stands
d times (Batagelj, Brandes: Efficient generation of large random networks, 2005); BRITE's own search
through all nodes is quadratic.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.errors import UsageError
from pipeline.generate.plane import with_geometry
from pipeline.generate.random_words import draw_below, start_stream
from pipeline.model.topology import NO_ASN, Topology

MAX_LINKS = 2**31 - 1  # of all graphs together: link ends are drawn by 32 random bits


def generate_barabasi_albert(
    n_routers: int, *, m: int = 2, seed: int = 1, asn: int | None = None
) -> Topology:
    """One router-level graph, as BRITE's RTBarabasiAlbert.

    Parameters
    ----------
    n_routers : int
    m : int
        Links that a new router brings.
    seed : int
        0 to 2**64 - 1.
    asn : int or None
        AS of all routers; None: of no AS, as BRITE's file says -1.

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
    node_ptr = np.array([0, n_routers], np.int64)
    near, far = attach_all(node_ptr, m, seed)
    return with_geometry(
        node_asn=np.full(n_routers, NO_ASN if asn is None else asn, np.int64),
        node_ptr=node_ptr,
        near=near,
        far=far,
        first_node_id=0,
        first_edge_id=0,
        seed=seed,
    )


def check_numbers(n_routers: int, m: int, seed: int) -> None:
    """Raise UsageError unless a model can work with these."""
    if n_routers < 1:
        raise UsageError(f"{n_routers} routers: give 1 or more")
    if m < 1:
        raise UsageError(f"{m} links a new router: give 1 or more")
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed {seed}: give a whole number from 0 to {2**64 - 1}")
    if n_routers * m > MAX_LINKS:
        raise UsageError(
            f"{n_routers} routers with {m} links each are more than {MAX_LINKS} links: give fewer"
        )


def n_links(n_nodes: np.ndarray, m: int) -> np.ndarray:
    """Links of graphs of ``n_nodes`` nodes, int64."""
    n_first = np.minimum(n_nodes, m + 1)
    return n_first * (n_first - 1) // 2 + (n_nodes - n_first) * m


def attach_all(node_ptr: np.ndarray, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Links of graphs that lie side by side.

    Parameters
    ----------
    node_ptr : (n_graphs + 1,) int64
        Nodes of graph i are node_ptr[i] .. node_ptr[i + 1] - 1.
    m, seed : int
        Graph i uses a random stream of its own, keyed by (seed, i).

    Returns
    -------
    near, far : (n_links,) int64
        Graph after graph; near is the newer node. No loops, no duplicates, each graph connected.
    """
    sizes = np.diff(node_ptr)
    m = min(m, int(sizes.max(initial=1)))  # beyond that, all nodes are linked to one another
    per_graph = n_links(sizes, m)
    link_ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(per_graph)])
    ends = np.empty(2 * int(link_ptr[-1]), np.int64)
    _attach(node_ptr, link_ptr, np.int64(m), np.uint64(seed), ends)
    return ends[0::2].copy(), ends[1::2].copy()


@njit(cache=True, nogil=True)
def _attach(node_ptr, link_ptr, m, seed, ends):
    """Fill ``ends`` with the ends of each link; neighbours are drawn from what is there so far."""
    state = np.empty(1, np.uint64)
    chosen = np.empty(m, np.int64)
    for graph in range(len(node_ptr) - 1):
        start_stream(state, seed, np.uint64(graph))
        first, stop = node_ptr[graph], node_ptr[graph + 1]
        begin = 2 * link_ptr[graph]
        k = begin
        core = min(stop, first + m + 1)
        for a in range(first, core):
            for b in range(first, a):
                ends[k] = a
                ends[k + 1] = b
                k += 2
        for node in range(core, stop):
            n_chosen = 0
            while n_chosen < m:
                other = ends[begin + draw_below(state, k - begin)]
                again = False
                for j in range(n_chosen):
                    if chosen[j] == other:
                        again = True
                if not again:
                    chosen[n_chosen] = other
                    n_chosen += 1
            for j in range(m):
                ends[k] = node
                ends[k + 1] = chosen[j]
                k += 2
