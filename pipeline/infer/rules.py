"""Every rule of inference, a row each, in the order in which they are used.

``hopscope ingest --list-rules`` prints them; ``--without-rule NAME`` leaves one out.
"""

from __future__ import annotations

from collections.abc import Collection

from pipeline.infer.destinations import PASSAGES
from pipeline.infer.owners.adoption import SURROUNDED
from pipeline.infer.owners.election.earlier import CLEAR_CHANGES, EARLIER_OWNER
from pipeline.infer.owners.election.following import CHANGES_TOGETHER
from pipeline.infer.owners.election.lending import REALLOCATED
from pipeline.infer.owners.election.regions import REGIONS
from pipeline.infer.owners.election.routes.filling import VALLEYS
from pipeline.infer.owners.election.routes.straightening import LOOPS
from pipeline.infer.owners.election.settling import CUSTOMERS_OF_SEVERAL
from pipeline.infer.owners.private import PRIVATE_ROUTERS
from pipeline.infer.owners.terms import TERMS
from pipeline.infer.owners.unannounced import UNANNOUNCED
from pipeline.infer.routers.conflicts import ONE_TRACE
from pipeline.infer.routers.dead_ends import DEAD_ENDS
from pipeline.infer.routers.exchange_points import EXCHANGE_LANS
from pipeline.infer.routers.gateways import GATEWAYS
from pipeline.infer.routers.inferred import PARALLEL_LINKS, TWO_VOUCHERS
from pipeline.infer.routers.mates import STRANGE_MATES
from pipeline.infer.routers.point_to_point import SUBNET_MATES
from pipeline.infer.routers.vouchers.borders_crossed import BORDERS_CROSSED
from pipeline.infer.routers.vouchers.last_routers import LAST_ROUTERS
from pipeline.infer.routers.vouchers.mate_sides import MATE_SIDES
from pipeline.infer.routers.vouchers.next_hops import DIVERGING
from pipeline.infer.routers.vouchers.same_ends import SAME_ENDS
from pipeline.infer.routers.vouchers.same_place import SAME_PLACE
from pipeline.infer.routers.vouchers.single_vouchers import SINGLE_VOUCHERS
from pipeline.infer.routers.vouchers.two_kinds import TWO_KINDS
from pipeline.infer.rule import Rule, Rules
from pipeline.infer.silent import SILENT_ROUTERS
from pipeline.infer.turns import MERGED_ROUTERS

RULES: tuple[Rule, ...] = (
    PASSAGES,
    STRANGE_MATES,
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
    *TERMS,
    REGIONS,
    UNANNOUNCED,
    REALLOCATED,
    EARLIER_OWNER,
    CLEAR_CHANGES,
    CHANGES_TOGETHER,
    CUSTOMERS_OF_SEVERAL,
    MERGED_ROUTERS,
    PRIVATE_ROUTERS,
    SURROUNDED,
    LOOPS,
    VALLEYS,
    SILENT_ROUTERS,
)


def rules_without(names: Collection[str]) -> Rules:
    """The rules in force without some; UsageError for a name that none has."""
    return Rules(RULES, names)
