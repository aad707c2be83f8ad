"""What each rank of ``bench_partition`` does, as a process with a GPU or as a thread."""

from __future__ import annotations

import contextlib
import multiprocessing
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.partition.drawn import Drawn, drawn_part, host_graph, split_of
from benchmarks.partition.slow_link import SlowLink
from kernels import CSRGraph, bfs, msbfs
from kernels.partition import Collective, Part, part_of, rows_of, search, split, thread_collectives
from kernels.partition.check import check_part
from kernels.partition.profile import Profile
from kernels.partition.search import EARLY_BYTES
from kernels.partition.sweep import sweep

N_PROFILED = 4  # searches
N_SWEEPS = 3  # that are timed
ONCE = 1 << 62  # bytes: nothing is sent early
_MAKING = threading.Lock()  # threads of one GPU make their parts in turn, for lack of memory


@dataclass(frozen=True)
class Asked:
    """What is measured on one graph.

    Attributes
    ----------
    where : str
        ``gpus``: a process and a GPU for each rank; ``one-gpu``: all ranks are threads of one;
        ``cores``: threads on cores.
    n_ranks, n_sources, n_swept : int
    early_bytes : int
        As ``search`` takes it.
    link_gb_s : float or None
        Gigabytes a second of a link between threads; None: they share memory.
    """

    where: str
    n_ranks: int
    n_sources: int
    n_swept: int
    early_bytes: int = EARLY_BYTES
    link_gb_s: float | None = None


def run(drawn: Drawn, asked: Asked) -> list[dict[str, Any]]:
    """What each rank found."""
    if asked.where == "gpus":
        return _in_processes(drawn, asked)
    n_ranks = asked.n_ranks
    graph = host_graph(drawn) if asked.where == "cores" else None
    collectives = _of_threads(asked)

    def one(rank: int) -> dict[str, Any]:
        try:
            with _stream(asked):
                return _rank(drawn, asked, rank, collectives[rank], graph)
        except BaseException:
            collectives[rank].close()
            raise

    with ThreadPoolExecutor(n_ranks) as pool:
        return list(pool.map(one, range(n_ranks)))


def _of_threads(asked: Asked) -> list[Collective]:
    bytes_s = None if asked.link_gb_s is None else 1e9 * asked.link_gb_s
    if asked.where == "one-gpu":
        from benchmarks.partition.one_gpu import one_gpu_collectives

        return [*one_gpu_collectives(asked.n_ranks, bytes_s)]
    found: list[Collective] = [*thread_collectives(asked.n_ranks, deadline_s=600)]
    return found if bytes_s is None else [SlowLink(each, bytes_s) for each in found]


def _stream(asked: Asked) -> Any:
    """Of a rank that shares a GPU with others."""
    if asked.where != "one-gpu":
        return contextlib.nullcontext()
    import cupy as cp

    return cp.cuda.Stream(non_blocking=True)


def _in_processes(drawn: Drawn, asked: Asked) -> list[dict[str, Any]]:
    context = multiprocessing.get_context("spawn")
    from kernels.partition.exchange.nccl import unique_name

    name, pipes, ranks = unique_name(), [], []
    for rank in range(asked.n_ranks):
        ours, theirs = context.Pipe(duplex=False)
        ranks.append(context.Process(target=_process, args=(drawn, asked, rank, name, theirs)))
        ranks[-1].start()
        theirs.close()
        pipes.append(ours)
    ends = [pipe.recv() for pipe in pipes]
    for each in ranks:
        each.join()
    return ends


def _process(drawn: Drawn, asked: Asked, rank: int, name: bytes, pipe: Any) -> None:
    import cupy as cp

    from kernels.partition.exchange.nccl import NcclCollective

    cp.cuda.Device(rank).use()
    collective = NcclCollective(asked.n_ranks, name, rank)
    pipe.send(_rank(drawn, asked, rank, collective, None))


def _made(
    drawn: Drawn, asked: Asked, rank: int, graph: CSRGraph | None
) -> tuple[Any, Part, Callable[[], None]]:
    """Steps of a rank and its part, on its device; waits for the device."""
    if graph is not None:
        from kernels.partition.cpu import CpuSteps

        whole = split(graph.indptr, asked.n_ranks)
        part = part_of(whole, rank, rows_of(graph.indptr, graph.indices))
        return CpuSteps(part), part, lambda: None
    import cupy as cp

    from kernels.partition.gpu import GpuSteps

    with _MAKING:
        whole, n_drawn = split_of(drawn, asked.n_ranks)
        part = drawn_part(drawn, whole, n_drawn, rank)
        cp.cuda.Device().synchronize()
    return GpuSteps(part), part, cp.cuda.Device().synchronize


