"""Elections in turn: each knows more than the one before.

Owners are elected without what files say first, then with alias sets, then with relationships and
organisations as well. Before there are alias sets, inferred routers take their place
(``conclude``). Of the election before three things count:

- whose a router was: that AS is tried again, and a router that is in another one now is evidence
  for reallocated prefixes (``lending``). Of the addresses of an alias set, each group that they
  were in has a vote of its margin (at most ``_MOST`` counts, so that one clear group does not
  outvote several): the AS with most votes is the one before; with equal votes there is none;
- with inferred routers a change with a margin below ``_CLEAR`` is undone. An address that the
  election before joined with others and that is by itself now has lost their evidence, and changes
  only with a margin of ``_CLEAR_ALONE``;
- an unannounced block (``unannounced``) whose owner can no longer be determined keeps that of
  the election before: one router has one vote there, so merged ones may leave no majority.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pipeline.infer.owners.election.evidence import rows_of
from pipeline.infer.routers.groups import Groups
from pipeline.infer.rule import CHOSEN, EVERY_RULE, Rule, Rules
from pipeline.model.columns.keys import split_key
from pipeline.model.tables.registries import Registries

CLEAR_CHANGES = Rule(
    "clear-changes",
    "owners",
    "with inferred routers an owner changes only by a clear margin",
    "the election before",
    CHOSEN,
    weights={"clear": 0.6, "clear_alone": 6.0},
)

# Margin below which inferred routers, and addresses left alone, stay in the AS before.
_CLEAR, _CLEAR_ALONE = CLEAR_CHANGES.tenths("clear"), CLEAR_CHANGES.tenths("clear_alone")
_MOST = 60


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What one election knows of routers and ASes.

    Attributes
    ----------
    groups : Groups
    in_set : (n_interfaces,) bool
        Addresses in an alias set.
    registries : Registries
        Of which relationships and organisations are used.
    least : (n_interfaces,) int64 or None
        By group: with a smaller margin than this the AS of the election before stays; None: 0.
    """

    groups: Groups
    in_set: np.ndarray
    registries: Registries
    least: np.ndarray | None = None

    @property
    def only_settles(self) -> np.ndarray:
        """(n_interfaces,) bool: groups whose ties the only AS that was aimed at settles.

        Of a router that an alias set knows by one address, the links to the routers on both sides
        say the same; but not between ASes of one organisation, whose links cost nearly the same in
        either.
        """
        group = self.groups.group
        size = np.bincount(group, minlength=len(group))
        size[group[~self.in_set]] += 1
        return size > 1

    def sees_more_than(self, before: Knowledge) -> bool:
        """Whether routers have other surroundings than by what was known before."""
        organisations = self.registries.organisations is not before.registries.organisations
        settles = (self.only_settles != before.only_settles).any()
        return self.groups is not before.groups or organisations or bool(settles)


class Standing(NamedTuple):
    """What an election leaves for the next one, which may know other routers.

    Attributes
    ----------
    asn : (n_interfaces,) int64
        AS or placeholder; ``NO_ASN`` for none.
    margin : (n_interfaces,) int64
    group : (n_interfaces,) int64
    ases, stands_for : (n_ases,) int64
        ASes and placeholders, ascending, and what each stood for.
    """

    asn: np.ndarray
    margin: np.ndarray
    group: np.ndarray
    ases: np.ndarray
    stands_for: np.ndarray


