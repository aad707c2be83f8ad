"""Routers inferred by an ingest: fewer nodes, and every address is still found."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.config import IngestConfig
from pipeline.stages.ingest import ingest
from pipeline.store import open_snapshot
from tests.oracles.truth import LAB_RANGES

LAB = Path(__file__).resolve().parents[4] / "data" / "samples" / "lab"


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    """The committed laboratory, with its interfaces and with inferred routers as nodes."""
    opened = {}
    for routers in ("interfaces", "inferred"):
        store = tmp_path_factory.mktemp(routers)
        tables = tuple(sorted(LAB.glob("lab.pfx2as*")))
        given = {"ip2as": tables, "allow_special": LAB_RANGES, "format": "traces", "workers": 1}
        ingest(IngestConfig(inputs=(LAB,), store=store, routers=routers, **given))
        opened[routers] = open_snapshot(store)
    yield opened
    for snapshot in opened.values():
        snapshot.close()


def test_interfaces_become_fewer_routers(snapshots):
    interfaces, inferred = snapshots["interfaces"], snapshots["inferred"]
    assert (interfaces.kind, inferred.kind) == ("interface", "router")
    assert interfaces.manifest["counts"]["merged_addresses"] == 0
    n_merged = inferred.manifest["counts"]["inferred_aliases"]
    assert n_merged == inferred.manifest["counts"]["merged_addresses"] > 10
    n_nodes = interfaces.n_nodes.sum() + interfaces.manifest["n_unmapped"]
    n_silent = inferred.n_silent.sum()
    assert n_silent == inferred.manifest["counts"]["silent_routers"] > 0
    assert inferred.n_nodes.sum() + inferred.manifest["n_unmapped"] == n_nodes - n_merged + n_silent


def test_every_address_is_found(snapshots):
    inferred = snapshots["inferred"]
    table = inferred.addresses()
    nodes = list(zip(table["asn"].to_pylist(), table["node"].to_pylist(), strict=True))
    assert len(set(nodes)) == inferred.n_nodes.sum() - inferred.n_silent.sum()
    found = set(zip(table["addr_high"].to_pylist(), table["addr_low"].to_pylist(), strict=True))
    interfaces = snapshots["interfaces"]
    every = np.concatenate([interfaces.nodes(row).addr for row in range(interfaces.n_ases)])
    assert {tuple(addr) for addr in every.tolist()} <= found
    assert len(found) == table.num_rows
    assert interfaces.addresses().num_rows == len(every)  # one a node
