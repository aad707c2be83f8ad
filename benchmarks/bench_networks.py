"""Networks of known truth and their traces, as `hopscope generate internet --traces` makes them.

Command: python benchmarks/bench_networks.py [--ases N ...] [--traces N] [--vantage-points K]
[--name NAME]. A process for each number of ASes; the smallest is made once before, so that nothing
compiles while it is timed. Writes benchmarks/results/NAME.json (networks.json): `draw_cpu_s`,
`lay_cpu_s` (arrays, and what each vantage point traces), `trace_cpu_s` (ways back, traces, their
text, gzip), `tables_cpu_s`, `traces_per_cpu_s` of the third, `wall_s` of all, `peak_gib`, `bytes`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import record
from pipeline.generate.networks.files import write_files
from pipeline.generate.networks.network import Network
from pipeline.generate.networks.plan import MEASURED, make_plan, sized
from pipeline.generate.networks.tracing import Campaign
from pipeline.generate.networks.writing import write_traces


def measured(n_ases: int, n_traces: int, n_vantages: int) -> dict[str, Any]:
    plan = replace(sized(make_plan(MEASURED, 1), n_ases), n_vantage_points=n_vantages)
    began, marks = time.monotonic(), [time.process_time()]
    network = Network(plan)
    marks.append(time.process_time())
    campaign = Campaign(network, n_traces)
    marks.append(time.process_time())
    with tempfile.TemporaryDirectory() as folder:
        write_traces(campaign, Path(folder))
        marks.append(time.process_time())
        write_files(network, campaign.delays, Path(folder))
        marks.append(time.process_time())
        n_bytes = sum(path.stat().st_size for path in Path(folder).iterdir())
    spent = [later - earlier for earlier, later in pairwise(marks)]
    names = ("draw_cpu_s", "lay_cpu_s", "trace_cpu_s", "tables_cpu_s")
    return {
        "n_ases": n_ases,
        "n_routers": len(network.asn_of),
        "n_links": len(network.links),
        "n_traces": campaign.n_traces,
        "n_vantage_points": n_vantages,
        **{name: round(each, 1) for name, each in zip(names, spent, strict=True)},
        "traces_per_cpu_s": round(campaign.n_traces / spent[2]),
        "wall_s": round(time.monotonic() - began, 1),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "bytes": n_bytes,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ases", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--traces", type=int, default=1_000_000)
    parser.add_argument("--vantage-points", type=int, default=100)
    parser.add_argument("--name", default="networks", help="of the file of results")
    parser.add_argument("--one", action="store_true", help="print one row")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.ases[0], given.traces, given.vantage_points)))
        return
    rows = []
    for at, n_ases in enumerate([min(given.ases), *given.ases]):
        command = [sys.executable, __file__, "--one", "--ases", str(n_ases)]
        command += ["--traces", str(given.traces if at else 1000)]
        command += ["--vantage-points", str(given.vantage_points if at else 5)]
        made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if at:
            rows.append(json.loads(made.splitlines()[-1]))
            record(given.name, rows)


if __name__ == "__main__":
    main()
