"""Places of private addresses: hand-written traces, and a plain reading of random ones."""

import numpy as np
import pytest

from pipeline.infer import infer_topology
from tests.addresses import format_addrs
from tests.unit.pipeline.infer.handmade import infer, observe, prefix_table, traces

P, Q = "10.0.0.1", "10.0.0.6"
A, B, C, D = "20.1.0.10", "20.1.0.20", "20.2.0.10", "20.2.0.20"


def places_of(topology, address=P):
    """Numbers of the nodes that have an address."""
    texts = format_addrs(topology.addrs)
    return [
        node
        for text, node in zip(texts, topology.addr_node.tolist(), strict=True)
        if text == address
    ]


def test_an_address_behind_two_public_ones_is_in_two_places(tmp_path):
    lines = [f"{A} {P} {B}", f"{C} {P} {D}"]
    assert len(places_of(infer(tmp_path, *lines))) == 2
    assert len(places_of(infer(tmp_path, *lines, without=["private-places"]))) == 1


@pytest.mark.parametrize(
    "lines",
    [
        (f"{A} {P} {D}", f"{C} {P} {D}"),  # one address behind both
        (f"{A} {P} {Q} {D}", f"{C} {P} {Q} {D}"),  # over another private one
        (f"{A} {P} {B}", f"{A} * {P} {D}"),  # one before both
        (f"{P} {A} {B}", f"{P} {C} {D}"),  # right behind one vantage point
    ],
)
def test_what_leads_to_one_place_is_one(tmp_path, lines):
    assert len(places_of(infer(tmp_path, *lines))) == 1


def test_a_gap_a_destination_and_a_repeated_hop_behind_join_no_places(tmp_path):
    for behind in (f"* {D}", f"{D}! > {D}", f"{D} {D} {B}"):
        topology = infer(tmp_path, f"{A} {P} {behind}", f"{C} {P} {behind}")
        assert len(places_of(topology)) == 2


def test_private_neighbours_are_in_the_places_of_their_surroundings(tmp_path):
    topology = infer(tmp_path, f"{A} {P} {Q} {B}", f"{C} {P} {Q} {D}")
    assert len(places_of(topology, P)) == len(places_of(topology, Q)) == 2


def test_of_private_vantage_points_what_is_behind_tells_the_place(tmp_path):
    seen = [
        observe(tmp_path, traces(line, source="192.168.1.100"))
        for line in (f"192.168.1.1 {A} {B}", f"192.168.1.1 {C} {D}")
    ]
    topology = infer_topology(seen, prefixes=prefix_table(tmp_path), borders="prefix")
    assert len(places_of(topology, "192.168.1.1")) == 2


def test_places_in_one_as_are_one_router(tmp_path):
    # Both in AS 1: what is before and behind each is.
    lines = [f"{A} {P} 20.1.0.30 20.1.0.50", f"{B} {P} 20.1.0.40 20.1.0.60"]
    known = {"borders": "elected", "routers": "inferred"}
    assert len(places_of(infer(tmp_path, *lines, f"{C} {D}", **known))) == 1
    apart = infer(tmp_path, *lines, f"{C} {D}", **known, without=["one-number"])
    assert len(places_of(apart)) == 2


def test_other_special_addresses_and_admitted_ones_are_not_split(tmp_path):
    lines = [f"{A} {{0}} {B}", f"{C} {{0}} {D}"]
    for address, options in (("192.0.2.1", {}), (P, {"allow_special": ("10.0.0.0/8",)})):
        topology = infer(tmp_path, *(line.format(address) for line in lines), **options)
        assert len(places_of(topology, address)) == 1


@pytest.mark.parametrize("seed", range(20))
def test_places_are_those_of_a_plain_reading_whatever_the_order_of_traces(tmp_path, seed):
    rng = np.random.default_rng(seed)
    public = [f"20.{asn}.0.{i}" for asn in (1, 2, 3) for i in (10, 20, 30)]
    private = [P, Q, "100.64.0.1"]
    lines = []
    for _ in range(12):
        n = int(rng.integers(2, 6))
        lines.append(list(dict.fromkeys(rng.choice(public + 2 * private, n).tolist())))
    topology = infer(tmp_path, *map(" ".join, lines), borders="prefix")
    for address in private:
        assert len(places_of(topology, address)) == _count(lines, private, address)
    rng.shuffle(lines)
    again = infer(tmp_path, *map(" ".join, lines), borders="prefix")
    assert again.addrs.tolist() == topology.addrs.tolist()
    assert (again.addr_node == topology.addr_node).all()


def _count(lines, private, address):
    """Places of an address, by joining until nothing changes."""
    places, behind = set(), []
    for hops in lines:
        last = "vantage point"
        for at, hop in enumerate(hops):
            if hop not in private:
                last = hop
                continue
            places.add((hop, last))
            if at + 1 < len(hops):
                then = hops[at + 1]
                behind.append(((hop, last), (then, last) if then in private else then))
    name = {place: place for place in places}
    while True:
        groups = {}
        for place, then in behind:
            groups.setdefault((place[0], name.get(then, then)), set()).add(name[place])
        joined = next((group for group in groups.values() if len(group) > 1), None)
        if joined is None:
            return len({name[place] for place in places if place[0] == address})
        name = {place: min(joined) if one in joined else one for place, one in name.items()}
