"""Targets of an AS, or of a part of it, that stopped or began to answer while its routers answer.

Single hosts come and go. So those of an AS are asked together: if more of them fell silent than
chance explains where hosts fall silent as often as in all other ASes, something happened to them.
A part of them may be a prefix that is gone: they are also asked from the first silent address to
the last one. That part is chosen after looking, so all parts from one address to another count as
asked (Bonferroni).
Pairs whose ways an outage explains say nothing of hosts, nor do those that no longer see the last
router before the target.
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterator

import numpy as np

from pipeline.compare.changes import LOUD, QUIET, Changes, make_changes
from pipeline.compare.figures.medians import MIN_VANTAGES
from pipeline.compare.links import Sides
from pipeline.compare.rerouted import Rerouted, n_vantages
from pipeline.model.addresses import format_addr
from pipeline.model.columns.keys import distinct_keys, first_rows, is_among, ordered_keys
from pipeline.model.columns.ragged import offsets, positions_of_rows, row_of_value
from pipeline.model.measured.observations import FIRST

_CHURN = 0.01  # of hosts that fall silent every night, at least
_BY_CHANCE = 0.025  # events on a night of either kind
_MIN_HOSTS = 2
_LEAST_TERM = 1e-12  # of a sum: smaller ones say nothing


def compare_hosts(sides: Sides, found: Rerouted, claims: np.ndarray) -> Iterator[Changes]:
    """Hosts of ASes that fell silent, or answer again; ``claims``: pairs that outages explain."""
    assert sides.old_view is not None
    assert sides.new_view is not None
    common = found.common
    keeps = np.ones(len(common.old), bool)
    keeps[found.pairs] = (claims < 0) & _see_last(found)
    for here, there, night, view, kind in (
        (common.old, common.new, sides.old, sides.old_view, QUIET),
        (common.new, common.old, sides.new, sides.new_view, LOUD),
    ):
        other = sides.new_view if kind == QUIET else sides.old_view
        paths, others = view.seen.paths, other.seen.paths
        ends = paths.step[here]
        rows = np.flatnonzero(keeps & paths.reached[here] & (ends != FIRST))
        target = view.pair[here[rows]] % sides.n_targets
        asn = night.asn_of(view.seen.steps.far[ends[rows]].astype(np.int64))
        yield _of_ases(
            kind,
            target,
            asn,
            others.reached[there[rows]],
            common.vantage[rows],
            paths.n_traces[here[rows]],
            np.stack([paths.target_high[here[rows]], paths.target_low[here[rows]]], axis=1),
        )


def _see_last(found: Rerouted) -> np.ndarray:
    """(n_changed,) bool: pairs whose last router on either night is on the way of the other."""
    result = np.ones(len(found.pairs), bool)
    for one, other in ((found.old, found.new), (found.new, found.old)):
        some = np.flatnonzero(np.diff(one.ptr) > 0)
        last = one.group[one.ptr[1:][some] - 1]
        seen = ordered_keys(row_of_value(other.ptr), other.group)
        result[some] &= is_among(ordered_keys(some, last), seen)
    return result


def _of_ases(
    kind: str,
    target: np.ndarray,
    asn: np.ndarray,
    answers: np.ndarray,
    vantage: np.ndarray,
    n_traces: np.ndarray,
    addr: np.ndarray,
) -> Changes:
    """A row for each AS more of whose hosts fell silent than chance explains."""
    first = first_rows(target)
    number = np.zeros(int(target.max(initial=0)) + 1, np.int64)
    number[target[first]] = np.arange(len(first))
    host = number[target]
    n_asked = n_vantages(host, vantage, len(first))
    least = min(MIN_VANTAGES, len(distinct_keys(vantage)))
    sure = n_asked >= least
    is_dead = sure & (np.bincount(host, answers, len(first)) == 0)
    order = np.lexsort((addr[first, 1], addr[first, 0], asn[first]))
    order = order[sure[order]]
    ases, start = np.unique(asn[first[order]], return_index=True)
    stop = np.append(start, len(order))[1:]
    n_dead = int(is_dead.sum())
    by_host = np.argsort(host, kind="stable")
    of_host = offsets(np.bincount(host, minlength=len(first)))
    columns: dict[str, list] = {name: [] for name in _COLUMNS}
    n_of_as = offsets(is_dead[order])
    asked = np.flatnonzero(n_of_as[stop] - n_of_as[start] >= _MIN_HOSTS)
    for i in asked.tolist():
        of, own = int(ases[i]), order[start[i] : stop[i]]
        dead = np.flatnonzero(is_dead[own])
        n_others = max(1, len(order) - len(own))
        churn = max(_CHURN, (n_dead - len(dead)) / n_others)
        part = own[dead[0] : dead[-1] + 1]
        if _chance(len(dead), len(part), len(own), churn) * len(ases) > _BY_CHANCE:
            continue
        rows = by_host[positions_of_rows(of_host, own[dead])[1]]
        low = addr[first[part[0]]]
        columns["asn"].append(of)
        columns["addr_high"].append(low[0])
        columns["addr_low"].append(low[1])
        columns["old"].append(len(own) if kind == QUIET else len(own) - len(dead))
        columns["new"].append(len(own) - len(dead) if kind == QUIET else len(own))
        columns["n_pairs"].append(len(rows))
        columns["n_traces"].append(int(n_traces[rows].sum()))
        columns["n_vantages"].append(len(np.unique(vantage[rows])))
        columns["reason"].append("" if len(dead) == len(own) else _prefixes(addr[first[own[dead]]]))
    return make_changes(len(columns["asn"]), "hosts", kind=kind, **columns)


def _chance(n_dead: int, n_part: int, n_hosts: int, share: float) -> float:
    """Probability, at most, that so many hosts of an AS, or so many in some part, fall silent.

    Half of it is kept for the AS as a whole, half for all of its parts.
    """
    n_parts = n_hosts * (n_hosts + 1) // 2
    of_part = n_parts * _at_least(n_dead, n_part, share)
    return 2 * min(_at_least(n_dead, n_hosts, share), of_part)


def _at_least(k: int, n: int, share: float) -> float:
    """Probability of at least k of n, each with this probability; 1 if no more than the average.

    Summed from k upwards: one less the rest would be rounded to nothing where it is smallest.
    """
    if k <= n * share:
        return 1.0
    odds = share / (1 - share)
    term = total = math.exp(
        math.lgamma(n + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + k * math.log(share)
        + (n - k) * math.log1p(-share)
    )
    for i in range(k, n):
        term *= (n - i) / (i + 1) * odds
        if term < total * _LEAST_TERM:
            break
        total += term
    return total


_COLUMNS: tuple[str, ...] = (
    *("asn", "addr_high", "addr_low", "old", "new"),
    *("n_pairs", "n_traces", "n_vantages", "reason"),
)


def _prefixes(addr: np.ndarray) -> str:
    """The smallest prefix that holds some addresses, ascending; of IPv4 and of IPv6 where both."""
    every = [ipaddress.ip_address(format_addr(*map(int, each))) for each in addr]
    found = []
    for version in (4, 6):
        own = [each for each in every if each.version == version]
        if own:
            length = own[0].max_prefixlen - (int(own[0]) ^ int(own[-1])).bit_length()
            found.append(str(ipaddress.ip_network((own[0], length), strict=False)))
    return " and ".join(found)
