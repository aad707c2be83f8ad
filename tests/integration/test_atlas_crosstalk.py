"""Atlas results of a probe whose traceroutes receive each other's answers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from pipeline.infer import Observer, infer_topology
from pipeline.ingest import open_reader
from pipeline.ingest.tables import read_pfx2as
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology
from tests.addresses import format_addrs
from tests.tables import table_of_files
from tests.unit.pipeline.infer.simulate import Network, Plan, make_network, measure, pfx2as_lines

PLAN = Plan(seed=7, n_ases=6, routers_per_as=8, n_vantages=3, target_share=0.4, outgoing=0.0)
# Share of answers that another traceroute at the same time received, at its own TTL.
CROSSTALK = 0.2


def results_with_crosstalk(net: Network, marked: bool) -> list[dict]:
    """Atlas results; if ``marked``, ``edst`` marks the answers of another traceroute."""
    batch = measure(net)
    rng = np.random.default_rng(1)
    source, target = format_addrs(batch.src_addr), format_addrs(batch.dst_addr)
    addr = format_addrs(batch.addr)
    results = []
    for i in range(batch.n_traces):
        beside = (i + 1) % batch.n_traces
        other = range(*batch.reply_ptr[beside : beside + 2].tolist())
        hops = []
        for row in range(*batch.reply_ptr[i : i + 2].tolist()):
            ttl = int(batch.ttl[row])
            reply = {"from": addr[row], "rtt": float(batch.rtt_ms[row]), "size": 28, "ttl": 60}
            heard = [k for k in other if batch.ttl[k] == ttl and source[beside] == source[i]]
            if heard and rng.random() < CROSSTALK:
                reply["from"] = addr[heard[0]]
                if marked:
                    reply["edst"] = target[beside]
            hops.append({"hop": ttl, "result": [reply]})
        results.append(
            {
                "type": "traceroute",
                "fw": 5020,
                "prb_id": 1,
                "src_addr": source[i],
                "dst_addr": target[i],
                "timestamp": 1_700_000_000 + i,
                "result": hops,
            }
        )
    return results


def false_links(folder: Path, net: Network, marked: bool) -> tuple[int, int, ReadReport]:
    """Links found and how many of them are false, by the commands' own reader."""
    path = folder / "results.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(result) + "\n" for result in results_with_crosstalk(net, marked))
    table = folder / "net.pfx2as"
    table.write_text(pfx2as_lines(net))
    report = ReadReport(str(path))
    observer = Observer(folder)
    for batch in open_reader(path, report)[1]:
        observer.add(batch)
    prefixes = table_of_files(read_pfx2as, [table], [ReadReport(str(table))])
    topology = infer_topology([observer.close()], prefixes=prefixes, routers="interfaces")
    joined = router_links(topology, net)
    return len(joined), len(joined - net.links), report


def router_links(topology: Topology, net: Network) -> set[tuple[int, int]]:
    assert topology.node_addr is not None
    low = (topology.node_addr[:, 1] & np.uint64(0xFFFFFFFF)).tolist()
    router = [net.owner[addr] for addr in low]
    return {
        (min(router[a], router[b]), max(router[a], router[b]))
        for a, b in zip(topology.near.tolist(), topology.far.tolist(), strict=True)
    }


@pytest.fixture(scope="module")
def network() -> Network:
    return make_network(PLAN)


def test_answers_to_another_traceroute_make_no_link(tmp_path, network):
    n_links, n_false, report = false_links(tmp_path, network, marked=True)
    assert n_links > 30
    assert n_false == 0
    assert report.notes["replies to packets for another destination (edst), left out"] > 100


def test_the_same_answers_taken_for_this_traceroute_make_false_links(tmp_path, network):
    n_links, n_false, _ = false_links(tmp_path, network, marked=False)
    assert n_false > 0.2 * n_links
