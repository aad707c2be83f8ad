"""Destination ASes of the traces through each router.

A trace ends near its destination: the last router that answers is mostly in the destination AS,
whether the destination answered or not, and whosever addresses the link to that router has [1]_. So
for each router address two things are kept:

- the ASes to whose addresses it was the *last* router: nothing but the destination answered after
  it, and the destination only at the next TTL. At most ``_MOST`` are kept: where traces to more
  ASes end, they merely break off, and nothing is kept, so memory does not grow with traces;
- the *only* destination AS of the traces through it, if there is one: traces through anything but a
  transit network have few destination ASes. One trace alone shows none: it has the same destination
  AS all along its way.

The AS of a destination is that of its prefix. This is no evidence if the destination is the address
of a router: both ends of a link have addresses of one AS. Such traces are left out if the
destination answered and is known to be a router.

References
----------
.. [1] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018, section 6.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import CUT, DESTINATION
from pipeline.model.columns.keys import split_key
from pipeline.model.tables.exchanges import ExchangePoints
from pipeline.model.tables.prefixes import PrefixTable
from pipeline.model.topology import NO_ASN

MANY = NO_ASN - 1  # in place of an AS: traces have several destination ASes
_MOST = 8  # ASes that one address can be the last router to
_SOME = 2  # traces that show their only destination AS
_NONE = 0  # AS 0 is never an origin


@dataclass(frozen=True, eq=False)
class Aims:
    """Destination ASes of traces, by router address.

    Attributes
    ----------
    router : (n_pairs,) int64
        Interface that was the last router of some trace, and of traces to few ASes; sorted, then by
        ``asn``.
    asn : (n_pairs,) int64
        Destination AS of these traces.
    silent, answered : (n_pairs,) bool
        Some of these destinations did not answer; some did.
    only : (n_interfaces,) int64
        The only destination AS of the traces through an address; ``MANY``, or ``NO_ASN`` if no such
        trace had a destination in an AS.
    """

    router: np.ndarray
    asn: np.ndarray
    silent: np.ndarray
    answered: np.ndarray
    only: np.ndarray

    @classmethod
    def none(cls, n: int) -> Aims:
        """Nothing is known of ``n`` addresses."""
        none = np.empty(0, np.int64)
        return cls(none, none, none > 0, none > 0, np.full(n, NO_ASN, np.int64))


@dataclass(frozen=True, eq=False)
class _Seen:
    """What one thread saw, by address.

    ``last`` (n, _MOST) uint32: ASes that it was the last router to, then ``_NONE``; ``silent``,
    ``answered`` (n, _MOST) bool: some of their destinations did not answer, some did; ``more`` (n,)
    bool: there are more; ``only`` (n,) int64 as in ``Aims``; ``n_aimed`` (n,) uint8: traces, up to
    ``_SOME``.
    """

    last: np.ndarray
    silent: np.ndarray
    answered: np.ndarray
    more: np.ndarray
    only: np.ndarray
    n_aimed: np.ndarray


@njit(cache=True, nogil=True)
def _watch(hop_ptr, flags, ttl, ids, aimed_at, last, silent, heard, more, only, n_aimed):
    """Note the destination AS of each trace: along its way, and at its last router."""
    for trace in range(len(hop_ptr) - 1):
        asn = aimed_at[trace]
        start, end = hop_ptr[trace], hop_ptr[trace + 1]
        if asn < 0 or start == end:
            continue
        answered = flags[trace] == DESTINATION
        if answered:
            if ids[end - 1] >= 0:
                continue
            end -= 1
        for row in range(start, end):
            x = ids[row]
            if row > start and x == ids[row - 1]:  # one trace, though it answered twice
                continue
            if n_aimed[x] < _SOME:
                n_aimed[x] += 1
            if only[x] != asn:
                only[x] = asn if only[x] == NO_ASN else MANY
        if start == end or flags[trace] == CUT or (answered and ttl[end] != ttl[end - 1] + 1):
            continue
        x = ids[end - 1]
        at = 0
        while at < _MOST and last[x, at] != _NONE and last[x, at] != asn:
            at += 1
        if at == _MOST:
            more[x] = True
        else:
            last[x, at] = asn
            silent[x, at] = silent[x, at] or not answered
            heard[x, at] = heard[x, at] or answered


def find_aims(
    prefixes: PrefixTable | None, n: int, exchanges: ExchangePoints | None = None
) -> Finding[_Seen, Aims]:
    """Find the destination ASes of the traces through each router.

    Parameters
    ----------
    prefixes : PrefixTable or None
        None: no destination is known to be in an AS.
    n : int
        Addresses of routers.
    exchanges : ExchangePoints or None
        Destinations on their LANs are in no AS.
    """
    lans = exchanges or ExchangePoints.none()

    def start() -> _Seen:
        return _Seen(
            np.full((n, _MOST), _NONE, np.uint32),
            np.zeros((n, _MOST), np.bool_),
            np.zeros((n, _MOST), np.bool_),
            np.zeros(n, np.bool_),
            np.full(n, NO_ASN, np.int64),
            np.zeros(n, np.uint8),
        )

    def step(seen: _Seen, batch: Batch) -> None:
        if prefixes is None:
            return
        traces, destinations = batch.traces, batch.destinations
        _watch(
            traces.hop_ptr,
            traces.flags,
            traces.ttl,
            traces.ids,
            lans.outside(destinations, prefixes.lookup(destinations)),
            seen.last,
            seen.silent,
            seen.answered,
            seen.more,
            seen.only,
            seen.n_aimed,
        )

    return Finding(start, step, _add_up)


def _add_up(threads: Sequence[_Seen]) -> Aims:
    """What all threads saw together; which of them saw what makes no difference."""
    only, more, n_aimed = threads[0].only, threads[0].more, threads[0].n_aimed
    for seen in threads[1:]:
        differ = (seen.only != only) & (seen.only != NO_ASN)
        only[differ] = np.where(only[differ] == NO_ASN, seen.only[differ], MANY)
        more |= seen.more
        n_aimed = np.minimum(n_aimed + seen.n_aimed, _SOME)
    keys, silent, answered = [], [], []
    for seen in threads:
        router, column = np.nonzero(seen.last)
        keys.append((router << 32) | seen.last[router, column])
        silent.append(seen.silent[router, column])
        answered.append(seen.answered[router, column])
    pairs, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    some_silent = np.bincount(inverse, np.concatenate(silent), len(pairs)) > 0
    some_answered = np.bincount(inverse, np.concatenate(answered), len(pairs)) > 0
    router, asn = split_key(pairs)
    only = np.where(n_aimed >= _SOME, only, NO_ASN)
    few = ~more[router] & (np.bincount(router, minlength=len(only))[router] <= _MOST)
    return Aims(router[few], asn[few], some_silent[few], some_answered[few], only)
