"""What the first use of a clone costs: each case in a clone and a cache of its own.

``python benchmarks/bench_first_use.py``; packages are those of this Python, as after make setup.
``--without`` removes what came along, as where another Python or processor is used.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import REPOSITORY, record

LAB = ("run", "data/samples/lab", "--ip2as", "data/samples/lab/lab.pfx2as")
LAB += ("--allow-special", "198.18.0.0/15", "--store", "{out}/store", "--out", "{out}/reports")
SEARCH = """
import numpy as np, kernels
path = kernels.CSRGraph.from_edges([0, 1, 2], [1, 2, 3], symmetrise=True)
assert kernels.bfs(path, 0).level.tolist() == [0, 1, 2, 3]
"""
CLI = (sys.executable, "-m", "pipeline.cli")
CASES: dict[str, tuple[str, ...]] = {
    "bfs": (sys.executable, "-c", SEARCH),
    "search diameter": (*CLI, "search", "diameter", "data/samples/snap/attachment.txt.gz"),
    "run lab": (*CLI, *LAB),
    "run lab, all metrics": (*CLI, *LAB, "--metrics", "all,weighted_diameter"),
    "make demo": ("make", "demo", "VENV="),
}


def measured(words: tuple[str, ...], clone: Path, out: Path) -> dict[str, float]:
    """Seconds, and those of all processes together, of a command in a clone."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    given = {"PATH": path, "PYTHONPATH": str(clone), "XDG_CACHE_HOME": str(out / "cache")}
    given["PREFECT_HOME"] = str(out / "prefect")
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [word.replace("{out}", str(out)) for word in words],
        cwd=clone,
        env=kept | given,
        capture_output=True,
        text=True,
        check=False,
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr[-2000:]}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = "compiling" in done.stderr
    return {"wall_s": round(wall, 2), "processor_s": round(processor, 2), "said_compiling": said}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--without", action="store_true", help="what came along is removed")
    parser.add_argument("--subject", default="first_use_2_cores")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    rows = []
    for name in given.cases:
        with tempfile.TemporaryDirectory(prefix="hopscope-first-use-") as made:
            clone, out = Path(made) / "clone", Path(made) / "out"
            out.mkdir(mode=0o700)
            words = ["git", "clone", "-q", "--local", str(REPOSITORY), str(clone)]
            subprocess.run(words, check=True)
            if given.without:
                shutil.rmtree(clone / "kernels" / "compiled" / "archives")
            first = measured(CASES[name], clone, out)
            shutil.rmtree(out / "store", ignore_errors=True)
            again = measured(CASES[name], clone, out)
        load = os.getloadavg()[0]
        case = {"case": name, "came_along": not given.without, **first, "load": round(load, 1)}
        case |= {f"again_{key}": value for key, value in again.items() if key.endswith("_s")}
        rows.append(case)
    record(given.subject, rows, given.results)


if __name__ == "__main__":
    main()
