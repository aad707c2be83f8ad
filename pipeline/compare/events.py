"""Changes with one cause become one event.

An event begins with a change that says what happened: in the order of ``_CAUSES``, a changed input,
a lost vantage point, lost targets, a renumbered router, an AS that is no longer seen, or is silent
as a whole, a silent router, an AS in parts, a moved ingress, links removed or added, traffic that
enters an AS elsewhere, slower or faster links, routers of another owner, paths of another length.
Changes of one cause in the same AS, or between the same two ASes, are one event, and so are those
that share a router.
Every other change joins the first event that explains it: links of a vantage point that did not
measure, of a router that was renumbered, of an AS that fell apart, and diameter and radius of an AS
whose links changed. Last, ingresses and neighbours join the links by which ASes were entered.
A change without an explanation is not an event: links that could not be observed come and go every
night. If one of the nights has no traces by vantage point, and its inputs or the version of the
program differ, every change belongs to the changed input: it may as well be one of inference.

Events are ranked by the traces that they affect, else by their changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

import numpy as np

from pipeline.compare import changes as kinds
from pipeline.compare.changes import MAX_SINGLE, NO_ROW, Changes, Instead
from pipeline.compare.flapping import FLAPS
from pipeline.compare.links import (
    AS_TARGET,
    BY_CHANCE,
    ELSEWHERE,
    IN_NO_AS,
    IN_OTHER_ASES,
    NO_TARGET,
    NO_VANTAGE,
    SILENT,
)
from pipeline.compare.matching import label_joined
from pipeline.model.columns import Flat
from pipeline.model.columns.keys import (
    distinct_keys,
    number_rows,
    ordered_keys,
    pair_keys,
    split_key,
)
from pipeline.model.columns.ragged import positions_of_rows, row_of_value, run_starts
from pipeline.model.topology import NO_ASN

# Kinds of events, most informative first: (kind, what and kinds of the changes that begin one).
_CAUSES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("inputs changed", "inputs", (kinds.INPUT,)),
    ("vantage point lost", "vantage point", (kinds.LOST,)),
    ("vantage point gained", "vantage point", (kinds.GAINED,)),
    ("targets lost", "targets", (kinds.LOST,)),
    ("targets gained", "targets", (kinds.GAINED,)),
    ("router renumbered", "router", (kinds.RENUMBERED,)),
    ("AS lost", "AS", (kinds.LOST,)),
    ("AS gained", "AS", (kinds.GAINED,)),
    ("AS silent", "AS", (kinds.QUIET,)),
    ("AS answers again", "AS", (kinds.LOUD,)),
    ("exchange lost", "exchange", (kinds.LOST,)),
    ("exchange gained", "exchange", (kinds.GAINED,)),
    ("city lost", "city", (kinds.LOST,)),
    ("city gained", "city", (kinds.GAINED,)),
    ("routers hidden", "AS", (kinds.HIDDEN,)),
    ("routers shown", "AS", (kinds.SHOWN,)),
    ("load balancing gained", "balancing", (kinds.GAINED,)),
    ("load balancing lost", "balancing", (kinds.LOST,)),
    ("hosts silent", "hosts", (kinds.QUIET,)),
    ("hosts answer again", "hosts", (kinds.LOUD,)),
    ("adjacency lost", "adjacency", (kinds.LOST,)),
    ("adjacency gained", "adjacency", (kinds.GAINED,)),
    ("routers lost", "router", (kinds.LOST,)),
    ("routers gained", "router", (kinds.GAINED,)),
    ("routers silent", "router", (kinds.QUIET,)),
    ("routers answer again", "router", (kinds.LOUD,)),
    ("AS split in parts", "AS", (kinds.PARTED,)),
    ("parts of an AS joined", "AS", (kinds.JOINED,)),
    ("ingress moved", "ingress", (kinds.SHIFTED,)),
    ("links removed", "link", (kinds.REMOVED,)),
    ("links added", "link", (kinds.ADDED,)),
    ("traffic moved", "traffic", (kinds.LOST, kinds.GAINED)),
    ("links slower", "link", (kinds.SLOWER,)),
    ("links faster", "link", (kinds.FASTER,)),
    ("routers of another owner", "router", (kinds.MOVED,)),
    ("paths longer", "paths", (kinds.LONGER,)),
    ("paths shorter", "paths", (kinds.SHORTER,)),
)
_MIN_MOVED = 3  # routers
MIN_MOVED_PAIRS = 30  # or pairs that cross one
MIN_CONFIDENCE = 0.99  # of the owner on both nights; others come and go
_OF_ONE_NIGHT = (kinds.REMOVED, kinds.ADDED)
# What the changes of each event touch: keys of events and pairs, and counts of these.
Measure: TypeAlias = tuple[
    Callable[[Changes, np.ndarray], np.ndarray], Callable[[np.ndarray, int], np.ndarray]
]
_NAMES = tuple(name for name, *_ in _CAUSES)
BEGUN_BY = {name: (what, of_kinds) for name, what, of_kinds in _CAUSES}
DRIFTS = "figures drift"  # over several nights (``drift``)
EVENT_KINDS = (*_NAMES, DRIFTS, FLAPS)  # what users may ask for
_OF_ROUTERS = ("router renumbered", "routers silent", "routers answer again")
_OF_LOST_ASES = ("AS lost", "AS gained")
_OF_SILENT_ASES = ("AS silent", "AS answers again")
_OF_WHOLE_ASES = _OF_LOST_ASES + _OF_SILENT_ASES
_WITHIN = ("AS", "router", "link", "ingress", "neighbour", "traffic")  # what an AS has
_OF_ONE_AS = ("AS split in parts", "parts of an AS joined")
_OF_LINKS = ("links removed", "links added", "links slower", "links faster")
_OF_WAYS = (
    *("adjacency lost", "adjacency gained", "routers lost", "routers gained", "routers hidden"),
    *("routers shown", "router renumbered", "AS split in parts", "parts of an AS joined"),
    *("ingress moved", "links removed", "links added", "load balancing gained"),
    *("load balancing lost",),
)
_OF_OTHER = 0.9  # of the pairs of an event, and more, are those of another one
_MIN_VOTES = 6  # vantage points of a slower or faster link: a few agree by chance


@dataclass(frozen=True, eq=False)
class Events:
    """Events, most traces first.

    Attributes
    ----------
    kind : (n,) object
    asn, other_asn : (n,) int64
        ASes that it is about, ``NO_ASN`` for none or several.
    n_changes, n_links : (n,) int64
        Its changes, and links among them.
    n_traces, n_pairs, n_vantages : (n,) int64
        Of all its links and routers together, as far as pairs of both nights show; else the
        largest value of its changes, a lower bound.
    first : (n,) int64
        Row of the most informative change.
    longer_by, lower, upper : (n,) float64
        How many hops longer the paths became of pairs that crossed links of the event: the median
        and its interval; NaN if targets of fewer than three vantage points answered.
    """

    kind: Annotated[np.ndarray, Flat(object)]
    asn: Annotated[np.ndarray, Flat(np.int64)]
    other_asn: Annotated[np.ndarray, Flat(np.int64)]
    n_changes: Annotated[np.ndarray, Flat(np.int64)]
    n_links: Annotated[np.ndarray, Flat(np.int64)]
    n_traces: Annotated[np.ndarray, Flat(np.int64)]
    n_pairs: Annotated[np.ndarray, Flat(np.int64)]
    n_vantages: Annotated[np.ndarray, Flat(np.int64)]
    first: Annotated[np.ndarray, Flat(np.int64)]
    longer_by: Annotated[np.ndarray, Flat(np.float64)]
    lower: Annotated[np.ndarray, Flat(np.float64)]
    upper: Annotated[np.ndarray, Flat(np.float64)]

    def __len__(self) -> int:
        return len(self.kind)


def group_events(
    changes: Changes,
    instead: Instead | None = None,
    of_inputs: bool = False,
    told: np.ndarray | None = None,
    n_told: tuple[int, int] = (0, 0),
    measure: Measure | None = None,
    least: float = 1.0,
) -> tuple[Changes, Events]:
    """Find the events of some changes; ``instead``: of those that traces show.

    ``of_inputs``: a changed input explains every other change, since no trace distinguishes them.
    ``told``: event of each change that an outage explains, -1 for others; ``n_told``: how many
    events these are, and how many of the last changes are the outages themselves. ``measure``: what
    the changes of each event touch together. ``least``: pairs that turned from a link, at least,
    which was added or removed, that an ingress moved with, or whose ways became longer.

    Returns
    -------
    changes : Changes
        With ``event``.
    events : Events
    """
    cause, instead = _causes_of(changes, least), instead or Instead.nothing()
    event = np.full(len(changes), NO_ROW, np.int64) if told is None else told.copy()
    n_events, n_outages = n_told
    for number, name in enumerate(_NAMES):
        rows = np.flatnonzero((cause == number) & (event == NO_ROW))
        if not len(rows):
            continue
        part = _together(changes, rows, name)
        if name == "routers of another owner":  # owners of single ones come and go
            part, rows = _of_several(part, rows, changes.n_pairs[rows])
            if not len(rows):
                continue
        event[rows] = n_events + part
        n_events += int(part.max()) + 1
        if of_inputs and name == "inputs changed":
            event[:] = n_events - 1
        _join(changes, event, cause, rows, name, instead)
    _join_entries(changes, event)
    touched = np.zeros((3, n_events), np.int64)
    if measure is not None:
        pairs_of, count = measure
        keys = pairs_of(changes, event)
        into = _explained_by(changes, event, cause, keys, n_events, n_outages)
        if (into != np.arange(n_events)).any():
            distinct, into = np.unique(into, return_inverse=True)
            of, pair = split_key(keys)
            keys, n_events = distinct_keys(ordered_keys(into[of], pair)), len(distinct)
            event[event >= 0] = into[event[event >= 0]]
        touched = count(keys, n_events)
    return _rank(changes, event, cause, n_outages, touched)


def _explained_by(
    changes: Changes,
    event: np.ndarray,
    cause: np.ndarray,
    keys: np.ndarray,
    n: int,
    n_outages: int,
) -> np.ndarray:
    """The event that explains each one, (n,) int64: itself, or one in the same AS, of its pairs.

    Nearly all pairs of what is explained are pairs of the other one, which has as many or more.
    What was found to be an outage by itself stays so.

    ``keys``: events and their pairs, ascending; ``n_outages``: of the last changes, that are one.
    """
    into = np.arange(n)
    of, pair = split_key(keys)
    n_pairs = np.bincount(of, minlength=n)
    begins = np.full(n, len(_CAUSES))
    rows = np.flatnonzero((event >= 0) & (cause >= 0))
    np.minimum.at(begins, event[rows], cause[rows])
    is_outage = np.zeros(n, bool)
    is_outage[event[len(changes) - n_outages :]] = True
    is_way = np.append(np.isin(_NAMES, _OF_WAYS), False)[begins]
    if not (is_way & ~is_outage & (n_pairs > 0)).any():
        return into
    order = np.argsort(pair, kind="stable")
    of, pair = of[order], pair[order]
    starts = run_starts(pair)
    size = np.diff(starts, append=len(pair))
    ptr, other = positions_of_rows(
        np.append(starts, len(pair)), np.repeat(np.arange(len(size)), size)
    )
    both = ordered_keys(of[row_of_value(ptr)], of[other])
    shared, times = np.unique(both, return_counts=True)
    one, larger = split_key(shared)
    ok = (one != larger) & is_way[one] & ~is_outage[one] & (is_way | is_outage)[larger]
    ok &= times >= _OF_OTHER * n_pairs[one]
    ok &= (n_pairs[larger] > n_pairs[one]) | (
        (n_pairs[larger] == n_pairs[one]) & (is_outage[larger] | (larger < one))
    )
    one, larger, times = one[ok], larger[ok], times[ok]
    ases = np.concatenate([changes.asn, changes.other_asn])
    of_ases = np.tile(event, 2)
    for a, b in zip(one.tolist(), larger.tolist(), strict=True):
        own = ases[(of_ases == a) & (ases != NO_ASN)]
        if into[a] == a and np.isin(own, ases[of_ases == b]).any():
            into[a] = b
    while (into[into] != into).any():
        into = into[into]
    return into


def _causes_of(changes: Changes, least: float) -> np.ndarray:
    """Cause that each change names, as a row of ``_CAUSES``; -1 for none."""
    cause = np.full(len(changes), -1)
    for number, (_, what, of_kinds) in enumerate(_CAUSES):
        cause[(changes.what == what) & np.isin(changes.kind, of_kinds)] = number
    of_delays = np.isin(changes.kind, (kinds.SLOWER, kinds.FASTER))
    cause[(changes.what == "AS") & (changes.reason == IN_OTHER_ASES)] = -1
    is_sure = (changes.n_vantages >= _MIN_VOTES) | (changes.reason == kinds.ALL_AGREE)
    cause[of_delays & ~is_sure] = -1
    cause[(changes.kind == kinds.MOVED) & (changes.new < MIN_CONFIDENCE)] = -1
    # Of a router alone: elsewhere it may be the name of a city, which somebody else wrote.
    cause[(changes.what == "router") & (changes.reason == BY_CHANCE)] = -1
    if least > 1:
        one_night = (changes.what == "link") & np.isin(changes.kind, _OF_ONE_NIGHT)
        cause[one_night & (changes.n_turned < least)] = -1
        moved = (changes.what == "ingress") & (changes.kind == kinds.SHIFTED)
        moved |= changes.what == "paths"
        cause[moved & (changes.n_pairs < least)] = -1
    return cause


def _together(changes: Changes, rows: np.ndarray, name: str) -> np.ndarray:
    """Number of the event of each row of one cause, from 0."""
    if name.startswith(("inputs", "targets")):
        return np.zeros(len(rows), np.int64)
    if name.startswith("vantage point") or name in _OF_WHOLE_ASES:
        return np.arange(len(rows)) if len(rows) <= MAX_SINGLE else np.zeros(len(rows), np.int64)
    ases = np.sort(np.array([changes.asn[rows], changes.other_asn[rows]]), axis=0)
    if name in ("router renumbered", "routers silent", "routers answer again", "traffic moved"):
        ases = np.array([changes.asn[rows]] * 2)
    label, _ = number_rows(*ases)
    if name in _OF_LINKS:  # one cut shows as several links: of the interfaces around it
        label = _connected(label, changes.group[rows], changes.other_group[rows])
    return np.unique(label, return_inverse=True)[1]


def _of_several(
    part: np.ndarray, rows: np.ndarray, n_pairs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Parts of at least ``_MIN_MOVED`` rows, or that enough pairs cross, and these."""
    kept = np.bincount(part)[part] >= _MIN_MOVED
    kept |= np.bincount(part, n_pairs)[part] >= MIN_MOVED_PAIRS
    return np.unique(part[kept], return_inverse=True)[1], rows[kept]


