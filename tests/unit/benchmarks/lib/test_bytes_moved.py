from __future__ import annotations

import numpy as np
import pytest

from benchmarks.lib.bytes_moved import bfs_bytes, copy_gb_per_s, shard_bytes, sweep_bytes
from kernels import CSRGraph

# A path of three nodes: four arcs, 32 bytes of indptr, 16 of indices.
PATH = CSRGraph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32))
CSR = 32 + 16
LINE = 64  # bytes of a cache line of the host


def test_a_search_reads_the_graph_and_writes_one_level_per_node():
    assert bfs_bytes(PATH)["least_bytes"] == CSR + 12
    assert bfs_bytes(PATH)["most_bytes"] == CSR + 4 * LINE + 12 + 24
    assert bfs_bytes(PATH, parents=True)["least_bytes"] == CSR + 24


def test_a_sweep_keeps_a_bit_a_node_and_source_written_and_read():
    found = sweep_bytes(PATH, n_sources=8, n_levels=3)
    assert found["least_bytes"] == CSR + 2 * 3
    assert found["most_bytes"] == 3 * (CSR + 4 * LINE + 3 * 3)
    with_levels = sweep_bytes(PATH, n_sources=8, n_levels=3, level_bytes=2)
    assert with_levels["least_bytes"] == found["least_bytes"] + 48


def test_more_sources_than_a_pass_holds_read_the_graph_again():
    found = sweep_bytes(PATH, n_sources=129, n_levels=3)
    assert found["least_bytes"] == int(2 * CSR + 2 * 3 * 129 / 8)


def test_a_node_is_newly_reached_no_more_often_than_there_are_sources():
    long = sweep_bytes(PATH, n_sources=2, n_levels=1000)
    assert long["most_bytes"] == int(2 * (CSR + 4 * LINE + 3 * 3 * 2 / 8))


def test_a_shard_moves_what_its_graphs_move_and_those_without_sources_nothing():
    sizes, arcs = np.array([3, 3, 3]), np.array([4, 4, 4])
    both = shard_bytes("cpu", sizes, arcs, np.array([8, 8, 0]), 3)
    one = sweep_bytes(PATH, 8, 3)
    assert both == {name: 2 * one[name] for name in one}


@pytest.mark.gpu
def test_a_gpu_copies():
    assert copy_gb_per_s("gpu", 1 << 20) > 0


def test_the_host_copies():
    assert copy_gb_per_s("cpu", 1 << 16) > 0


def test_a_pass_of_a_gpu_carries_more_sources():
    shape = np.array([3]), np.array([4]), np.array([256]), 3
    on_gpu, on_cpu = shard_bytes("gpu", *shape), shard_bytes("cpu", *shape)
    assert on_cpu["least_bytes"] - on_gpu["least_bytes"] == CSR
