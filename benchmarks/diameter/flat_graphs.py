"""Graphs whose eccentricities are all nearly equal, and others; all seeded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.lib.graph_files import largest_component
from benchmarks.lib.graphs import attachment, cut_grid
from kernels import CSRGraph
from pipeline.generate.csr import csr_from_links


def circulant(n: int, jumps: list[int]) -> CSRGraph:
    """Node i is joined to i + j for each jump j, modulo n."""
    node = np.arange(n)
    far = np.concatenate([(node + jump) % n for jump in jumps])
    return csr_from_links(n, np.tile(node, len(jumps)), far)


def torus(width: int, length: int) -> CSRGraph:
    """``length`` rings of ``width`` nodes, the last linked to the first."""
    node = np.arange(width * length)
    ring, place = node // width, node % width
    beside, below = ring * width + (place + 1) % width, (ring + 1) % length * width + place
    return csr_from_links(len(node), np.tile(node, 2), np.concatenate([beside, below]))


def cylinder(width: int, length: int) -> CSRGraph:
    """``length`` rings of ``width`` nodes, one above the other."""
    node = np.arange(width * length)
    beside = node // width * width + (node + 1) % width
    upper = node[:-width]
    near, far = np.concatenate([node, upper]), np.concatenate([beside, upper + width])
    return csr_from_links(len(node), near, far)


def hypercube(dimensions: int) -> CSRGraph:
    node = np.arange(1 << dimensions)
    far = np.concatenate([node ^ (1 << bit) for bit in range(dimensions)])
    return csr_from_links(len(node), np.tile(node, dimensions), far)


def binary_tree(depth: int) -> CSRGraph:
    child = np.arange(1, (2 << depth) - 1)
    return csr_from_links((2 << depth) - 1, child, (child - 1) // 2)


def caterpillar(n: int, legs: int) -> CSRGraph:
    """A path, each node of which has some leaves."""
    spine = n // (legs + 1)
    leaf = np.arange(spine, spine * (legs + 1))
    near = np.concatenate([np.arange(spine - 1), leaf])
    return csr_from_links(spine * (legs + 1), near, np.append(np.arange(1, spine), leaf % spine))


def watts_strogatz(n: int, degree: int, rewired: float, seed: int = 1) -> CSRGraph:
    """A ring lattice, a share of the links of which leads anywhere (Nature 1998)."""
    rng = np.random.default_rng(seed)
    near = np.tile(np.arange(n), degree // 2)
    far = (near + np.repeat(np.arange(1, degree // 2 + 1), n)) % n
    moved = rng.random(len(near)) < rewired
    far = np.where(moved, rng.integers(0, n, len(near)), far)
    return largest_component(csr_from_links(n, near, far))


def random_regular(n: int, degree: int, seed: int = 1) -> CSRGraph:
    """Unions of random cycles through all nodes; a few links coincide."""
    rng = np.random.default_rng(seed)
    rounds = [rng.permutation(n) for _ in range(degree // 2)]
    far = np.concatenate([np.roll(order, 1) for order in rounds])
    return csr_from_links(n, np.concatenate(rounds), far)


FAMILIES: dict[str, Callable[[], CSRGraph]] = {
    "circulant 1-2-3 300": lambda: circulant(300, [1, 2, 3]),
    "circulant 1-2-3 8000": lambda: circulant(8000, [1, 2, 3]),
    "circulant 1-2-3 11746": lambda: circulant(11_746, [1, 2, 3]),
    "circulant 1-2-3 16000": lambda: circulant(16_000, [1, 2, 3]),
    "circulant 1-7-49-343 8000": lambda: circulant(8000, [1, 7, 49, 343]),
    "cycle 2000": lambda: circulant(2000, [1]),
    "cycle 10000": lambda: circulant(10_000, [1]),
    "cylinder 3 x 3000": lambda: cylinder(3, 3000),
    "torus 3 x 3000": lambda: torus(3, 3000),
    "torus 30 x 300": lambda: torus(30, 300),
    "torus 100 x 100": lambda: torus(100, 100),
    "hypercube 11": lambda: hypercube(11),
    "hypercube 12": lambda: hypercube(12),
    "hypercube 14": lambda: hypercube(14),
    "random 4-regular 500": lambda: random_regular(500, 4),
    "random 6-regular 1500": lambda: random_regular(1500, 6),
    "random 8-regular 1500": lambda: random_regular(1500, 8),
    "random 4-regular 3000": lambda: random_regular(3000, 4),
    "random 4-regular 5000": lambda: random_regular(5000, 4),
    "random 4-regular 10000": lambda: random_regular(10_000, 4),
    "random 6-regular 10000": lambda: random_regular(10_000, 6),
    "Watts-Strogatz 2500 0.3": lambda: watts_strogatz(2500, 4, 0.3),
    "Watts-Strogatz 3000 0.2": lambda: watts_strogatz(3000, 6, 0.2),
    "Watts-Strogatz 5000 0.2": lambda: watts_strogatz(5000, 6, 0.2),
    "Watts-Strogatz 4000 0.001": lambda: watts_strogatz(4000, 6, 0.001),
    "Watts-Strogatz 10000 0.01": lambda: watts_strogatz(10_000, 6, 0.01),
    "Watts-Strogatz 10000 0.1": lambda: watts_strogatz(10_000, 6, 0.1),
    "Watts-Strogatz 10000 0.5": lambda: watts_strogatz(10_000, 4, 0.5),
    "caterpillar 10000 4": lambda: caterpillar(10_000, 4),
    "binary tree 7": lambda: binary_tree(7),
    "binary tree 12": lambda: binary_tree(12),
    "binary tree 14": lambda: binary_tree(14),
    "attachment 1000": lambda: attachment(1000),
    "attachment 3000": lambda: attachment(3000),
    "attachment 10000": lambda: attachment(10_000),
    "cut grid 100": lambda: largest_component(cut_grid(100)),
}
