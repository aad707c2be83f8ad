"""Both origins of a prefix in the election."""

from dataclasses import replace

import pytest

from pipeline.infer.owners.prefixes import no_intervals
from tests.unit.pipeline.infer.handmade import PREFIXES, asn_of, infer, prefix_table

ROUTER = ("20.2.4.1", "20.2.4.5", "20.2.4.9")
# Packets come in from three routers of AS 2 by addresses of 20.2.4.0/24, and go on to two of AS 2.
LINES = [
    f"20.1.0.1 {before} {here} {after}"
    for before, here in zip(("20.2.0.1", "20.2.0.5", "20.2.0.17"), ROUTER, strict=True)
    for after in ("20.2.0.9", "20.2.0.13")
]


@pytest.mark.parametrize("origin", ["2_77", "77_2"])
def test_the_links_of_a_router_decide_between_both_origins_of_a_prefix(tmp_path, origin):
    # AS 77 has least space of its own, so it is the first origin.
    table = prefix_table(tmp_path, f"{PREFIXES}20.2.4.0\t24\t{origin}\n")
    first = replace(table, seconds=no_intervals())
    for prefixes, expected in ((table, 2), (first, 77)):
        found = asn_of(infer(tmp_path, *LINES, borders="elected", prefixes=prefixes))
        assert {found[addr] for addr in ROUTER} == {expected}
