"""Programs of papers, run as their authors publish them: BLEST, F-Diam and ECL-MST.

None is part of this repository: clone github.com/delbek/blest, burtscher/F-Diam and
burtscher/ECL-MST, and give the folders. They are copied, changed where said below, and compiled.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

NVCC = ("nvcc", "-O3", "-arch=sm_90")
# BLEST downloads its graphs; ours lie in its folder, prepared as it keeps them.
_DOWNLOADER = """#pragma once
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>
struct SuiteSparseDownloader {
  struct MatrixFilter { std::optional<std::vector<std::string>> names; };
  struct MatrixInfo {
    bool isValid = true, isReal = false, isBinary = true, is2d3d = false, isPosDef = false;
    unsigned id = 0;
    unsigned long long rows = 0, cols = 0, nonzeros = 0;
    double patternSymmetry = 1, numericSymmetry = 1;
    std::string groupName, name, kind, downloadLink, installationPath;
  };
  std::vector<MatrixInfo> getMatrices(const MatrixFilter& filter) {
    std::vector<MatrixInfo> found;
    for (auto& name : *filter.names) { found.emplace_back(); found.back().name = name; }
    return found;
  }
  void downloadMatrices(const std::string& folder, std::vector<MatrixInfo>& all) {
    for (auto& each : all) each.installationPath = folder + each.name;
  }
};
"""
_SEARCHES = '        std::cout << "BFS kernels launching..." << std::endl;\n'
_WAITS = """        std::cout << "PREPARED" << std::endl;
        while (!std::filesystem::exists(matrix.filename + ".go")) usleep(2000);
"""


def commit_of(folder: Path) -> str:
    """The version of a clone; "unknown" if it came without git."""
    done = subprocess.run(
        ["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def build_blest(source: Path, work: Path) -> Path:
    """Compile BLEST without its downloader; it waits for a file before it searches.

    So that graphs can be prepared side by side, and searched while nothing else runs.
    """
    folder = work / "blest"
    shutil.copytree(source, folder)
    (folder / "SuiteSparseMatrixDownloader.hpp").write_text(_DOWNLOADER)
    benchmark = folder / "Benchmark.cuh"
    benchmark.write_text(replaced(benchmark.read_text(), _SEARCHES, _WAITS + _SEARCHES))
    parts = [f"-I{name}" for name in ("DataStructures", "BFS", "CC", "MBFS", "Gorder")]
    sources = ["main.cu", *(str(path) for path in sorted((folder / "Gorder").glob("*.cpp")))]
    options = ["-std=c++20", "-Xcompiler", "-fopenmp", "-include", "cassert", "-I.", *parts]
    return compiled([*NVCC, *options, *sources, "-lgomp"], folder)


def build_f_diam(source: Path, work: Path) -> Path:
    """Compile F-Diam as it is."""
    folder = work / "f_diam"
    shutil.copytree(source, folder)
    return compiled(["g++", "-O3", "-fopenmp", "fdiam.cpp"], folder)


def build_ecl_mst(source: Path, work: Path) -> Path:
    """Compile ECL-MST; it searches six times, prints the weight and ends before its check.

    The clock rates that it prints are no longer known to CUDA 13; its check on a core takes long.
    """
    folder = work / "ecl_mst"
    shutil.copytree(source / "source", folder)
    program = folder / "ECL-MST_10.cu"
    text = program.read_text().replace(" (%.1f MHz and %.1f MHz)", "")
    text = replaced(text, ", deviceProp.clockRate * 0.001, deviceProp.memoryClockRate * 0.001", "")
    for call in ("gpuMST<true>(g, threshold)", "gpuMST<false>(g, INT_MAX)"):
        once = f"gpuMSTedges = {call};"
        text = replaced(text, once, f"for (int r = 0; r < 6; r++) {once}")
    total = "ull w = 0; for (int j = 0; j < g.edges; j++) if (gpuMSTedges[j]) w += g.eweight[j];"
    end = "  // run CPU code and compare result\n"
    text = replaced(text, end, f'  {total} printf("weight %llu\\n", w); return 0;\n{end}')
    program.write_text(text)
    return compiled([*NVCC, program.name], folder)


def replaced(text: str, old: str, new: str) -> str:
    """The text with what it has once exchanged; ValueError otherwise."""
    if text.count(old) != 1:
        raise ValueError(f"{old!r} occurs {text.count(old)} times: another version?")
    return text.replace(old, new)


def compiled(command: list[str], folder: Path) -> Path:
    """The program of a compiler's command, run in a folder."""
    program = folder / "program"
    subprocess.run([*command, "-o", str(program)], cwd=folder, check=True, capture_output=True)
    return program


