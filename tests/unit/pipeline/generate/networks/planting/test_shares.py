"""Shares become what was wanted, by as few routers, ASes or blocks as possible."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from pipeline.generate.networks.network import Network
from pipeline.generate.networks.planting.shares import SHARES, plant_share
from pipeline.generate.networks.planting.ways import Seen
from pipeline.generate.networks.tracing import Campaign
from tests.oracles.nights.internet import PLAN


@pytest.fixture(scope="module")
def seen() -> Seen:
    given = {"tunnels": 0.5, "ultimate_hop": 0.4, "unannounced": 0.2, "multi_origin": 0.1}
    return Seen(Campaign(Network(replace(PLAN, seed=6, private_inside=0.2, **given))))


@pytest.mark.parametrize("value", ["0", "0.6", "1.0"])
@pytest.mark.parametrize("name", SHARES)
def test_a_share_becomes_what_was_wanted(name: str, value: str, seen: Seen) -> None:
    share, net = SHARES[name], seen.network
    before, everybody = set(share.have(net)), set(share.of(net))
    room = len(everybody - (share.barred(net) - before))
    wanted = min(round(float(value) * len(everybody)), room)
    if len(before & everybody) == wanted:
        with pytest.raises(ValueError, match=f"{name}={value}: nothing changes"):
            plant_share(seen, Random(1), f"{name}={value}")
        return
    plant = plant_share(seen, Random(1), f"{name}={value}")
    altered = seen.altered(plant.alter).network
    after = set(share.have(altered)) & everybody
    assert len(after) == wanted
    grown = len(after) > len(before & everybody)
    assert (before & everybody <= after) if grown else (after <= before)
    assert set(share.have(net)) == before
    changed = len(plant.routers) + len(plant.beside) + len(plant.hosts)
    assert changed == abs(len(after) - len(before & everybody))
    assert len(plant.pairs) > 0 or not grown
    assert np.array_equal(plant.pairs, np.unique(plant.pairs))


def test_inner_links_of_private_ases_are_numbered_otherwise_and_back(seen: Seen) -> None:
    plant = plant_share(seen, Random(1), "private_inside=1.0")
    altered = seen.altered(plant.alter).network
    inner = [link for link in altered.links if link.kind == "inner"]
    large = [link for link in inner if altered.ases.tier[altered.asn_of[link.ends[0]]] != "stub"]
    assert large
    assert all(addr.startswith("10.") for link in large for addr in link.addrs)
    none = seen.altered(plant_share(seen, Random(1), "private_inside=0").alter).network
    assert not any(addr.startswith("10.") for link in none.links for addr in link.addrs)
    assert len(seen.ways.changed(seen.ways_if(plant.alter))) == 0


def test_tables_tell_of_origins(seen: Seen) -> None:
    net = seen.network
    plant = plant_share(seen, Random(1), "unannounced=1.0")
    altered = seen.altered(plant.alter).network
    for asn in plant.beside:
        inner = net.numbering.infrastructure[asn]
        assert not any(inner.subnet_of(row) for row, _ in altered.origins)
        assert any(inner.subnet_of(row) for row, _ in net.origins)
    plant = plant_share(seen, Random(1), "multi_origin=1.0")
    rows = dict(seen.altered(plant.alter).network.origins)
    for asn in plant.beside:
        assert rows[net.numbering.prefix[asn]] == f"{asn}_{net.ases.providers[asn][0]}"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("ipv6=true", "'ipv6' is drawn for all nights; planted can be silent, "),
        ("silent=2", "silent takes a share from 0 to 1, not '2'"),
        ("silent=0.04", "silent=0.04: nothing changes"),
    ],
)
def test_what_is_no_share(word: str, message: str, seen: Seen) -> None:
    with pytest.raises(ValueError, match=r"silent") as error:
        plant_share(seen, Random(1), word)
    assert message in str(error.value)
