"""Nodes of the graph: alias sets, inferred routers, and every other interface by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.infer.owners.unannounced import FIRST_STAND_IN
from pipeline.model.tables.aliases import AliasTable
from pipeline.model.topology import NO_ASN


@dataclass(frozen=True, eq=False)
class Nodes:
    """Which interfaces are one node, in the order of their smallest interfaces.

    Attributes
    ----------
    node_of : (n_interfaces,) int64
    first : (n_nodes,) int64
        Smallest interface of each node, ascending.
    alias : (n_interfaces,) int64
        ``first`` where an alias set says so; -1 elsewhere.
    """

    node_of: np.ndarray
    first: np.ndarray
    alias: np.ndarray

    @classmethod
    def given(cls, addrs: np.ndarray, aliases: AliasTable | None) -> Nodes:
        """Nodes by alias sets alone.

        Parameters
        ----------
        addrs : (n_interfaces, 2) uint64
        aliases : AliasTable or None
        """
        n = len(addrs)
        if aliases is None:
            every = np.arange(n)
            return cls(every, every, np.full(n, -1, np.int64))
        router = aliases.routers_of(addrs)
        in_set = np.flatnonzero(router >= 0)
        _, first_at, inverse = np.unique(router[in_set], return_index=True, return_inverse=True)
        alias = np.full(n, -1, np.int64)
        alias[in_set] = in_set[first_at][inverse]  # ids ascend, so the first is the smallest
        return cls.of(np.where(alias >= 0, alias, np.arange(n)), alias)

    @classmethod
    def of(cls, router: np.ndarray, alias: np.ndarray) -> Nodes:
        """Nodes by the smallest interface of each interface's router, (n_interfaces,) int64."""
        first, node_of = np.unique(router, return_inverse=True)
        return cls(node_of.astype(np.int64), first, alias)

    def __len__(self) -> int:
        return len(self.first)

    def most_common(self, asn: np.ndarray, private: np.ndarray | None = None) -> np.ndarray:
        """AS that most mapped interfaces of each node have; the smallest number of equal ones.

        Private ones count only where others are equal, and placeholders only where nothing else is
        known.

        Parameters
        ----------
        asn : (n_interfaces,) int64
            ``NO_ASN`` where unmapped.
        private : (n_interfaces,) bool or None

        Returns
        -------
        (n_nodes,) int64
        """
        mapped = np.flatnonzero(asn != NO_ASN)
        order = mapped[np.lexsort((asn[mapped], self.node_of[mapped]))]
        node, value = self.node_of[order], asn[order]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (node[1:] != node[:-1]) | (value[1:] != value[:-1])
        starts = np.flatnonzero(is_first)
        votes = np.diff(starts, append=len(order))
        public = (
            votes if private is None else np.add.reduceat(~private[order], starts, dtype=np.int64)
        )
        known = value[starts] < FIRST_STAND_IN
        # The winner comes last.
        best = np.lexsort((-value[starts], votes, public, known, node[starts]))
        result = np.full(len(self), NO_ASN, np.int64)
        result[node[starts][best]] = value[starts][best]
        return result
