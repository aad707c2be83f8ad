"""All that traces say, gathered in two passes; a third one measures what was inferred from it.

The first pass counts links and finds how traces came to destinations, which shows which addresses
are those of routers. The second one keeps their distinct paths, what they were aimed at and dead
ends. So no rule or term reads traces: it asks this evidence, and what earlier steps decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pipeline.infer.destinations import PASSAGES, find_passages, find_routers
from pipeline.infer.given import Given, Mapped
from pipeline.infer.owners.aims import Aims, find_aims
from pipeline.infer.routers.observers import Observers, find_observers
from pipeline.infer.routers.places import PRIVATE_PLACES, find_places
from pipeline.infer.routers.rules.dead_ends import DeadEnds, find_dead_ends, find_only_ends
from pipeline.infer.routers.subnet_mates import find_mates
from pipeline.infer.traces.distinct import DistinctPaths, find_distinct_paths
from pipeline.infer.traces.early import EARLY_REPLIES
from pipeline.infer.traces.links import (
    DOUBTFUL_LINKS,
    REPEATED_HOPS,
    DirectedLinks,
    count_links,
)
from pipeline.infer.traces.merge import ObservedAddresses, merge_addresses
from pipeline.infer.traces.observer import Observation
from pipeline.infer.traces.passes import MIDDLEBOXES, Spools
from pipeline.infer.traces.tunnels import ReplyJumps, find_jumps
from pipeline.model.addresses import is_private
from pipeline.model.tables.aliases import AliasTable
from pipeline.model.topology import NO_ASN


@dataclass(frozen=True, eq=False)
class Evidence:
    """What traces say. *All* addresses are those that answered, the others those of routers.

    Attributes
    ----------
    counts : Counter of str
        Traces, hops, and what was left out of single traces.
    observed : ObservedAddresses
        All.
    all_mapped : Mapped
        What prefixes say of all.
    all_mates : (n_addrs,) int64
        Of all, with the given alias sets (``mates_of``).
    all_links : DirectedLinks
        Between all.
    is_router : (n_addrs,) bool
    addrs : (n_interfaces, 2) uint64
        Of routers: positions here are interfaces.
    mapped : Mapped
    links : DirectedLinks
    spools : Spools
        Traces by interfaces.
    paths : DistinctPaths
        This, ``aims`` and ``dead_ends`` are empty where borders are by prefix: nothing asks.
    aims : Aims
    dead_ends : DeadEnds
    jumps : ReplyJumps
        Of ``links``.
    scratch : Path or None
        Folder for what does not fit into memory; None: the system's.
    """

    counts: Counter[str]
    observed: ObservedAddresses
    all_mapped: Mapped
    all_mates: np.ndarray
    all_links: DirectedLinks
    is_router: np.ndarray
    addrs: np.ndarray
    mapped: Mapped
    links: DirectedLinks
    spools: Spools
    paths: DistinctPaths
    aims: Aims
    dead_ends: DeadEnds
    jumps: ReplyJumps
    scratch: Path | None

    @property
    def is_classic(self) -> bool:
        """Whether any traces are by a classic method (``TraceBatch.n_classic``)."""
        return self.counts["classic_traces"] > 0

    @cached_property
    def observers(self) -> Observers:
        """From where each interface was seen."""
        return find_observers(self.paths, len(self.addrs))


def mates_of(addrs: np.ndarray, aliases: AliasTable | None, on_lan: np.ndarray) -> np.ndarray:
    """(n,) int64: the other end of each address's link, -1 for none and on known LANs.

    Parameters
    ----------
    addrs : (n, 2) uint64, sorted, distinct
    aliases : AliasTable or None
    on_lan : (n,) bool
    """
    mates = find_mates(addrs, None if aliases is None else aliases.routers_of(addrs))
    return np.where(on_lan, -1, mates)


def gather(
    observations: Sequence[Observation],
    given: Given,
    *,
    workers: int,
    targets_are_routers: bool,
    is_elected: bool,
) -> Evidence:
    """Gather what traces say; one pass over the spools, or two if owners are to be elected.

    Parameters
    ----------
    observations : sequence of Observation
    given : Given
    workers : int
        Threads that read.
    targets_are_routers : bool
        As for ``find_routers``.
    is_elected : bool
    """
    counts = _count(observations)
    believe_early = EARLY_REPLIES not in given.rules
    observed = merge_addresses(observations, believe_early)
    all_mapped = given.map(observed.addrs)
    every = Spools(
        observations,
        observed.addrs,
        workers,
        are_boxes=MIDDLEBOXES in given.rules,
        believe_early=believe_early,
    )
    if PRIVATE_PLACES in given.rules:
        private = all_mapped.special & is_private(observed.addrs)
        if given.aliases is not None:
            private &= given.aliases.routers_of(observed.addrs) < 0
        known = ~is_private(every.vantages)
        known &= every.vantages.any(axis=1)
        vantage = np.where(known, np.cumsum(known) - 1, -1)
        places = every.read(find_places(private, vantage)) if private.any() else None
        if places is not None:
            every = every.split(places.assign)
            observed = observed.take(places.address)
            all_mapped = all_mapped.take(places.address)
    mates = mates_of(observed.addrs, given.aliases, all_mapped.lan >= 0)
    all_links, passages, only_ends = every.read(
        count_links(), find_passages(mates), find_only_ends(every.vantages)
    )
    all_links = all_links.read_repeated(REPEATED_HOPS in given.rules)
    if DOUBTFUL_LINKS in given.rules and counts["classic_traces"]:
        n_before = int(np.count_nonzero(all_links.n_router))
        all_links = all_links.without_doubtful(len(mates))
        counts["doubtful_pairs"] = n_before - int(np.count_nonzero(all_links.n_router))
    passed = np.zeros(len(mates), bool)
    if PASSAGES in given.rules:
        passed = passages.find_passed(all_links, mates)
    is_router = find_routers(observed, mates, passed, targets_are_routers, given.aliases)
    links, spools = all_links.restrict(is_router), every.restrict(is_router)
    n = int(np.count_nonzero(is_router))
    scratch = observations[0].spool.parent if observations else None
    paths, aims, dead_ends = DistinctPaths([]), Aims.none(n), DeadEnds.none()
    jumps = ReplyJumps.none(len(links.near))
    if is_elected:
        paths, aims, dead_ends, jumps = spools.read(
            find_distinct_paths(
                given.origin_of,
                counts["traces"],
                workers,
                scratch,
                are_gaps=REPEATED_HOPS in given.rules,
            ),
            find_aims(given.prefixes, n, given.exchanges),
            find_dead_ends(
                links,
                n,
                spools.vantages,
                only_ends,
                lambda aimed_at: given.origin_of(aimed_at) != NO_ASN,
            ),
            find_jumps(links, len(spools.vantages)),
        )
    return Evidence(
        counts=counts,
        observed=observed,
        all_mapped=all_mapped,
        all_mates=mates,
        all_links=all_links,
        is_router=is_router,
        addrs=observed.addrs[is_router],
        mapped=all_mapped.of_routers(is_router),
        links=links,
        spools=spools,
        paths=paths,
        aims=aims,
        dead_ends=dead_ends,
        jumps=jumps,
        scratch=scratch,
    )


def _count(observations: Sequence[Observation]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for observation in observations:
        counts["traces"] += observation.n_traces
        counts["hops"] += observation.n_hops
        counts.update(observation.counts)
    return counts
