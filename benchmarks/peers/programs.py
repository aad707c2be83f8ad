"""More programs of papers, run as ``research`` runs its: Wasp, ECL-CC and Gunrock.

None is part of this repository: clone github.com/DIPSA-QUB/wasp, burtscher/ECL-Suite,
gunrock/gunrock and, which Gunrock is compiled with, moderngpu/moderngpu.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.delta_stepping import whole_weights
from benchmarks.peers.research import NVCC, compiled, replaced

HERE = Path(__file__).parent
WIDTHS = (16, 64, 256, 1024)  # of Wasp's buckets, weights being 1 to 1,000
LIMIT_S = 10.0  # of a run of a program, after which it is ended
_COPY = "  if (cudaSuccess != cudaMemcpy(nstat, nstat_d,"


def _said(command: list[str], environment: dict[str, str] | None = None) -> str:
    """What a program prints; TimeoutExpired if it does not end."""
    run = {"capture_output": True, "text": True, "check": True, "timeout": LIMIT_S}
    return subprocess.run(command, env=environment, **run).stdout


def build_wasp(source: Path, work: Path) -> Path:
    """Compile Wasp for whole numbers, as its CMake file does but for libnuma (``numa.h``)."""
    options = ["-O3", "-std=c++17", "-fopenmp", "-march=native", "-w", "-DUSE_INT32"]
    folders = [f"-I{source.resolve() / name}" for name in ("include", "extern")]
    main = str(source.resolve() / "src" / "sssp.cc")
    return compiled(["g++", *options, f"-I{HERE}", *folders, main], _folder(work, "wasp"))


def _folder(work: Path, name: str) -> Path:
    folder = work / name
    folder.mkdir(parents=True)
    return folder


def build_ecl_cc(source: Path, work: Path) -> Path:
    """Compile ECL-CC; it searches six times, prints its components and ends before its check.

    The clock rates that it prints are no longer known to CUDA 13; its check recurses too deeply.
    """
    folder = work / "ecl_cc"
    shutil.copytree(source / "library", folder)
    text = (source / "src/baseline/egr-input/CC/ECL-CC_11.cu").read_text()
    text = replaced(text, " (%.1f MHz and %.1f MHz)", "")
    text = replaced(text, ", deviceProp.clockRate * 0.001, deviceProp.memoryClockRate * 0.001", "")
    text = replaced(
        text, "  GPUTimer timer;\n", "  for (int r = 0; r < 6; r++) {\n  GPUTimer timer;\n"
    )
    text = replaced(text, _COPY, "  }\n" + _COPY)
    count = "int n = 0; for (int v = 0; v < g.nodes; v++) n += nodestatus[v] == v;"
    begin = "  std::set<int> s1;\n"
    text = replaced(text, begin, f'  {count} printf("components %d\\n", n); return 0;\n{begin}')
    (folder / "ecl_cc.cu").write_text(text)
    return compiled([*NVCC, "-I.", "ecl_cc.cu"], folder)


def build_gunrock(source: Path, moderngpu: Path, work: Path) -> Path:
    """Compile ``gunrock_bfs.cu`` with the options of Gunrock's CMake file."""
    options = ["-std=c++20", "--expt-extended-lambda", "--expt-relaxed-constexpr"]
    options += ["--use_fast_math", "-w", "-DSM_TARGET=90", "-D__HIP_PLATFORM_NVIDIA__"]
    options += ["-DHIP_BACKEND=1", "-DESSENTIALS_COLLECT_METRICS=0"]
    folders = [f"-I{source.resolve() / 'include'}", f"-I{moderngpu.resolve() / 'src'}"]
    main = str(HERE / "gunrock_bfs.cu")
    return compiled([*NVCC, *options, *folders, main], _folder(work, "gunrock"))


def write_wsg(path: Path, graph: Any) -> Path:
    """A weighted graph of the host in the binary form of the GAP suite (``.wsg``)."""
    arcs = np.stack([graph.indices, whole_weights(graph)], axis=1)
    with path.open("wb") as file:
        np.array([False]).tofile(file)  # not directed
        np.array([graph.n_arcs, graph.n_nodes], np.int64).tofile(file)
        graph.indptr.astype(np.int64).tofile(file)
        arcs.astype(np.int32).tofile(file)
    return path


class Wasp:
    """Wasp on a graph in a file; ``width`` of a bucket, chosen by trial."""

    def __init__(self, program: Path, path: Path, n_threads: int):
        self.program, self.path, self.n_threads = program, path, n_threads
        self.width = min(WIDTHS, key=self._trial)

    def _trial(self, width: int) -> float:
        self.width = width
        try:
            return min(took for took, _, _ in self.search([0, 0, 0]))
        except subprocess.TimeoutExpired:
            return math.inf

    def search(self, sources: Sequence[int]) -> list[tuple[float, int, int]]:
        """Seconds, nodes reached and largest distance of each source, by the program itself."""
        listed = self.path.with_suffix(".sources")
        listed.write_text("\n".join(map(str, sources)) + "\n")
        command = [str(self.program), "-f", str(self.path), "-s", str(listed)]
        command += ["-S", str(len(sources)), "-n", "1", "-a", "-d", str(self.width)]
        threads = {"OMP_NUM_THREADS": str(self.n_threads), "OMP_PROC_BIND": "true"}
        said = _said(command, {**os.environ, **threads})
        times = re.findall(r"External Trial Time: +([\d.]+)", said)
        reached = re.findall(r"SSSP Tree reaches (\d+) nodes", said)
        farthest = re.findall(r"Max dist (\d+)", said)
        found = zip(times, reached, farthest, strict=True)
        return [(float(took), int(n), int(far)) for took, n, far in found]


def run_ecl_cc(program: Path, path: Path) -> tuple[int, list[float]]:
    """Components, and seconds of each call on the GPU but the first."""
    said = _said([str(program), str(path)])
    times = [float(each) for each in re.findall(r"compute time: ([\d.]+) s", said)]
    return int(re.findall(r"components (\d+)", said)[0]), times[1:]


def run_gunrock(program: Path, path: Path, sources: Sequence[int]) -> list[tuple[int, int, float]]:
    """Nodes reached, largest level and milliseconds of each source."""
    command = [str(program), str(path), *map(str, sources)]
    found = re.findall(r"reached (\d+) depth (\d+) took ([\d.]+) ms", _said(command))
    return [(int(n), int(depth), float(took)) for n, depth, took in found]
