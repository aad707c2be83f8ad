"""Graphs kept on a worker between tasks, the least recently used dropped beyond a byte budget.

The cache belongs to this module, so that it lives as long as the worker process: a task names the
snapshot's folder and rows, and what is not here yet is read there. Keys are graph hashes, so that
snapshots which share a graph share its copy.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from kernels import CSRGraph, Shard
from kernels.host import n_threads
from pipeline.model.search.tasks import Device
from pipeline.schedule.plan.costs import SHARE_OF_GPU, card_bytes
from pipeline.schedule.work import ready
from pipeline.store import Snapshot

# Share of a worker's memory limit, or of a GPU's memory, that graphs may hold; the rest is for
# searches (a sweep of 128 lanes holds some 50 bytes per router, the arcs of one take 16 to 32).
SHARE = 0.5
NO_LIMIT_BYTES = 4 << 30  # for a worker without a memory limit
WORKER_METRIC = "hopscope"  # of a worker's heartbeat: what it keeps
KEPT = ("graphs", "cpu_bytes", "gpu_bytes")
N_SNAPSHOTS = 4  # open at once; each holds its table of ASes

_here: dict[Device, Resident] = {}  # as ``resident`` made them


class Resident:
    """An LRU of values within a byte budget; safe for several task threads of one worker.

    Parameters
    ----------
    budget_bytes : callable to int
        Asked when the first value is kept. A single value that is larger is kept alone: the task
        that needs it could not run otherwise.
    """

    def __init__(self, budget_bytes: Callable[[], int]):
        self._ask_budget = budget_bytes
        self.n_bytes = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._loading: dict[Hashable, threading.Lock] = {}

    @functools.cached_property
    def budget_bytes(self) -> int:
        """Bytes that values may have together."""
        return self._ask_budget()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable, load: Callable[[], Any]) -> Any:
        """The value under ``key``, loaded by the first thread that asks for it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            with self._lock:
                if key in self._values:
                    return self._values[key][0]
            try:
                value = load()
                self._keep(key, value)
            finally:
                with self._lock:
                    self._loading.pop(key, None)
        return value

    def drop_all(self) -> None:
        """Forget everything: a task ran out of memory."""
        with self._lock:
            self._values.clear()
            self.n_bytes = 0

    def _keep(self, key: Hashable, value: Any) -> None:
        size = n_bytes(value)
        with self._lock:
            # Make room first, so that the budget is kept at every moment, except for one huge
            # value.
            while self._values and self.n_bytes + size > self.budget_bytes:
                _, (_, dropped) = self._values.popitem(last=False)
                self.n_bytes -= dropped
            self._values[key] = (value, size)
            self.n_bytes += size


def n_bytes(value: Any) -> int:
    """Bytes of the arrays of a graph or shard."""
    arrays = (getattr(value, name, None) for name in ("indptr", "indices", "weights", "node_ptr"))
    return sum(array.nbytes for array in arrays if array is not None)


@functools.lru_cache(N_SNAPSHOTS)
def snapshot_at(path: str) -> Snapshot:
    """The snapshot in a folder or at a URL, opened once."""
    return Snapshot.open_dir(path)


@functools.cache
def resident(device: Device) -> Resident:
    """This process's graphs on one device."""
    made = Resident(lambda: int(SHARE * (_gpu_bytes() if device == "gpu" else _worker_bytes())))
    _here[device] = made
    _add_to_heartbeat()
    return made


def resident_graph(snapshot_path: str, row: int, device: Device) -> CSRGraph:
    """Graph of one AS row, on ``device``; the arcs of one that is too large for a GPU on the host.

    Several GPUs together hold a larger one (``gang``); with one, or none free, this is the way.
    """
    snapshot = snapshot_at(snapshot_path)
    key = str(snapshot.graph_hash[row])

    def load() -> CSRGraph:
        graph = snapshot.graph(int(row), n_threads=n_threads())
        if device != "gpu":
            return graph
        ready.wait()  # it was made ready while we read
        is_too_large = card_bytes(graph.n_nodes, graph.n_arcs) > SHARE_OF_GPU * _gpu_bytes()
        return graph.to(device, arcs_on_host=is_too_large)

    return resident(device).get(key, load)


def read_shard(snapshot_path: str, rows: np.ndarray, device: Device) -> Shard:
    """Graphs of some ascending AS rows as one shard, on ``device``.

    It is not kept: all searches of a shard are one task, so it is not needed again.
    """
    shard = snapshot_at(snapshot_path).shard(rows, n_threads())
    if device == "gpu":
        ready.wait()
    return shard.to(device)


def kept() -> dict[str, int]:
    """``graphs`` that this process keeps, and their ``cpu_bytes`` and ``gpu_bytes``."""
    sizes = {f"{device}_bytes": graphs.n_bytes for device, graphs in list(_here.items())}
    return {"graphs": sum(map(len, list(_here.values())))} | sizes


def _add_to_heartbeat() -> None:
    if (worker := _worker()) is not None:
        worker.metrics[WORKER_METRIC] = lambda _: kept()


def _worker_bytes() -> int:
    worker = _worker()
    manager = worker.memory_manager if worker is not None else None
    return int((manager.memory_limit if manager is not None else None) or NO_LIMIT_BYTES)


def _worker() -> Any:
    """Dask's worker that runs this task; None: a task of a short run, or one run by hand."""
    if "distributed" not in sys.modules:  # a worker has imported it
        return None
    from distributed import get_worker

    with contextlib.suppress(ValueError):
        return get_worker()
    return None


def _gpu_bytes() -> int:
    import cupy

    return int(cupy.cuda.Device().mem_info[1])
