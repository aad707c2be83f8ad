"""BRITE's models beyond Barabasi-Albert: laws, shapes and numbers that cannot be."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from pipeline.errors import UsageError
from pipeline.generate import Parameters, check, flat_models, generate
from pipeline.generate import threads as generate_threads
from pipeline.generate.laws.plane import place
from pipeline.model.synthetic import (
    ASSIGNMENTS,
    EDGE_CONNECTIONS,
    GROUPINGS,
    GROWTHS,
)
from pipeline.model.topology import Topology
from tests.soak import examples


def degrees(topology: Topology) -> np.ndarray:
    ends = np.concatenate([topology.near, topology.far])
    return np.bincount(ends, minlength=topology.n_nodes)


def is_simple(topology: Topology) -> bool:
    low = np.minimum(topology.near, topology.far)
    pairs = low * topology.n_nodes + np.maximum(topology.near, topology.far)
    return bool((topology.near != topology.far).all()) and len(np.unique(pairs)) == len(pairs)


@pytest.mark.parametrize("beta", [0.05, 0.2, 1.0])
def test_waxman_links_two_routers_by_the_law_of_their_distance(beta):
    """Routers that join draw older ones uniformly: shares by distance follow the law."""
    n = 4000
    topology = generate("waxman", Parameters(n, m=3, beta=beta, seed=7))
    x, y = topology.node_columns["x"], topology.node_columns["y"]
    near, far = topology.near, topology.far
    joined = near >= 100  # the first have few to choose from
    found = np.hypot(x[near] - x[far], y[near] - y[far])[joined]
    rng = np.random.default_rng(1)
    a = rng.integers(100, n, 400_000)
    b = (rng.random(len(a)) * a).astype(np.int64)
    distance = np.hypot(x[a] - x[b], y[a] - y[b])
    weight = np.exp(-distance / (beta * math.sqrt(2) * 1000))
    # Pairs weighted by what they are accepted by, within the choices of each router.
    edges = np.quantile(found, np.linspace(0, 1, 11))[1:-1]
    wanted = np.histogram(distance, [-1, *edges, 2000], weights=weight)[0]
    wanted = wanted / wanted.sum()
    got = np.histogram(found, [-1, *edges, 2000])[0] / len(found)
    assert np.abs(got - wanted).max() < 0.02


@settings(max_examples=examples(60), deadline=None)
@given(
    n=st.integers(1, 60),
    m=st.integers(1, 5),
    growth=st.sampled_from(GROWTHS),
    preferential=st.booleans(),
    beta=st.sampled_from([0.001, 0.2, 1.0]),
    seed=st.integers(0, 2**64 - 1),
)
def test_waxman_graphs_are_simple_and_each_router_has_its_links(
    n, m, growth, preferential, beta, seed
):
    m = min(m, max(n - 1, 1))
    preferential &= growth == "incremental"
    given_ = Parameters(n, m=m, growth=growth, preferential=preferential, beta=beta, seed=seed)
    topology = generate("waxman", given_)
    assert is_simple(topology)
    degree = degrees(topology)
    if n > 1:
        assert degree.min() >= 1
    if growth == "incremental" and not preferential:
        assert degree.min() >= min(m, n - m) if n > m else True


@settings(max_examples=examples(60), deadline=None)
@given(
    model=st.sampled_from(["ba2", "glp"]),
    n=st.integers(1, 60),
    m=st.integers(1, 4),
    p=st.floats(0, 0.6),
    q=st.floats(0, 0.35),
    beta=st.floats(-2, 0.99),
    seed=st.integers(0, 2**64 - 1),
)
def test_grown_graphs_are_simple_and_never_stop(model, n, m, p, q, beta, seed):
    m = min(m, max(n - 1, 1))
    topology = generate(model, Parameters(n, m=m, p=p, q=q, beta=beta, seed=seed))
    assert is_simple(topology)
    assert topology.n_nodes == n
    if model == "glp" and n > 1:
        assert degrees(topology).min() >= 1


def test_ba2_without_added_and_moved_links_has_the_degrees_of_barabasi_albert():
    n, m = 30_000, 2
    degree = degrees(generate("ba2", Parameters(n, m=m, p=0.0, q=0.0, seed=3)))
    for k in (2, 3, 5, 10, 30):
        law = m * (m + 1) / (k * (k + 1))
        assert abs((degree >= k).mean() - law) < 4 * math.sqrt(law / n) + 0.002


def test_ba2_links_added_and_moved_change_their_number_and_leave_some_routers_alone():
    added = generate("ba2", Parameters(5000, p=0.5, q=0.0, seed=3))
    assert abs(added.n_links / 5000 - 2 * (1 + 0.5 / 0.5)) < 0.15
    moved = generate("ba2", Parameters(5000, p=0.0, q=0.5, seed=3))
    assert moved.n_links == pytest.approx(10_000, rel=0.01)
    assert (degrees(moved) == 0).any()


def test_glp_follows_the_exponent_of_its_paper():
    """Bu, Towsley: the tail has the exponent (2 m - beta (1 - p)) / ((1 + p) m) + 1."""
    m, p, beta = 1, 0.2, 0.3
    degree = degrees(generate("glp", Parameters(200_000, m=m, p=p, beta=beta, seed=2)))
    exponent = (2 * m - beta * (1 - p)) / ((1 + p) * m) + 1
    tail = degree[degree >= 20]
    found = 1 + len(tail) / np.log(tail / 19.5).sum()  # Clauset, Shalizi, Newman 2009
    assert abs(found - exponent) < 0.12


def clearly_differ(some: list[Topology], others: list[Topology]) -> list[str]:
    """Figures of some topologies by which they differ from others: by chance in one of 1,000."""
    return [
        name
        for name, of in {
            "links": lambda t: t.n_links,
            "largest degree": lambda t: degrees(t).max(),
            "few links": lambda t: (degrees(t) <= 2).mean(),
            "many links": lambda t: (degrees(t) >= 10).mean(),
            "squares of degrees": lambda t: (degrees(t).astype(float) ** 2).mean(),
            "length": lambda t: np.hypot(*(p[t.near] - p[t.far] for p in places_of(t))).mean(),
        }.items()
        if mannwhitneyu([of(t) for t in some], [of(t) for t in others]).pvalue < 1e-3
    ]


def places_of(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    return topology.node_columns["x"], topology.node_columns["y"]


def linked(topology: Topology, pairs: set[tuple[int, int]]) -> Topology:
    """The same routers with other links."""
    near, far = np.array(sorted(pairs)).T
    return replace(topology, near=near, far=far)


def drawn_at_once(topology: Topology, m: int, beta: float, rng: np.random.Generator) -> Topology:
    """As BRITE says it: a router is drawn and draws m others; until each has a link."""
    n = topology.n_nodes
    x, y = places_of(topology)
    weight = np.exp(-np.hypot(x[:, None] - x, y[:, None] - y) / (beta * math.sqrt(2) * 1000))
    np.fill_diagonal(weight, 0.0)
    weight /= weight.sum(axis=1)[:, None]
    alone, pairs = set(range(n)), set()
    while alone:
        node = int(rng.integers(n))
        for other in rng.choice(n, m, replace=False, p=weight[node]).tolist():
            pairs.add((min(node, other), max(node, other)))
            alone -= {node, other}
            if not alone:
                break
    return linked(topology, pairs)


@pytest.mark.parametrize(("m", "beta"), [(2, 0.2), (1, 0.05), (4, 1.0)])
def test_routers_that_are_all_there_at_once_draw_as_one_after_the_other(m, beta):
    rng = np.random.default_rng(5)
    ours = [
        generate("waxman", Parameters(150, m=m, growth="all", beta=beta, seed=i)) for i in range(20)
    ]
    others = [generate("waxman", Parameters(150, seed=100 + i)) for i in range(20)]
    assert not clearly_differ(ours, [drawn_at_once(each, m, beta, rng) for each in others])
    half = [
        linked(t, set(zip(t.near.tolist()[::2], t.far.tolist()[::2], strict=True))) for t in ours
    ]
    assert "links" in clearly_differ(ours, half)


def grown_as_published(topology: Topology, m: int, p: float, q: float, rng) -> Topology:
    """Albert and Barabasi's steps on lists of neighbours, both ends drawn by preference."""
    near = {node: {*range(m + 1)} - {node} for node in range(m + 1)}

    def preferred() -> int:
        of = np.array([len(near[node]) for node in range(len(near))], float)
        return int(rng.choice(len(of), p=of / of.sum()))

    while len(near) < topology.n_nodes:
        n, what = len(near), rng.random()
        n_links = sum(map(len, near.values())) // 2
        if n_links >= n * (n - 1) // 2 - 2 * (m + 1) or what >= p + q:
            chosen: set[int] = set()
            while len(chosen) < m:
                chosen.add(preferred())
            near[n] = chosen
            for other in chosen:
                near[other].add(n)
        else:
            for _ in range(m):
                while True:
                    if what < p:
                        node, left = preferred(), None
                    else:
                        node = int(rng.choice([node for node in near if near[node]]))
                        left = int(rng.choice(sorted(near[node])))
                    other = preferred()
                    if other != node and other not in near[node]:
                        break
                if left is not None:
                    near[node].remove(left)
                    near[left].remove(node)
                near[node].add(other)
                near[other].add(node)
    return linked(topology, {(min(a, b), max(a, b)) for a in near for b in near[a]})


