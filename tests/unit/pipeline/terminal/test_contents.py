"""Output of the commands that only read."""

from __future__ import annotations

import re

from pipeline.terminal.contents import (
    print_as,
    print_export,
    print_list,
    print_lookup,
    print_snapshot,
)


def test_an_export_says_what_it_wrote_where_and_in_which_format(capsys):
    facts = {"asn": 64496, "snapshot": "night", "node_kind": "interface"}
    facts |= {"n_nodes": 1, "n_edges": 1200}
    print_export(facts | {"files": ["a.foo"], "format": "graphml"})
    said = "AS64496 of night: 1 interface, 1,200 links -> a.foo (graphml)\n"
    assert capsys.readouterr().out == said


def test_names_of_snapshots_are_whole_at_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    counts = ("n_ases", "n_nodes", "n_edges", "n_border_links", "n_ingresses", "n_candidates")
    facts = dict.fromkeys(counts, 123456) | {"created": "2026-11-21T02:15:00+00:00"}
    name = "2026-11-21-with-registries"
    one = facts | {"snapshot": name, "node_kind": "interface", "synthetic": [], "fault": None}
    print_list([one])
    out = capsys.readouterr().out  # the heading says what they are
    assert name in out
    assert "interfaces" in out
    assert "nodes" not in out
    print_list([one, one | {"snapshot": "map", "node_kind": "router"}])
    out = capsys.readouterr().out
    assert f"{name} (interfaces)" in out
    assert "map (routers)" in out
    assert "nodes" in out


def test_a_map_of_ases_is_a_graph_of_them(capsys):
    facts = {"snapshot": "map", "created": None, "node_kind": "mixed", "fault": None, "ases": []}
    facts |= {"n_traces": 0, "n_ases": 1, "n_nodes": 1000, "n_edges": 1997, "n_ingresses": 0}
    facts |= {"n_border_links": 0}
    facts |= {"n_candidates": 0, "n_silent": 0, "n_addrs": 0, "warnings": []}
    facts["synthetic"] = [{"n_ases": 1, "made_by": "a model", "node_kind": "as"}]
    print_snapshot(facts | {"node_kind": "as"})
    said = capsys.readouterr().out
    assert "1 graph of ASes, 1,000 ASes as nodes, 1,997 links" in said
    assert "Synthetic, not measured: 1 graph of ASes made by a model" in said
    print_list([facts])
    assert "map: synthetic, not measured: 1 graph of ASes made by" in capsys.readouterr().out


def test_a_very_long_name_is_cut(capsys):
    row = {"addr": "192.0.2.1", "asn": 64496, "name": "\u540d" * 900, "node": 3, "role": None}
    row |= {
        "node_kind": "router",
        "confidence": None,
        "ingress_confidence": None,
        "host_name": None,
        "addrs": [],
    }
    print_lookup({"n_found": 1, "found": [row]})
    said = capsys.readouterr().out
    assert said == f"192.0.2.1: router 3 of AS64496 {38 * chr(0x540D)}...\n"


def test_numbers_of_traces_that_nothing_shows_are_not_zero(capsys):
    row = {"addr": None, "candidate": False, "confidence": None, "host_name": None}
    row |= {"neighbor_asns": [9], "neighbor_n_direct": [0], "delay_ms": None}
    given = {"ingress": 70001, "n_direct": 0, "n_after_gap": 0}
    seen = {"ingress": 70002, "n_direct": 5, "n_after_gap": 0}
    one = {
        "asn": 7,
        "name": None,
        "node_kind": "router",
        "made_by": None,
        "measured": None,
        "as_links": [],
    }
    one |= dict.fromkeys(("n_nodes", "n_edges", "n_components", "n_ingresses"), 2)
    one |= dict.fromkeys(
        ("n_candidates", "n_silent", "n_unmapped", "n_entered_unseen", "n_may_hide_links"), 0
    )
    exits = [row | {"exit": 70003, "n_direct": 0}]
    print_as({"as": one | {"ingresses": [row | given, row | seen], "exits": exits}})
    out = capsys.readouterr().out.replace("\u2502", " ").splitlines()
    cells = {line.split()[0]: line.split()[1:] for line in out if line.split()[:1]}
    assert cells["70001"] == ["AS9", "-", "-", "-"]
    assert cells["70002"] == ["AS9", "5", "0", "-"]
    assert cells["70003"] == ["AS9", "-"]


