"""Networks follow their laws, and traces show what the network would answer."""

from __future__ import annotations

import gzip
import hashlib
import ipaddress
import json
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from pipeline.generate.networks.arrays import initial_ttl
from pipeline.generate.networks.ases import CUSTOMER, PEER
from pipeline.generate.networks.network import Network
from pipeline.generate.networks.plan import KINDS, MEASURED, make_plan, sized
from pipeline.generate.networks.writing import make_network
from tests.oracles.networks.walking import Walks

SMALL = (
    "n_tier1=3",
    "n_transit=4",
    "n_regional=5",
    "n_stub=12",
    "tier1=(6, 8)",
    "n_vantage_points=4",
    "blocks=(2, 1, 1, 1, 3)",
)


@cache
def small(kind: str, *words: str) -> Network:
    return Network(make_plan(kind, 3, (*SMALL, *words)))


def traces_in(folder: Path) -> list[dict[str, Any]]:
    found = []
    for path in sorted(folder.glob("*.json.gz")):
        with gzip.open(path, "rt") as file:
            found += [json.loads(line) for line in file]
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Folder of a small network of a kind, made once."""
    folders: dict[tuple[str, ...], Path] = {}

    def make(kind: str, *words: str) -> Path:
        if (kind, *words) not in folders:
            folder = folders[kind, *words] = tmp_path_factory.mktemp(kind)
            make_network(make_plan(kind, 3, (*SMALL, *words)), folder)
        return folders[kind, *words]

    return make


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "big" not in kind])
def test_every_kind_is_made_the_same_each_time(kind: str, tmp_path: Path) -> None:
    words = () if kind == "large_exchange" else SMALL
    if kind == "large_exchange":
        words = ("n_regional=12", "n_stub=20", "n_vantage_points=2")
    plan = make_plan(kind, 7, words)
    digests = []
    for name in ("one", "two"):
        make_network(plan, tmp_path / name)
        sha = hashlib.sha256()
        for path in sorted((tmp_path / name).iterdir()):
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            sha.update(path.name.encode() + data)
        digests.append(sha.hexdigest())
    assert digests[0] == digests[1]
    assert len(traces_in(tmp_path / "one")) > 20


def test_another_seed_is_another_network() -> None:
    assert Network(make_plan("plain", 1, SMALL)).links[0].addrs != small("plain").links[0].addrs


def ways_of(network: Network) -> list[list[int]]:
    """Routers on each way from a vantage point to a block."""
    walks = Walks(network)
    return [
        [
            step.router
            for step in walks.there(vantage, block, f"{vantage.addr}>{block.target}").steps
        ]
        for vantage in network.vantages
        for block in network.blocks
    ]


@pytest.mark.parametrize("kind", ["plain", "ixp", "realistic", "anycast"])
def test_ways_between_ases_have_no_valley(kind: str) -> None:
    """Up to providers, over at most one peering, down to customers (Gao and Rexford)."""
    network = small(kind)
    n_turns = 0
    for way in ways_of(network):
        path = [asn for asn, _ in groupby(network.asn_of[router] for router in way)]
        assert len(set(path)) == len(path)
        down = False
        for one, other in pairwise(path):
            sells = network.ases.relationship.get((one, other)) == CUSTOMER
            peers = network.ases.between(one, other) == PEER
            assert not down or sells, path
            n_turns += not down and (sells or peers)
            down = down or sells or peers
    assert n_turns > 20


BRITE = ("n_transit=6", "transit=(4, 8)", "n_vantage_points=4")


def test_brite_networks_are_traced_to_their_routers_over_the_fewest_ases(tmp_path: Path) -> None:
    """Each address is answered from by its router, silent or not, where the way there ends."""
    network = Network(make_plan("brite", 3, BRITE))
    make_network(network.plan, tmp_path)
    near = {asn: set(network.ases.peers[asn]) for asn in network.ases.tier}
    degrees = sorted(map(len, near.values()))
    assert (len(degrees), sum(degrees)) == (
        6,
        2 * (1 + 4 * 2),
    )  # two links of each after the second
    router_of = {addr: router for router, addr in enumerate(network.loopback)}
    for link in network.links:
        router_of |= {link.addr(router): router for router in link.ends}
        assert link.numbered_by == min(network.asn_of[router] for router in link.ends)
    traced, silent, ases = set(), 0, set()
    for trace in traces_in(tmp_path):
        last = trace["hops"][-1]
        assert (last["addr"], last["icmp_type"]) == (trace["dst"], 0)
        assert trace["stop_reason"] == "COMPLETED"
        if trace["dst"] in router_of:
            traced.add(trace["dst"])
            silent += router_of[trace["dst"]] in network.answers.silent
    assert traced == set(router_of)
    assert silent > 0
    for way in ways_of(network):
        path = [asn for asn, _ in groupby(network.asn_of[router] for router in way)]
        assert len(path) - 1 == fewest(near, path[0], path[-1])
        ases.add(len(path))
    assert max(ases) > 2


def fewest(near: dict[int, set[int]], start: int, end: int) -> int:
    """ASes that are crossed between two, and the last one."""
    reached, n = {start}, 0
    while end not in reached:
        reached |= {other for asn in reached for other in near[asn]}
        n += 1
    return n


@pytest.mark.parametrize("kind", ["plain", "ecmp", "ixp", "ipv6"])
def test_hops_in_a_row_are_joined_by_a_link(kind: str, made: Any) -> None:
    folder = made(kind)
    truth = json.loads((folder / "ground_truth.json").read_text())
    links = {frozenset((link["u"], link["v"])) for link in truth["links"]}
    router_of = {link[end + "_addr"]: link[end] for link in truth["links"] for end in "uv"}
    router_of |= {addr: router for router, addr in truth["loopback"].items()}
    router_of |= {host["gw_addr"]: host["gw"] for host in truth["hosts"].values()}
    n_checked = 0
    for trace in traces_in(folder):
        for near, far in pairwise(trace["hops"]):
            if far["addr"] == trace["dst"] or far["probe_ttl"] != near["probe_ttl"] + 1:
                continue
            ends = frozenset((router_of[near["addr"]], router_of[far["addr"]]))
            assert ends in links
            n_checked += 1
    assert n_checked > 200


def test_looping_dead_blocks_alternate_between_provider_and_customer(made: Any) -> None:
    loops = [trace for trace in traces_in(made("loops")) if trace["stop_reason"] == "LOOP"]
    assert loops
    for trace in loops:
        by_ttl = {hop["probe_ttl"]: hop["addr"] for hop in trace["hops"]}
        last = trace["hop_count"] - 1
        for ttl in (last, last - 1):
            if ttl in by_ttl and ttl - 2 in by_ttl:  # both answered
                assert by_ttl[ttl] == by_ttl[ttl - 2]


def test_the_hop_behind_a_tunnel_that_pops_last_shows_twice(made: Any) -> None:
    def n_twice(kind: str) -> int:
        return sum(
            near["addr"] == far["addr"] and far["probe_ttl"] == near["probe_ttl"] + 1
            for trace in traces_in(made(kind))
            for near, far in pairwise(trace["hops"])
        )

    assert n_twice("plain") == n_twice("mpls") == 0
    assert n_twice("mpls_ultimate") > 10


def test_rewriting_borders_answer_with_the_destination(made: Any) -> None:
    folder = made("rewriting", "rewriting=0.5")
    rewriting = set(json.loads((folder / "ground_truth.json").read_text())["rewriting"])
    prefixes = json.loads((folder / "ground_truth.json").read_text())["prefixes"]
    behind = [
        trace
        for trace in traces_in(folder)
        for asn in rewriting
        if ipaddress.ip_address(trace["dst"]) in ipaddress.ip_network(prefixes[str(asn)])
    ]
    assert behind
    assert {trace["stop_reason"] for trace in behind} <= {"COMPLETED", "GAPLIMIT"}
    assert any(trace["stop_reason"] == "COMPLETED" for trace in behind)


def test_who_peers_in_the_internet_meets_at_exchange_points() -> None:
    network = Network(sized(make_plan(MEASURED, 1), 600))
    peerings = {pair for pair, kind in network.ases.relationship.items() if kind == PEER}
    at_exchanges = [link for link in network.links if link.kind == "exchange"]
    assert len(network.exchanges) == 5
    for exchange in network.exchanges:
        ends = {end for link in at_exchanges if link.exchange == exchange.name for end in link.ends}
        assert ends == exchange.members.keys()  # each has a peer there
    pairs = {tuple(network.asn_of[end] for end in link.ends) for link in at_exchanges}
    assert all(pair in peerings or pair[::-1] in peerings for pair in pairs)
    assert len(pairs) > 0.2 * len(peerings)


def test_of_firewalled_stubs_nothing_answers_and_of_others_their_border_alone(made: Any) -> None:
    folder = made("firewalled", "single_router=0", "silent=0", "limited=0", "second_link=0")
    truth = json.loads((folder / "ground_truth.json").read_text())
    network = Network(make_plan("firewalled", 3, (*SMALL, "single_router=0", "second_link=0")))
    router_of = {addr: at for at, addr in enumerate(network.loopback)}
    router_of |= {link.addr(end): end for link in network.links for end in link.ends}
    for exchange in network.exchanges:
        router_of |= {addr: router for router, addr in exchange.members.items()}
    answered: dict[int, set[int]] = {}
    prefix_of = {asn: ipaddress.ip_network(net) for asn, net in truth["prefixes"].items()}
    for trace in traces_in(folder):
        assert len({hop["addr"] for hop in trace["hops"]}) > 0
        for hop in trace["hops"]:
            if hop["addr"] in router_of:
                router = router_of[hop["addr"]]
                answered.setdefault(network.asn_of[router], set()).add(router)
            for asn in map(str, (*truth["firewalled"], *truth["only_border"])):
                assert (
                    hop["icmp_type"] == 11
                    or ipaddress.ip_address(hop["addr"]) not in prefix_of[asn]
                )
    assert truth["firewalled"]
    assert not answered.keys() & set(truth["firewalled"])
    border = {end for link in network.links if link.kind != "inner" for end in link.ends}
    of_borders = [answered[asn] for asn in truth["only_border"] if asn in answered]
    assert of_borders
    assert set().union(*of_borders) <= border


def test_carrier_nat_shows_private_hops_before_customers(made: Any) -> None:
    private = [
        hop["addr"]
        for trace in traces_in(made("carrier_nat"))
        for hop in trace["hops"]
        if hop["addr"].startswith(("10.", "100.64."))
    ]
    assert len(set(private)) <= 4 < len(private)  # the same few numbers in every network


def test_classic_probes_take_several_ways_and_paris_ones_do_not() -> None:
    network = small("ecmp")
    walks = Walks(network)
    vantage = network.vantages[0]
    differing = 0
    for block in network.blocks:
        flow = f"{vantage.addr}>{block.target}"
        ways = {walks.there(vantage, block, f"{flow}#{ttl}").steps for ttl in range(8)}
        differing += len(ways) > 1
        assert len({walks.there(vantage, block, flow).steps for _ in range(8)}) == 1
    assert differing > 3


def test_replies_that_started_with_255_count_the_routers_of_tunnels() -> None:
    """As FRPLA sees it; those that started with 64 do not count them."""
    open_network, tunnelled = small("plain"), small("plain", "tunnels=1.0")
    assert open_network.loopback == tunnelled.loopback
    lost: dict[int, list[int]] = {64: [], 255: []}
    for router in range(len(open_network.asn_of)):
        for vantage in open_network.vantages:
            start = initial_ttl(router)
            counted = Walks(open_network).back(router, vantage)[0]
            hidden = Walks(tunnelled).back(router, vantage)[0]
            lost[start].append(hidden - counted)
    # A later tunnel on the way back is hidden from both: more was counted before it.
    assert min(lost[64]) >= 0
    mean = {start: sum(each) / len(each) for start, each in lost.items()}
    assert mean[64] > 0.5
    assert mean[255] < 0.7 * mean[64]


def test_delays_are_those_of_distance(made: Any) -> None:
    first, last = [], []
    for trace in traces_in(made("plain")):
        rtts = [hop["rtt"] for hop in trace["hops"]]
        assert min(rtts) > 0
        first.append(rtts[0])
        last.append(rtts[-1])
    assert sum(first) / len(first) < 10 < sum(last) / len(last)


def test_a_share_of_prefixes_has_two_origins_and_nothing_else_changes() -> None:
    plain, shared = small("plain"), small("plain", "second_origins=0.8")
    assert plain.links[-1].addrs == shared.links[-1].addrs
    before = dict(plain.origins)
    wholes = {net for net, text in shared.origins if net in before and text != before[net]}
    halves = {net for net, _ in shared.origins if net not in before}
    assert len(wholes) + len(halves) > len(before) / 2
    assert wholes
    assert halves
    others = set()
    for net, text in shared.origins:
        own = before.get(net) or before[net.supernet()]
        if text != own:
            one, other = text.split("_")
            assert own in (one, other)
            others.add(one == own)
            others.add(int(other if one == own else one) in plain.ases.tier)
    assert others == {False, True}


def test_a_share_of_names_is_stale(made: Any) -> None:
    folder = made("plain", "stale_names=0.3")
    names = (folder / "lab.names.tsv").read_text().splitlines()
    stale = json.loads((folder / "stale_names.json").read_text())
    assert len(names) > 60
    assert 0.15 < len(stale) / len(names) < 0.4
    assert all("." in line.split("\t")[1] for line in names)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("nothing=1", "nothing=1: there is no such field"),
        ("silent", "silent: not field=value"),
        ("silent=0.1 silent=0.2", "silent=0.2: silent is given twice"),
    ],
)
def test_unknown_fields_are_refused(word: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_plan("plain", 1, word.split())


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="no kind 'nowhere'"):
        make_plan("nowhere", 1)