@pytest.mark.parametrize(("p", "q"), [(0.25, 0.25), (0.1, 0.6)])
def test_ba2_adds_and_moves_links_as_published(p, q):
    rng = np.random.default_rng(6)
    ours = [generate("ba2", Parameters(120, p=p, q=q, seed=i)) for i in range(20)]
    assert not clearly_differ(ours, [grown_as_published(each, 2, p, q, rng) for each in ours])
    without = [generate("ba2", Parameters(120, p=p, q=0.0, seed=i)) for i in range(20)]
    assert clearly_differ(ours, without)


@pytest.mark.parametrize(
    ("as_model", "router_model", "connection"),
    list(
        itertools.chain(
            itertools.product(flat_models(), flat_models(), ["random"]),
            itertools.product(["ba"], ["ba"], EDGE_CONNECTIONS),
        )
    ),
)
def test_top_down_takes_every_model_on_each_level(as_model, router_model, connection):
    topology = generate(
        "top-down",
        Parameters(
            1200,
            n_ases=12,
            as_model=as_model,
            router_model=router_model,
            edge_connection=connection,
            k=4,
            bandwidth="constant:10",
            bandwidth_between="constant:100",
            seed=5,
        ),
    )
    asn = topology.node_asn
    inter = asn[topology.near] != asn[topology.far]
    pairs = np.sort(np.stack([asn[topology.near], asn[topology.far]])[:, inter], axis=0)
    assert len(np.unique(pairs, axis=1).T) == inter.sum()  # the graph of ASes is simple
    assert (topology.link_columns["bandwidth"] == np.where(inter, 100.0, 10.0)).all()
    degree_inside = np.bincount(
        np.concatenate([topology.near[~inter], topology.far[~inter]]), minlength=1200
    )
    borders = np.concatenate([topology.near[inter], topology.far[inter]])
    if connection == "smallest-k":
        assert (degree_inside[borders] >= 4).all() or (degree_inside < 4).any()
        assert degree_inside[borders].min() >= 4
    elif connection == "smallest":
        assert np.median(degree_inside[borders]) == 2
    elif connection == "random" and (as_model, router_model) == ("ba", "ba"):
        assert degree_inside[borders].max() > 6


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_bottom_up_puts_each_router_into_an_as(grouping, assignment):
    given_ = Parameters(3000, n_ases=30, grouping=grouping, assignment=assignment, seed=9)
    topology = generate("bottom-up", given_)
    flat = generate("ba", Parameters(3000, seed=9))
    assert np.array_equal(topology.near, flat.near)
    assert np.array_equal(topology.far, flat.far)
    asn, sizes = np.unique(topology.node_asn, return_counts=True)
    assert asn.tolist() == list(range(1, len(asn) + 1))
    if assignment == "constant":
        assert sizes.tolist() == [100] * 30
    elif assignment == "heavy-tailed":
        assert (sizes == 1).mean() > 0.4
    else:
        assert 15 <= len(asn) <= 60
    inter = topology.node_asn[topology.near] != topology.node_asn[topology.far]
    if assignment == "constant":
        share = inter.mean()
        assert share > 0.95 if grouping == "random-pick" else share < 0.8


