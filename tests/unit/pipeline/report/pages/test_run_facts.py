"""What pages call a node, and how they explain it, for each kind of snapshot."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from pipeline.model.measured.origins import as_ranges, origins_of
from pipeline.report import write_reports
from tests.unit.pipeline.report.memory import MemorySnapshot, measured

TRACES = {"path": "a.warts", "format": "warts", "status": "ok"}
MAP = {"path": "b.brite", "format": "brite", "kind": "router", "as_ranges": [[20, 20]]}
MADE = MAP | {"made_by": "BRITE's model TopDown"}
ALIASES = {"path": "c.nodes", "format": "itdk-nodes", "status": "ok"}
GENERATED = {"model": "ba", "seed": 3, "command": "hopscope generate ba --routers 5 --seed 3"}


def texts(tmp_path, **manifest) -> dict[str, str]:
    """Text of the index and of the pages of AS 10 and AS 20, in one line each."""
    snapshot = MemorySnapshot(
        {10: [(0, 1), (1, 2)], 20: [(0, 1)]},
        {10: 3, 20: 2},
        [(10, 0, [20], 3, 0, False), (20, 0, [10], 1, 2, False)],
        manifest=manifest,
    )
    out = write_reports(
        snapshot, measured(snapshot), tmp_path, options={}, warnings=[], started=time.time()
    ).path
    return {
        name: " ".join(re.sub(r"<[^>]*>", " ", (out / f"{name}.html").read_text()).split())
        for name in ("index", "as/10", "as/20")
    }


@pytest.mark.parametrize(
    ("manifest", "nouns", "says", "never"),
    [
        ({"kind": "interface", "inputs": [TRACES]}, ["interface"] * 3, "an interface address", ""),
        (
            {"kind": "router", "inputs": [TRACES, ALIASES]},
            ["router"] * 3,
            "a router, its addresses merged",
            "interface",
        ),
        ({"kind": "router", "inputs": [MAP]}, ["router"] * 3, "topology file", "alias"),
        (
            {"kind": "router", "inputs": [TRACES, ALIASES, MAP]},
            ["router"] * 3,
            "of a topology file, or of traces",
            "",
        ),
        (
            {"kind": "mixed", "inputs": [TRACES, MAP]},
            ["node", "interface", "router"],
            "or an interface address of traces",
            "",
        ),
        (
            {
                "kind": "mixed",
                "inputs": [TRACES, MAP | {"as_ranges": []}],
            },  # before these were kept
            ["node", "node", "node"],
            "or an interface address of traces",
            "",
        ),
        (
            {"kind": "router", "inputs": [], "options": GENERATED},
            ["router"] * 3,
            "of a generated topology",
            "alias",
        ),
        ({"kind": "as", "inputs": [MAP | {"kind": "as"}]}, ["AS"] * 3, "a whole AS", "alias"),
    ],
)
def test_a_node_is_called_what_it_is(manifest, nouns, says, never, tmp_path):
    shown = texts(tmp_path, **manifest)
    for text, noun in zip(shown.values(), nouns, strict=True):
        one = f"{'an' if noun[0] in 'iA' else 'a'} {noun}"
        assert f"Hops from an ingress to {one}" in text
    assert says in shown["index"]
    assert not never or all(never not in text for text in shown.values())


def test_only_what_a_generator_made_is_called_synthetic(tmp_path):
    shown = texts(tmp_path, kind="mixed", inputs=[TRACES, MADE])
    assert "Partly synthetic Some of these ASes were not measured: 1 AS made by" in shown["index"]
    assert "BRITE&#39;s model TopDown" in shown["as/20"]
    assert "A node is a router of a generated topology." in shown["as/20"]
    assert "ynthetic" not in shown["as/10"]
    assert all(
        "ynthetic" not in text for text in texts(tmp_path, kind="router", inputs=[MAP]).values()
    )


def test_snapshots_of_earlier_versions_name_model_and_seed():
    options = {"model": "internet", "seed": 4}
    origins = origins_of({"kind": "router", "inputs": [], "options": options}, np.array([3, 4, 9]))
    assert origins.notes() == ["Synthetic, not measured: all made by internet, seed 4"]
    assert origins.all_synthetic


def test_a_report_of_some_ases_counts_those_that_it_has():
    asn = np.array([3, 4, 5, 9])
    made = MADE | {"as_ranges": [[3, 5], [9, 9]]}
    origins = origins_of({"kind": "mixed", "inputs": [TRACES, made]}, np.append(asn, 10))

    def said(*chosen: int) -> tuple[list[int], bool]:
        of_some = origins.among(np.array(chosen, np.int64))
        return [fact["n_ases"] for fact in of_some.facts()], of_some.all_synthetic

    assert said(3, 4, 5, 9, 10) == ([4], False)
    assert said(4, 9, 10) == ([2], False)
    assert said(4, 5) == ([2], True)
    assert said(10) == said() == ([], False)
    unknown = origins_of({"kind": "mixed", "inputs": [TRACES, MADE | {"as_ranges": []}]}, asn)
    assert [fact["made_by"] for fact in unknown.among(asn[:1]).facts()] == [MADE["made_by"]]


def test_a_map_of_ases_is_not_counted_as_if_it_were_one_as(tmp_path):
    """Its tiles have names of their own, and no list is of 1 largest ASes."""
    made = MADE | {"kind": "as", "as_ranges": [[10, 10]]}
    shown = texts(tmp_path, kind="as", inputs=[made, made | {"as_ranges": [[20, 20]]}])["index"]
    assert "2 graphs of ASes have 2 ingresses" in shown
    assert "graphs of ASes 2 ASes 5 " in shown
    assert "not measured: 1 graph of ASes made by BRITE" in shown
    assert "this is a list of all ASes; every" in shown
    # Its terms and charts are of a graph, where those of other reports are of an AS.
    assert "two ASes of one graph, one hop apart. ingress" in shown
    assert "links on a shortest path inside the graph." in shown
    assert "all ASes of a graph without an ingress" in shown
    assert "Hops from an ingress to an AS, all graphs" in shown
    internet = re.sub(r"<[^>]*>", " ", next(tmp_path.glob("*/internet.html")).read_text())
    assert "ASes of a graph" in internet
    assert "Ingresses of a graph" in internet
    mixed = {"kind": "mixed", "inputs": [TRACES, made]}
    (said,) = origins_of(mixed, np.array([10, 20])).notes()
    assert said.startswith("Synthetic, not measured: 1 graph of ASes made by ")


def test_a_rejected_file_is_no_origin():
    rejected = MADE | {"status": "rejected"}
    origins = origins_of({"kind": "interface", "inputs": [TRACES, rejected]}, np.array([20]))
    assert origins.source_of(20) is None
    assert origins.facts() == []


def test_addresses_that_were_all_put_into_one_as_were_not_elected(tmp_path):
    options = {"asn": 10, "ip2as": [], "borders": "elected"}
    shown = texts(tmp_path, kind="interface", inputs=[TRACES], options=options)["index"]
    assert "borders none: every address was put into AS10" in shown
    options |= {"ip2as": ["a.pfx2as"]}
    shown = texts(tmp_path, kind="interface", inputs=[TRACES], options=options)["index"]
    assert "borders the AS of each address is elected" in shown


def test_as_numbers_are_kept_as_runs():
    asn = np.array([0, 1, 2, 7, 9, 10])
    ranges = as_ranges(asn)
    assert ranges == [[0, 2], [7, 7], [9, 10]]
    assert as_ranges(asn[:0]) == []
    origins = origins_of({"kind": "mixed", "inputs": [TRACES, MADE | {"as_ranges": ranges}]}, asn)
    assert [origins.source_of(n) is not None for n in range(-1, 12)] == [
        n in asn for n in range(-1, 12)
    ]


def test_a_page_tells_of_tunnels_and_of_traces_that_begin_inside_only_if_there_are_any(tmp_path):
    snapshot = MemorySnapshot(
        {10: [(0, 1), (1, 2)], 20: [(0, 1)], 30: []},
        {10: 3, 20: 2, 30: 1},
        [(10, 0, [20], 3, 0, False), (20, 0, [10], 1, 2, False)],
    )
    snapshot.n_entered_unseen[:] = 1234, 0, 5
    snapshot.n_mpls_links[:] = 0, 1, 0
    out = write_reports(
        snapshot, measured(snapshot), tmp_path, options={}, warnings=[], started=time.time()
    ).path
    ten, twenty, thirty = ((out / f"as/{asn}.html").read_text() for asn in (10, 20, 30))
    assert "1,234 traces begin inside this AS" in ten
    assert "No trace was seen to enter this AS, so no search was made." in thirty
    assert "5 traces begin inside this AS" in thirty
    assert "begin inside" not in twenty
    assert "1 link of this AS was crossed under MPLS labels" in twenty
    assert "MPLS" not in ten
