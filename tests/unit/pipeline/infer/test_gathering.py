"""What depends on an alias file and on known LANs, and what does not."""

import numpy as np

from pipeline.infer.evidence import mates_of
from tests.addresses import parse_addrs
from tests.unit.pipeline.infer.handmade import alias_sets


def test_mates_are_neither_on_one_router_nor_on_a_known_lan():
    addrs = parse_addrs(["20.1.0.1", "20.1.0.2", "20.1.0.5", "20.1.0.6", "20.1.0.9", "20.1.0.10"])
    nowhere = np.zeros(6, bool)
    assert mates_of(addrs, None, nowhere).tolist() == [1, 0, 3, 2, 5, 4]
    aliases = alias_sets(("20.1.0.1", "20.1.0.2"))
    assert mates_of(addrs, aliases, nowhere).tolist() == [-1, -1, 3, 2, 5, 4]
    on_lan = np.array([0, 0, 1, 1, 0, 0], bool)
    assert mates_of(addrs, None, on_lan).tolist() == [1, 0, -1, -1, 5, 4]