def _connected(label: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Labels of rows, the same for those that share a label or an end."""
    n = len(label)
    row, (of_label, n_labels) = np.arange(n), number_rows(label)
    ends, n_ends = number_rows(np.concatenate([one, other]))
    # Members are rows, so that these are the smallest of their sets, then labels, then ends.
    keys = np.concatenate([n + of_label, n + n_labels + ends])
    return label_joined(np.tile(row, 3), keys, n + n_labels + n_ends)[:n]


def _join(
    changes: Changes,
    event: np.ndarray,
    cause: np.ndarray,
    rows: np.ndarray,
    name: str,
    instead: Instead,
) -> None:
    """Let changes without an event join those of ``rows`` where these explain them."""
    free = np.flatnonzero(event == NO_ROW)
    link = changes.what[free] == "link"
    if name == "inputs changed":
        own = (changes.kind[free] == kinds.INPUT) | (changes.reason[free] == IN_NO_AS)
        event[free[own]] = event[rows[0]]
    elif name.startswith(("vantage point", "targets")):
        unseen = kinds.UNSEEN if name.endswith("lost") else kinds.NOT_BEFORE
        reason = NO_VANTAGE if name.startswith("vantage point") else NO_TARGET
        own = free[link & (changes.kind[free] == unseen) & (changes.reason[free] == reason)]
        if reason == NO_VANTAGE:
            _join_by(event, own, changes.vantage, changes.vantage[rows], event[rows])
        else:
            event[own] = event[rows[0]]
        # What showed that their far end is a router was not measured: its other links, or these.
        own = own[event[own] != NO_ROW]
        unmeasured = changes.n_no_vantage if reason == NO_VANTAGE else changes.n_no_target
        there = free[link & (changes.kind[free] == unseen) & (changes.reason[free] == AS_TARGET)]
        for ends_of in (changes.group[own], changes.other_group[own]):
            _join_by(event, there, changes.other_group, ends_of, event[own])
        there = there[unmeasured[there] > 0]
        if reason == NO_VANTAGE:
            _join_by(event, there, changes.vantage, changes.vantage[rows], event[rows])
        else:
            event[there[event[there] == NO_ROW]] = event[rows[0]]
    elif name in _OF_ROUTERS:
        _join_by_router(event, free, changes, rows)
        if name == "router renumbered":
            for group, asn in (
                (changes.group, changes.asn),
                (changes.other_group, changes.other_asn),
            ):
                renewed = free[link & np.isin(group[free], instead.routers)]
                _join_by(event, renewed, asn, changes.asn[rows], event[rows])
            whole = free[np.isin(cause[free], [_NAMES.index(each) for each in _OF_LOST_ASES])]
            _join_by(event, whole, changes.asn, changes.asn[rows], event[rows])
            _join_by(event, whole, changes.asn, changes.other_asn[rows], event[rows])
    elif name == "ingress moved":
        ends, links = _between(changes), free[link]
        key = pair_keys(changes.group[links], changes.other_group[links])
        _join_by(event, links[np.isin(key, instead.links)], ends, ends[rows], event[rows])
        cut = link & np.isin(cause[free], [_NAMES.index(each) for each in _OF_LINKS])
        cut &= ~np.isin(ends[free], ends[rows])  # between other ASes, or in one
        _join_by_router(event, free[~cut], changes, rows)
    elif name in _OF_WHOLE_ASES:
        if name in _OF_SILENT_ASES:  # the rest follows from what is left of it
            free = free[np.isin(changes.what[free], _WITHIN)]
        _join_by(event, free, changes.asn, changes.asn[rows], event[rows])
        _join_by(event, free, changes.other_asn, changes.asn[rows], event[rows])
    elif name in _OF_ONE_AS:
        inside = (changes.asn[free] == changes.other_asn[free]) | (
            changes.other_asn[free] == NO_ASN
        )
        inside |= changes.what[free] == "traffic"
        _join_by(event, free[inside], changes.asn, changes.asn[rows], event[rows])
    elif name == "traffic moved":
        for of_traffic, of_link in ((kinds.LOST, kinds.UNSEEN), (kinds.GAINED, kinds.NOT_BEFORE)):
            some = rows[changes.kind[rows] == of_traffic]
            left = free[(changes.kind[free] == of_link) & (changes.reason[free] == ELSEWHERE)]
            _join_by(event, left, changes.group, changes.group[some], event[some])
            _join_by(event, left, changes.other_group, changes.group[some], event[some])
    elif name in _OF_LINKS[:2]:
        groups = np.concatenate([changes.group[rows], changes.other_group[rows]])
        events = np.concatenate([event[rows], event[rows]])
        explained = free[np.isin(changes.reason[free], (ELSEWHERE, SILENT)) | (cause[free] >= 0)]
        _join_by(event, explained, changes.group, groups, events)
        _join_by(event, explained, changes.other_group, groups, events)
        inside = rows[changes.asn[rows] == changes.other_asn[rows]]
        width = free[np.isin(changes.what[free], kinds.WIDTHS)]
        _join_by(event, width, changes.asn, changes.asn[inside], event[inside])
    traffic = free[changes.what[free] == "traffic"]  # of one AS, in one event
    told = traffic[event[traffic] != NO_ROW]
    _join_by(event, traffic, changes.asn, changes.asn[told], event[told])


def _join_by_router(
    event: np.ndarray, free: np.ndarray, changes: Changes, rows: np.ndarray
) -> None:
    """Let changes at the routers of ``rows`` join these."""
    groups = np.concatenate([changes.group[rows], changes.other_group[rows]])
    events = np.concatenate([event[rows], event[rows]])
    known = groups != NO_ROW
    _join_by(event, free, changes.group, groups[known], events[known])
    _join_by(event, free, changes.other_group, groups[known], events[known])


def _between(changes: Changes) -> np.ndarray:
    """(n,) int64: one number for each two ASes, in either order."""
    return number_rows(*np.sort(np.array([changes.asn, changes.other_asn]), axis=0))[0]


def _join_entries(changes: Changes, event: np.ndarray) -> None:
    """Let ingresses and neighbours join the first event of the links by which ASes were entered."""
    between = changes.asn != changes.other_asn
    rows = np.flatnonzero(np.isin(changes.what, ("link", "ingress", "neighbour")) & between)
    ends = np.sort(np.array([changes.asn[rows], changes.other_asn[rows]]), axis=0)
    group = np.concatenate([changes.group[rows], changes.other_group[rows]])
    pair, pair_and_group = (np.full(len(changes), NO_ROW) for _ in range(2))
    pair[rows], _ = number_rows(*ends)
    numbers, _ = number_rows(np.tile(pair[rows], 2), group)
    pair_and_group[rows], other = np.split(numbers, 2)
    for of_link, of_entry in (
        ((kinds.REMOVED, kinds.UNSEEN), (kinds.LOST, kinds.UNSEEN)),
        ((kinds.ADDED, kinds.NOT_BEFORE), (kinds.GAINED, kinds.NOT_BEFORE)),
    ):
        at = np.flatnonzero(
            (changes.what[rows] == "link")
            & (event[rows] != NO_ROW)
            & np.isin(changes.kind[rows], of_link)
        )
        at = at[np.argsort(event[rows[at]], kind="stable")]
        links, free = rows[at], rows[np.isin(changes.kind[rows], of_entry)]
        neighbors = free[changes.what[free] == "neighbour"]
        _join_by(event, neighbors, pair, pair[links], event[links])
        ingresses = free[changes.what[free] == "ingress"]
        both = np.array([pair_and_group[links], other[at]]).T.ravel()  # the first event stays first
        _join_by(event, ingresses, pair_and_group, both, np.repeat(event[links], 2))


def _join_by(
    event: np.ndarray, free: np.ndarray, column: np.ndarray, keys: np.ndarray, events: np.ndarray
) -> None:
    """Give rows whose value is one of ``keys`` the event of that key; the first of several."""
    distinct, first = np.unique(keys, return_index=True)
    if not len(distinct):
        return
    free = free[event[free] == NO_ROW]
    at = np.minimum(np.searchsorted(distinct, column[free]), len(distinct) - 1)
    found = distinct[at] == column[free]
    event[free[found]] = events[first[at[found]]]


def _rank(
    changes: Changes, event: np.ndarray, cause: np.ndarray, n_outages: int, least: np.ndarray
) -> tuple[Changes, Events]:
    """Number the events by what they touch, and describe them.

    ``least``: traces, pairs and vantage points that each touches at least, (3, n_events).
    """
    n = least.shape[1]
    rows = np.flatnonzero(event != NO_ROW)
    of = event[rows]

    def most(column: np.ndarray, least: np.ndarray) -> np.ndarray:
        out = least.copy()
        np.maximum.at(out, of, column[rows])
        return out

    n_traces, n_changes = most(changes.n_traces, least[0]), np.bincount(of, minlength=n)
    # The most informative one: of the cause, with most traces, the first of equal ones.
    weight = np.where(cause[rows] >= 0, cause[rows], len(_CAUSES))
    weight[rows >= len(changes) - n_outages] = -1
    order = np.lexsort((np.arange(len(rows)), -changes.n_traces[rows], weight, of))
    first = rows[order[np.append(True, np.diff(of[order]) != 0)]] if len(rows) else rows
    rank = np.lexsort((np.arange(n), -n_changes, -n_traces))
    number = np.empty(n, np.int64)
    number[rank] = np.arange(n)
    event = event.copy()
    event[rows] = number[of]
    first = first[rank]
    events = Events(
        np.array([_NAMES[i] for i in cause[first]], object),
        changes.asn[first],
        changes.other_asn[first],
        n_changes[rank],
        np.bincount(of[changes.what[rows] == "link"], minlength=n)[rank],
        n_traces[rank],
        most(changes.n_pairs, least[1])[rank],
        most(changes.n_vantages, least[2])[rank],
        first,
        *np.full((3, n), np.nan),
    )
    return replace(changes, event=event), events
