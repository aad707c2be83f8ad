"""What the first use of a GPU costs: loading every kernel, with and without what came along.

``python benchmarks/bench_first_gpu.py``; each run is a process with empty caches.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import REPOSITORY, record

REPEATS = 3
LOAD = """
import sys, time
from pathlib import Path
import cupy
from kernels._cuda import loader
cupy.cuda.Device(0).use()
cupy.zeros(1)  # CUDA itself has started
if sys.argv[1] == "without":
    loader.cubin_for = lambda *_: None
began = time.perf_counter()
files = sorted(Path("kernels").resolve().rglob("*.cu"))
n = sum(1 for file in files for options in loader.variants(file)
        if loader._module(file, 0, False, options))
print(n, time.perf_counter() - began)
"""


def first_load(how: str) -> tuple[int, float, float]:
    """Modules, seconds to load them, and seconds of the whole process."""
    with tempfile.TemporaryDirectory(prefix="first-gpu-") as folder:
        given = {"XDG_CACHE_HOME": folder, "CUPY_CACHE_DIR": f"{folder}/cupy"}
        given["CUDA_CACHE_PATH"] = f"{folder}/cuda"
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", LOAD, how],
            cwd=REPOSITORY,
            env=os.environ | given,
            capture_output=True,
            text=True,
            check=False,
        )
        wall = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    n, seconds = done.stdout.split()[-2:]
    return int(n), float(seconds), wall


def main() -> None:
    runs: dict[str, list[tuple[int, float, float]]] = {"with": [], "without": []}
    for _ in range(REPEATS):
        for how, found in runs.items():
            found.append(first_load(how))
    rows = [
        {
            "what_came_along": how,
            "n_modules": found[0][0],
            "load_s": round(median(seconds for _, seconds, _ in found), 2),
            "process_s": round(median(wall for _, _, wall in found), 2),
        }
        for how, found in runs.items()
    ]
    record("first_gpu_h200", rows, Path(REPOSITORY / "benchmarks" / "results"))


if __name__ == "__main__":
    main()
