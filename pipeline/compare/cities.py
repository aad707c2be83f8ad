"""Cities that routers stand in, as files say on both nights, and what pairs crossed there.

A city is lost where pairs crossed several routers of several ASes in it and hardly any pair crosses
one now. The same happens where one thing fails on which all the ways through the city depend, which
is likelier; so a city counts only where no AS, exchange point, adjacency or router explains nearly
all of its pairs, nor routers of one AS in several cities, and where some of them came from routers
that are still crossed: otherwise the cause lies before it.
"""

from __future__ import annotations

import numpy as np

from pipeline.compare.links import Sides
from pipeline.compare.night import FORBIDDEN
from pipeline.compare.routes import Routes
from pipeline.model.columns.keys import distinct_keys, is_among, ordered_keys, split_key
from pipeline.model.columns.ragged import positions_of_rows, row_of_value

MIN_ROUTERS = 3
MIN_ASES = 2
MIN_SHARE = 0.5  # of the routers of a city that is still crossed
ALONE = 0.9  # of the pairs of a city, and more: explained by one thing


def number_cities(sides: Sides) -> tuple[list[str], np.ndarray]:
    """Names of cities, ascending, and the city of each group of routers, (n_groups,) int64.

    -1: unknown, or forbidden by the speed of light on either night. Where files of the two nights
    differ the older one decides, so that a new file moves no router. Without places on both nights
    there are no cities.
    """
    city = np.full(sides.groups.n, -1)
    nights = (sides.new, sides.groups.new), (sides.old, sides.groups.old)
    if any(night.city is None for night, _ in nights):
        return [], city
    names = sorted({name for night, _ in nights for name in night.city_names})
    number = {name: i for i, name in enumerate(names)}
    for night, group in nights:
        assert night.city is not None
        own = np.array([number[name] for name in night.city_names], np.int64)
        first = np.flatnonzero(night.city >= 0)[::-1]  # of several nodes of a group the first
        city[group[first]] = own[night.city[first]]
    for night, group in nights:
        city[group[night.city == FORBIDDEN]] = -1
    return names, city


def crossings_of(pair: np.ndarray, city: np.ndarray) -> np.ndarray:
    """(pair, city) of some hops, distinct keys; ``city``: -1 for none."""
    known = city >= 0
    return distinct_keys(ordered_keys(pair[known], city[known]))


def routers_in(
    routes: Routes, row: np.ndarray, city: np.ndarray, lost: np.ndarray
) -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """What paths cross in each of some cities.

    Parameters
    ----------
    routes : Routes
    row : (n_paths,) int64
        Pair of each path.
    city : (n_groups,) int64
    lost : (n,) int64
        Cities.

    Returns
    -------
    dict of int to ((n_hops,) int64, (n_hops,) int64, (n_hops,) int64)
        By city, of every hop there: pair, router, and the router by which the city was entered; -1
        where the hop before it is there, too, or none is.
    """
    path = row_of_value(routes.ptr)
    of_hop = city[routes.group]
    at = np.flatnonzero(np.isin(of_hop, lost) & (of_hop >= 0))
    at = at[np.argsort(of_hop[at], kind="stable")]
    before = np.maximum(at - 1, 0)
    enters = (at > 0) & (path[before] == path[at]) & (of_hop[before] != of_hop[at])
    near = np.where(enters, routes.group[before], -1)
    start = np.searchsorted(of_hop[at], lost)
    end = np.searchsorted(of_hop[at], lost, side="right")
    pair, group = row[path[at]], routes.group[at]
    return {
        int(each): (pair[one:other], group[one:other], near[one:other])
        for each, one, other in zip(lost.tolist(), start, end, strict=True)
    }


def crossed_instead(here: Routes, there: Routes, pairs: np.ndarray) -> int:
    """The router that most of some pairs cross on the other night and did not before; -1: none."""

    def crossed(routes: Routes) -> np.ndarray:
        ptr, hop = positions_of_rows(routes.ptr, pairs)
        return distinct_keys(ordered_keys(row_of_value(ptr), routes.group[hop]))

    now = crossed(there)
    now = now[~is_among(now, crossed(here))]
    groups, times = np.unique(split_key(now)[1], return_counts=True)
    return int(groups[np.argmax(times)]) if len(groups) else -1
