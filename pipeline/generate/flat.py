"""One graph of routers by a model of one level, each router in a cell of a plane."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from pipeline.generate.barabasi_albert import check_numbers
from pipeline.generate.laws.plane import place, routers_in_plane
from pipeline.generate.shares import part
from pipeline.generate.threads import call_each
from pipeline.model.columns.ragged import offsets
from pipeline.model.synthetic import Parameters
from pipeline.model.topology import Topology

_PLACED, _DRAWN = 0.1, 0.6  # shares of the time that have passed then, roughly
_LINKS_AT_ONCE = 1 << 20  # that a thread numbers at a time

Links = Callable[
    [np.ndarray, tuple[np.ndarray, np.ndarray], Parameters], tuple[np.ndarray, np.ndarray]
]


def make_flat(links: Links, given: Parameters) -> Topology:
    """A topology of one graph.

    Parameters
    ----------
    links : callable
        That of the model, as ``pipeline.generate.flat_links`` describes it.
    given : Parameters
        Checked by the model.

    Raises
    ------
    UsageError
        If a number is out of range.
    """
    check_numbers(given.n_routers, given.m, given.seed)
    node_ptr = np.array([0, given.n_routers], np.int64)
    with part(0.0, _PLACED):
        places = place(node_ptr, given)
    with part(_PLACED, _DRAWN):
        near, far = links(node_ptr, places, given)
    return routers_in_plane(
        near,
        far,
        n_nodes=given.n_routers,
        seed=given.seed,
        drawn=_DRAWN,
        places=places,
        bandwidth=given.bandwidth,
    )


def side_by_side(
    pairs: list[tuple[np.ndarray, np.ndarray]], node_ptr: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Links of graphs, each of its own nodes from 0 on, as ``flat_links`` gives them.

    Parameters
    ----------
    pairs : list of two (n_links,) int32 or int64
        near and far of each graph.
    node_ptr : (n_graphs + 1,) int64
        Nodes of graph i are node_ptr[i] .. node_ptr[i + 1] - 1.
    """
    if len(pairs) == 1 and pairs[0][0].dtype == np.int64:
        return pairs[0]
    link_ptr = offsets([len(near) for near, _ in pairs])
    near, far = np.empty((2, int(link_ptr[-1])), np.int64)

    def number(graph: int, begin: int, end: int) -> None:
        own = slice(link_ptr[graph] + begin, link_ptr[graph] + end)
        np.add(pairs[graph][0][begin:end], node_ptr[graph], out=near[own])
        np.add(pairs[graph][1][begin:end], node_ptr[graph], out=far[own])

    cuts = [
        (graph, *cut)
        for graph, (ends, _) in enumerate(pairs)
        for cut in pairwise([*range(0, len(ends), _LINKS_AT_ONCE), len(ends)])
    ]
    call_each(number, cuts)
    return near, far