def test_two_columns_are_never_called_ases(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    counts = ("n_ases", "n_nodes", "n_edges", "n_border_links", "n_ingresses", "n_candidates")
    facts = dict.fromkeys(counts, 3) | {"created": None, "synthetic": [], "fault": None}
    print_list([facts | {"snapshot": "map", "node_kind": "as"}])
    out = capsys.readouterr().out
    assert (out.count("ASes"), out.count("nodes")) == (1, 1)


def test_candidates_are_a_column_only_where_there_are_any(capsys, monkeypatch):
    """Topologies have none; lines do not say "0 candidates" either."""
    monkeypatch.setenv("COLUMNS", "200")
    for n_candidates in (0, 7):
        counts = ("n_ases", "n_nodes", "n_edges", "n_ingresses")
        facts = dict.fromkeys(counts, 3) | {"n_candidates": n_candidates, "n_border_links": 5}
        facts |= {"n_traces": 0, "n_silent": 0, "n_addrs": 0, "warnings": [], "created": None}
        facts |= {"snapshot": "map", "node_kind": "router", "fault": None, "synthetic": []}
        row = {"asn": 64496, "name": None, "n_components": 1} | dict.fromkeys(counts[1:], 3)
        print_list([facts])
        print_snapshot(facts | {"ases": [row | {"n_candidates": n_candidates}]})
        out = capsys.readouterr().out
        assert out.count("candidates") == (3 if n_candidates else 0)


def test_delays_of_ingresses_have_their_unit_and_their_basis(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    row = {"addr": None, "candidate": False, "confidence": None, "host_name": None}
    row |= {"neighbor_asns": [9], "neighbor_n_direct": [3], "n_direct": 3, "n_after_gap": 0}
    delay = {"delay_ms": 12.34, "delay_p25_ms": -0.5, "delay_p75_ms": 20.0}
    delay |= {"delay_n_traces": 3, "delay_n_vantages": 1, "delay_n_negative": 1}
    one = {
        "asn": 7,
        "name": None,
        "node_kind": "router",
        "made_by": None,
        "measured": None,
        "as_links": [],
    }
    one |= dict.fromkeys(("n_nodes", "n_edges", "n_components", "n_ingresses"), 2)
    one |= dict.fromkeys(
        ("n_candidates", "n_silent", "n_unmapped", "n_entered_unseen", "n_may_hide_links"), 0
    )
    none = dict.fromkeys(delay)
    rows = [row | delay | {"ingress": 70001}, row | none | {"ingress": 70002}]
    print_as({"as": one | {"ingresses": rows, "exits": []}})
    out = capsys.readouterr().out
    assert "delay," in out
    assert "12.3" in out
    assert "-0.50 to 20.0 (3 traces, 1 vantage point, 1 below 0)" in out
    print_as({"as": one | {"ingresses": rows[1:], "exits": []}})
    assert "delay" not in capsys.readouterr().out


def test_linked_ases_say_what_they_are_to_the_as_by_which_exchange_points(capsys):
    one = {"asn": 7, "name": None, "node_kind": "router", "made_by": None, "measured": None}
    one |= dict.fromkeys(("n_nodes", "n_edges", "n_components", "n_ingresses"), 2)
    one |= dict.fromkeys(
        ("n_candidates", "n_silent", "n_unmapped", "n_entered_unseen", "n_may_hide_links"), 0
    )
    link = {"n_traces": 5, "n_links": 1, "siblings": None, "relation": None, "ixps": None}
    links = [
        link | {"near_asn": 3, "far_asn": 7, "relation": "provider", "siblings": True},
        link | {"near_asn": 7, "far_asn": 9, "relation": "provider", "ixps": ["IX\u202e"]},
        link | {"near_asn": 7, "far_asn": 10},
    ]
    print_as({"as": one | {"ingresses": [], "exits": [], "as_links": links}})
    out = capsys.readouterr().out
    rows = {cells[0]: cells[1] for cells in _cells(out) if len(cells) > 1}
    assert {name: rows[name] for name in ("AS3", "AS9", "AS10")} == {
        "AS3": "provider, sibling",
        "AS9": "customer",
        "AS10": "not stated",
    }
    assert "IX\ufffd" in out


def _cells(out: str) -> list[list[str]]:
    lines = [line.strip("\u2502\u2503 ") for line in out.splitlines()]
    return [re.split(r"\s*[\u2502\u2503]\s*", line) for line in lines if line]
