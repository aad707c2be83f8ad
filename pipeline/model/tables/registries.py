"""What registries say about ASes and addresses: optional evidence for the election of owners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.model.relations import SIBLING, UNRELATED
from pipeline.model.tables.delegations import Delegations
from pipeline.model.tables.exchanges import ExchangePoints
from pipeline.model.tables.named_owners import NamedOwners
from pipeline.model.tables.organisations import UNKNOWN, Organisations
from pipeline.model.tables.relationships import Relationships


@dataclass(frozen=True, eq=False)
class Registries:
    """Files about ASes and addresses; None for what was not given.

    ``named``: what host names say by rules, of which none is a registry's.
    """

    relationships: Relationships | None = None
    organisations: Organisations | None = None
    delegations: Delegations | None = None
    exchanges: ExchangePoints | None = None
    named: NamedOwners | None = None

    def relation(self, near: np.ndarray, far: np.ndarray) -> np.ndarray | None:
        """What the AS with the smaller number is to the other, as in ``relationships``.

        Parameters
        ----------
        near, far : (n,) int64
            AS numbers; negative for none, which is related to none.

        Returns
        -------
        (n,) int8 or None
            ``UNRELATED`` where the file does not list the two. None without relationships.
        """
        if self.relationships is None:
            return None
        low, high = np.minimum(near, far), np.maximum(near, far)
        found = self.relationships.of(np.maximum(low, 0), np.maximum(high, 0))
        return np.where(low < 0, UNRELATED, found).astype(np.int8)

    def siblings(self, near: np.ndarray, far: np.ndarray) -> np.ndarray | None:
        """Whether two ASes are of one organisation.

        Parameters
        ----------
        near, far : (n,) int64
            AS numbers; negative for none.

        Returns
        -------
        (n,) bool or None
            None where no file has organisations.
        """
        known, related = self.organisations, self.relationships
        if known is None and (related is None or SIBLING not in related.kind):
            return None
        same = np.zeros(len(near), bool)
        if known is not None:
            of_near = known.of(near)
            same |= (of_near == known.of(far)) & (of_near != UNKNOWN)
        if related is not None:
            same |= related.of(near, far) == SIBLING
        return same & (near != far)
