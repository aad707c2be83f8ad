"""Widths in ases.parquet and report.json: counted by hand; an interval is never a value."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.report.tables.summarise import summarise
from pipeline.report.tables.width import likely
from tests.soak import examples
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import cut_short, effective_of, widths_of

# AS 10: a path 0-1-2-3 with a branch 1-4. AS 20: 0-1 and 2-3-4 apart, 5 alone.
# AS 30: one router. AS 40: none.
TREE, SPLIT, ONE, NONE = 10, 20, 30, 40


@pytest.fixture
def snapshot():
    return MemorySnapshot(
        {
            TREE: [(0, 1), (1, 2), (2, 3), (1, 4)],
            SPLIT: [(0, 1), (2, 3), (3, 4)],
            ONE: [],
            NONE: [],
        },
        {TREE: 5, SPLIT: 6, ONE: 1, NONE: 0},
        [(TREE, 0, [20], 5, 1, False)],
        addrs={
            TREE: [f"10.0.0.{i}" for i in range(1, 6)],
            SPLIT: [f"198.51.100.{i}" for i in range(6)],
            ONE: ["2001:db8::1"],
            NONE: [],
        },
        manifest={"weight_unit": "ms"},
    )


RADIUS = {"radius": ((0, 1, 0), (1, 1, 0))}


def rows_of(snapshot, **given):
    return summarise(snapshot, replace(measured(snapshot), **given)).ases.to_pylist()


def test_widths_of_ases_are_those_counted_by_hand(snapshot):
    tree, split, one, none = rows_of(snapshot, widths=widths_of(snapshot))
    assert (tree["diameter"], tree["diameter_lower"], tree["diameter_upper"]) == (3, 3, 3)
    assert (tree["radius"], tree["radius_lower"], tree["radius_upper"]) == (2, 2, 2)
    assert tree["exact"] is True
    assert (tree["n_center"], tree["n_periphery"]) == (2, 3)  # 1, 2; 0, 3, 4
    assert tree["ecc_counts"] == [0, 0, 2, 3]
    assert tree["diameter_path"] in ([0, 1, 2, 3], [3, 2, 1, 0], [4, 1, 2, 3], [3, 2, 1, 4])
    assert tree["diameter_path_addrs"] == [f"10.0.0.{v + 1}" for v in tree["diameter_path"]]
    assert tree["other_components"] == []
    assert (split["diameter"], split["radius"]) == (2, 1)
    assert (split["n_center"], split["n_periphery"], split["ecc_counts"]) == (1, 2, [0, 1, 2])
    assert (split["other_components"], split["other_sizes"]) == ([0], [2])  # 5 has no link
    assert (split["other_diameters"], split["other_radii"]) == ([1], [1])
    assert (one["diameter"], one["radius"], one["diameter_path"]) == (0, 0, [0])
    assert none["diameter"] is none["radius"] is none["n_center"] is none["diameter_path"] is None


def test_traces_show_a_part_of_an_as_whose_widths_lie_in_a_range(snapshot, monkeypatch):
    without, *_ = rows_of(snapshot, widths=widths_of(snapshot))
    assert without["diameter_likely_low"] is without["radius_likely_high"] is None
    monkeypatch.setitem(snapshot.manifest, "counts", {"n_traces": 7})
    monkeypatch.setattr(likely, "LINES", {"diameter": ((1, 0.5, 0), (2, 1, 1))} | RADIUS)
    tree, split, one, none = rows_of(snapshot, widths=widths_of(snapshot))
    assert (tree["diameter_likely_low"], tree["diameter_likely_high"]) == (3, 5)
    assert (split["diameter_likely_low"], split["diameter_likely_high"]) == (2, 5)  # of 6 nodes
    assert (one["radius_likely_low"], one["radius_likely_high"]) == (0, 1)
    assert none["diameter_likely_low"] is none["radius_likely_high"] is None


def test_an_interval_is_never_shown_as_a_value(snapshot):
    cut = cut_short(widths_of(snapshot), 0, (2, 4), (1, 2), 3)
    no_search = measured(snapshot, without={(0, 0)})
    tree, split, *_ = summarise(snapshot, replace(no_search, widths=cut)).ases.to_pylist()
    assert tree["diameter"] is tree["radius"] is None
    assert (tree["diameter_lower"], tree["diameter_upper"]) == (2, 4)
    assert (tree["radius_lower"], tree["radius_upper"]) == (1, 2)
    assert tree["exact"] is False
    assert tree["n_center"] is tree["n_periphery"] is tree["ecc_counts"] is None
    assert tree["n_width_searches"] == 3
    assert (split["diameter"], split["exact"]) == (2, True)
    totals = summarise(snapshot, replace(no_search, widths=cut)).totals["widths"]
    assert (totals["n_exact"], totals["n_not_exact"], totals["n_searches"]) == (3, 1, 3 + 6 + 1)
    assert totals["largest_diameter"] is None  # AS 10 may have 3 or 4
    assert (totals["largest_diameter_lower"], totals["largest_diameter_upper"]) == (2, 4)


def test_the_largest_diameter_is_known_where_no_interval_reaches_above_it(snapshot):
    cut = cut_short(widths_of(snapshot), 1, (1, 2), (1, 2), 3)
    totals = summarise(snapshot, replace(measured(snapshot), widths=cut)).totals["widths"]
    assert (totals["largest_diameter"], totals["largest_diameter_asn"]) == (3, TREE)
    unknown = cut_short(widths_of(snapshot), 1, (-1, -1), (-1, -1), 0)
    summary = summarise(snapshot, replace(measured(snapshot), widths=unknown))
    totals = summary.totals["widths"]
    assert totals["largest_diameter"] is totals["largest_diameter_upper"] is None
    assert totals["largest_diameter_lower"] == 3
    assert summary.ases["diameter_lower"].to_pylist() == [3, None, 0, None]


def test_the_largest_diameter_is_not_known_while_that_of_an_as_is_not(snapshot):
    given = {"widths": widths_of(snapshot, rows=[0, 2, 3]), "failed": {1: "killed"}}
    summary = summarise(snapshot, replace(measured(snapshot), **given))
    totals = summary.totals["widths"]
    assert (totals["n_exact"], totals["n_not_exact"], totals["n_unknown"]) == (3, 0, 1)
    assert totals["largest_diameter"] is totals["largest_diameter_upper"] is None
    assert (totals["largest_diameter_lower"], totals["largest_diameter_asn"]) == (3, TREE)
    assert summary.totals["n_width_searches"] == 5 + 1


def test_searches_for_widths_are_counted_apart_from_those_of_ingresses(snapshot):
    given = {
        "widths": widths_of(snapshot),
        "weighted_widths": widths_of(snapshot, weight=lambda a, b: 0.5),
        "figures": {"effective": effective_of(snapshot, 2.5)},
    }
    totals = summarise(snapshot, replace(measured(snapshot), **given)).totals
    assert (totals["n_searches"], totals["n_width_searches"]) == (1, 2 * 12)
    assert totals["n_effective_searches"] == 12


def test_an_as_without_a_row_has_no_width(snapshot):
    tree, split, one, _ = rows_of(snapshot, widths=widths_of(snapshot, rows=[0, 2]))
    assert (tree["diameter"], one["diameter"]) == (3, 0)
    for name in ("diameter", "exact", "n_center", "ecc_counts", "other_components"):
        assert split[name] is None


def test_what_was_not_requested_is_null(snapshot):
    tree = rows_of(snapshot, widths=widths_of(snapshot, metrics=("radius", "center")))[0]
    assert (tree["radius"], tree["n_center"]) == (2, 2)
    assert tree["n_periphery"] is tree["diameter_path"] is tree["ecc_counts"] is None


def test_weighted_widths_have_columns_of_their_own_and_a_unit(snapshot):
    def weight(a, b):
        return {(0, 1): 0.5, (1, 2): 0.25, (2, 3): 8.0, (1, 4): 2.0}.get((min(a, b), max(a, b)), 1)

    given = {
        "widths": widths_of(snapshot),
        "weighted_widths": widths_of(snapshot, weight=weight),
        "figures": {"effective": effective_of(snapshot, 2.5, error=0.125)},
    }
    tree, split, one, none = rows_of(snapshot, **given)
    assert (tree["diameter"], tree["weighted_diameter"]) == (3, 10.25)  # 4-1-2-3
    assert tree["weighted_radius"] == 8.0  # from 2 to 3
    assert (tree["weighted_n_center"], tree["weighted_n_periphery"]) == (1, 2)
    assert tree["weighted_diameter_path"] in ([4, 1, 2, 3], [3, 2, 1, 4])
    assert split["weighted_other_diameters"] == [0.5]
    assert (tree["effective_diameter"], tree["effective_estimated"]) == (2.5, True)
    assert (tree["effective_error"], tree["n_effective_searches"]) == (0.125, 5)
    assert one["effective_diameter"] is none["effective_diameter"] is None
    totals = summarise(snapshot, replace(measured(snapshot), **given)).totals
    assert totals["weighted_widths"]["unit"] == "ms"
    assert totals["weighted_widths"]["largest_diameter"] == 10.25
    assert totals["widths"]["largest_diameter"] == 3


def test_a_run_without_widths_has_the_columns_it_had(snapshot):
    summary = summarise(snapshot, measured(snapshot))
    assert not [name for name in summary.ases.column_names if "diameter" in name]
    assert "widths" not in summary.totals


def test_an_effective_diameter_alone_has_its_columns(snapshot):
    summary = summarise(
        snapshot, replace(measured(snapshot), figures={"effective": effective_of(snapshot, 1.5)})
    )
    assert summary.ases["effective_diameter"].to_pylist() == [1.5, 1.5, None, None]
    assert "diameter" not in summary.ases.column_names


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_columns_agree_with_networkx_on_any_graphs(data):
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    links = {
        asn: sorted(
            {
                (min(a, b), max(a, b))
                for a, b in data.draw(
                    st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=14)
                )
                if a != b
            }
        )
        for asn, n in enumerate(sizes, 1)
    }
    snapshot = MemorySnapshot(links, dict(enumerate(sizes, 1)), [])
    rows = rows_of(snapshot, widths=widths_of(snapshot))
    for asn, n in enumerate(sizes, 1):
        graph = nx.Graph(links[asn])
        graph.add_nodes_from(range(n))
        parts = sorted(map(sorted, nx.connected_components(graph)))
        largest = max(parts, key=len)
        part = graph.subgraph(largest)
        row = rows[asn - 1]
        assert row["diameter"] == nx.diameter(part)
        assert row["radius"] == nx.radius(part)
        assert row["n_center"] == len(nx.center(part))
        assert row["n_periphery"] == len(nx.periphery(part))
        path = row["diameter_path"]
        assert nx.is_path(part, path)
        assert len(path) == nx.diameter(part) + 1
        others = [p for p in parts if p != largest and len(p) > 1]
        assert row["other_components"] == [p[0] for p in others]
        assert row["other_sizes"] == [len(p) for p in others]
        assert row["other_diameters"] == [nx.diameter(graph.subgraph(p)) for p in others]
        assert row["other_radii"] == [nx.radius(graph.subgraph(p)) for p in others]


def test_types_are_those_of_the_docs(snapshot):
    ases = summarise(
        snapshot,
        replace(
            measured(snapshot),
            widths=widths_of(snapshot),
            weighted_widths=widths_of(snapshot, weight=lambda a, b: 0.5),
        ),
    ).ases
    assert ases.schema.field("diameter").type == pa.int64()
    assert ases.schema.field("weighted_diameter").type == pa.float64()
    assert ases.schema.field("diameter_path").type == pa.list_(pa.int32())
    assert ases.schema.field("ecc_counts").type == pa.list_(pa.int64())
    assert ases.schema.field("other_diameters").type == pa.list_(pa.int64())
    assert "weighted_ecc_counts" not in ases.column_names
