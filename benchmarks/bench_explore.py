"""From a click on Search to the picture: the explorer on a large graph.

Command: python benchmarks/bench_explore.py [--routers N] [--model NAME] [--device cpu|gpu]
[--rounds N] [--subject RESULT]

The server's own session and the process that holds the graph, as the page uses them; what a
browser then takes to draw at most 220 nodes is not counted. ``shown_ms`` is the median time from
the request to result and picture, ``outcome_ms`` that to the certificate; ``search_ms`` and
``certificate_ms`` are what the search and its check took of it, ``picture_ms`` what the choice and
places of the nodes drawn took, and ``beside_ms`` is ``shown_ms`` without the search.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import OtherWork
from pipeline.explore.session import Session

ALGORITHMS = (
    *("bfs", "sssp", "dfs", "shortest_path", "weighted_shortest_path"),
    *("mst", "components", "diameter"),
)
POLL_S = 0.002


def outcome(session: Session, request: dict[str, Any]) -> tuple[float, float, dict[str, Any]]:
    """Seconds to what is shown first and to the end of a request, and the page's state then."""
    before = session.state()["number"]
    started = time.perf_counter()
    session.begin(request)
    while (state := session.state())["number"] == before:
        time.sleep(POLL_S)
    shown_s = time.perf_counter() - started
    while (state := session.state())["job"] is not None:
        time.sleep(POLL_S)
    wall_s = time.perf_counter() - started
    if state["error"]:
        raise SystemExit(state["error"])
    return shown_s, wall_s, state


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--routers", type=int, default=6_800_000)
    parser.add_argument("--model", default="ba")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--algorithms", type=lambda t: t.split(","), default=list(ALGORITHMS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--subject", default="explore", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    arguments = parser.parse_args()
    rows, others = [], OtherWork()
    options = {"routers": str(arguments.routers), "seed": "1"}
    graph = {"do": "graph", "from": "model", "model": arguments.model, "options": options}
    with Session(None) as session:
        _, made_s, state = outcome(session, graph)
        about = state["graph"]
        for algorithm in arguments.algorithms:
            request = {"do": "search", "algorithm": algorithm, "device": arguments.device}
            request |= {"source": about["first"], "compare": False, "target": ""}
            if algorithm.endswith("shortest_path"):
                request["target"] = about["last"]
            if algorithm in ("mst", "components", "diameter"):
                request["source"] = ""
            each = []
            for _ in range(1 + arguments.rounds):  # the first one loads and compiles
                shown_s, wall_s, state = outcome(session, request)
                result = state["result"]
                search_s = sum(result["seconds"].values())
                parts = search_s, result["certificate_s"], result["picture_s"]
                each.append([shown_s, wall_s, *parts, shown_s - search_s])
            names = (
                "shown_ms",
                "outcome_ms",
                "search_ms",
                "certificate_ms",
                "picture_ms",
                "beside_ms",
            )
            columns = zip(*each[1:], strict=True)
            row = {
                "algorithm": algorithm,
                "device": arguments.device,
                "twin": result["implementation"],
            }
            row |= {"n_nodes": about["n_nodes"], "n_links": about["n_links"]}
            row |= {
                name: round(1e3 * statistics.median(column), 2)
                for name, column in zip(names, columns, strict=True)
            }
            rows.append(row | {"n_drawn": len(result["picture"]["nodes"])})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    more = {"made_s": round(made_s, 2), "cores_of_others": others.n_cores()}
    record(arguments.subject, rows, arguments.results, **more)


if __name__ == "__main__":
    main()
