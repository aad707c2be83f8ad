"""A synthetic Internet in a store, made in a process of its own.

    python -m benchmarks.lib.made_internet STORE ASES ROUTERS SEED REPORTED

Seconds of both steps go to the file REPORTED.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

SNAPSHOT = "internet"


def main(store: str, n_ases: str, n_routers: str, seed: str, reported: str) -> None:
    from pipeline.generate.internet import generate_internet
    from pipeline.store import write_snapshot

    generate_internet(50, 20_000)  # compile
    started = time.perf_counter()
    graphs = generate_internet(int(n_ases), int(n_routers), seed=int(seed))
    made = time.perf_counter()
    nothing = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(Path(store), SNAPSHOT, graphs, **nothing)
    written = time.perf_counter()
    times = {"generate_s": made - started, "store_s": written - made}
    Path(reported).write_text(json.dumps(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
