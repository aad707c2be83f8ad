"""Every kernel on small graphs, under NVIDIA's compute-sanitizer: no race, no fault, of ours.

Command: python -m tests.races [--tool racecheck|memcheck|initcheck|synccheck] [--log FILE]
or, to run the kernels alone: python -m tests.races --alone

racecheck sees hazards in shared memory only. Races in global memory it does not: those on purpose
are in docs/algorithms.md. The kernels run first without the tool, which compiles them. Hazards
that it finds in kernels of CuPy are counted, not failed on. Fails if a kernel is not run.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import numpy as np

ROOT = Path(__file__).parents[1]
CUDA = Path("/usr/local/cuda/bin")
TOOLS = ("racecheck", "memcheck", "initcheck", "synccheck")
NOT_ALL = 3  # exit status where all was right, but some kernels were not run
_KERNEL = re.compile(r"__global__(?:\s+(?:void|__\w+__\([^)]*\)))+\s+([\w#]+)\s*\(")
_MACRO = re.compile(r"^#define (\w+)\(([^)]*)\)(.*)$", re.MULTILINE)
_FOUND = re.compile(r"hazard|Race reported|Invalid|Uninitialized|Barrier error|Misaligned")
_SUMMARY = re.compile(r"^[A-Z ]+ SUMMARY:")


def kernels_in(source: str) -> set[str]:
    """Names of the kernels of a file, of those that macros make too."""
    source = source.replace("\\\n", " ")
    plain = _MACRO.sub("", source)
    names = set(_KERNEL.findall(plain))
    for macro, parameters, body in _MACRO.findall(source):
        for made in _KERNEL.findall(body):
            for given in re.findall(rf"^{macro}\(([^)]*)\)", plain, re.MULTILINE):
                pairs = zip(parameters.split(","), given.split(","), strict=True)
                own = {parameter.strip(): value.strip() for parameter, value in pairs}
                names.add("".join(own.get(part, part) for part in made.split("##")))
    return names


def kernels_of() -> set[tuple[str, str]]:
    """All kernels of kernels/, each by the name of its folder and its own."""
    from kernels._cuda.loader import source_of

    files = ROOT.glob("kernels/**/*.cu")
    return {(_folder(file), name) for file in files for name in kernels_in(source_of(file))}


def _folder(file: Path) -> str:
    return str(file.parent.relative_to(ROOT / "kernels"))


def run_all(device: Literal["cpu", "gpu"] = "gpu") -> None:
    """Call what launches each kernel; results are compared with those of cores."""
    import kernels
    from kernels import Shard
    from kernels.closeness import closenesses
    from kernels.closeness.sums import sums_from
    from kernels.connected import components
    from kernels.distance_distribution import effective_diameters
    from kernels.eccentricity.questions import QUESTIONS
    from kernels.eccentricity.shard import widths
    from pipeline.generate.barabasi_albert import barabasi_albert_graph
    from tests.shapes import graph_of, grid, path, star, tree_with_hubs, weighted

    apart = graph_of(700, [(i, i + 1) for i in range(300)] + [(400, 401)])
    graphs = {"grid": grid(12, 60), "hubs": tree_with_hubs(2_000, 3), "star": star(700)}
    graphs |= {"apart": apart, "path": path(300)}
    rng = np.random.default_rng(1)
    for name, graph in graphs.items():
        began = time.perf_counter()
        here = graph.to(device)
        heavy = weighted(graph, rng.integers(1, 9, graph.n_edges))
        there = heavy.to(device)
        _same(kernels.bfs(here, 1, parents=True).level, kernels.bfs(graph, 1).level)
        if device == "gpu":
            _on_gpu_alone(graph, here)
        for n_sources in (10, 100, 200):
            sources = rng.integers(0, graph.n_nodes, n_sources)
            found = kernels.msbfs(here, sources, levels=True)
            _same(found.level, kernels.msbfs(graph, sources, levels=True).level)
        shard = Shard.from_graphs([graph, graph])
        for n_sources in (10, 100, 200, 600):  # beyond 128 of a graph 256 at a time
            sources = rng.integers(0, graph.n_nodes, n_sources)
            kernels.msbfs_shard(shard.to(device), sources, np.array([0, n_sources // 2, n_sources]))
        _same(components(here).component, components(graph).component)
        _same(kernels.sssp(there, 1).distance, kernels.sssp(heavy, 1).distance)
        kernels.sssp(there, 1, parents=True)
        for method in ("auto", "kruskal", "prim"):
            assert kernels.mst(there, method).total == kernels.mst(heavy).total
        kernels.shortest_path(here, 0, graph.n_nodes // 3)
        kernels.shortest_path(there, 0, graph.n_nodes // 3, weighted=True)
        closenesses(shard.to(device))
        closenesses(shard.to(device), max_exact=1, n_sources=64)
        effective_diameters(shard.to(device))
        widths(shard.to(device), QUESTIONS)
        _say(f"{name}: {time.perf_counter() - began:.1f} s")
    if device == "gpu":
        _references(barabasi_albert_graph(3_000, m=2, seed=5, shuffled=True))
        for graph in (graphs["hubs"], apart):
            began = time.perf_counter()
            _in_parts(graph)
            _say(f"in parts: {time.perf_counter() - began:.1f} s")
    # Levels of four bytes.
    began = time.perf_counter()
    long, ends = path(66_000), np.array([0], np.int32)
    _same(sums_from(long.to(device), ends), sums_from(long, ends))
    _say(f"long: {time.perf_counter() - began:.1f} s")


def _on_gpu_alone(graph: Any, here: Any) -> None:
    """What a GPU is not asked for on graphs that are small."""
    from kernels.breadth_first import bfs
    from kernels.breadth_first import gpu as breadth_first
    from kernels.depth_first import dfs
    from kernels.eccentricity import _on_gpu
    from kernels.eccentricity.questions import QUESTIONS

    with mock.patch.object(breadth_first, "LARGE", 0):
        _same(bfs(here, 1).level, bfs(graph, 1).level)
    _same(dfs(here, 0, "warp").parent, dfs(graph, 0).parent)
    for question in QUESTIONS:
        _on_gpu(here, question, None)


def _references(graph: Any) -> None:
    """Reference nodes, which large graphs have."""
    from kernels import eccentricities
    from kernels.eccentricity import _on_gpu
    from kernels.eccentricity.gpu import solver

    early: dict[str, Any] = {"MANY_OPEN": 0, "FIRST_SEARCHES": 1, "MOST_WORDS": 1}
    early |= {"REFERENCE_BATCH": 1, "GPU": replace(solver.GPU, patience=1, sweep_searches=0)}
    with mock.patch.multiple(solver, **early):
        found = _on_gpu(graph.to("gpu"), "eccentricities", None)
    _same(found, eccentricities(graph))


def _in_parts(graph: Any) -> None:
    """Searches and widths of a graph in parts, all on one GPU."""
    from kernels.eccentricity.questions import QUESTIONS
    from kernels.partition import search
    from kernels.partition.check import check_part
    from kernels.partition.gpu import GpuSteps
    from kernels.partition.sweep import sweep
    from kernels.partition.sweep.gpu import GpuSweepSteps
    from kernels.partition.widths import Searches, part_widths
    from tests.ranks import on_ranks, parts_of

    def one(part: Any, collective: Any) -> None:
        # Of few sources the frontier is pushed at first, of many it is large at once.
        for small, stride in ((0, 300), (50, 6)):
            steps = GpuSteps(part, small)
            check_part(steps.part, 7, search(steps, steps.part, 7, collective), collective)
            sweep_steps = GpuSweepSteps(steps.part, small + 1)
            sweep(sweep_steps, steps.part, np.arange(0, 600, stride), collective)
        part_widths(Searches(steps.part, steps, sweep_steps, collective), QUESTIONS)

    on_ranks(parts_of(graph, 2), one, deadline_s=300)


def _say(*what: object) -> None:
    sys.stdout.write(" ".join(map(str, what)) + "\n")
    sys.stdout.flush()


def _same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found.get() if hasattr(found, "get") else found, expected)


def run_alone() -> int:
    """Run all, and say which kernels were not."""
    from kernels._cuda import loader

    asked: set[tuple[str, str]] = set()
    kernel = loader._kernel

    def noted(file: str, name: str, *rest: Any) -> Any:
        asked.add((_folder(Path(file)), name))
        return kernel(file, name, *rest)

    with mock.patch.object(loader, "_kernel", noted):
        run_all()
    every = kernels_of()
    _say(f"{len(asked & every)} of {len(every)} kernels; not run: {sorted(every - asked)}")
    return NOT_ALL if every - asked else 0


def reports(log: str) -> Iterator[str]:
    """What a tool says of each place where it found something, one or more lines together."""
    lines = [line.removeprefix("=========").rstrip() for line in log.splitlines()]
    lines = [line for line in lines if not _SUMMARY.match(line.strip())]
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip() and (not block or line.startswith("  ")):
            block.append(line)
        else:
            if block and _FOUND.search("\n".join(block)):
                yield "\n".join(block)
            block = [line] if line.strip() else []


def under(tool: str, log: Path) -> int:
    """Run all under a tool; 0 if it finds nothing in our kernels."""
    program = shutil.which("compute-sanitizer") or str(CUDA / "compute-sanitizer")
    command = [program, "--tool", tool, "--log-file", str(log), "--print-limit", "100000"]
    command += [sys.executable, "-m", "tests.races", "--alone"]
    done = subprocess.run(command, cwd=ROOT, check=False)
    every = {name for _, name in kernels_of()}
    ours, others = Counter[str](), Counter[str]()
    text = log.read_text(errors="replace")
    for report in reports(text):
        found = next((name for name in every if re.search(rf"\b{name}\b", report)), None)
        if found:
            ours[found] += 1
            if ours[found] == 1:
                _say(report)
        else:
            others[report.strip().splitlines()[0][:100]] += 1
    others_first = others.most_common(5)
    _say(f"{tool}: in our kernels {dict(ours)}; elsewhere {others.total()}: {others_first}")
    _say("the tool's last line:", text.strip().splitlines()[-1] if text.strip() else "none")
    return 1 if ours or done.returncode else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tool", choices=TOOLS, default="racecheck")
    parser.add_argument("--alone", action="store_true", help="without a tool")
    parser.add_argument("--log", type=Path, help="keep what the tool says here")
    given = parser.parse_args()
    if given.alone:
        return run_alone()
    alone = subprocess.run([sys.executable, "-m", "tests.races", "--alone"], cwd=ROOT, check=False)
    if alone.returncode not in (0, NOT_ALL):
        return alone.returncode
    with tempfile.TemporaryDirectory() as folder:
        return under(given.tool, given.log or Path(folder) / "log")


if __name__ == "__main__":
    sys.exit(main())