@pytest.mark.parametrize("model", ["waxman", "ba", "top-down"])
def test_heavy_tailed_placement_crowds_routers_and_no_two_share_a_cell(model):
    given_ = Parameters(2000, n_ases=4, placement="heavy-tailed", seed=4, router_model="ba")
    topology = generate(model, given_)
    x, y = topology.node_columns["x"], topology.node_columns["y"]
    cells = np.unique(np.stack([topology.node_asn, x, y]), axis=1)
    assert cells.shape[1] == 2000
    assert min(x.min(), y.min()) >= 0
    assert max(x.max(), y.max()) < 1000
    if model == "waxman":
        square = (x // 100 * 10 + y // 100).astype(np.int64)
        crowded = np.bincount(square, minlength=100)
        assert crowded.max() > 4 * 2000 / 100
        even = np.bincount(
            (place(np.array([0, 2000]), Parameters(2000))[0] // 100).astype(np.int64)
        )
        assert even.max() < 2 * even.mean()


@pytest.mark.parametrize(
    ("law", "mean"),
    [("constant:10", 10), ("uniform:10:30", 20), ("exponential:40", 40)],
)
def test_bandwidths_follow_their_law(law, mean):
    topology = generate("ba", Parameters(20_000, bandwidth=law))
    found = topology.link_columns["bandwidth"]
    assert found.mean() == pytest.approx(mean, rel=0.02)
    assert found.min() > 0 or law.startswith("exponential")


def test_heavy_tailed_bandwidths_stay_between_their_bounds():
    found = generate("ba", Parameters(20_000, bandwidth="heavy-tailed:10:1024")).link_columns
    assert found["bandwidth"].min() >= 10
    assert found["bandwidth"].max() <= 1024
    assert np.median(found["bandwidth"]) == pytest.approx(10 * 2 ** (1 / 1.2), rel=0.03)


def test_an_as_level_graph_has_ases_for_nodes():
    topology = generate("waxman", Parameters(50, level="as"))
    assert topology.kind == "as"
    assert topology.node_asn.tolist() == list(range(1, 51))
    assert set(topology.node_columns["type"]) == {"AS_NODE"}
    assert set(topology.link_columns["type"]) == {"E_AS"}
    assert (topology.link_columns["asn_from"] == topology.near + 1).all()


@pytest.mark.parametrize("model", ["waxman", "top-down", "bottom-up"])
@pytest.mark.parametrize("growth", GROWTHS)
def test_the_same_on_any_number_of_threads(model, growth, monkeypatch):
    given_ = Parameters(40_000, n_ases=3, growth=growth, router_model="waxman", beta=0.5, alpha=1.0)
    made = []
    for n_threads in (1, 3):
        monkeypatch.setattr(generate_threads, "n_cores", lambda n=n_threads: n)
        made.append(generate(model, given_))
    assert np.array_equal(made[0].near, made[1].near)
    assert np.array_equal(made[0].far, made[1].far)


@pytest.mark.parametrize(
    ("model", "numbers", "message"),
    [
        ("waxman", {"alpha": 0.0}, "above 0"),
        ("waxman", {"beta": 1.5}, "above 0"),
        ("waxman", {"growth": "all", "preferential": True}, "--growth incremental"),
        ("waxman", {"m": 100}, "more than there can be"),
        ("ba2", {"p": 0.6, "q": 0.4}, "sum is below 1"),
        ("glp", {"beta": 1.0}, "below 1"),
        ("glp", {"p": 1.0}, "sum is below 1"),
        ("ba", {"plane_side": 10}, "--plane-side 10"),
        ("ba", {"placement": "heavy-tailed", "square_side": 2000}, "--square-side 2000"),
        ("top-down", {"n_ases": 200}, "each AS needs at least one"),
        ("bottom-up", {"n_ases": 101}, "each AS needs at least one"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(model, numbers, message):
    with pytest.raises(UsageError, match=message):
        check(model, Parameters(**{"n_routers": 100, "n_ases": 4, **numbers}))
