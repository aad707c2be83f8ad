"""The first sentences of a page agree with its figures, in number and in words."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.model.columns import empty
from pipeline.model.measured.observations import Steps
from pipeline.report.pages.ases.as_page import as_pages
from pipeline.report.pages.ases.opening import opening, quality
from pipeline.report.pages.run_facts import describe_run
from pipeline.report.tables.summarise import summarise
from tests.unit.pipeline.report.memory import MemorySnapshot, measured


def first_lines(links, n_nodes, ingresses, *, change=None, **of_run):
    """Opening and quality of AS 10, whose neighbour AS 20 has a page."""
    snapshot = MemorySnapshot({10: links, 20: []}, {10: n_nodes, 20: 1}, ingresses, **of_run)
    measurement = measured(snapshot, **(change(snapshot) if change else {}))
    summary = summarise(snapshot, measurement)
    run = describe_run(snapshot, summary, version="0", written=0.0)
    variables = dict(as_pages(summary))[10]
    return str(opening(variables, run)), quality(variables, run)


LINE = [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize(
    ("n_nodes", "nodes", "says"),
    [
        (4, [0, 2], "2 routers of AS10 were drawn as ingresses; half of the routers reached lie"),
        (4, [0], "1 router of AS10 was drawn as its ingress; half of the routers that it reaches"),
        (1, [0], "The only router of AS10 was drawn as its ingress."),
    ],
)
def test_ingresses_that_were_drawn_are_not_said_to_have_links_from_other_ases(n_nodes, nodes, says):
    """Those have no neighbour: a topology without other ASes, and ``--ingresses``."""
    made = {"path": "a.brite", "format": "brite", "kind": "router", "as_ranges": [[10, 20]]}
    links = LINE if n_nodes > 1 else []
    entries = [(10, node, [], 0, 0, False) for node in nodes]
    said, _ = first_lines(links, n_nodes, entries, manifest={"kind": "router", "inputs": [made]})
    assert said.startswith(says)


@pytest.mark.parametrize(
    ("links", "n_nodes", "ingresses", "says"),
    [
        (
            LINE,
            5,
            [(10, 0, [20], 5, 0, False), (10, 1, [30], 2, 0, False)],
            "Traffic enters AS10 by 2 interfaces, mostly from "
            '<a href="20.html">AS20 <bdi>A &amp; B</bdi></a> (5 of 7 traces); '
            "half of the interfaces reached lie within 1 hop; 20 % is unreached.",
        ),
        (
            LINE,
            4,
            [(10, 0, [30], 1, 0, False)],
            "Traffic enters AS10 by 1 interface, all from AS30 (1 trace); "
            "half of the interfaces that it reaches lie within 2 hops; all are reached.",
        ),
        (
            LINE,
            4,
            [(10, 0, [20], 2, 0, False), (10, 1, [30], 2, 0, False), (10, 2, [40], 2, 0, False)],
            "Traffic enters AS10 by 3 interfaces, most often from "
            '<a href="20.html">AS20 <bdi>A &amp; B</bdi></a> (2 of 6 traces); '
            "half of the interfaces reached lie within 1 hop; all are reached.",
        ),
        (
            [(0, 1)],
            2,
            [(10, 0, [30], 3, 0, False)],
            "Traffic enters AS10 by 1 interface, all from AS30 (3 traces); "
            "the other interface lies 1 hop away.",
        ),
        (
            [(1, 2)],
            4,
            [(10, 0, [30], 3, 0, False)],
            "Traffic enters AS10 by 1 interface, all from AS30 (3 traces); "
            "it reaches no other interface; 75 % are unreached.",
        ),
        (
            [],
            3,
            [(10, 0, [30], 2, 0, False), (10, 1, [30], 1, 0, False)],
            "Traffic enters AS10 by 2 interfaces, all from AS30 (3 traces); "
            "none of them reaches another interface; 33 % is unreached.",
        ),
        (
            [],
            1,
            [(10, 0, [30], 3, 0, False)],
            "Traffic enters AS10 by its only interface, all from AS30 (3 traces).",
        ),
        (
            [],
            1,
            [],
            "No trace was seen to enter AS10, so there are no hop counts of its only interface.",
        ),
        (
            LINE,
            6,
            [(10, 0, [30], 0, 3, True)],
            "No trace was seen to enter AS10 right after an answer from another AS, only after "
            "gaps, at 1 candidate, so there are no hop counts of its 6 interfaces.",
        ),
    ],
)
def test_one_sentence_says_who_enters_and_how_far(links, n_nodes, ingresses, says):
    found, _ = first_lines(links, n_nodes, ingresses, names={20: "A & B"})
    assert found == says


def test_two_unreached_are_plural():
    found, _ = first_lines(LINE, 6, [(10, 0, [30], 3, 0, False)])
    assert found.endswith("; 33 % are unreached.")


def test_a_failed_as_says_that_nothing_is_known_of_hops():
    def failed(snapshot):
        return {"without": {(0, 0)}, "failed": {0: "lost its worker"}}

    found, _ = first_lines(LINE, 4, [(10, 0, [30], 3, 0, False)], change=failed)
    assert found == (
        "Traffic enters AS10 by 1 interface, all from AS30 (3 traces); "
        "no search of it finished, so there are no hop counts."
    )


def test_routers_of_a_topology_have_links_not_traffic():
    source = {"path": "a.brite", "format": "brite", "holds": "topology", "kind": "router"}
    manifest = {"kind": "router", "inputs": [source | {"as_ranges": [[10, 20]]}]}
    found, said = first_lines(LINE, 4, [(10, 0, [20], 0, 0, False)], manifest=manifest)
    assert found.startswith("AS10 has links from other ASes at 1 router; half of the routers that")
    assert said == []
    found, _ = first_lines(LINE, 4, [], manifest=manifest)
    assert found.startswith("AS10 has no link from another AS, so there are no hop counts of its 4")


@pytest.mark.parametrize(
    ("confidence", "says"),
    [
        ([0.9, 0.4], ["Low ingress confidence: 1 of its 2 ingresses may well be wrong."]),
        ([0.1, 0.4], ["Low ingress confidence: 2 of its 2 ingresses may well be wrong."]),
        ([0.4], ["Low ingress confidence: its ingress may well be wrong."]),
        ([0.9], []),
    ],
)
def test_low_confidence_is_said(confidence, says):
    ingresses = [(10, i, [20], 5, 0, False) for i in range(len(confidence))]

    def rate(snapshot):
        snapshot.ingresses().confidence[:] = confidence
        return {}

    assert first_lines(LINE, 4, ingresses, change=rate)[1] == says


def test_traces_and_vantage_points_that_cross_are_counted():
    def seen(snapshot):
        steps = {field: getattr(empty(Steps), field) for field in ("near", "across_gap", "rtt_ms")}
        columns = {"vantage": [0, 0, 1], "before": [-1, 0, -1], "far": [0, 1, 2]}
        columns |= {"n_traces": [4, 3, 1]}
        snapshot.of_paths = Steps(**steps, **{k: np.array(v) for k, v in columns.items()})
        return {}

    _, said = first_lines(LINE, 4, [(10, 0, [20], 5, 0, False)], change=seen)
    assert said == ["5 traces from 2 vantage points cross it."]
