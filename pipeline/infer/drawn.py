"""Links that are drawn, silent routers among them, and the last pass: what traces measure there."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pipeline.infer.delays import measuring_delays
from pipeline.infer.evidence import Evidence
from pipeline.infer.given import Given
from pipeline.infer.ingresses import CLASSIC_ENTRIES, Crossed, find_doubtful, find_ingresses
from pipeline.infer.kept import Kept, keeping_all, keeping_traces
from pipeline.infer.owned import Owned
from pipeline.infer.paths import collecting_paths
from pipeline.infer.rtt import measuring_links
from pipeline.infer.silent import SilentRouters, find_silent
from pipeline.infer.traces.links import NodeLinks, join_links
from pipeline.infer.traces.tunnels import find_hiding
from pipeline.model.columns.sorted_addrs import find_addrs
from pipeline.model.measured.observations import Observations, Vantages


class Links(NamedTuple):
    """Links between nodes, and gaps in which silent routers are.

    Attributes
    ----------
    shown : NodeLinks
        Those that traces show.
    silent : SilentRouters
    has_silent : bool
        They were looked for.
    length : (n_links + n_gaps,) int64 or None
        Hops across each, for ``measuring_links``.
    """

    shown: NodeLinks
    silent: SilentRouters
    has_silent: bool
    length: np.ndarray | None


def join_nodes(
    evidence: Evidence,
    given: Given,
    owned: Owned,
    *,
    is_elected: bool,
    bridge_gaps: bool,
    has_silent: bool,
) -> Links:
    """The links between nodes, and the gaps between them if silent routers are wanted."""
    links, node_of, hiding = evidence.links, owned.nodes.node_of, None
    if is_elected:
        hiding = find_hiding(links, evidence.jumps, evidence.paths, node_of, owned.asn, given.rules)
    shown = join_links(links, node_of, bridge_gaps, owned.on_lan, hiding)
    silent = SilentRouters.none()
    if has_silent:
        silent = find_silent(links, node_of, owned.asn, shown)
    length = None if bridge_gaps else np.r_[np.ones(len(shown.near), np.int64), silent.length]
    return Links(shown, silent, has_silent, length)


class Drawn(NamedTuple):
    """Links as they are drawn, and what traces measure.

    Attributes
    ----------
    links : NodeLinks
        Silent routers are the nodes after the others.
    weight : (n_links,) float32
        In ms; NaN where no trace gave an RTT at both ends.
    n_floored : int
    has_silent : bool
        Silent routers were looked for.
    silent_asn : (n_silent,) int64
        AS of each of them.
    crossed : Crossed
    observations : Observations
    kept : Kept
        Traces.
    """

    links: NodeLinks
    weight: np.ndarray
    n_floored: int
    has_silent: bool
    silent_asn: np.ndarray
    crossed: Crossed
    observations: Observations
    kept: Kept


def measure(
    evidence: Evidence, given: Given, owned: Owned, links: Links, *, keep_traces: bool = False
) -> Drawn:
    """Delays of links, ingresses and exits, paths, kept traces; one pass over the spools."""
    spools, observed = evidence.spools, evidence.observed
    node_of, silent = owned.nodes.node_of, links.silent
    doubtful = None
    if CLASSIC_ENTRIES in given.rules and evidence.is_classic:
        doubtful = find_doubtful(evidence.links, node_of, owned.asn)
    number_of = find_addrs(observed.vantages, spools.vantages)
    if keep_traces and evidence.scratch is not None:
        finding_kept = keeping_all(
            evidence.counts["hops"], spools.vantages, number_of, evidence.scratch
        )
    else:
        finding_kept = keeping_traces(evidence.links, node_of, spools.vantages, number_of)
    high, low = observed.vantages.T
    with (
        measuring_links(
            silent.after(links.shown), node_of, evidence.scratch, links.length
        ) as finding_weights,
        collecting_paths(
            evidence.counts["hops"],
            node_of,
            owned.asn,
            Vantages(high, low, given.origin_of(observed.vantages)),
            number_of,
            spools.workers,
            evidence.scratch,
        ) as finding_paths,
        measuring_delays(
            links.shown, node_of, owned.asn, len(spools.vantages), doubtful, evidence.scratch
        ) as finding_delays,
    ):
        (weight, n_floored), crossed, observations, kept, behind = spools.read(
            finding_weights,
            find_ingresses(
                node_of, owned.asn, given.origin_of(spools.vantages), owned.lans, doubtful
            ),
            finding_paths,
            finding_kept,
            finding_delays,
        )
    ingresses = crossed.ingresses
    ingresses = replace(ingresses, delays=behind.of(ingresses.node))
    drawn, weight, gap = silent.draw(links.shown, weight, len(owned.nodes))
    return Drawn(
        links=drawn,
        weight=weight,
        n_floored=n_floored,
        has_silent=links.has_silent,
        silent_asn=owned.asn[silent.near[gap]],
        crossed=crossed._replace(ingresses=ingresses),
        observations=observations,
        kept=kept,
    )
