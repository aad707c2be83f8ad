"""Reasons of the election and of joins, by addresses, as a snapshot keeps them."""

from __future__ import annotations

import numpy as np

from pipeline.infer.nodes import Nodes
from pipeline.infer.owners.elect import Election
from pipeline.infer.owners.terms import TERMS
from pipeline.infer.owners.unannounced import FIRST_STAND_IN
from pipeline.infer.routers.joins import Joined, count_common
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.ragged import offsets, positions_of_rows, run_starts
from pipeline.model.measured.reasons import Joins, OwnerReasons, Reasons
from pipeline.model.topology import NO_ASN

_NAMES = np.array([term.name for term in TERMS], object)
_MOST = np.iinfo(np.int16).max


def reasons_of(
    addrs: np.ndarray,
    nodes: Nodes,
    node_asn: np.ndarray,
    election: Election,
    taken_over: dict[str, np.ndarray],
    joined: Joined | None,
    links: DirectedLinks,
) -> Reasons:
    """What decided for routers, and what joined their addresses.

    Parameters
    ----------
    addrs : (n_interfaces, 2) uint64, sorted
    nodes : Nodes
    node_asn : (n_nodes,) int64
        As it is in the end; ``NO_ASN`` for none.
    election : Election
    taken_over : dict of str to (n_nodes,) bool
        Nodes whose AS a rule took from others after the election, by the rule's name.
    joined : Joined or None
    links : DirectedLinks
    """
    return Reasons(
        _owners(addrs, nodes, node_asn, election, taken_over),
        _joins(addrs, nodes, joined, links),
    )


def _owners(
    addrs: np.ndarray,
    nodes: Nodes,
    node_asn: np.ndarray,
    election: Election,
    taken_over: dict[str, np.ndarray],
) -> OwnerReasons:
    n = len(addrs)
    decided_by = np.full(n, "", object)
    asn, second = election.owner.copy(), np.full(n, NO_ASN, np.int64)
    is_told = np.zeros(n, bool)
    row_ptr, term = np.zeros(n + 1, np.int64), np.empty(0, np.int64)
    cost = n_pieces = np.empty((0, 2), np.int64)
    if election.why is not None:
        explained = election.why.explained
        second[explained.group] = election.why.second
        decided_by[:] = election.why.decided_by
        is_told[explained.group] = True
        is_told |= decided_by != ""
        per_group = np.bincount(explained.row, minlength=len(explained.group))
        n_terms = np.zeros(n, np.int64)
        n_terms[explained.group] = per_group
        row_ptr = offsets(n_terms)
        term, cost, n_pieces = explained.term, explained.cost, explained.n_pieces
    first = nodes.first
    for rule, are in taken_over.items():
        at = first[are]
        decided_by[at], is_told[at] = rule, True
        asn[at] = node_asn[are]
    asn[asn >= FIRST_STAND_IN] = NO_ASN
    # Places of a private address in one AS are listed once.
    told = np.flatnonzero(is_told)
    told = told[np.lexsort((asn[told], addrs[told, 1], addrs[told, 0]))]
    told = told[run_starts(addrs[told, 0], addrs[told, 1], asn[told])]
    lengths, rows = np.diff(row_ptr)[told], positions_of_rows(row_ptr, told)[1]
    term, cost, n_pieces = term[rows], cost[rows], n_pieces[rows]
    cost, n_pieces = np.minimum(cost, _MOST), np.minimum(n_pieces, _MOST)
    return OwnerReasons(
        addrs[told],
        asn[told],
        second[told],
        decided_by[told],
        offsets(lengths),
        _NAMES[term],
        *(column[:, at] for column in (cost, n_pieces) for at in (0, 1)),
    )


def _joins(addrs: np.ndarray, nodes: Nodes, joined: Joined | None, links: DirectedLinks) -> Joins:
    if joined is None:
        joined = Joined.none(len(addrs))
        first = nodes.first[nodes.node_of]
        joined.finish(first, nodes.alias)
    at = np.flatnonzero(joined.to >= 0)
    at = at[(addrs[at] != addrs[joined.to[at]]).any(axis=1)]  # not the places of one address
    to = joined.to[at]
    at = at[np.lexsort((addrs[to, 1], addrs[to, 0], addrs[at, 1], addrs[at, 0]))]
    to = joined.to[at]
    at = at[run_starts(addrs[at, 0], addrs[at, 1], addrs[to, 0], addrs[to, 1])]
    common = count_common(links, nodes.first[nodes.node_of])
    return Joins(addrs[at], addrs[joined.to[at]], joined.rule[at], common[at])
