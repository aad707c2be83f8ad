"""A host with little memory left: reported with the numbers before anything is allocated."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import CSRGraph, HostMemoryError, Shard, msbfs, msbfs_shard
from kernels._cpu import memory as host_memory
from kernels._cpu import threads
from kernels.multi_source.cpu import search as cpu
from kernels.multi_source.cpu import sweeps as cpu_sweeps
from tests.shapes import path


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    """What a search needs grows with the threads that share it: the limits here are of two."""
    monkeypatch.setattr(threads, "_n_threads", 2)


def test_graphs_that_do_not_fit_are_refused_with_the_numbers(host_of, monkeypatch):
    monkeypatch.setattr(host_memory, "SMALL", 0)
    host_of("MemAvailable: 100 kB\n")
    graph = path(5000)
    words = r"5 sources of 5000 nodes and 9998 arcs needs [\d,]+ bytes; 102,400 are available"
    with pytest.raises(HostMemoryError, match=words):
        msbfs(graph, np.arange(5))
    with pytest.raises(HostMemoryError, match=r"with all levels \([\d,]+ bytes without them\)"):
        msbfs(graph, np.arange(5), levels=True)
    with pytest.raises(MemoryError, match="102,400 are available"):
        msbfs_shard(Shard.from_graphs([graph, path(3)]), [0, 1, 2, 3, 2], [0, 4, 5])
    assert msbfs(graph, [7]).eccentricity.tolist() == [4992]  # one search needs less


@pytest.mark.parametrize("way", ["single", "sweep"])
def test_hop_counts_of_a_long_graph_are_foreseen_after_some_of_its_sources(
    host_of, monkeypatch, way
):
    """24,000 bytes per source: of 3,000 sources 72 MB, and the same again when they are joined."""
    monkeypatch.setattr(cpu_sweeps, "SMALL", 1 << 20)
    graph, sources = path(3000), np.arange(3000, dtype=np.int32)
    host_of("MemAvailable: 130000 kB\n")
    kept = []
    keep = cpu_sweeps.Found.keep
    monkeypatch.setattr(
        cpu_sweeps.Found, "keep", lambda self, *row: (kept.append(row[0]), keep(self, *row))
    )
    with pytest.raises(HostMemoryError, match=r"hop counts of 3000 sources, about \d{4} levels"):
        cpu.search_graph(graph.indptr, graph.indices, sources, False, way)
    assert 0 < len(kept) < 300


def test_a_matrix_of_hop_counts_that_does_not_fit_is_refused(host_of):
    host_of("MemAvailable: 65536 kB\n")
    long_and_many = Shard.from_graphs([path(40_000), path(2)])
    sources = np.append(np.zeros(1, int), np.zeros(300, int))
    found = msbfs_shard(long_and_many, sources, [0, 1, 301])  # end to end: 40,600 numbers
    assert len(found.hop_counts) == 40_600
    both = CSRGraph(long_and_many.indptr, long_and_many.indices)
    with pytest.raises(HostMemoryError, match=r"301 sources at up to 39999 hops \(msbfs_shard"):
        msbfs(both, np.append(0, np.full(300, 40_000)))


def test_if_the_limit_is_unknown_nothing_is_refused(host_of, monkeypatch):
    monkeypatch.setattr(host_memory, "SMALL", 0)
    host_of()
    assert msbfs(path(300), np.arange(12)).n_reached.tolist() == [300] * 12
