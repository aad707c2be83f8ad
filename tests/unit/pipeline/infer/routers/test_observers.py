"""What one observer saw: two addresses of a row, and what counts as one."""

import numpy as np

from pipeline.infer.routers.observers import find_observers
from pipeline.infer.traces.merge import merge_addresses
from tests.addresses import format_addrs
from tests.unit.pipeline.infer.handmade import distinct_paths, observe, traces

A, B, C = "20.1.1.1", "20.1.2.1", "20.1.3.1"
LINES = (f"20.1.91.1 {A} {B}", f"20.1.92.1 {A}", f"20.1.92.1 20.1.4.1 {C}! > {C}", f"20.1.93.1 {C}")


def test_two_addresses_of_a_row_seen_by_one_observer(tmp_path):
    seen = [observe(tmp_path, traces(*LINES))]
    addrs = merge_addresses(seen).addrs
    names = format_addrs(addrs)
    a, b, c = (names.index(name) for name in (A, B, C))
    paths = distinct_paths(seen, addrs)
    # The last row has two addresses that count as one; a destination's own reply counts for none.
    rows, label = np.array([a, b, a, c, b, a, b]), np.array([0, 1, 0, 1, 0, 5, 5])
    ptr = np.array([0, 2, 4, 5, 5, 7])
    found = find_observers(paths, len(addrs)).see_two(ptr, rows, label)
    assert found.tolist() == [True, False, False, False, False]
