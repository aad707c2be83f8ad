"""Election: the AS of a router from all its links, not from one address.

A link between two ASes is numbered from one of them, so a border router often answers with its
neighbour's address, and by prefix alone the router behind it looks like the ingress. What is
known instead is how a router's links are numbered and who is at their other ends:

1. Addresses are grouped by router (``routers.merge``). An address b by which packets come
   in stands for one point-to-point link: from the group of its sides to the group of b, numbered
   from the AS of b's prefix. Two mates that imply the same link count once. For a suspect address
   only the numbering is known, not the other end. An address on the LAN of an exchange point stands
   for no link, and its prefix shows neither whose router it is on nor that the router before it is
   in the same AS.
2. Two groups that were seen next to each other without such a link (a destination's own reply,
   a suspect address) are *adjacent*: numbering unknown. That counts less than a link, since
   several groups may be one router, but two outvote one link; between two routers that an alias
   file knows it is a link. A private address by which packets came in shows a link inside one AS
   (``private``), unless it may be used in several networks.
   Answering hosts right behind a group are strong evidence for their AS if no trace passes through
   the group from router to router, counted once for each address by which packets came in.
   Otherwise the host may be a router of the next AS, and stands for a link to that AS, if the group
   has no other.
   So is the AS of what traces were aimed at (``aims``): a group is in one of the ASes that its
   addresses were the last routers to, whether the destination answered or not; but where traces
   may have broken off, that says less, least if it is a customer's, and nothing if of that AS
   nothing ever answers. If all traces through a group were aimed at a single AS, two of them by
   one address, that settles ties; not if an alias set knows a single address of it (``earlier``),
   save between ASes of one organisation.
   Traces to several ASes cross only ASes that are seen to carry traffic of others (``transit``).
   A member of an exchange point that is registered with an address of a group is evidence for that
   AS; of several, any one.
3. Each group starts with the AS that most of what is around it names (links, hosts, destinations),
   and then takes, group by group until nothing changes, the AS for which its surroundings cost
   least, of those that they name (``near``). A link or adjacency to another AS has a cost (most
   links stay inside), and a link that is numbered from neither of its ends a much higher one, since
which no operator does on purpose. Among ASes of equal cost the present one is kept, then the one of
   the election before, then the one that comes first in the order of links. Neighbours that hold
   each other in an AS move together where that saves something (``regions``); not after step 5.
4. A border router with one link on either side of the border could be on either. How links
   between two ASes are numbered is a habit (by the provider, the larger, the lower number ...),
   so it is learned from the election itself: of links between ASes, how many are numbered from the
   AS with the lower number, separately where that is the larger AS and where it is the smaller.
   Only links whose two ends are *certain* count: any other AS would cost more even without a habit.
   A tie is broken by the order of AS numbers, so it would teach that order. The rarer way of
   numbering costs more, and step 3 is repeated. Links of known providers with their customers have
   a habit of their own.
5. An AS may number its inner links from another AS's addresses, a provider's or a sibling's. Each
   router by itself does not show that, but all of them together do: pairs of ASes are sought for
   which this explains much (``lending``).
6. No trace leaves an AS and comes back to it: where one would, the routers between, or those that
   come after, get the AS of the others if that costs little and clearly less than what else would
   mend it (``repairs.loops``).
7. An address takes the AS of its group. An address that no prefix holds is numbered from a
   placeholder (``unannounced``), which takes part like an AS until destinations show whose it is,
   before the election or after it, when fewer of its routers are taken for those of the block;
   routers in a placeholder that stays unknown are in no AS. A private address takes the AS of the
   routers before it (``private``). The remaining addresses are in none.

Where files give aliases or facts about ASes, all this is first done without them, and then again
with them (``earlier``).

Evidence adds up: what several addresses each show by themselves, they show as one router too.

The ideas are those of MAP-IT [1]_ (evidence from both sides of a link, several rounds) and
bdrmapIT [2]_ (routers, not addresses, are what an AS owns; destinations speak for the last of
them). AS relationships and organisations, which bdrmapIT needs, are used where they are given
(``relations``). The costs (``costs``) were chosen on simulated networks of different sizes and ways
of numbering, none of them a laboratory that the result is measured on; they can be changed by half
without much effect.

References
----------
.. [1] A. Marder, J. M. Smith, "MAP-IT: multipass accurate passive inferences from traceroute",
   IMC 2016.
.. [2] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pipeline.infer.owners.aims import MANY
from pipeline.infer.owners.election.costs import (
    Case,
    Costs,
    by_habit,
    nothing_lent,
    ways_of_numbering,
    without_habit,
)
from pipeline.infer.owners.election.earlier import CLEAR_CHANGES, Earlier, Knowledge, Standing
from pipeline.infer.owners.election.evidence import AddressEvidence, rows_of
from pipeline.infer.owners.election.lending import REALLOCATED, SWALLOWED, find_users
from pipeline.infer.owners.election.reasons import Explained, explain_groups
from pipeline.infer.owners.election.regions import REGIONS
from pipeline.infer.owners.election.relations import (
    relations_among,
    with_stranger,
)
from pipeline.infer.owners.election.settling import (
    count_majorities,
    find_margins,
    settle,
    settle_together,
)
from pipeline.infer.owners.election.surroundings import (
    AIMED,
    CROSSED,
    HOST,
    ONLY,
    ONLY_OF_SIBLINGS,
    Surroundings,
    surround,
)
from pipeline.infer.owners.election.watched import Watched
from pipeline.infer.owners.repairs.loops import LOOPS, straighten_traces
from pipeline.infer.owners.terms import habit
from pipeline.infer.owners.unannounced import (
    FIRST_LEAD,
    FIRST_STAND_IN,
    LEAD,
    name_stand_ins,
)
from pipeline.infer.rule import EVERY_RULE, Rules
from pipeline.infer.traces.distinct import DistinctPaths
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.tables.registries import Registries
from pipeline.model.topology import NO_ASN

_LESSONS = 4  # how often the habit is learned
_NAMINGS = 2  # how often owners of unannounced blocks are named again


class Why(NamedTuple):
    """What decided in an election.

    Attributes
    ----------
    explained : Explained
    second : (n_explained,) int64
        AS that costs least of the others; ``NO_ASN``: one that nothing names.
    decided_by : (n_interfaces,) object
        Name of the rule that moved or kept a group whatever its terms cost; by group.
    """

    explained: Explained
    second: np.ndarray
    decided_by: np.ndarray


class Election(NamedTuple):
    """What was elected, and how clearly.

    Attributes
    ----------
    owner : (n_interfaces,) int64
        A placeholder for routers of an owner that no destination names. ``NO_ASN`` where nothing is
        numbered from an AS (LANs aside), and on routers that are in none of the ASes around them.
    margin : (n_interfaces,) int64 or None
        How much more any other AS costs, in tenths of a nat. None: there was no choice of ASes.
    standing : Standing or None
        For another election.
    why : Why or None
        What decided; None: there was no choice of ASes.
    """

    owner: np.ndarray
    margin: np.ndarray | None
    standing: Standing | None = None
    why: Why | None = None


class _Outcome(NamedTuple):
    """Of one election, by group but for the last two.

    ``label`` (n,) int64: AS row, -1 for none; ``margin`` (n,) int64; ``row`` (n_interfaces,) int64:
    AS row that each address is numbered from; ``stands_for`` (n_ases,) int64; ``case``: as it was
    decided; ``decided_by``: as of ``Why``.
    """

    label: np.ndarray
    margin: np.ndarray
    row: np.ndarray
    stands_for: np.ndarray
    case: Case
    decided_by: np.ndarray


def _learn(case: Case, rules: Rules) -> Case:
    """Steps 3 and 4: the case with the ways of numbering."""
    relations = case.ways.relations
    no_habit = case._replace(ways=without_habit(relations))
    n_lessons = _LESSONS if habit.TERM in rules else 0
    case = case._replace(ways=by_habit(relations)) if n_lessons else no_habit
    watched = Watched.of(case)
    for lesson in range(n_lessons + 1):
        before = case.labels.copy()
        settle_together(case, REGIONS in rules, watched)
        if lesson == n_lessons or (lesson and np.array_equal(before, case.labels)):
            break
        certain = find_margins(no_habit, -1) > 0
        ways = by_habit(relations, ways_of_numbering(case, certain))
        if not np.array_equal(ways.habit, case.ways.habit):
            watched = watched.untried()
        case = case._replace(ways=ways)
    return case


def find_carriers(row: np.ndarray, only: np.ndarray, n_known: int, n_ases: int) -> np.ndarray:
    """(n_ases + 1,) bool: ASes that carry traffic of others, as far as is seen (``terms.transit``).

    Parameters
    ----------
    row : (n_interfaces,) int64
        AS row that each address is numbered from, -1 for none.
    only : (n_interfaces,) int64
        AS row of the only AS that traces through it were aimed at, -1 for none, -2 for several.
    n_known, n_ases : int
        AS rows, with placeholders those after the first; of a placeholder nothing is known.
    """
    carries = np.ones(n_ases + 1, bool)
    carries[:n_known] = False
    carries[row[(row >= 0) & (only != -1) & (only != row)]] = True
    return carries


def _elect(
    around: Surroundings,
    group: np.ndarray,
    row: np.ndarray,
    ases: np.ndarray,
    n_known: int,
    possible: np.ndarray,
    registries: Registries,
    earlier: Earlier,
    paths: DistinctPaths | None,
    rules: Rules,
    only: np.ndarray,
) -> _Outcome:
    """One election (steps 3 to 6); ``row`` is the AS row that each address is numbered from.

    ``possible`` as for ``name_stand_ins``.
    """
    around, row = replace(around, numbered=around.numbered.copy()), row.copy()
    labels = count_majorities(around, group, row)
    size = np.bincount(row[row >= 0], minlength=len(ases))
    ways = without_habit(relations_among(ases, registries))
    costs = Costs.of(rules)
    carries = find_carriers(row, only, n_known, len(ases))
    case = Case.of(around, labels, size, n_known, ways, earlier.held, costs, carries)
    other, numbered = case.other, case.numbered
    stands_for = np.arange(len(ases))
    is_host = other <= HOST  # or a destination beyond
    is_host &= (other != ONLY) & (other != ONLY_OF_SIBLINGS) & (other != CROSSED)
    router, host = row_of_value(case.ptr)[is_host], numbered[is_host]

    def name(lead: float, earlier_names: np.ndarray | None = None) -> bool:
        """Name placeholders by the labels; whether any of them has another name now."""
        named = name_stand_ins(router, labels[router], host, n_known, len(ases), lead, possible)
        if earlier_names is not None:
            named = np.where(named < n_known, named, earlier_names)
        stands_for[:] = named[stands_for]
        for rows in (row, labels, numbered):
            rows[rows >= 0] = stands_for[rows[rows >= 0]]
        size[:] = np.bincount(row[row >= 0], minlength=len(ases))
        carries[:] = find_carriers(row, only, n_known, len(ases))
        return bool((named != np.arange(len(ases))).any())

    if n_known < len(ases):
        # Destinations and members name the owner of a placeholder; until then they are no evidence.
        quiet = np.where(other <= AIMED, -1, numbered)
        settle_together(case._replace(numbered=quiet), REGIONS in rules)
        name(FIRST_LEAD, earlier.stands_for)
    case = _learn(case, rules)
    for _ in range(_NAMINGS if n_known < len(ases) else 0):
        if not name(LEAD):
            break
        case = _learn(case, rules)
    lent_from = (
        find_users(case, SWALLOWED in rules)
        if REALLOCATED in rules
        else nothing_lent(case.ways.relations)
    )
    if (lent_from >= 0).any():
        case = case._replace(ways=case.ways._replace(lent_from=lent_from))
        settle(case)
    case = case._replace(ways=case.ways._replace(relations=with_stranger(case.ways.relations)))
    decided_by = np.full(len(labels), "", object)
    straightened = np.zeros(len(labels), bool)
    if paths is not None and LOOPS in rules:
        straightened = straighten_traces(case, paths, group)
        decided_by[straightened] = LOOPS.name
    margins = find_margins(case, len(ases))
    undone = earlier.undone(labels, margins) & ~straightened
    labels, margins = np.where(undone, earlier.held, labels), np.where(undone, 0, margins)
    decided_by[undone] = CLEAR_CHANGES.name
    case = case._replace(labels=labels)
    return _Outcome(labels, margins, row, stands_for, case, decided_by)


def elect_owners(
    shown: AddressEvidence,
    known: Sequence[Knowledge],
    before: Standing | None = None,
    paths: DistinctPaths | None = None,
    rules: Rules = EVERY_RULE,
) -> Election:
    """Elect the AS of each address that is numbered from one or on the LAN of an exchange point.

    Parameters
    ----------
    shown : AddressEvidence
    known : sequence of Knowledge
        Of one election after the other (``earlier``); the last one counts.
    before : Standing or None
        Of an election before the first of these.
    paths : DistinctPaths or None
        Traces, for step 6, which the last election alone takes; None: it is left out.
    rules : Rules
    """
    origin, on_lan, ases = shown.origin, shown.on_lan, shown.ases()
    n_known = int(np.searchsorted(ases, FIRST_STAND_IN))
    if len(ases) < 2:
        return Election(origin.copy(), None)
    row = np.where((origin == NO_ASN) | on_lan, -1, np.searchsorted(ases, origin))
    stand_in, asn = shown.possible
    # One that nothing names is the row after the last.
    possible = (rows_of(ases, stand_in) << 32) | (rows_of(ases, asn) % (len(ases) + 1))
    only = np.where(shown.aims.only == MANY, -2, rows_of(ases, shown.aims.only))
    last = None
    for now in known:
        if last is None or now.sees_more_than(last):
            around = surround(shown, now, row, ases, rules)
        last = now
        group = now.groups.group
        earlier = Earlier.after(before, now, ases, n_known, rules)
        traces = paths if now is known[-1] else None
        found = _elect(
            around,
            group,
            row,
            ases,
            n_known,
            possible,
            now.registries,
            earlier,
            traces,
            rules,
            only,
        )
        asn = np.where(found.label >= 0, ases[np.maximum(found.label, 0)], NO_ASN)[group]
        before = Standing(asn, found.margin[group], group, ases, ases[found.stands_for])
    explained = explain_groups(found.case, len(ases))
    label = found.label[group]
    is_mapped = ((found.row >= 0) | on_lan) & (label >= 0)
    owner = np.where(is_mapped, ases[np.maximum(label, 0)], NO_ASN)
    named = np.append(np.where(ases < FIRST_STAND_IN, ases, NO_ASN), NO_ASN)
    why = Why(explained, named[explained.second], found.decided_by)
    return Election(owner, found.margin[group], before, why)
