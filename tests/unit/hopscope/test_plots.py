"""Pictures by matplotlib: what they draw is what was measured, and axes have units."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import hopscope
from kernels import msbfs
from pipeline.config import IngestConfig
from pipeline.errors import UsageError
from pipeline.stages.contents.access import places_in_layers
from pipeline.stages.ingest import ingest
from tests.real_data import REPOSITORY

LAB = REPOSITORY / "data" / "samples" / "lab"


@pytest.fixture(scope="module")
def night(tmp_path_factory):
    store = tmp_path_factory.mktemp("plots")
    tables = {"ip2as": (LAB / "lab.pfx2as",), "allow_special": ("198.18.0.0/15",)}
    files = tuple(LAB / f"h{host}.icmp-paris.warts.gz" for host in (0, 1))
    ingest(IngestConfig(inputs=files, store=store, snapshot="lab", **tables))
    return hopscope.open(store)["lab"]


@pytest.fixture
def drawn():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_without_matplotlib_it_says_what_to_install(night, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for one in (night, night[64496]):
        with pytest.raises(ModuleNotFoundError, match="pip install matplotlib"):
            one.plot()


def test_bars_are_the_pairs_by_hops(night, drawn):
    one = night[64496]
    axes = one.plot()
    counts = msbfs(one.graph, one.sources).hop_counts.sum(axis=0)[1:]
    assert [bar.get_height() for bar in axes.patches] == counts.tolist()
    assert axes.get_xlabel() == "distance from an ingress [hops]"
    assert axes.get_ylabel() == "pairs (ingress, router that it reaches)"
    axes.figure.canvas.draw()


def test_layers_have_each_node_at_its_hops(night, drawn):
    one = night[64496]
    axes = one.plot("layers", drawn.subplots()[1])
    layer, place = places_in_layers(one.graph, one.sources)
    points = np.concatenate([group.get_offsets() for group in axes.collections[1:]])
    assert sorted(map(tuple, points.tolist())) == sorted(zip(layer, place, strict=True))
    assert (layer[one.sources] == 0).all()
    assert "[hops]" in axes.get_xlabel()
    (links,) = [each for each in axes.collections if hasattr(each, "get_segments")]
    assert len(links.get_segments()) == one.n_edges
    axes.figure.canvas.draw()


def test_ases_are_drawn_with_their_links(night, drawn):
    axes = night.plot()
    assert sorted(text.get_text() for text in axes.texts) == sorted(f"AS{asn}" for asn in night)
    n_pairs = len(night.as_links)
    assert len(axes.lines) == n_pairs
    assert "width of a line: traces" in axes.get_xlabel()
    axes.figure.canvas.draw()


def test_what_cannot_be_drawn_is_said(night, drawn, monkeypatch):
    one = night[64496]
    with pytest.raises(ValueError, match="kind 'pie'; give one of hops, layers"):
        one.plot("pie")
    monkeypatch.setattr("hopscope.plots.MAX_LINKS", 3)
    with pytest.raises(UsageError, match="at most 3 are drawn"):
        one.plot("layers")


def test_places_lie_within_their_layers(night):
    one = night[64496]
    layer, place = places_in_layers(one.graph, one.sources)
    assert ((place > 0) & (place < 1)).all()
    for level in np.unique(layer):
        assert len(set(place[layer == level])) == (layer == level).sum()
