"""Searches on cores with little memory left."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import HostMemoryError
from kernels._cpu import memory as host_memory
from kernels._cpu.near_steps import rows_of
from kernels.eccentricity.searches.cpu import CoreSearches
from kernels.eccentricity.searches.near_sweep import NODE_BYTES
from kernels.eccentricity.searches.sweep import FEW_LANES
from kernels.types import NODE
from tests.shapes import path


def test_a_sweep_that_does_not_fit_is_refused_with_the_numbers(host_of, monkeypatch):
    monkeypatch.setattr(host_memory, "SMALL", 0)
    graph = path(5000)
    searches = CoreSearches(graph, np.zeros(graph.n_nodes, np.int32), 1)
    sources = np.arange(FEW_LANES + 1, dtype=NODE)
    bounds = np.zeros(graph.n_nodes, np.int32), np.full(graph.n_nodes, 9999, np.int32)
    host_of("MemAvailable: 100 kB\n")
    words = f"512 sources in a graph of 5000 nodes needs {NODE_BYTES * 5000:,} bytes; 102,400 are"
    with pytest.raises(HostMemoryError, match=words):
        searches.sweep(sources, *bounds)
    host_of("MemAvailable: 10000 kB\n")
    assert searches.sweep(sources, *bounds).eccentricity[0] == 4999


def test_what_a_sweep_is_said_to_need_is_what_its_rows_take():
    n_nodes = 100_000
    rows = rows_of(n_nodes)
    taken = sum(array.nbytes for array in rows)
    assert n_nodes * (NODE_BYTES - 1) < taken <= n_nodes * NODE_BYTES
