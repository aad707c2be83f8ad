"""Costs of searches, transfers and tasks, for plans. Pure: numpy and model only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.multi_source import LANES

# Least seconds, and seconds per arc or byte: no cost is zero, since plans divide by some.
LEAST_S, LEAST_EACH_S = 1e-9, 1e-15
NODE_BYTES, ARC_BYTES = 8, 4  # of indptr and indices
SWEEP_NODE_BYTES = 45  # a sweep of 64 sources on one GPU
SHARE_OF_GPU = 0.9  # that may be used; the rest is CUDA's and what is on its way


ONE_CARD_BYTES = 8 << 30  # any card for computing holds an AS of that many

# Seconds that a worker with a GPU takes to read an arc from the store (internet_h200_tables.json:
# 1.7 s for 200 million), and by which each further GPU makes a start longer (0.30 to 0.45 s in
# end_to_end_two_gpus_*.json: another process, another context, while all of them share the client).
READ_ARC_S = 8.5e-9
GPU_START_S = 0.5


def gpus_worth(work_s: float, n_there: int) -> int:
    """How many GPUs end work of ``work_s`` seconds of one of them first, with their start."""
    n_gpus = np.arange(1, n_there + 1)
    return int(n_gpus[np.argmin(GPU_START_S * (n_gpus - 1) + work_s / n_gpus)])


def card_bytes(n_nodes: int, n_arcs: int) -> int:
    """Bytes of GPU memory for an AS on one card."""
    return (NODE_BYTES + SWEEP_NODE_BYTES) * n_nodes + ARC_BYTES * n_arcs


@dataclass(frozen=True)
class Cost:
    """What a search and a sweep of up to 128 lanes take on one device: seconds, seconds per arc."""

    search_s: float
    search_arc_s: float
    sweep_s: float
    sweep_arc_s: float

    def search(self, n_arcs: np.ndarray | int) -> np.ndarray:
        """Approximate seconds of one search."""
        return self.search_s + self.search_arc_s * np.asarray(n_arcs, float)

    def sweep(self, n_arcs: np.ndarray | int, n_sources: np.ndarray | int = LANES) -> np.ndarray:
        """Approximate seconds of ``n_sources`` searches as sweeps."""
        n_sweeps = -(-np.asarray(n_sources) // LANES)
        return n_sweeps * (self.sweep_s + self.sweep_arc_s * np.asarray(n_arcs, float))

    def cheapest(
        self, n_arcs: np.ndarray | int, n_sources: np.ndarray | int, pack: int | None = None
    ) -> np.ndarray:
        """Seconds that ``n_sources`` searches take, one by one or as sweeps of up to ``pack``."""
        n_sources = np.asarray(n_sources)
        one_by_one_s = n_sources * self.search(n_arcs)
        if pack == 1:
            return one_by_one_s
        lanes = min(pack or LANES, LANES)
        return np.minimum(one_by_one_s, -(-n_sources // lanes) * self.sweep(n_arcs))


@dataclass(frozen=True)
class Costs:
    """Costs that decide which searches share a task and where they run; never a result.

    Attributes
    ----------
    cpu, gpu : Cost
        On the cores of one worker (one, where there is one worker per core); on its GPU, with
        the graph there already and results on the host.
    transfer_byte_s : float
        Seconds that a byte takes from host memory to the GPU.
    task_s : float
        Seconds of one empty Dask task, end to end.
    source : str
        Where these figures come from, for people: the defaults, or the calibration of a date.
    """

    cpu: Cost
    gpu: Cost
    transfer_byte_s: float
    task_s: float
    source: str

    def of(self, device: str) -> Cost:
        """Costs on one device, ``cpu`` or ``gpu``."""
        return self.gpu if device == "gpu" else self.cpu

    def search(self, on_gpu: np.ndarray, n_arcs: np.ndarray) -> np.ndarray:
        """Approximate seconds of one search of each graph."""
        return np.where(on_gpu, self.gpu.search(n_arcs), self.cpu.search(n_arcs))

    def sweep(
        self, on_gpu: np.ndarray, n_arcs: np.ndarray, n_sources: np.ndarray | int = LANES
    ) -> np.ndarray:
        """Approximate seconds of the sweeps of each graph."""
        there, here = self.gpu.sweep(n_arcs, n_sources), self.cpu.sweep(n_arcs, n_sources)
        return np.where(on_gpu, there, here)

    def transfer(self, n_nodes: np.ndarray | float, n_arcs: np.ndarray | float) -> np.ndarray:
        """Approximate seconds to copy graphs from host memory to the GPU."""
        n_bytes = NODE_BYTES * np.asarray(n_nodes, float) + ARC_BYTES * np.asarray(n_arcs, float)
        return self.transfer_byte_s * n_bytes

    def gpu_wins(
        self,
        n_nodes: np.ndarray | int,
        n_arcs: np.ndarray | int,
        n_sources: np.ndarray | int,
        pack: int | None = None,
    ) -> np.ndarray:
        """Whether the GPU, including the transfer, is faster than a core for all searches."""
        there = self.transfer(n_nodes, n_arcs) + self.gpu.cheapest(n_arcs, n_sources, pack)
        return there < self.cpu.cheapest(n_arcs, n_sources, pack)

    def crossing(self, n_sources: int, arcs_a_node: float = 4.0) -> float:
        """Nodes from which the GPU is faster for ``n_sources`` searches; inf if it never is.

        Parameters
        ----------
        n_sources : int
            1: single searches are compared, else sweeps.
        arcs_a_node : float
            4: preferential attachment with two links per node.
        """

        def line(cost: Cost) -> tuple[float, float]:
            if n_sources == 1:
                return cost.search_s, cost.search_arc_s * arcs_a_node
            n_sweeps = -(-n_sources // LANES)
            return n_sweeps * cost.sweep_s, n_sweeps * cost.sweep_arc_s * arcs_a_node

        (here_s, here_node_s), (there_s, there_node_s) = line(self.cpu), line(self.gpu)
        there_node_s += float(self.transfer(1, arcs_a_node))
        if there_s <= here_s:
            return 0.0 if there_node_s <= here_node_s else float("inf")
        gained_s = here_node_s - there_node_s
        return (there_s - here_s) / gained_s if gained_s > 0 else float("inf")


# Searches: preferential attachment, 10,000 to 6.8 million routers, one core of a server and one
# H200 (benchmarks/results/searches_h200.json). An error by a factor of 2 costs some idle time.
DEFAULTS = Costs(
    cpu=Cost(search_s=20e-6, search_arc_s=7e-9, sweep_s=50e-6, sweep_arc_s=40e-9),
    gpu=Cost(search_s=0.15e-3, search_arc_s=0.045e-9, sweep_s=0.2e-3, sweep_arc_s=0.14e-9),
    transfer_byte_s=0.1e-9,  # assumed: pageable memory over PCIe 5
    task_s=2e-3,  # 1.5 to 2.1 ms on two cores, 1.2 to 1.9 ms on a host with GPUs
    source="defaults, measured on one core of a server and one H200",
)
