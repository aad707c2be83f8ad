"""Second origins in the prefix tables of laboratories."""

import ipaddress

from tests.oracles.truth.shared_prefixes import share_prefixes

LINES = [f"20.{i}.0.0\t16\t{i}" for i in range(1, 201)] + ["20.201.0.0\t16\t5_6", "2600::\t32\t7"]


def test_some_prefixes_get_a_second_origin_and_nothing_else_changes():
    neighbors = {i: {i + 1000} for i in range(1, 201)}
    found = share_prefixes(LINES, neighbors, seed=3, share=0.2)
    assert found == share_prefixes(LINES, neighbors, seed=3, share=0.2)
    assert found != share_prefixes(LINES, neighbors, seed=4, share=0.2)
    assert share_prefixes(LINES, neighbors, seed=3, share=0) == LINES
    new = [line.split("\t") for line in found if line not in LINES]
    assert 20 <= len(new) <= 60
    right_first = 0
    for start, length, origins in new:
        own = ipaddress.ip_address(start).packed[1]
        one, other = map(int, origins.split("_"))
        assert own in (one, other)
        right_first += own == one
        assert length in ("16", "17")
    assert 0 < right_first < len(new)
