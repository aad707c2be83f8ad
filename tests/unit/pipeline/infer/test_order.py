"""The topology depends on the traces alone: not on their order, files or workers."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.infer import infer_topology
from pipeline.infer.traces import spool
from tests.soak import examples
from tests.unit.pipeline.infer.handmade import observe, prefix_table, traces

ADDRS = [f"20.{asn}.0.{i}" for asn in (1, 2, 3) for i in (1, 2, 5, 6)] + ["10.0.0.1", "20.0.0.9"]
HOPS = st.one_of(st.just("*"), st.sampled_from(ADDRS), st.sampled_from(ADDRS))


@st.composite
def lines(draw):
    hops = draw(st.lists(HOPS, min_size=1, max_size=6))
    hops = [h if h == "*" else f"{h}/{draw(st.integers(1, 40)) / 8}" for h in hops]
    target = draw(st.sampled_from(ADDRS))
    if draw(st.booleans()):
        hops.append(f"{target}!")
    return " ".join(hops) + f" > {target}"


def assert_same(one, other):
    for name in ("node_asn", "near", "far", "node_addr", "weight"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    for name in ("node", "neighbor_ptr", "neighbor_asn", "n_direct", "n_after_gap", "candidate"):
        assert np.array_equal(getattr(one.ingresses, name), getattr(other.ingresses, name)), name
    for one_has, other_has in (
        (one.addr_confidence, other.addr_confidence),
        (one.ingresses.confidence, other.ingresses.confidence),
    ):
        assert (one_has is None) == (other_has is None)
        assert one_has is None or np.array_equal(one_has, other_has, equal_nan=True)
    for name in one.link_columns:
        assert np.array_equal(one.link_columns[name], other.link_columns[name]), name
    assert one.counts == other.counts


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(given_lines=st.lists(lines(), min_size=1, max_size=14), data=st.data())
@pytest.mark.parametrize("borders", ["elected", "prefix"])
def test_shuffled_traces_in_other_files_by_other_workers_give_the_same(
    tmp_path, borders, given_lines, data
):
    options = {
        "prefixes": prefix_table(tmp_path),
        "borders": borders,
        "bridge_gaps": data.draw(st.booleans()),
    }
    one = infer_topology([observe(tmp_path, traces(*given_lines))], **options)
    shuffled = data.draw(st.permutations(given_lines))
    cut = data.draw(st.integers(0, len(shuffled)))
    seen = [observe(tmp_path, traces(*part)) for part in (shuffled[:cut], shuffled[cut:])]
    assert_same(one, infer_topology(seen, workers=data.draw(st.integers(1, 3)), **options))


def test_many_small_blocks_and_threads_give_the_same_as_one_block(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    text = [
        " ".join(f"{ADDRS[i]}/{rng.integers(1, 99)}" for i in rng.choice(12, 6, replace=False))
        for _ in range(600)
    ]
    options = {"prefixes": prefix_table(tmp_path), "borders": "elected"}
    one = infer_topology([observe(tmp_path, traces(*text))], **options)
    monkeypatch.setattr(spool, "BLOCK_HOPS", 50)
    parts = [traces(*text[i : i + 9]) for i in range(0, 600, 9)]
    seen = observe(tmp_path, *parts)
    assert len(seen.blocks) > 50
    assert_same(one, infer_topology([seen], workers=3, **options))


def test_an_observation_can_be_sent_between_processes_and_is_small(tmp_path):
    seen = observe(tmp_path, traces(*[f"20.1.{i}.1 20.1.{i}.9" for i in range(200)]))
    data = pickle.dumps(seen)
    assert len(data) < 2000
    assert_same(
        infer_topology([pickle.loads(data)], asn=1),
        infer_topology([seen], asn=1),
    )


def test_nodes_are_sorted_by_address_and_links_by_node(tmp_path):
    topology = infer_topology(
        [observe(tmp_path, traces("2600::9 20.3.0.1 20.1.0.1 2600::1", "20.3.0.1 20.2.0.1"))],
        asn=1,
    )
    addrs = [tuple(row) for row in topology.node_addr.tolist()]
    assert addrs == sorted(addrs)
    pairs = list(zip(topology.near.tolist(), topology.far.tolist(), strict=True))
    assert pairs == sorted(pairs)
    assert all(a < b for a, b in pairs)
