"""Processor time of inference where ASes are linked at random, by their number and their links.

``python benchmarks/bench_elections.py [--networks ASES:LINKS,...]``: LINKS to other ASes that each
AS has, in the mean. Networks of one router an AS, 200,000 traces from 1,000 vantage points each,
the prefix table alone. ``elections_s``: electing owners, ``infer_s``: all of inference, in one
thread. What is compiled is compiled before. ``digest``: of the owners, to compare two states.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.record import record
from benchmarks.synthetic.internet import link_at_random, write_pfx2as
from benchmarks.synthetic.traces import Vantages
from pipeline.infer import Observer, conclude, infer_topology
from pipeline.ingest import open_reader
from pipeline.ingest.tables import read_prefixes
from pipeline.model.measured.reading import ReadReport
from tests.tables import table_of_files

ROUTERS_PER_AS = 1
NETWORKS = "3000:19,12000:19"


def measure(n_ases: int, links: float, n_traces: int, n_vantages: int) -> dict[str, Any]:
    """A row for one network."""
    internet = link_at_random(n_ases, ROUTERS_PER_AS, links)
    with tempfile.TemporaryDirectory() as scratch:
        traces, prefixes = Path(scratch, "traces.warts.gz"), Path(scratch, "prefixes.pfx2as")
        write_pfx2as(internet, prefixes)
        Vantages(internet, n_vantages).write(traces, np.arange(n_traces), n_traces)
        observer = Observer(Path(scratch))
        for batch in open_reader(traces, ReadReport(traces.name))[1]:
            observer.add(batch)
        observations = observer.close()
        table = table_of_files(read_prefixes, [prefixes], [ReadReport(prefixes.name)])
        elections = _Timed(conclude.elect_owners)
        began = time.process_time()
        with mock.patch.object(conclude, "elect_owners", elections):
            topology = infer_topology([observations], prefixes=table)
        infer_s = time.process_time() - began
        return {
            "n_ases": n_ases,
            "links_per_as": links,
            "n_traces": observations.n_traces,
            "elections_s": round(elections.spent_s, 1),
            "infer_s": round(infer_s, 1),
            "digest": hashlib.sha256(topology.node_asn.tobytes()).hexdigest()[:16],
        }


class _Timed:
    """A function whose processor time is summed up."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self.spent_s = function, 0.0

    def __call__(self, *args: Any, **more: Any) -> Any:
        began = time.process_time()
        try:
            return self._function(*args, **more)
        finally:
            self.spent_s += time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--networks", default=NETWORKS, metavar="ASES:LINKS,...")
    parser.add_argument("--traces", type=int, default=200_000)
    parser.add_argument("--vantage-points", type=int, default=1000)
    parser.add_argument("--into", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    measure(40, 16.0, 2_000, 5)
    rows = []
    for text in given.networks.split(","):
        n_ases, _, links = text.partition(":")
        rows.append(measure(int(n_ases), float(links), given.traces, given.vantage_points))
    record("elections", rows, given.into)


if __name__ == "__main__":
    main()
