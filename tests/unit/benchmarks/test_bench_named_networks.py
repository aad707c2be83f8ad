"""The ten named networks: recorded, the same when made again, judged whatever a method says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping

import pytest

from benchmarks.bench_named_networks import (
    BDRMAPIT,
    NETWORKS,
    README,
    SEED,
    SUBJECT,
    TRACES,
    WAYS,
    command,
    digest,
    judged,
    make,
)
from benchmarks.lib.record import RESULTS
from pipeline.generate.networks.plan import KINDS
from pipeline.judge import TRUTH, load_truth


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return make("customer", tmp_path_factory.mktemp("networks"))


def recorded():
    return json.loads((RESULTS / f"{SUBJECT}.json").read_text())["rows"]


def test_all_ten_are_recorded_in_every_way():
    assert isinstance(NETWORKS, Mapping)
    assert len(NETWORKS) == 10
    assert NETWORKS.keys() <= KINDS.keys()
    assert NETWORKS.keys() == TRACES.keys()
    found = {(row["network"], row["way"]) for row in recorded()}
    assert {(name, way) for name in NETWORKS for way in (*WAYS, *BDRMAPIT)} <= found


def test_a_network_is_the_same_when_it_is_made_again(network, tmp_path):
    assert network.name == f"customer-{SEED}"
    assert digest(make("customer", tmp_path)) == digest(network)
    assert " ".join(command("customer")) in (network / README).read_text()
    (network.parent / "other").mkdir()
    assert digest(network.parent / "other") != digest(network)


def test_every_vantage_point_traces_to_every_target_once(network):
    """The number of traces of the command is that of the network."""
    truth = json.loads((network / TRUTH).read_text())
    traces = {path: gzip.decompress(path.read_bytes()) for path in network.glob("*.json.gz")}
    n = {path: text.count(b"\n") for path, text in traces.items()}
    assert len(n) == len(truth["vantage_points"]) * len(truth["plan"]["methods"])
    assert sum(n.values()) == TRACES["customer"]
    assert len(set(n.values())) == 1


def test_owners_that_are_all_true_are_judged_so(network, tmp_path):
    truth = load_truth(network / TRUTH)
    owners = {addr: truth.asn_of[router] for addr, router in truth.router_of.items()}
    (tmp_path / "owners.json").write_text(json.dumps(owners))
    found = judged(tmp_path / "owners.json", network)
    assert found["n_routers"] == len(truth.asn_of)
    for name in ("ingresses", "borders", "addresses"):
        assert found["figures"][name]["right"] == found["figures"][name]["of"] > 0
