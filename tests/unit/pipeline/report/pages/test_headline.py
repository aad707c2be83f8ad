"""The first sentence of the index, in words that fit the snapshot."""

from __future__ import annotations

import pytest

from pipeline.report.pages.headline import headline
from pipeline.report.pages.run_facts import describe_run
from pipeline.report.tables.summarise import summarise
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

MAP = {"path": "b.brite", "format": "brite", "kind": "router", "as_ranges": [[10, 20]]}


def said(ingresses: list[tuple], manifest: dict | None = None) -> str:
    """Of AS 10, a line of four nodes and one beside it, and of AS 20, a single node."""
    snapshot = MemorySnapshot(
        {10: [(0, 1), (1, 2), (2, 3)], 20: []}, {10: 5, 20: 1}, ingresses, manifest=manifest
    )
    summary = summarise(snapshot, measured(snapshot))
    return headline(summary, describe_run(snapshot, summary, version="0", written=0.0))


@pytest.mark.parametrize(
    ("ingresses", "manifest", "wanted"),
    [
        (
            [(10, 0, [20], 3, 0, False)],
            None,
            "Traffic enters 1 of 2 ASes by 1 interface; half of what an ingress reaches lies within"
            " 2 hops of it; 33 % of the interfaces are unreached.",
        ),
        (
            [(10, 1, [20], 3, 0, False), (20, 0, [10], 1, 0, False)],
            {"kind": "router"},
            "Traffic enters 2 ASes by 2 routers; half of what an ingress reaches lies within 1 hop"
            " of it; 17 % of the routers are unreached.",
        ),
        (
            [(20, 0, [10], 1, 0, False)],
            {},
            "Traffic enters 1 of 2 ASes by 1 interface; 83 % of the interfaces are unreached.",
        ),
        (
            [(10, 0, [20], 0, 0, False)],
            {"kind": "router", "inputs": [MAP]},
            "1 of 2 ASes has 1 ingress; half of what an ingress reaches lies within 2 hops of it;"
            " 33 % of the routers are unreached.",
        ),
        (
            [(10, 0, [20], 0, 4, True)],
            None,
            "No AS of this report has an ingress, so there are no hops to count.",
        ),
    ],
    ids=["one of two", "routers", "no pairs", "topology", "candidates alone"],
)
def test_it_counts_ases_ingresses_and_hops(ingresses, manifest, wanted):
    assert said(ingresses, manifest) == wanted
