"""Traces are those of the walk in plain Python, and exactly as many as were wanted."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.generate.networks.network import Network
from pipeline.generate.networks.plan import KINDS, make_plan
from pipeline.generate.networks.probing import Law
from pipeline.generate.networks.texts import put_addr
from pipeline.generate.networks.tracing import Campaign, private_hops
from pipeline.generate.networks.writing import write_traces
from pipeline.model.addresses import format_addr
from tests.oracles.networks.measuring import Prober

SMALL = (
    *("n_tier1=3", "n_transit=4", "n_regional=5", "n_stub=12", "n_cloud=1", "tier1=6-8"),
    *("transit=3-6", "cloud=4-6", "n_vantage_points=4", "blocks=2,1,1,1,3"),
)

# What ICMPv6 (RFC 4443) has for these types of ICMP.
_ICMP6 = {
    11: {"icmp_type": 3, "icmp_code": 0},
    3: {"icmp_type": 1, "icmp_code": 3},
    0: {"icmp_type": 129, "icmp_code": 0},
}


class Quiet:
    """Chance that lets every router answer, at once."""

    def random(self) -> float:
        return 0.0

    def expovariate(self, rate: float) -> float:
        return 0.0


def written(folder: Path) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for path in sorted(folder.glob("*.json.gz")):
        with gzip.open(path) as file:
            found[path.name] = [json.loads(line) for line in file]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_traces_are_those_of_the_walk_in_plain_python(kind: str, tmp_path: Path) -> None:
    network = Network(make_plan(kind, 4, SMALL))
    write_traces(Campaign(network, law=Law(1, 1.0, 1.0, 0.0)), tmp_path)
    found = written(tmp_path)
    prober = Prober(network)
    prober._random = Quiet()  # type: ignore[assignment]
    object.__setattr__(network, "plan", replace(network.plan, limited_answers=1.0))
    n_traces = 0
    for number, vantage in enumerate(network.vantages):
        for methods in network.plan.methods:
            each = methods.split("/")
            method = each[number % len(each)]
            made = found[f"{vantage.name}.{method}.json.gz"]
            wanted = list(prober.traces(vantage, method, private_hops(network, vantage)))
            assert len(made) == len(wanted) > 0
            for one, other in zip(made, wanted, strict=True):
                for near, far in zip(one["hops"], other["hops"], strict=True):
                    if network.plan.ipv6:
                        far |= _ICMP6[far["icmp_type"]]
                    assert near.pop("rtt") == pytest.approx(far.pop("rtt"), abs=0.0021)
                del one["start"], other["start"]
                assert one == other
            n_traces += len(made)
    assert n_traces > 20


def test_there_are_as_many_traces_as_were_wanted(tmp_path: Path) -> None:
    """Fewer than there are targets, and more; vantage points share them evenly."""
    network = Network(make_plan("plain", 4, SMALL))
    n_blocks = len(network.blocks)
    for n in (7, 1000):
        folder = tmp_path / str(n)
        folder.mkdir()
        told: list[int] = []
        write_traces(Campaign(network, n), folder, told=told.append)
        found = written(folder)
        sizes = sorted(map(len, found.values()))
        assert (sum(sizes), sizes[-1] - sizes[0] <= 1, told[-1]) == (n, True, n)
        by_target = {trace["dst"] for traces in found.values() for trace in traces}
        assert (len(by_target) > n_blocks) == (n > 100)
        for traces in found.values():
            lan = traces[0]["src"].rpartition(".")[0]
            assert not any(trace["dst"].startswith(f"{lan}.") for trace in traces)


def test_vantage_points_may_have_methods_in_turn(tmp_path: Path) -> None:
    network = Network(make_plan("mixed", 4, SMALL))
    write_traces(Campaign(network), tmp_path)
    methods = {
        name.split(".")[0]: {each["method"] for each in traces}
        for name, traces in written(tmp_path).items()
    }
    assert methods == {
        f"h{v}": {("icmp-echo-paris", "udp")[v % 2]} for v in range(len(network.vantages))
    }
    with pytest.raises(ValueError, match="methods takes values like"):
        make_plan("plain", 1, ["methods=udp/tcp"])


@pytest.mark.parametrize(
    ("word", "takes"),
    [
        ("diamonds=0.4,0.4", "like 2,4, each a whole number from 1 to 64, not"),
        ("n_stub=1000000000", "a whole number from 0 to 300000, not"),
        ("tier1=9-3", "like 10,16, each a whole number from 1 to 5000, not"),
        ("exchange_members=7,7", "like 0.4,0.4, each a share from 0 to 1, not"),
    ],
)
def test_a_share_out_of_range_is_told_the_range(word, takes):
    with pytest.raises(ValueError, match=takes):
        make_plan("plain", 1, [word])


def test_threads_change_nothing(tmp_path: Path) -> None:
    network = Network(make_plan("ecmp_classic", 4, SMALL))
    texts = []
    for n_threads in (1, 3):
        folder = tmp_path / str(n_threads)
        folder.mkdir()
        write_traces(Campaign(network, 30_000), folder, n_threads=n_threads)
        texts.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert texts[0] == texts[1]


def test_limited_routers_answer_a_share_of_probes(tmp_path: Path) -> None:
    """All routers limited: of the first hops that may be answered, nearly the share is."""
    words = ("limited=1.0", "silent=0", "limited_answers=0.7")
    network = Network(make_plan("plain", 4, (*SMALL, *words)))
    write_traces(Campaign(network, 20_000), tmp_path)
    firsts = [
        bool(trace["hops"]) and trace["hops"][0]["probe_ttl"] == 1
        for traces in written(tmp_path).values()
        for trace in traces
    ]
    assert abs(sum(firsts) / len(firsts) - 0.7) < 0.02


def test_addresses_are_written_as_python_writes_them() -> None:
    random = np.random.default_rng(5)
    text = np.empty(50, np.uint8)
    cases = [(0, 0xFFFF_0000_0000 | int(n)) for n in random.integers(0, 1 << 32, 300)]
    drawn = random.integers(0, 1 << 16, (600, 8)) * random.integers(0, 2, (600, 8))
    for groups in drawn.astype(">u2"):
        halves = groups[:4].tobytes(), groups[4:].tobytes()
        cases.append((int.from_bytes(halves[0], "big"), int.from_bytes(halves[1], "big")))
    for high, low in [*cases, (0, 0xFFFF_0000_0000), (1 << 63, 0), (0x2001_0DB8 << 32, 1)]:
        if high == 0 and low >> 32 in (0, 0xFFFF) and low >> 32 != 0xFFFF:
            continue  # Python writes some of these in dotted form
        n = put_addr(text, 0, np.uint64(high), np.uint64(low))
        assert bytes(text[:n]).decode() == format_addr(high, low)