def is_social(degrees: np.ndarray) -> bool:
    """Whether BLEST takes a graph for a social network, by which it chooses order and kernel."""
    ordered, n = np.sort(degrees)[::-1], len(degrees)
    upto = np.cumsum(ordered) / max(1, ordered.sum())
    is_heavy = upto[-(-n // 100) - 1] >= 0.05 and upto[-(-n // 10) - 1] >= 0.4
    counts = np.bincount(degrees)
    some = np.flatnonzero(counts[5:]) + 5
    is_power = False
    if len(some) >= 3:
        x, y = np.log(some), np.log(counts[some])
        slope, start = np.polyfit(x, y, 1)
        spread = ((y - y.mean()) ** 2).sum()
        rest = ((y - start - slope * x) ** 2).sum()
        is_power = bool(spread > 0 and 1 - rest / spread >= 0.7 and 1 <= -slope <= 5)
    return bool(is_heavy or is_power or degrees.mean() > 18)


@dataclass
class Blest:
    """BLEST on one graph: it is being prepared until ``is_ready``.

    Attributes
    ----------
    reorder_s, prepared_s : float
        Its own time for the order, and all until it can search; nan before.
    """

    program: Path
    folder: Path
    name: str
    is_reordered: bool
    n_threads: int
    begin_s: float = field(default_factory=time.time)
    prepared_s: float = float("nan")
    process: Any = None

    def start(self, indptr: np.ndarray, indices: np.ndarray, sources: np.ndarray) -> None:
        with (self.folder / f"{self.name}_csc.bin").open("wb") as file:
            np.array([len(indptr) - 1, len(indices)], np.uint32).tofile(file)
            np.array([is_social(np.diff(indptr))]).tofile(file)
            indptr.astype(np.uint32).tofile(file)
            indices.tofile(file)
        (self.folder / f"{self.name}.txt").write_text("\n".join(map(str, sources)) + "\n")
        order = ["-j", str(int(self.is_reordered)), "-w", "65536"]
        command = [self.program, "-d", f"{self.folder}/", "-g", self.name, *order]
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.n_threads)}
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=environment
            )

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def is_ready(self) -> bool:
        if "PREPARED" not in self._log.read_text():
            return False
        self.prepared_s = self._log.stat().st_mtime - self.begin_s  # its last words until then
        return True

    def search(self) -> tuple[list[float], list[int], list[int], float]:
        """Milliseconds, nodes reached and levels of each source, and seconds of the order."""
        (self.folder / f"{self.name}.go").touch()
        self.process.wait()
        log = self._log.read_text()
        found = re.findall(
            r"levels processed: (\d+) - Total visited: (\d+) - Time took: ([\d.e+-]+) ms", log
        )
        order = re.findall(r"Time took to reorder: ([\d.e+-]+)", log)
        times = [float(each[2]) for each in found]
        reached, levels = [int(each[1]) for each in found], [int(each[0]) for each in found]
        return times, reached, levels, float(order[0]) if order else float("nan")


def write_ecl(path: Path, graph: Any, weights: np.ndarray | None = None) -> Path:
    """A graph of the host in the binary form of ECL programs."""
    with path.open("wb") as file:
        np.array([graph.n_nodes, graph.n_arcs], np.int32).tofile(file)
        graph.indptr.astype(np.int32).tofile(file)
        graph.indices.tofile(file)
        if weights is not None:
            weights.astype(np.int32).tofile(file)
    return path


def run_f_diam(program: Path, path: Path, n_threads: int, most_s: float) -> tuple[int, float]:
    """Diameter and seconds of F-Diam; -1 and ``most_s`` if it takes longer."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(n_threads)}
    try:
        done = subprocess.run(
            [program, path], capture_output=True, text=True, env=environment, timeout=most_s
        )
    except subprocess.TimeoutExpired:
        return -1, most_s
    value = int(re.findall(r"final diameter: (\d+)", done.stdout)[0])
    return value, float(re.findall(r"runtime: ([\d.]+) s", done.stdout)[0])


def run_ecl_mst(program: Path, path: Path) -> tuple[int, list[float]]:
    """Weight of the forest, and seconds of each call on the GPU but the first."""
    done = subprocess.run([program, path], capture_output=True, text=True, check=True)
    times = [float(each) for each in re.findall(r"Dev.: +([\d.]+) s", done.stdout)]
    return int(re.findall(r"weight (\d+)", done.stdout)[0]), times[1:]