def _rank(
    drawn: Drawn, asked: Asked, rank: int, collective: Collective, on_host: CSRGraph | None
) -> dict[str, Any]:
    """Make the part, search from each source, check, report."""
    begin = time.perf_counter()
    steps, part, wait = _made(drawn, asked, rank, on_host)
    made_s = time.perf_counter() - begin
    xp: Any = np
    if on_host is None:
        import cupy

        xp = cupy
    whole, degree = part.split, xp.diff(part.indptr)
    n_arcs = collective.gather(np.array([part.indices.size], np.int64))[:, 0]
    # The same sources on every rank: of random nodes, those that their owners know to have arcs.
    n_nodes = 64 * (asked.n_sources + asked.n_swept)
    nodes = np.random.default_rng(1).integers(0, whole.n_nodes, n_nodes)
    numbers = whole.renumber(nodes)
    has_arcs = np.zeros(len(nodes), np.int64)
    first, last = whole.first[rank : rank + 2]
    is_own = (numbers >= first) & (numbers < last)
    places = xp.asarray(numbers[is_own] - first)
    own_has = degree[places] > 0
    has_arcs[is_own] = own_has if on_host is not None else own_has.get()
    nodes = nodes[collective.gather(has_arcs).any(axis=0)]
    sources = nodes[: asked.n_sources]
    alone = CSRGraph(part.indptr, part.indices, trusted=True) if asked.n_ranks == 1 else None

    def timed(source: int, **options: Any) -> tuple[Any, float]:
        collective.gather(np.zeros(1, np.int64))
        begin = time.perf_counter()
        result = search(steps, part, source, collective, **options)
        wait()
        return result, time.perf_counter() - begin

    rows, small = [], steps.small
    for source in [int(sources[0]), *sources.tolist()]:  # the first one twice: it compiles
        result, wall_s = timed(source, early_bytes=asked.early_bytes)
        check_part(part, source, result, collective)
        reached = result.level >= 0
        n_edges = (degree * reached).sum(dtype=np.int64).reshape(1)
        row = {key: value for key, value in vars(result).items() if key != "level"}
        row["wall_s"] = wall_s
        row["n_edges"] = int(collective.gather(n_edges).sum() // 2)
        if alone is not None:
            row["bfs_s"] = _bfs_s(alone, int(whole.renumber(np.array([source]))[0]), result, wait)
        steps.small = 0
        row["two_s"] = timed(source, early_bytes=asked.early_bytes)[1]
        steps.small = small
        row["once_s"] = timed(source, early_bytes=ONCE)[1]
        rows.append(row)
    profiles = []
    for source in sources[:N_PROFILED].tolist():
        profile = Profile()
        _, wall_s = timed(source, profile=profile, early_bytes=asked.early_bytes)
        profiles.append(asdict(profile) | {"wall_s": wall_s})
    end = {"rows": rows[1:], "profiles": profiles, "made_s": made_s, "n_arcs": n_arcs.tolist()}
    if on_host is None:
        end["pool_bytes"] = xp.get_default_memory_pool().total_bytes()
    if asked.n_swept:
        swept = nodes[: asked.n_swept]
        end["parts_sweep"] = _parts_sweep(steps, part, swept, collective, rows[1:])
        if alone is not None:
            end["sweep"] = _sweep(alone, whole.renumber(swept), rows[1:])
    return end


def _parts_sweep(
    steps: Any, part: Part, sources: np.ndarray, collective: Collective, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """Sweeps over the parts, compared with the searches of the first sources."""
    if isinstance(part.indptr, np.ndarray):
        from kernels.partition.sweep.cpu import CpuSweepSteps as SweepSteps
    else:
        from kernels.partition.sweep.gpu import GpuSweepSteps as SweepSteps
    swept, times_s = SweepSteps(steps.part), []
    for _ in range(N_SWEEPS + 1):  # the first one compiles
        collective.gather(np.zeros(1, np.int64))
        begin = time.perf_counter()
        found = sweep(swept, part, sources, collective)  # its answer is on the host
        times_s.append(time.perf_counter() - begin)
    _compare(found, rows)
    return {
        "wall_s": times_s[1:],
        "n_sources": len(sources),
        "n_exchanges": found.n_exchanges,
        "sent_bytes": found.sent_bytes,
    }


def _compare(found: Any, rows: list[dict[str, Any]]) -> None:
    for i, row in enumerate(rows[: len(found.n_reached)]):
        if (found.eccentricity[i], found.n_reached[i]) != (row["eccentricity"], row["n_reached"]):
            raise AssertionError(f"a sweep differs from the search of source {i}")


def _bfs_s(graph: CSRGraph, source: int, result: Any, wait: Callable[[], None]) -> float:
    """Seconds of the search for graphs on one device, which must find the same."""
    wait()
    begin = time.perf_counter()
    alone = bfs(graph, source)
    wait()
    seconds = time.perf_counter() - begin
    if alone.n_reached != result.n_reached:
        raise AssertionError("parts and whole reach different numbers of nodes")
    if not bool((alone.level == result.level[: graph.n_nodes]).all()):
        raise AssertionError("parts and whole differ in levels")
    return seconds


def _sweep(graph: CSRGraph, sources: np.ndarray, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One sweep on one GPU, compared with the searches of its first sources."""
    times_s = []
    for _ in range(N_SWEEPS + 1):  # the first one compiles
        begin = time.perf_counter()
        found = msbfs(graph, sources)
        times_s.append(time.perf_counter() - begin)
    _compare(found, rows)
    wall_s = statistics.median(times_s[1:])
    # The sources of searches stand for all: nearly all arcs lie in one component.
    n_arcs = 2 * statistics.mean(row["n_edges"] for row in rows)
    rate = len(sources) * n_arcs / wall_s
    return {
        "n_swept": len(sources),
        "sweep_ms": round(1e3 * wall_s, 3),
        "source_arcs_per_s": float(f"{rate:.4g}"),
    }
