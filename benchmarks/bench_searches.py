"""Searches of one AS, of a long graph and of many ASes, compared with other programs.

Command: python benchmarks/bench_searches.py [--nodes N,N] [--grid SIDE] [--shard GRAPHS]
[--sources N,N] [--device cpu,gpu] [--programs NAME,NAME] [--subject RESULT]

The host, and a GPU where there is one. Each row is the wall time of a call on arrays that lie on
the device already, results included, the device idle before and after. Every search is verified
before it is timed: ours by certificates, others by the same levels as ours. A single search is
timed from one source after another. Where a program has no call for many sources, its searches run
one after another, as many as fit ``--budget`` seconds (``n_timed``), scaled to all. Bytes are by
``benchmarks/lib/bytes_moved.py``. A call that would take over ``--longest`` seconds is left out,
and says so.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.bytes_moved import LANES, bfs_bytes, copy_gb_per_s, shard_bytes, sweep_bytes
from benchmarks.lib.graphs import attachment, cut_grid, many_ases
from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import BUDGET_S, OtherWork, Timing, time_calls, time_once, waiter
from benchmarks.peers import open_peers, smallest_labels
from kernels import CSRGraph, MSBFSResult, bfs, components, msbfs, msbfs_shard
from kernels._cpu.threads import n_threads
from kernels.breadth_first.check import check_levels, check_parents
from kernels.connected.check import check_components
from kernels.csr import Device, to_host
from kernels.host import compile_cpu
from kernels.multi_source.check import check_msbfs, check_shard

NODES = (10_000, 100_000, 1_000_000, 6_800_000)
SOURCES = (1, 8, 32, 64, 100, 128, 256, 1000, 2000)
MANY = 100  # sources of the searches that are compared
N_CERTIFIED = 2  # sources of each sweep; the others must agree with the sweeps before it
OURS = "hopscope"
Row = dict[str, Any]


class Bench:
    """The rows of one run: what is timed, and for how long."""

    def __init__(self, arguments: argparse.Namespace):
        self.rows: list[Row] = []
        self.budget_s: float = arguments.budget
        self.longest_s: float = arguments.longest
        self.sources: list[int] = sorted(arguments.sources)
        self.programs: list[str] = arguments.programs
        self.first_of_graph: dict[str, MSBFSResult] = {}

    def add(self, **row: Any) -> None:
        self.rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)

    def timed(self, row: Row, device: Device, call: Any, each: Any = ((),), **more: Any) -> Timing:
        timing = time_calls(call, each, wait=waiter(device), budget_s=self.budget_s)
        self.add(**row, **timing.columns(), **more)
        return timing

    def is_wanted(self, program: str) -> bool:
        return not self.programs or program in self.programs

    def graph(self, name: str, graph: CSRGraph, devices: list[Device]) -> None:
        """Every search of a graph on the host, on each device."""
        rng = np.random.default_rng(0)
        sources = rng.integers(0, graph.n_nodes, max([*self.sources, MANY]))
        for device in devices:
            here = graph.to(device)
            row = {
                "graph": name,
                "n_nodes": graph.n_nodes,
                "n_arcs": graph.n_arcs,
                "device": device,
                "by": OURS,
                "threads": 1 if device == "cpu" else 0,  # except sweeps
            }
            if self.is_wanted(OURS):
                self._single(row, graph, here, sources)
                self._many(row | {"threads": threads_of(device)}, graph, here, sources)
                found = components(here)
                check_components(graph.indptr, graph.indices, found.component)
                self.timed(row | {"what": "components"}, device, components, [(here,)])
            self._peers(row, graph, here, sources)

    def _single(self, row: Row, graph: CSRGraph, here: CSRGraph, sources: np.ndarray) -> None:
        for parents in (False, True):
            for source in sources[:N_CERTIFIED].tolist():
                found = bfs(here, source, parents=parents)
                check_levels(graph.indptr, graph.indices, source, found.level)
                if parents:
                    arrays = (graph.indptr, graph.indices, source, found.level, found.parent)
                    check_parents(*arrays)
            what = "bfs parents" if parents else "bfs"
            each = [(here, int(source), None, parents) for source in sources[:MANY]]
            more = bfs_bytes(here, parents) | {"n_sources": 1}
            self.timed(row | {"what": what}, here.device, bfs, each, **more)

    def _many(self, row: Row, graph: CSRGraph, here: CSRGraph, sources: np.ndarray) -> None:
        wall_s, n_sweeps = 0.0, 1  # of the previous call
        lanes = LANES[here.device]
        most: MSBFSResult | None = None
        for n in self.sources:
            sweep = row | {"what": "msbfs", "n_sources": n}
            expected_s = wall_s * -(-n // lanes) / n_sweeps
            if expected_s > self.longest_s:
                self.add(**sweep, note=f"left out: some {expected_s:.0f} s a call")
                continue
            wall_s, found = time_once(msbfs, here, sources[:n])
            n_sweeps = -(-n // lanes)
            self._verify(graph, sources, found, most)
            most = found
            more = sweep_bytes(here, n, found.hop_counts.shape[1])
            self.timed(sweep, here.device, msbfs, [(here, sources[:n])], **more)
        if most is None:
            return
        first = self.first_of_graph.setdefault(row["graph"], most)
        _same(first, most)  # the other device's
        if graph.n_nodes * MANY < 2e9 and MANY in self.sources:
            found = msbfs(here, sources[:MANY], levels=True)
            self._verify(graph, sources, found, most)
            more = sweep_bytes(here, MANY, found.hop_counts.shape[1], found.level.dtype.itemsize)
            del found
            each = [(here, sources[:MANY], True)]
            sweep = row | {"what": "msbfs levels", "n_sources": MANY}
            self.timed(sweep, here.device, msbfs, each, **more)

    @staticmethod
    def _verify(
        graph: CSRGraph, sources: np.ndarray, found: MSBFSResult, before: MSBFSResult | None
    ) -> None:
        """The last rows by certificate, the others by what the sweep before it found."""
        stop = len(found.eccentricity)
        last = slice(max(0, stop - N_CERTIFIED), stop)
        rows = MSBFSResult(
            found.hop_counts[last],
            found.eccentricity[last],
            found.n_reached[last],
            found.farthest[last],
            None if found.level is None else to_host(found.level[last]),
            sources=sources[last],
            graph=graph,
        )
        check_msbfs(graph, sources[last], rows)
        if before is not None:
            _same(before, found)

    def _peers(self, row: Row, graph: CSRGraph, here: CSRGraph, sources: np.ndarray) -> None:
        for name, make, why in open_peers(here.device):
            if not self.is_wanted(name):
                continue
            single = row | {"what": "bfs", "n_sources": 1, "by": name, "threads": 0}
            if make is None:
                self.add(**single, note=why)
                continue
            try:
                self._peer(single, make(here), graph, here, sources)
            except Exception as error:  # another program's failure must not end the run
                self.add(**single, note=f"failed: {type(error).__name__}: {error}")

    def _peer(
        self, single: Row, peer: Any, graph: CSRGraph, here: CSRGraph, sources: np.ndarray
    ) -> None:
        for source in sources[:2].tolist():
            levels = peer.levels_of(peer.bfs(source), source)
            _check_equal(levels, bfs(graph, source).level, "levels differ")
        single = single | {"threads": peer.threads}
        each = [(int(source),) for source in sources[:MANY]]
        timing = self.timed(single, here.device, peer.bfs, each)
        many = single | {"what": "msbfs levels", "n_sources": MANY}
        times_s = timing.times_s[:MANY]
        self.add(
            **many,
            median_ms=float(f"{1e3 * sum(times_s) * MANY / len(times_s):.4g}"),
            n_timed=len(times_s),
            repeats=1,
        )
        if hasattr(peer, "bfs_many"):
            n = int(min(MANY, 2e9 // (peer.bytes_a_source * graph.n_nodes)))
            n = min(n, max(peer.many_threads, int(10 * self.budget_s / (1e-3 * timing.median_ms))))
            n = max(1, n)
            wall_s, answer = time_once(peer.bfs_many, sources[:n])
            found = peer.levels_of_many(answer, sources[:n])[0]
            _check_equal(found, bfs(graph, int(sources[0])).level, "levels differ")
            self.add(
                **many | {"by": f"{single['by']}, many at once", "threads": peer.many_threads},
                median_ms=float(f"{1e3 * wall_s * MANY / n:.4g}"),
                n_timed=n,
                repeats=1,
            )
        if hasattr(peer, "components"):
            labels = smallest_labels(peer.components_of(peer.components()))
            ours = components(graph).component
            _check_equal(labels, ours, "components differ")
            what = {"what": "components", "n_sources": 0}
            self.timed(single | what, here.device, peer.components)

    def shard(self, n_graphs: int, devices: list[Device]) -> None:
        """Many ASes in one call."""
        shard, sources, source_ptr = many_ases(n_graphs)
        n_nodes, n_sources = np.diff(shard.node_ptr), np.diff(source_ptr)
        n_arcs = np.diff(shard.indptr[shard.node_ptr])
        for device in devices:
            here = shard.to(device)
            found = msbfs_shard(here, sources, source_ptr)
            check_shard(shard, sources, source_ptr, found)
            row = {
                "graph": f"shard of {n_graphs} graphs",
                "n_nodes": shard.n_nodes,
                "n_arcs": shard.n_arcs,
                "device": device,
                "by": OURS,
                "threads": threads_of(device),
                "what": "msbfs_shard",
                "n_sources": len(sources),
            }
            n_levels = int(found.eccentricity.max()) + 1
            more = shard_bytes(device, n_nodes, n_arcs, n_sources, n_levels)
            self.timed(row, device, msbfs_shard, [(here, sources, source_ptr)], **more)


def threads_of(device: Device) -> int:
    """Threads that a sweep may use; 0 on a GPU."""
    return n_threads() if device == "cpu" else 0


def _same(first: MSBFSResult, second: MSBFSResult) -> None:
    """Raise unless two results agree in the sources that both have."""
    n = min(len(first.eccentricity), len(second.eccentricity))
    n_levels = min(first.hop_counts.shape[1], second.hop_counts.shape[1])
    for result in (first, second):
        if result.hop_counts[:n, n_levels:].any():
            raise AssertionError("sweeps differ in hop_counts")
    _check_equal(first.hop_counts[:n, :n_levels], second.hop_counts[:n, :n_levels], "hop_counts")
    for column in ("eccentricity", "n_reached", "farthest"):
        _check_equal(getattr(first, column)[:n], getattr(second, column)[:n], column)


def _check_equal(found: np.ndarray, expected: np.ndarray, message: str) -> None:
    if not np.array_equal(found, expected):
        raise AssertionError(message)


def compile_times(devices: list[Device]) -> Iterator[Row]:
    """Seconds that each process pays once: code compiled, or loaded from its cache."""
    on_host_s = compile_cpu()  # certificates run there, whatever is measured
    if "cpu" in devices:
        yield {"what": "compile", "device": "cpu", "wall_s": round(on_host_s, 3)}
    if "gpu" in devices:
        waiter("gpu")()  # the driver's own start is not compilation
        yield {"what": "compile", "device": "gpu", "wall_s": round(time_once(search_all)[0], 3)}


def search_all() -> None:
    """Each kind of search once on a GPU, so that all its code is there."""
    graph = attachment(1000).to("gpu")
    sources = np.arange(200)
    bfs(graph, 0, parents=True)
    msbfs(graph, sources)
    msbfs(graph, sources, levels=True)
    components(graph)
    waiter("gpu")()


def devices_here() -> list[Device]:
    """``cpu``, and ``gpu`` where CuPy finds one."""
    try:
        import cupy

        return ["cpu", "gpu"] if cupy.cuda.is_available() else ["cpu"]
    except ImportError:
        return ["cpu"]


def main() -> None:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(",") if part]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=numbers, default=list(NODES), help="sizes of the ASes")
    parser.add_argument("--grid", type=int, default=1000, help="side of the cut grid; 0: none")
    parser.add_argument("--shard", type=int, default=10_000, help="ASes of the shard; 0: none")
    parser.add_argument("--sources", type=numbers, default=list(SOURCES))
    parser.add_argument(
        "--device", type=lambda text: text.split(","), default=devices_here(), help="cpu,gpu"
    )
    parser.add_argument(
        "--programs",
        type=lambda text: text.split(","),
        default=[],
        help=f"only these of {OURS}, SciPy, igraph, ...",
    )
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="seconds for each row")
    parser.add_argument(
        "--longest", type=float, default=10.0, help="longest call that is measured, seconds"
    )
    parser.add_argument("--subject", default="searches", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    arguments = parser.parse_args()
    devices = arguments.device
    bench = Bench(arguments)
    others = OtherWork()
    for row in compile_times(devices):
        bench.add(**row)
    for device in devices:
        bench.add(what="copy", device=device, gb_per_s=round(copy_gb_per_s(device), 1))
    for n_nodes in arguments.nodes:
        bench.graph(f"attachment {n_nodes}", attachment(n_nodes), devices)
    if arguments.grid:
        bench.graph(f"cut grid {arguments.grid}", cut_grid(arguments.grid), devices)
    if arguments.shard and bench.is_wanted(OURS):
        bench.shard(arguments.shard, devices)
    record(arguments.subject, bench.rows, arguments.results, cores_of_others=others.n_cores())


if __name__ == "__main__":
    main()
