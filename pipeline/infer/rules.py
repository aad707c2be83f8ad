"""Every rule of inference, a row each, in the order in which they are used.

``hopscope ingest --list-rules`` prints them; ``--without-rule NAME`` leaves one out.
"""

from __future__ import annotations

from collections.abc import Collection

from pipeline.infer.conclude import MERGED_ROUTERS
from pipeline.infer.destinations import PASSAGES
from pipeline.infer.ingresses import CLASSIC_ENTRIES
from pipeline.infer.owners.election.earlier import CLEAR_CHANGES
from pipeline.infer.owners.election.lending import REALLOCATED, SWALLOWED
from pipeline.infer.owners.election.regions import REGIONS
from pipeline.infer.owners.private import PRIVATE_ROUTERS
from pipeline.infer.owners.repairs.loops import LOOPS
from pipeline.infer.owners.terms import TERMS
from pipeline.infer.owners.unannounced import UNANNOUNCED
from pipeline.infer.routers.groups import SUBNET_MATES
from pipeline.infer.routers.merge import PARALLEL_LINKS, TWO_VOUCHERS
from pipeline.infer.routers.places import PRIVATE_PLACES
from pipeline.infer.routers.rules.borders_crossed import BORDERS_CROSSED
from pipeline.infer.routers.rules.common_successors import SAME_PLACE
from pipeline.infer.routers.rules.dead_ends import DEAD_ENDS
from pipeline.infer.routers.rules.diverging_next_hops import DIVERGING
from pipeline.infer.routers.rules.exchange_lans import EXCHANGE_LANS
from pipeline.infer.routers.rules.gateways import GATEWAYS
from pipeline.infer.routers.rules.last_routers import LAST_ROUTERS
from pipeline.infer.routers.rules.mate_and_predecessor import MATE_SIDES
from pipeline.infer.routers.rules.one_number import ONE_NUMBER
from pipeline.infer.routers.rules.one_trace import ONE_TRACE
from pipeline.infer.routers.rules.shared_ends import SAME_ENDS
from pipeline.infer.routers.rules.single_voucher import SINGLE_VOUCHERS
from pipeline.infer.routers.rules.two_weak_signs import TWO_KINDS
from pipeline.infer.rule import Rule, Rules
from pipeline.infer.silent import SILENT_ROUTERS
from pipeline.infer.traces.early import EARLY_REPLIES
from pipeline.infer.traces.links import (
    CROSSED_WAYS,
    DOUBTFUL_LINKS,
    REPEATED_HOPS,
    TUNNEL_STARTS,
)
from pipeline.infer.traces.passes import MIDDLEBOXES
from pipeline.infer.traces.tunnels import ONE_HOP_ASES, REPLY_JUMPS

RULES: tuple[Rule, ...] = (
    DOUBTFUL_LINKS,
    CROSSED_WAYS,
    PRIVATE_PLACES,
    PASSAGES,
    EXCHANGE_LANS,
    GATEWAYS,
    DEAD_ENDS,
    ONE_TRACE,
    SUBNET_MATES,
    PARALLEL_LINKS,
    TWO_VOUCHERS,
    SINGLE_VOUCHERS,
    BORDERS_CROSSED,
    LAST_ROUTERS,
    MATE_SIDES,
    SAME_ENDS,
    SAME_PLACE,
    TWO_KINDS,
    DIVERGING,
    ONE_NUMBER,
    TUNNEL_STARTS,
    *TERMS,
    REGIONS,
    UNANNOUNCED,
    REALLOCATED,
    SWALLOWED,
    CLEAR_CHANGES,
    MERGED_ROUTERS,
    PRIVATE_ROUTERS,
    LOOPS,
    CLASSIC_ENTRIES,
    EARLY_REPLIES,
    MIDDLEBOXES,
    REPEATED_HOPS,
    SILENT_ROUTERS,
    REPLY_JUMPS,
    ONE_HOP_ASES,
)


def rules_without(names: Collection[str]) -> Rules:
    """The rules in force without some; UsageError for a name that none has."""
    return Rules(RULES, names)
