"""Exports of one large AS, each format in a process of its own.

Command: python benchmarks/bench_export.py [--routers N] [--formats NAME...] [--store DIR]
Draws a Barabasi-Albert graph into a store, unless the store is there, and writes it to files that
are removed again. Writes benchmarks/results/export_2_cores.json: `wall_s`, `cpu_s`, `peak_mb` of
the process, `bytes` of the files.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import record
from pipeline.writers import WRITERS

COMMAND = [sys.executable, "-m", "pipeline.cli"]


def export(store: Path, format: str, folder: Path) -> dict:
    out = folder / f"x{WRITERS[format].suffix}"
    words = ["export", "big", "--store", str(store), "--format", format, "--out", str(out)]
    began = time.perf_counter()
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, format
    files = list(folder.iterdir())
    row = {
        "format": format,
        "wall_s": round(time.perf_counter() - began, 1),
        "cpu_s": round(used.ru_utime + used.ru_stime, 1),
        "peak_mb": used.ru_maxrss >> 10,
        "bytes": sum(path.stat().st_size for path in files),
    }
    for path in files:
        path.unlink()
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--routers", type=int, default=6_800_000)
    parser.add_argument("--formats", nargs="*", default=list(WRITERS))
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = given.store or Path(folder) / "store"
        if not store.exists():
            words = ["generate", "ba", "--routers", str(given.routers), "--asn", "65000"]
            words += ["--store", str(store), "--snapshot", "big"]
            subprocess.run([*COMMAND, *words], check=True, stdout=subprocess.DEVNULL)
        made = Path(folder) / "files"
        made.mkdir()
        rows = [export(store, format, made) for format in given.formats]
    record("export_2_cores", rows, n_routers=given.routers)


if __name__ == "__main__":
    main()
