"""Which rule joined which addresses: each address that is not the smallest of its router, once.

Routers are known by their smallest address. So a rule that joins two makes one smallest address
less, whose part of the router it joined to another; what is taken apart again is forgotten.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.infer.rule import Rule
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, split_key

GIVEN = "alias-file"  # in place of a rule: an alias set that was given


class Joined(NamedTuple):
    """What joined interfaces.

    Attributes
    ----------
    rule : (n_interfaces,) object
        Name of the rule that joined the part of a router whose smallest interface this is; empty
        for the smallest of a whole router.
    to : (n_interfaces,) int64
        Smallest interface of the router that it was joined to; -1 for none.
    """

    rule: np.ndarray
    to: np.ndarray

    @classmethod
    def none(cls, n: int) -> Joined:
        """Nothing is joined yet."""
        return cls(np.full(n, "", object), np.full(n, -1, np.int64))

    def note(self, before: np.ndarray, after: np.ndarray, rule: Rule) -> None:
        """Note what a rule joined, by the smallest interface of each router before and after."""
        ids = np.arange(len(before))
        joined = (before == ids) & (after != ids)
        self.rule[joined], self.to[joined] = rule.name, after[joined]

    def finish(self, root: np.ndarray, alias: np.ndarray) -> None:
        """Forget what was taken apart again, and note given alias sets."""
        alone = root == np.arange(len(root))
        given = ~alone & (alias >= 0)
        self.rule[alone], self.to[alone] = "", -1
        self.rule[given], self.to[given] = GIVEN, alias[given]


def count_common(links: DirectedLinks, root: np.ndarray) -> np.ndarray:
    """(n_interfaces,) int64: what is right behind each that also follows another of its router."""
    on_the_way = links.n_router > 0
    near, far = split_key(distinct_keys((links.near[on_the_way] << 32) | links.far[on_the_way]))
    _, which, n = np.unique((root[near] << 32) | far, return_inverse=True, return_counts=True)
    return np.bincount(near, n[which] > 1, len(root)).astype(np.int64)
