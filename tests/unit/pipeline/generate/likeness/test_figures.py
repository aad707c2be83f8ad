"""Figures of topologies counted by hand, and by NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.stats import ks_2samp

from pipeline.generate.likeness import figures
from pipeline.generate.likeness.figures import as_original, compared, figures_of
from pipeline.generate.likeness.making import make_likeness
from tests.unit.pipeline.generate.likeness.originals import original_of

KARATE = nx.karate_club_graph()


def test_figures_of_a_triangle_with_a_tail_and_a_pair():
    # 0 - 1 - 2 - 0, 2 - 3; and 4 - 5 in an AS of its own, entered at 4 from 0.
    tail = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    found = figures_of(original_of(tail, nx.path_graph(2), ingress=[0, 4], borders=[(0, 4)]))
    values = found.values
    assert values["routers"] == 6
    assert values["links inside ASes"] == 5
    assert values["components"] == 2
    assert values["largest degree"] == 3
    assert values["mean clustering"] == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert values["triangles per 100 pairs of neighbours"] == pytest.approx(100 * 3 / 5)
    assert values["mean hops"] == pytest.approx((4 * 2 + 2 * 4 + 2) / 14)
    assert (values["diameter"], values["radius"]) == (2, 1)
    assert values["mean hops from ingresses"] == pytest.approx((1 + 1 + 2 + 1) / 4)
    assert (values["ingresses"], values["links between ASes"], values["most linked ASes"]) == (
        (2, 1, 1)
    )
    assert found.joint == {(1, 1): 0.2, (1, 3): 0.2, (2, 2): 0.2, (2, 3): 0.4}


def test_figures_are_those_of_networkx():
    values = figures_of(original_of(KARATE)).values
    assert values["assortativity"] == pytest.approx(nx.degree_assortativity_coefficient(KARATE))
    assert values["mean hops"] == pytest.approx(nx.average_shortest_path_length(KARATE))
    assert values["diameter"] == nx.diameter(KARATE)
    assert values["radius"] == nx.radius(KARATE)
    many = [node for node, degree in KARATE.degree if degree > 1]
    assert values["mean clustering"] == pytest.approx(
        nx.average_clustering(KARATE, many), rel=1e-12
    )


def test_a_likeness_of_the_same_size_keeps_what_is_kept():
    original = original_of(KARATE, ingress=[0, 33])
    one, other = (as_original(make_likeness(original, seed=seed)) for seed in (1, 2))
    rows = {
        row["figure"]: row
        for row in compared(figures_of(original), figures_of(one), figures_of(other))
    }
    for row in rows.values():
        if row["law"] == "kept":
            assert row["likeness"] == pytest.approx(row["asked"]), row["figure"]
    assert rows["joint degrees elsewhere"]["likeness"] == 0
    assert rows["hops, apart"]["likeness"] < 0.05
    assert "weight, median" not in rows
    assert "weights, apart" not in rows
    assert "links between ASes" not in rows


def test_what_is_asked_grows_with_the_routers_and_hops_with_their_logarithm():
    original = original_of(nx.barabasi_albert_graph(300, 2, seed=2), ingress=range(30))
    one, other = (as_original(make_likeness(original, n_routers=900, seed=s)) for s in (1, 2))
    rows = {
        row["figure"]: row
        for row in compared(figures_of(original), figures_of(one), figures_of(other))
    }
    assert rows["routers"]["asked"] == rows["routers"]["likeness"] == 900
    assert rows["ingresses"]["likeness"] == 90
    assert rows["components"]["asked"] == rows["components"]["likeness"] == 1
    assert rows["mean degree"]["likeness"] == pytest.approx(rows["mean degree"]["asked"], rel=0.01)
    hops = rows["mean hops"]
    assert hops["asked"] == pytest.approx(hops["original"] * np.log(900) / np.log(300))
    assert hops["likeness"] == pytest.approx(hops["asked"], rel=0.1)
    assert "hops, apart" not in rows
    assert rows["joint degrees elsewhere"]["likeness"] < 0.35
    assert not np.isnan(rows["assortativity"]["likeness"])


def test_distances_of_samples_are_those_of_scipy():
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=80), rng.normal(0.4, size=50)
    assert figures._apart(one, other) == pytest.approx(ks_2samp(one, other).statistic)
    counts = np.array([0, 3, 5, 2]), np.array([1, 1, 4])
    samples = (np.repeat(np.arange(len(each)), each) for each in counts)
    assert figures._counts_apart(*counts) == pytest.approx(ks_2samp(*samples).statistic)
    assert np.isnan(figures._apart(one, one[:0]))
