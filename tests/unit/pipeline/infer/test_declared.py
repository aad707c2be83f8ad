"""Declared topologies: links between ASes make ingresses; --asn and --ingresses add to them."""

from __future__ import annotations

import gzip
import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import UsageError
from pipeline.infer.declared import declare
from pipeline.ingest import brite
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology
from tests.real_data import real_data
from tests.soak import examples


def topology(asns: list[int], links: list[tuple[int, int]], **fields) -> Topology:
    ends = np.array(links, np.int64).reshape(-1, 2)
    return Topology(
        node_asn=np.array(asns, np.int64),
        node_id=np.arange(len(asns), dtype=np.int64) + 100,
        near=ends[:, 0],
        far=ends[:, 1],
        **fields,
    )


def rows(declared: Topology) -> list[tuple[int, list[int]]]:
    table = declared.ingresses
    bounds = table.neighbor_ptr
    return [
        (node, table.neighbor_asn[bounds[i] : bounds[i + 1]].tolist())
        for i, node in enumerate(table.node.tolist())
    ]


def test_both_ends_of_a_link_between_ases_are_ingresses_with_their_neighbours():
    declared = declare(
        topology([7, 7, 9, 9, 11], [(0, 1), (1, 2), (2, 3), (1, 4), (4, 2), (2, 1)]),
        asn=None,
        ingresses=None,
    )
    assert rows(declared) == [(1, [9, 11]), (2, [7, 11]), (4, [7, 9])]
    table = declared.ingresses
    assert table.n_direct.tolist() == table.n_after_gap.tolist() == [0, 0, 0]
    assert not table.candidate.any()
    assert declared.counts["ingresses_declared"] == 3


def test_a_link_to_a_router_without_as_is_no_border():
    assert rows(declare(topology([7, NO_ASN, 9], [(0, 1), (1, 2)]), asn=None, ingresses=None)) == []


def test_asn_fills_only_what_is_missing_and_may_make_a_border():
    declared = declare(topology([7, NO_ASN, 7], [(0, 1), (0, 2)]), asn=5, ingresses=None)
    assert declared.node_asn.tolist() == [7, 5, 7]
    assert rows(declared) == [(0, [5]), (1, [7])]


def test_a_file_without_any_as_needs_asn():
    with pytest.raises(UsageError, match="give one with --asn N"):
        declare(topology([NO_ASN, NO_ASN], [(0, 1)]), asn=None, ingresses=3)


def test_an_as_level_file_is_one_graph_and_keeps_its_numbers():
    with pytest.raises(UsageError, match="--asn N"):
        declare(topology([1, 2, 3], [(0, 1)], kind="as"), asn=None, ingresses=None)
    declared = declare(topology([1, 2, 3], [(0, 1)], kind="as"), asn=64500, ingresses=2)
    assert declared.node_asn.tolist() == [64500] * 3
    assert declared.node_columns["declared_asn"].tolist() == [1, 2, 3]
    assert len(declared.ingresses) == 2
    assert {tuple(neighbors) for _, neighbors in rows(declared)} == {()}


@pytest.mark.parametrize("arguments", [{"asn": -2}, {"asn": 2**32}, {"ingresses": 0}])
def test_numbers_out_of_range_are_refused(arguments):
    with pytest.raises(UsageError, match="--"):
        declare(topology([1], []), **({"asn": None, "ingresses": None} | arguments))


def test_an_as_with_ingresses_of_its_own_gets_no_drawn_ones():
    asns = [7] * 50 + [8] + [9] * 3 + [NO_ASN]
    declared = declare(topology(asns, [(0, 50)]), asn=None, ingresses=10)
    nodes = declared.ingresses.node.tolist()
    assert nodes == [0, 50, 51, 52, 53]
    assert rows(declared)[:2] == [(0, [8]), (50, [7])]
    assert declared.counts["ingresses_drawn"] == 3


def test_an_empty_topology_has_no_ingress():
    declared = declare(topology([], []), asn=None, ingresses=5)
    assert len(declared.ingresses) == 0
    assert declared.ingresses.neighbor_ptr.tolist() == [0]


@settings(deadline=None, max_examples=examples(60))
@given(
    asns=st.lists(st.integers(0, 4), min_size=1, max_size=60),
    n_each=st.integers(1, 12),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_draw_depends_on_ids_and_as_only(asns, n_each, seed):
    whole = declare(topology(asns, []), asn=None, ingresses=n_each)
    sizes = np.bincount(asns, minlength=5)
    drawn = whole.node_asn[whole.ingresses.node]
    assert np.bincount(drawn, minlength=5).tolist() == np.minimum(sizes, n_each).tolist()
    # Without the routers of one AS, the others draw the same ids.
    kept = np.flatnonzero(whole.node_asn != seed % 5)
    part = topology([asns[i] for i in kept], [])
    part = declare(replace(part, node_id=whole.node_id[kept]), asn=None, ingresses=n_each)
    ids = whole.node_id[whole.ingresses.node[drawn != seed % 5]]
    assert part.node_id[part.ingresses.node].tolist() == ids.tolist()


def test_the_draw_is_the_same_in_every_version():
    declared = declare(topology([3] * 1000, []), asn=None, ingresses=4)
    assert declared.ingresses.node.tolist() == [67, 275, 645, 913]


def test_border_routers_of_a_real_file_are_those_that_the_generator_labelled():
    path = real_data("brite/java_TD10x1000.brite.gz")
    data = io.BytesIO(gzip.decompress(path.read_bytes()))
    read = next(brite.read(data, ReadReport(str(path))))
    declared = declare(read, asn=None, ingresses=None)
    labelled = np.flatnonzero(read.node_columns["type"] == "RT_BORDER")
    assert declared.ingresses.node.tolist() == labelled.tolist()
    assert len(labelled) > 10
