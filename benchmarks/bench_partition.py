"""One search over the parts of a graph on several GPUs, compared with one GPU.

Command: python benchmarks/bench_partition.py [--graphs rmat:22,attachment:1000000,grid:1000]
[--factor N] [--ranks 1,2] [--where gpus|one-gpu|cores] [--sources N] [--sweep N]
[--early-bytes N] [--link-gb-s N] [--subject RESULT] [--results FOLDER]

Each rank makes its part where it searches; no process holds the whole. --where gpus: each rank is
a process with a GPU of its own. one-gpu: ranks are threads that share a GPU, which shows that parts
are right, not what several GPUs gain. cores: ranks are threads on cores. With --link-gb-s arrays
travel at that speed between threads.
Sources are random nodes with a neighbour. GTEPS count undirected edges of the reached component,
by the harmonic mean over sources. Every search is certified: each rank checks its own rows.
``two_ms``: the same with two exchanges at each level; ``once_ms``: with no half sent early. With
--ranks 1 the graph is one part on one device; ``bfs_ms`` beside it is the search for graphs on one,
of the same sources. With --sweep ``parts_sweep_ms`` is a sweep over the parts from N of them, and
with --ranks 1 ``sweep_ms`` one on the whole: its rate counts the arcs that each source reaches.
Shares of time are those of ``kernels.partition.profile``, means over ranks and a few searches that
are apart from the timed ones.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import RESULTS, record
from benchmarks.partition.drawn import graph_named
from benchmarks.partition.ranks import Asked, run
from kernels.partition.search import EARLY_BYTES

SHARES = ("computed", "waited", "sent", "overlapped")
COUNTS = ("n_small", "n_bottom_up", "n_early", "n_exchanges")


def measure(name: str, factor: int, asked: Asked) -> dict[str, Any]:
    """A row of results, from the figures of all ranks."""
    drawn = graph_named(name, factor)
    ends = run(drawn, asked)
    rows = ends[0]["rows"]

    def slowest(key: str) -> list[float]:
        """Of all ranks, by source."""
        return [max(end["rows"][i][key] for end in ends) for i in range(len(rows))]

    wall_s = slowest("wall_s")
    rates = [row["n_edges"] / wall for row, wall in zip(rows, wall_s, strict=True)]
    about = {"graph": name, "factor": factor, "where": asked.where, "n_ranks": asked.n_ranks}
    if asked.link_gb_s is not None:
        about["link_gb_s"] = asked.link_gb_s
    about |= {"n_sources": len(rows), "n_nodes": drawn.n_nodes, "early_bytes": asked.early_bytes}
    about |= {"n_arcs": sum(ends[0]["n_arcs"]), "n_arcs_by_rank": ends[0]["n_arcs"]}
    about |= {"made_s": round(max(end["made_s"] for end in ends), 2)}
    about |= {"median_ms": _ms(wall_s), "two_ms": _ms(slowest("two_s"))}
    about |= {"once_ms": _ms(slowest("once_s"))}
    about |= {"gteps": _gteps(rates), "n_levels": max(row["eccentricity"] for row in rows) + 1}
    about |= {key: statistics.median(row[key] for row in rows) for key in COUNTS}
    profiles = [profile for end in ends for profile in end["profiles"]]
    for share in SHARES:
        of_all = [profile[f"{share}_s"] / profile["wall_s"] for profile in profiles]
        about[share] = round(statistics.mean(of_all), 4)
    about["profiled_ms"] = _ms([profile["wall_s"] for profile in profiles])
    about |= {"sent_mb": round(statistics.median(row["sent_bytes"] for row in rows) / 1e6, 3)}
    if "pool_bytes" in ends[0]:
        about |= {"gib_by_rank": [round(end["pool_bytes"] / 2**30, 2) for end in ends]}
    if "bfs_s" in rows[0]:
        alone_s = [row["bfs_s"] for row in rows]
        about |= {"bfs_ms": _ms(alone_s)}
        alone = [row["n_edges"] / seconds for row, seconds in zip(rows, alone_s, strict=True)]
        about |= {"bfs_gteps": _gteps(alone)}
    if "parts_sweep" in ends[0]:
        about |= _of_sweeps([end["parts_sweep"] for end in ends])
    return about | ends[0].get("sweep", {})


def _of_sweeps(ends: list[dict[str, Any]]) -> dict[str, Any]:
    """Of all ranks."""
    wall_s = [max(times) for times in zip(*(end["wall_s"] for end in ends), strict=True)]
    return {
        "n_swept": ends[0]["n_sources"],
        "parts_sweep_ms": _ms(wall_s),
        "parts_sweep_exchanges": ends[0]["n_exchanges"],
        "parts_sweep_sent_mb": round(max(end["sent_bytes"] for end in ends) / 1e6, 3),
    }


def _ms(seconds: list[float]) -> float:
    return round(1e3 * statistics.median(seconds), 3)


def _gteps(rates: list[float]) -> float:
    return round(len(rates) / sum(1e9 / rate for rate in rates), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--graphs", default="rmat:22,rmat:24", help="KIND:SIZE, comma-separated")
    parser.add_argument("--factor", type=int, default=16, help="links per node of RMAT graphs")
    parser.add_argument("--ranks", default="1,2", help="numbers of ranks, comma-separated")
    parser.add_argument("--where", choices=("gpus", "one-gpu", "cores"), default="gpus")
    parser.add_argument("--sources", type=int, default=16, help="searches per graph")
    parser.add_argument("--sweep", type=int, default=0, help="sources of one sweep; 0: none")
    parser.add_argument("--early-bytes", type=int, default=EARLY_BYTES, help="as search takes it")
    parser.add_argument("--link-gb-s", type=float, help="speed of a link between threads")
    parser.add_argument("--subject", default="partition", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    given = parser.parse_args()
    rows = []
    for name in given.graphs.split(","):
        for n_ranks in map(int, given.ranks.split(",")):
            asked = Asked(
                given.where,
                n_ranks,
                given.sources,
                given.sweep,
                given.early_bytes,
                given.link_gb_s,
            )
            rows.append(measure(name, given.factor, asked))
            print(rows[-1], file=sys.stderr, flush=True)
            record(given.subject, rows, given.results)


if __name__ == "__main__":
    main()
