"""A network is altered without touching the one that it was copied from."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipeline.generate.networks.ases import PEER
from pipeline.generate.networks.files import truth_of
from pipeline.generate.networks.network import Network
from pipeline.generate.networks.night import (
    Night,
    add_link,
    addresses_of,
    leaves,
    link_between,
    links_between,
    remove_links,
    replace_link,
)
from pipeline.generate.networks.plan import make_plan

SMALL = ("n_tier1=3", "n_transit=4", "n_regional=5", "n_stub=12", "n_vantage_points=4")


@pytest.fixture(scope="module")
def network() -> Network:
    return Network(make_plan("realistic", 3, SMALL))


def said(network: Network) -> str:
    return json.dumps(truth_of(network))


def test_a_copy_is_the_same_network_and_altering_it_leaves_the_original(network: Network) -> None:
    before = said(network)
    night = Night(network).copy()
    assert said(night.network) == before == said(Network(network.plan))
    net = night.network
    one, other = next(iter(net.ases.relationship))
    remove_links(net, links_between(net, one, other))
    net.answers.silent.add(net.add_router(one))
    net.blocks[0].answers = not net.blocks[0].answers
    net.origins.pop()
    night.slow["a", "b"] = 8.0
    assert said(night.network) != before
    assert said(network) == before
    assert not Night(network).slow


def test_new_links_are_numbered_as_the_network_drawn_again_would(network: Network) -> None:
    again = Network(network.plan)
    routers = network.routers[network.ases.of("transit")[0]][:2]
    assert add_link(network.copy(), *routers).addrs == add_link(again, *routers).addrs
    known = {addr for link in network.links for addr in link.addrs} | set(network.loopback)
    assert not known & set(add_link(again, *routers).addrs)


def test_ases_without_links_are_neighbours_no_more(network: Network) -> None:
    net = network.copy()
    one, other = next(iter(net.ases.relationship))
    remove_links(net, links_between(net, one, other))
    assert net.ases.between(one, other) is None
    assert not links_between(net, one, other)
    assert other not in net.ases.customers[one] + net.ases.peers[one]
    assert network.ases.between(one, other) is not None
    near, far = net.routers[one][0], net.routers[other][0]
    link = add_link(net, near, far, relationship=PEER)
    assert (link.kind, net.ases.between(one, other)) == ("peer", PEER)
    assert leaves(net, link)
    assert link_between(net, near, far) is link
    remove_links(net, [link])
    with pytest.raises(LookupError, match=f"no link between r{near} and r{far}"):
        link_between(net, near, far)


def test_a_link_is_replaced_in_its_place(network: Network) -> None:
    net = network.copy()
    old = net.links[5]
    new = replace(old, addrs=("192.0.2.1", "192.0.2.2"))
    replace_link(net, old, new)
    assert net.links[5] is new
    for router in old.ends:
        assert [each if each is not new else old for each in net.links_of[router]] == (
            network.links_of[router]
        )
        assert new.addr(router) in addresses_of(net, router)
