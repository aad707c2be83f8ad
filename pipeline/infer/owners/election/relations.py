"""What ASes are to each other, for the election: relationships and organisations, where given.

- The two ends of a link are mostly a provider and its customer, or peers [1]_. ASes of which the
  file says nothing together rarely meet; the file lacks many peers at exchange points, so they are
  not excluded.
- A link between a provider and its customer is mostly numbered by the provider [2]_. That is where
  the habit of such links begins; what the election sees corrects it.
- ASes of one organisation number each other's links, inner ones too, and share routers: a link
  between two of them costs hardly more than one inside an AS [2]_.

References
----------
.. [1] M. Luckie et al., "AS relationships, customer cones, and validation", IMC 2013.
.. [2] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018, sections 4 and 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.model.borrowing import BORROWS
from pipeline.model.relations import SIBLING, UNRELATED
from pipeline.model.tables.organisations import UNKNOWN
from pipeline.model.tables.registries import Registries

NOTHING = -1  # is known of two ASes


class Relations(NamedTuple):
    """Relations between the ASes of an election, by their rows.

    Attributes
    ----------
    pairs : (n_pairs,) int64, sorted
        ``row << 32 | other``; both ways.
    kind : (n_pairs,) int8
        What the first is to the other, as in ``model.tables.relationships``.
    listed : (n_ases + 1,) bool
        ASes that relationships are known of; the last entry stands for an AS without a row.
    organisation : (n_ases + 1,) int64
        Equal for ASes of one organisation; ``UNKNOWN`` for others.
    """

    pairs: np.ndarray
    kind: np.ndarray
    listed: np.ndarray
    organisation: np.ndarray


def relations_among(ases: np.ndarray, registries: Registries) -> Relations:
    """Relations among the ASes of an election.

    Parameters
    ----------
    ases : (n_ases,) int64, sorted, distinct
    registries : Registries
    """
    listed = np.zeros(len(ases) + 1, bool)
    organisation = np.full(len(ases) + 1, UNKNOWN)
    pairs, kind = np.empty(0, np.int64), np.empty(0, np.int8)
    if registries.relationships is not None:
        row, other, kind = registries.relationships.among(ases)
        pairs = (row << 32) | other
        listed[:-1] = registries.relationships.lists(ases)
    if registries.organisations is not None:
        organisation[:-1] = registries.organisations.of(ases)
    return Relations(pairs, kind, listed, organisation)


def with_stranger(relations: Relations) -> Relations:
    """The same, with an AS without a row that is in no relationship though it is listed."""
    listed = relations.listed.copy()
    listed[-1] = listed.any()
    return relations._replace(listed=listed)


@njit(**BORROWS)
def relation(relations, row, other):
    """What an AS is to another; ``NOTHING`` where that is not known."""
    organisation = relations.organisation[row]
    if organisation != UNKNOWN and organisation == relations.organisation[other]:
        return SIBLING  # even where one is the other's customer
    if not relations.listed[row] or not relations.listed[other]:
        return NOTHING
    key = (row << 32) | other
    at = np.searchsorted(relations.pairs, key)
    if at < len(relations.pairs) and relations.pairs[at] == key:
        return np.int64(relations.kind[at])
    return UNRELATED