class Earlier(NamedTuple):
    """What the election before says.

    Attributes
    ----------
    held : (n_interfaces,) int64
        AS row of each group; -1 for none.
    least : (n_interfaces,) int64 or None
        As of ``Knowledge``.
    stands_for : (n_ases,) int64 or None
        AS row that each AS row stood for; None before the first election.
    """

    held: np.ndarray
    least: np.ndarray | None
    stands_for: np.ndarray | None

    @classmethod
    def none(cls, n: int) -> Earlier:
        """Before the first election."""
        return cls(np.full(n, -1, np.int64), None, None)

    @classmethod
    def after(
        cls,
        standing: Standing | None,
        knows: Knowledge,
        ases: np.ndarray,
        n_known: int,
        rules: Rules = EVERY_RULE,
    ) -> Earlier:
        """What another election left for one of these AS rows, of which ``n_known`` are real.

        Parameters
        ----------
        standing : Standing or None
            None: there was no election before.
        knows : Knowledge
            Of the election that comes.
        ases : (n_ases,) int64, ascending
        n_known : int
        rules : Rules
        """
        group = knows.groups.group
        if standing is None:
            return cls.none(len(group))
        label = rows_of(ases, standing.asn)
        held = hold(label, standing.margin, standing.group, group, n_known)
        stands_for = np.arange(len(ases))
        row, other = rows_of(ases, standing.ases), rows_of(ases, standing.stands_for)
        both = (row >= 0) & (other >= 0)
        stands_for[row[both]] = other[both]
        return cls(held, knows.least if CLEAR_CHANGES in rules else None, stands_for)

    def undone(self, label: np.ndarray, margin: np.ndarray) -> np.ndarray:
        """(n,) bool: groups that stay in the AS before, since it is not clear that they are not.

        Parameters
        ----------
        label, margin : (n,) int64
            AS row of each group as elected, -1 for none, and how clear it is.
        """
        if self.least is None:
            return np.zeros(len(label), bool)
        return (self.held >= 0) & (label != self.held) & (label >= 0) & (margin < self.least)


def know_in_turn(groups: Groups, in_set: np.ndarray, registries: Registries) -> list[Knowledge]:
    """What each election knows, the last one everything.

    Parameters
    ----------
    groups : Groups
    in_set : (n_interfaces,) bool
    registries : Registries
    """
    known = [Knowledge(groups, in_set, Registries())]
    if registries.relationships is not None or registries.organisations is not None:
        known.append(Knowledge(groups, in_set, registries))
    return known


def know_merged(before: Knowledge, router: np.ndarray) -> Knowledge:
    """The same with inferred routers in place of groups; they count like alias sets.

    Parameters
    ----------
    before : Knowledge
    router : (n_interfaces,) int64
        Smallest interface of each inferred router.
    """
    n, group = len(router), before.groups.group
    is_merged = np.bincount(router, minlength=n)[router] > 1
    was_joined = np.bincount(group, minlength=n)[group] > 1
    least = np.where(was_joined & ~is_merged, _CLEAR_ALONE, _CLEAR)
    groups = replace(before.groups, group=router)
    return Knowledge(groups, before.in_set | is_merged, before.registries, least)


def hold(
    label: np.ndarray, margin: np.ndarray, before: np.ndarray, now: np.ndarray, n_known: int
) -> np.ndarray:
    """AS row that each group was in before: the one with most votes, if there is one.

    Parameters
    ----------
    label, margin : (n_interfaces,) int64
        AS row of each interface, -1 for none, and how clear it is.
    before, now : (n_interfaces,) int64
        Group of each interface in both elections.
    n_known : int
        AS rows; those from here on are placeholders, which have no holder.

    Returns
    -------
    (n_interfaces,) int64
        By group; -1 for none.
    """
    mapped = np.flatnonzero((label >= 0) & (label < n_known))
    _, first = np.unique((now[mapped] << 32) | before[mapped], return_index=True)
    voter = mapped[first]
    pairs, which = np.unique((now[voter] << 32) | label[voter], return_inverse=True)
    votes = np.bincount(which, np.minimum(margin[voter], _MOST) + 1, len(pairs))
    order = np.lexsort((votes, pairs >> 32))  # the winner of each group comes last
    group, row = split_key(pairs[order])
    votes = votes[order]
    wins = np.ones(len(group), bool)
    wins[:-1] = group[1:] != group[:-1]
    wins[1:] &= (group[1:] != group[:-1]) | (votes[1:] > votes[:-1])
    held = np.full(len(label), -1, np.int64)
    held[group[wins]] = row[wins]
    return held
