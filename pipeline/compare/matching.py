"""What two nights have in common: routers by shared addresses, vantage points, targets.

Routers that share an address are one, and so are those that share one with the same router: a
router of one night may stand for several of the other, which were merged or split. All of them are
one **group**; links are compared between groups, so a merge or a split changes no link.

A snapshot keeps only routers that are in an AS; others count as hops without an answer. Another
prefix table, other options or another election may leave a router that answers on both nights
without an AS on one of them. Such addresses are kept beside the graphs.

Older snapshots do not have them. If both nights had the same tables and options, no router is
suspected. Otherwise every router that only one night shows is suspected, unless the other night's
tables are seen to cover its prefix: routes are hardly ever announced for less than a /24 or /48, so
they cover it if an address of the same block is in the same AS. (One in another AS proves less: an
address in no table may get the AS of its neighbours.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels import CSRGraph, components
from pipeline.compare.night import Night
from pipeline.model.addresses import is_private, is_v4, positions_of
from pipeline.model.columns.keys import number_rows
from pipeline.model.columns.ragged import run_starts
from pipeline.model.measured.observations import FIRST, Observations

_HOST_BITS, _HOST_BITS_V6 = np.uint64(8), np.uint64(16)  # of a /24, of the high word of a /48


@dataclass(frozen=True, eq=False)
class Groups:
    """Group of each node of both nights, (n_nodes,) int64 each; 0 to ``n`` - 1."""

    old: np.ndarray
    new: np.ndarray
    n: int


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of vantage point and target, numbered in common.

    Attributes
    ----------
    old, new : (n_paths,) int64
        Pair of each path.
    old_vantage, new_vantage : (n_vantages,) int64
        Common number of each vantage point.
    n_targets : int
        A pair is its vantage point's number times this, plus its target's number.
    """

    old: np.ndarray
    new: np.ndarray
    old_vantage: np.ndarray
    new_vantage: np.ndarray
    n_targets: int


def label_joined(one: np.ndarray, other: np.ndarray, n: int) -> np.ndarray:
    """The smallest member of the set that each of ``n`` members is in, if these pairs are joined.

    Returns
    -------
    (n,) int32
    """
    return components(CSRGraph.from_edges(one, other, n_nodes=n, symmetrise=True)).component


def match_routers(old: Night, new: Night) -> Groups:
    """Group the routers of two nights by shared addresses.

    Any network may use a private one: it counts within one AS.
    """
    both = np.concatenate([old.addr, new.addr])
    node = np.concatenate([old.addr_node, new.addr_node + old.n_nodes])
    asn = np.concatenate([old.asn_of(old.addr_node), new.asn_of(new.addr_node)])
    number, _ = number_rows(both[:, 0], both[:, 1], np.where(is_private(both), asn, 0))
    order = np.lexsort((node, number))
    shared = np.flatnonzero(number[order][1:] == number[order][:-1])
    one, other = node[order[shared]], node[order[shared + 1]]
    label = label_joined(one, other, old.n_nodes + new.n_nodes)
    distinct, group = np.unique(label, return_inverse=True)
    return Groups(group[: old.n_nodes], group[old.n_nodes :], len(distinct))


def match_pairs(old: Observations, new: Observations) -> Pairs:
    """Number the pairs of vantage point and target of two nights in common."""
    vantage, _ = number_rows(
        np.concatenate([old.vantages.addr_high, new.vantages.addr_high]),
        np.concatenate([old.vantages.addr_low, new.vantages.addr_low]),
    )
    target, n_targets = number_rows(
        np.concatenate([old.paths.target_high, new.paths.target_high]),
        np.concatenate([old.paths.target_low, new.paths.target_low]),
    )
    old_vantage, new_vantage = np.split(vantage, [len(old.vantages)])
    old_target, new_target = np.split(target, [len(old.paths)])
    return Pairs(
        old_vantage[old.paths.vantage] * n_targets + old_target,
        new_vantage[new.paths.vantage] * n_targets + new_target,
        old_vantage,
        new_vantage,
        n_targets,
    )


def ends_at_target(night: Night) -> np.ndarray:
    """(n_paths,) bool: the last router of each path has the target's address."""
    assert night.observations is not None
    paths, steps = night.observations.paths, night.observations.steps
    number, n = number_rows(
        np.concatenate([night.addr[:, 0], paths.target_high]),
        np.concatenate([night.addr[:, 1], paths.target_low]),
    )
    of_addr, of_target = np.split(number, [len(night.addr)])
    node = np.full(n, -1, np.int64)
    node[of_addr] = night.addr_node
    found = np.zeros(len(paths), bool)
    some = paths.step != FIRST
    found[some] = node[of_target[some]] == steps.far[paths.step[some]]
    return found


def perhaps_in_no_as(old: Night, new: Night, groups: Groups) -> np.ndarray:
    """Groups with an address that is in an AS on one night and in none on the other, or may be.

    Parameters
    ----------
    old, new : Night
    groups : Groups

    Returns
    -------
    (n_groups,) bool
    """
    result = np.zeros(groups.n, bool)
    for here, group, there, other in (
        (old, groups.old, new, groups.new),
        (new, groups.new, old, groups.old),
    ):
        if there.unmapped is not None:
            answered = positions_of(there.unmapped, here.addr) >= 0
            result[group[here.addr_node[answered]]] = True
        elif old.other_inputs(new):
            only = np.zeros(groups.n, bool)
            only[group] = True
            only[other] = False
            only[group[here.addr_node[_is_known(here, there)]]] = False
            result |= only
    return result


def _is_known(here: Night, there: Night) -> np.ndarray:
    """(n_addrs,) bool: addresses of one night whose block the other one has in the same AS."""
    rows = np.concatenate([_blocks(there), _blocks(here)])
    order = np.lexsort((np.arange(len(rows)), *rows.T))
    starts = run_starts(*rows[order].T)
    first = np.repeat(order[starts], np.diff(starts, append=len(order)))
    result = np.empty(len(rows), bool)
    result[order] = first < len(there.addr)  # its rows come first in each run
    return result[len(there.addr) :]


def _blocks(night: Night) -> np.ndarray:
    """(n_addrs, 3) uint64: the /24 or /48 that each address is in, and its AS."""
    v4 = is_v4(night.addr)
    low = np.where(v4, night.addr[:, 1] >> _HOST_BITS, np.uint64(0))
    asn = night.asn_of(night.addr_node).astype(np.uint64)
    return np.column_stack([night.addr[:, 0] >> _HOST_BITS_V6, low, asn])
