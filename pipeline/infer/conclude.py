"""Routers and owners in turn: each shows more of the other.

Without an alias file the election takes only groups that are hardly wrong (``routers.merge``);
that more addresses are one router is inferred with owners known. These routers are evidence for
owners again, as alias sets are: so owners are elected once more, and what the merged addresses give
no reason to change stays (``owners.election.earlier``).

Where the new owners show another AS for a private address, routers are inferred once more, with
that AS. The election is not repeated then: further turns change little, some for the worse.

kapar and MAP-IT [1]_ leave out either half; bdrmapIT [2]_ takes routers as given.

References
----------
.. [1] A. Marder, J. M. Smith, "MAP-IT: multipass accurate passive inferences from traceroute",
   IMC 2016.
.. [2] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pipeline.infer.evidence import Evidence
from pipeline.infer.owners.elect import Election, elect_owners
from pipeline.infer.owners.election.earlier import (
    Knowledge,
    Standing,
    know_in_turn,
    know_merged,
)
from pipeline.infer.owners.election.evidence import AddressEvidence
from pipeline.infer.owners.private import PRIVATE_ROUTERS, locate_private
from pipeline.infer.routers.groups import SUBNET_MATES, Groups, group_interfaces
from pipeline.infer.routers.joins import Joined
from pipeline.infer.routers.merge import merge_interfaces, trust_groups
from pipeline.infer.routers.rules.one_number import (
    ONE_NUMBER,
    find_private_mates,
    join_numbers,
)
from pipeline.infer.routers.subnet_mates import part_mates
from pipeline.infer.rule import Rule, Rules
from pipeline.infer.traces.links import CROSSED_WAYS, TUNNEL_STARTS
from pipeline.infer.traces.tunnels import find_hiding
from pipeline.model.tables.registries import Registries
from pipeline.model.topology import NO_ASN

MERGED_ROUTERS = Rule(
    "merged-routers",
    "owners",
    "owners are elected again with the inferred routers",
    "inferred routers",
)


class Concluded(NamedTuple):
    """What evidence shows.

    Attributes
    ----------
    groups : Groups
    router : (n_interfaces,) int64
        Smallest interface of each router: alias sets, and inferred ones if requested.
    election : Election
    joined : Joined or None
        What joined them; None: nothing was inferred.
    """

    groups: Groups
    router: np.ndarray
    election: Election
    joined: Joined | None = None


@dataclass(frozen=True, eq=False)
class Turns:
    """What traces and files show of router addresses, and which of them files say are one router.

    Attributes
    ----------
    evidence : Evidence
    shown : AddressEvidence
    alias : (n_interfaces,) int64
        Smallest interface of the given alias set that each interface is in; -1 for none.
    gateways : (n_interfaces,) int64
        As from ``find_gateways``.
    rules : Rules
    """

    evidence: Evidence
    shown: AddressEvidence
    alias: np.ndarray
    gateways: np.ndarray
    rules: Rules

    def conclude(
        self, registries: Registries, merge: bool, before: Standing | None = None
    ) -> Concluded:
        """Elect owners, and infer routers if ``merge``.

        Parameters
        ----------
        registries : Registries
        merge : bool
        before : Standing or None
            Of the last election without alias sets; None: there was none.
        """
        shown = self.shown
        groups = self._group(shown)
        trusted = trust_groups(
            shown.links,
            groups,
            mates=shown.mates,
            alias=self.alias,
            gateways=self.gateways,
            rules=self.rules,
        )
        known = know_in_turn(trusted, self.alias >= 0, registries)
        # Loops wait for routers: these are inferred by what the election itself says.
        paths = None if merge else self.evidence.paths
        election = elect_owners(shown, known, before, paths, self.rules)
        router = np.where(self.alias >= 0, self.alias, np.arange(len(self.alias)))
        joined = None
        if merge:
            router, joined, election = self._infer_routers(groups, known[-1], election)
        return Concluded(groups, router, election, joined)

    def _group(self, shown: AddressEvidence) -> Groups:
        """Interfaces by router, for the election."""
        groups = group_interfaces(
            self.evidence.paths,
            shown.links,
            mates=shown.mates,
            on_lan=shown.on_lan,
            alias=self.alias,
            origin=shown.origin,
        )
        if SUBNET_MATES not in self.rules:
            alone = np.where(self.alias >= 0, self.alias, np.arange(len(self.alias)))
            groups = replace(groups, group=alone)
        return groups

    @cached_property
    def _no_joins(self) -> np.ndarray:
        """(n_pairs,) bool: pairs by which no routers are inferred."""
        links = self.shown.links
        pairs = np.zeros(len(links.near), bool)
        if TUNNEL_STARTS in self.rules:
            pairs |= links.after_tunnels()
        if CROSSED_WAYS in self.rules and self.evidence.is_classic:
            pairs |= links.crossed_ways()
        return pairs

    def _locate(self, group: np.ndarray, owner: np.ndarray) -> np.ndarray:
        if PRIVATE_ROUTERS not in self.rules:
            return np.full(len(group), NO_ASN, np.int64)
        return locate_private(
            self.shown.links, self.shown.aims, group, owner, self.evidence.mapped.special
        )

    def _merge(
        self, groups: Groups, owner: np.ndarray, used_in: np.ndarray
    ) -> tuple[np.ndarray, Joined]:
        """Smallest interface of each router, and why; private ones count as ``used_in`` says."""
        shown, located = self.shown, used_in != NO_ASN
        gateways = self.gateways
        no_joins = self._no_joins | find_hiding(
            shown.links,
            self.evidence.jumps,
            self.evidence.paths,
            groups.group,
            owner,
            self.rules,
        )
        if no_joins.any():
            shown = replace(shown, links=shown.links.without(no_joins))
            groups = self._group(shown)
        if located.any():
            owner, origin = np.where(located, used_in, (owner, shown.origin))
            mates = part_mates(shown.mates, origin, located)
            if ONE_NUMBER in self.rules:
                addrs = self.evidence.addrs
                gateways = join_numbers(addrs, gateways, used_in)
                mates = find_private_mates(addrs, mates, used_in)
            shown = replace(shown, origin=origin, mates=mates)
            groups = self._group(shown)
        return merge_interfaces(
            self.evidence.paths,
            self.evidence.observers,
            shown.links,
            groups,
            mates=shown.mates,
            alias=self.alias,
            origin=shown.origin,
            gateways=gateways,
            owner=owner,
            rules=self.rules,
        )

    def _infer_routers(
        self, groups: Groups, known: Knowledge, election: Election
    ) -> tuple[np.ndarray, Joined, Election]:
        """Merge interfaces into routers and elect their owners again.

        Parameters
        ----------
        groups : Groups
            As from ``_group``.
        known : Knowledge
            Of the last election.
        election : Election
            By what is known so far.

        Returns
        -------
        router : (n_interfaces,) int64
            Smallest interface of each router.
        joined : Joined
        election : Election
        """
        used_in = self._locate(known.groups.group, election.owner)
        router, joined = self._merge(groups, election.owner, used_in)
        again = [know_merged(known, router) if MERGED_ROUTERS in self.rules else known]
        election = elect_owners(
            self.shown, again, election.standing, self.evidence.paths, self.rules
        )
        used_now = self._locate(router, election.owner)
        if (used_now != used_in).any():
            router, joined = self._merge(groups, election.owner, used_now)
        return router, joined, election
