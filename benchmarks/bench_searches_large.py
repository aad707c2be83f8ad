"""One AS of 6.8 million routers on a GPU: 100 and 2,000 sources; times and peak memory.

``python -m benchmarks.bench_searches_large``: needs a GPU. Two rows are verified by certificate.
"""

from __future__ import annotations

import json

import cupy
import numpy as np

from benchmarks.bench_searches import median_ms, preferential_attachment, synced
from kernels import bfs, msbfs
from kernels.multi_source.check import check_msbfs

N_NODES = 6_800_000


def main() -> None:
    graph = preferential_attachment(N_NODES)
    there = graph.to("gpu")
    sources = np.random.default_rng(0).integers(0, N_NODES, 2000)
    check_msbfs(graph, sources[:2], msbfs(there, sources[:2]))
    result = msbfs(there, sources)
    single = [bfs(there, int(source)) for source in sources[[7, 1999]]]
    if [s.eccentricity for s in single] != result.eccentricity[[7, 1999]].tolist():
        raise AssertionError("sweep and single search differ")
    for what, call in {
        "bfs": lambda: bfs(there, int(sources[0])),
        "msbfs 100": lambda: msbfs(there, sources[:100]),
        "msbfs 2000": lambda: msbfs(there, sources),
    }.items():
        cupy.get_default_memory_pool().free_all_blocks()
        before = cupy.get_default_memory_pool().total_bytes()
        ms = median_ms(synced(call))
        peak = cupy.get_default_memory_pool().total_bytes() - before
        row = {"nodes": N_NODES, "arcs": graph.n_arcs, "what": what, "median_ms": round(ms, 2)}
        print(json.dumps({**row, "peak_mb": round(peak / 1e6)}), flush=True)


if __name__ == "__main__":
    main()
