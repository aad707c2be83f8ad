"""Atlas results of a probe whose traceroutes receive each other's answers."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from pipeline.generate.networks.plan import make_plan
from pipeline.generate.networks.writing import make_network
from pipeline.infer import Observer, infer_topology
from pipeline.ingest import open_reader
from pipeline.judge.scores import joined_routers, names_of_nodes
from pipeline.model.measured.reading import ReadReport
from tests.oracles.truth import load_prefixes, load_truth

FIELDS = ("n_transit=6", "transit=(4, 12)", "n_vantage_points=3", "outgoing=0.0")
# Share of answers that another traceroute at the same time received, at its own TTL.
CROSSTALK = 0.2


def results_with_crosstalk(folder: Path, marked: bool) -> list[dict[str, Any]]:
    """Atlas results; if ``marked``, ``edst`` marks the answers of another traceroute."""
    drawn = random.Random(1)
    results = []
    for path in sorted(folder.glob("*.json.gz")):  # one of each vantage point
        traces = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        traces = traces[::2]
        far = len(traces) // 2
        for trace, beside in zip(traces, traces[far:] + traces[:far], strict=True):
            other = {hop["probe_ttl"]: hop["addr"] for hop in beside["hops"]}
            hops = []
            for hop in trace["hops"]:
                ttl = hop["probe_ttl"]
                reply = {"from": hop["addr"], "rtt": hop["rtt"], "size": 28, "ttl": 60}
                if ttl in other and drawn.random() < CROSSTALK:
                    reply["from"] = other[ttl]
                    if marked:
                        reply["edst"] = beside["dst"]
                hops.append({"hop": ttl, "result": [reply]})
            results.append(
                {
                    "type": "traceroute",
                    "fw": 5020,
                    "prb_id": 1,
                    "src_addr": trace["src"],
                    "dst_addr": trace["dst"],
                    "timestamp": 1_700_000_000 + len(results),
                    "result": hops,
                }
            )
    return results


def false_links(folder: Path, network: Path, marked: bool) -> tuple[int, int, ReadReport]:
    """Links found and how many of them are false, by the commands' own reader."""
    path = folder / "results.jsonl.gz"
    results = results_with_crosstalk(network, marked)
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(result) + "\n" for result in results)
    report = ReadReport(str(path))
    observer = Observer(folder)
    for batch in open_reader(path, report)[1]:
        observer.add(batch)
    prefixes = load_prefixes(network)
    topology = infer_topology([observer.close()], prefixes=prefixes, routers="interfaces")
    truth = load_truth(network)
    joined = joined_routers(topology, names_of_nodes(topology, truth))
    return len(joined), len(joined - truth.links), report


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a network."""
    folder = tmp_path_factory.mktemp("network")
    make_network(make_plan("brite", 7, FIELDS), folder)
    return folder


def test_answers_to_another_traceroute_make_no_link(tmp_path, network):
    n_links, n_false, report = false_links(tmp_path, network, marked=True)
    assert n_links > 30
    assert n_false == 0
    assert report.notes["replies to packets for another destination (edst), left out"] > 100


def test_the_same_answers_taken_for_this_traceroute_make_false_links(tmp_path, network):
    n_links, n_false, _ = false_links(tmp_path, network, marked=False)
    assert n_false > 0.2 * n_links
