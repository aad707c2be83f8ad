"""Why an address is where it is: counted by hand, kept in a snapshot, said in words."""

from __future__ import annotations

import contextlib
import json
import re

import numpy as np
import pytest

import hopscope
from pipeline.cli import main
from pipeline.config import IngestConfig, WhyConfig
from pipeline.errors import StoreError, UsageError
from pipeline.infer.rules import RULES
from pipeline.model.measured.reasons import OwnerReasons
from pipeline.model.words import confidence_class
from pipeline.report.tables.node_names import addr_texts
from pipeline.stages.contents.lookup import find
from pipeline.stages.contents.why import why
from pipeline.stages.ingest import ingest
from pipeline.store import open_snapshot
from pipeline.terminal.why import rated_text, router_lines
from tests.real_data import REPOSITORY

LAB = REPOSITORY / "data" / "samples" / "lab"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("why") / "store"
    for name, without in (("lab", ()), ("alone", ("two-vouchers", "single-voucher", "hosts"))):
        ingest(
            IngestConfig(
                inputs=(LAB,),
                store=folder,
                snapshot=name,
                ip2as=(LAB / "lab.pfx2as",),
                allow_special=("198.18.0.0/15",),
                without_rule=without,
            )
        )
    return folder


def asked(store, address, snapshot="lab"):
    return why(WhyConfig(address=address, store=store, snapshot=snapshot))


def test_the_as_is_the_one_that_costs_less_by_its_terms(store):
    with open_snapshot(store, "lab") as snapshot:
        reasons = snapshot.reasons()
        names = {rule.name for rule in RULES}
        assert set(reasons.owners.term) <= names
        n_decided = n_undercut = 0
        for row in range(len(reasons.owners)):
            terms = reasons.owners.terms_of(row)
            assert all(term.here != term.there for term in terms)
            assert all((term.here > 0) == (term.n_here > 0) for term in terms)
            assert all((term.there > 0) == (term.n_there > 0) for term in terms)
            if not reasons.owners.decided_by[row]:
                n_decided += 1
                if sum(term.there - term.here for term in terms) < -1e-9:
                    n_undercut += 1
                    addr, *_ = addr_texts(reasons.owners.addr[row : row + 1]).to_pylist()
                    (said, *_) = asked(store, addr)["sentences"]
                    assert "By itself it would be in AS" in said
        assert n_decided > 100
        # A router beside it was moved, as paths in a loop are mended, after it was decided.
        assert n_undercut <= 1


def test_every_joined_address_has_one_reason_and_the_smallest_of_a_router_none(store):
    with open_snapshot(store, "lab") as snapshot:
        reasons, table = snapshot.reasons(), snapshot.addresses()
        addr = np.stack([table[f"addr_{half}"].to_numpy() for half in ("high", "low")], axis=1)
        place = list(zip(table["asn"].to_pylist(), table["node"].to_pylist(), strict=True))
    joined = {tuple(row) for row in reasons.joins.addr.tolist()}
    routers = {}
    for one, at in zip(map(tuple, addr.tolist()), place, strict=True):
        routers.setdefault(at, []).append(one)
    several = [of for of in routers.values() if len(of) > 1]
    assert len(several) > 40
    for of in several:
        assert {one in joined for one in of[1:]} == {True}
        assert of[0] not in joined
    router_of = {one: at for at, of in routers.items() for one in of}
    pairs = zip(reasons.joins.addr.tolist(), reasons.joins.to.tolist(), strict=True)
    for one, to in ((tuple(one), tuple(to)) for one, to in pairs):
        assert router_of.get(one) == router_of.get(to)


def test_facts_and_sentences_say_the_same(store, capsys):
    facts = asked(store, "198.18.4.62")
    (owner,) = facts["owners"]
    assert (facts["asn"], owner["asn"], owner["second_asn"]) == (64496, 64496, 64497)
    total = sum(term["there"] - term["here"] for term in owner["terms"])
    assert owner["nats"] == pytest.approx(total)
    assert facts["sentences"][0].startswith(f"AS64496, not AS64497 ({owner['nats']:.1f} nats): in ")
    with pytest.raises(SystemExit):
        main(["why", "198.18.4.62", "--store", str(store), "--snapshot", "lab", "--json"])
    assert json.loads(capsys.readouterr().out) == facts
    with pytest.raises(SystemExit):
        main(["why", "198.18.4.62", "--store", str(store), "--snapshot", "lab"])
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"198.18.4.62: router {facts['node']} of AS64496"
    lines = [f"{label}: {text}" for label, text in router_lines(facts)]
    assert "Its router also has: 198.18.4.15, 198.18.4.17, 198.18.68.60" in lines
    assert printed[1 : 1 + len(lines)] == lines
    told = facts["sentences"]
    assert printed[1 + len(lines) :][: len(told)] == told
    assert "--list-rules" in printed[1 + len(lines) + len(told)]
    assert "`hopscope traces lab --address 198.18.4.62 --store" in " ".join(printed)


def test_each_reason_is_said_with_the_name_of_its_rule(store):
    facts = asked(store, "198.18.4.62")
    said = " ".join(facts["sentences"])
    named = {term["name"] for owner in facts["owners"] for term in owner["terms"]}
    named |= {join["rule"] for join in facts["joins"]}
    assert len(named) > 5
    assert named <= {rule.name for rule in RULES}
    assert [name for name in named if f"({name}" not in said] == []


def test_a_router_is_crossed_by_the_traces_that_show_it_each_counted_once(store):
    facts = asked(store, "198.18.4.62")
    shown = hopscope.open(store)["lab"].paths("198.18.4.62")
    assert facts["n_traces"] == sum(shown["n_traces"].to_pylist()) > 100
    assert facts["n_vantages"] == len(set(shown["vantage"].to_pylist())) > 1
    assert facts["nearest_vantage"] in shown["vantage"].to_pylist()


def test_links_ingress_and_exit_are_those_of_the_snapshot(store):
    facts = asked(store, "198.18.4.62")
    snapshot = hopscope.open(store)["lab"]
    one = snapshot[64496]
    inside = [
        (edge["head"] if edge["tail"] == facts["node"] else edge["tail"], edge["n_traces"])
        for edge in one.edges.to_pylist()
        if facts["node"] in (edge["tail"], edge["head"])
    ]
    own = [(link["node"], link["n_traces"]) for link in facts["links"] if link["asn"] == 64496]
    assert sorted(own) == sorted(inside)
    with open_snapshot(store, "lab") as stored:
        ends = [tuple(row.values()) for row in stored.borders().to_pylist()]
    here = (64496, facts["node"])
    across = [row for row in ends if here in (tuple(row[:2]), tuple(row[2:4]))]
    assert len(facts["links"]) == len(own) + len(across)
    assert across
    counts = [link["n_traces"] for link in facts["links"]]
    assert counts == sorted(counts, reverse=True)
    (entry,) = [row for row in one.ingresses.to_pylist() if row["ingress"] == facts["node"]]
    assert facts["ingress"]["n_direct"] == entry["n_direct"]
    assert {each["asn"] for each in facts["ingress"]["neighbors"]} == set(entry["neighbor_asns"])
    (exit_,) = [row for row in one.exits.to_pylist() if row["exit"] == facts["node"]]
    assert facts["exit"]["n_direct"] == exit_["n_direct"]


def test_first_and_last_night_are_of_the_same_vantage_points(store, tmp_path):
    tables = {"ip2as": (LAB / "lab.pfx2as",), "allow_special": ("198.18.0.0/15",)}
    nights = {"2026-01-01": "1", "2026-01-02": "12", "2026-01-03": "3", "2026-01-04": "2"}
    for name, hosts in nights.items():
        files = tuple(LAB / f"h{host}.icmp-paris.warts.gz" for host in hosts)
        ingest(IngestConfig(inputs=files, store=tmp_path, snapshot=name, **tables))
    facts = asked(tmp_path, "198.18.4.57", "2026-01-02")
    seen = []
    for name in nights:
        with open_snapshot(tmp_path, name) as night:
            if name != "2026-01-03" and any(len(find(night, addr)) for addr in facts["addrs"]):
                seen.append(name)
    kept = {"first": seen[0], "last": seen[-1], "n_seen": len(seen), "n_nights": 3}
    assert facts["nights"] == kept
    assert "2026-01-02" in seen
    assert asked(store, "198.18.4.62")["nights"] is None  # its name is not a date


def test_a_class_of_confidence_is_said_with_what_it_means(store, capsys):
    facts = asked(store, "198.18.4.62")
    assert facts["confidence_class"] == confidence_class(facts["confidence"]) == "strong"
    assert rated_text(0.8281, "weak") == (
        "0.82, weak: of such, 82 in 100 were right in simulated networks"
    )


def test_what_is_left_out_is_no_reason_and_is_kept_with_the_snapshot(store):
    with open_snapshot(store, "alone") as snapshot:
        reasons = snapshot.reasons()
        assert sorted(snapshot.manifest["options"]["without_rule"]) == sorted(
            ["two-vouchers", "single-voucher", "hosts"]
        )
    assert not {"two-vouchers", "single-voucher"} & set(reasons.joins.rule)
    assert "hosts" not in set(reasons.owners.term)
    with open_snapshot(store, "lab") as snapshot:
        reasons = snapshot.reasons()
    assert {"two-vouchers", "single-voucher"} <= set(reasons.joins.rule)
    assert "hosts" in set(reasons.owners.term)


def test_an_address_that_nobody_answered_from_has_no_reasons(store):
    with pytest.raises(UsageError, match=r"203\.0\.113\.9 is in no AS of snapshot lab"):
        asked(store, "203.0.113.9")


def test_an_unknown_address_names_those_around_it_and_their_as(store, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["why", "198.18.4.99", "--store", str(store), "--snapshot", "lab"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert re.search(r"of 198\.18\.4\.0/24 \d+ addresses are known, in AS64496 \(\d+\)", said)
    assert "nearest: 198.18.4.69, " in said


def test_lookup_and_show_name_the_command(store, capsys):
    for words in (["lookup", "198.18.4.62", "--snapshot", "lab"], ["show", "lab", "AS64496"]):
        with contextlib.suppress(SystemExit):
            main([*words, "--store", str(store)])
        assert "`hopscope why 198.18.4.62 --snapshot lab --store" in capsys.readouterr().out


def test_a_snapshot_without_an_election_says_so(tmp_path):
    given = {"inputs": (LAB,), "store": tmp_path, "snapshot": "plain", "borders": "prefix"}
    tables = {"ip2as": (LAB / "lab.pfx2as",), "allow_special": ("198.18.0.0/15",)}
    ingest(IngestConfig(**given, **tables))
    facts = asked(tmp_path, "198.18.4.62", "plain")
    assert facts["owners"] == facts["joins"] == []
    (said,) = facts["sentences"]
    assert said.startswith("Snapshot plain keeps no reasons: ")
    assert facts["links"]
    assert facts["n_traces"]
    assert facts["confidence"] is None


def test_a_name_that_no_rule_has_is_refused_before_anything_is_read(tmp_path):
    given = {"inputs": (LAB,), "store": tmp_path, "ip2as": (LAB / "lab.pfx2as",)}
    with pytest.raises(UsageError, match="no rule is named 'host'"):
        ingest(IngestConfig(**given, without_rule=("host",)))
    assert not list(tmp_path.iterdir())


def test_lists_of_different_lengths_are_an_error_that_names_the_file(store):
    with open_snapshot(store, "lab") as snapshot:
        table = snapshot.reasons().owners.table()
    shorter = table["here"].combine_chunks().slice(0, len(table))
    lists = shorter.to_pylist()
    lists[next(i for i, each in enumerate(lists) if each)].pop()
    wrong = table.set_column(table.column_names.index("here"), "here", [lists])
    with pytest.raises((ValueError, StoreError), match="lists here are not as long as its terms"):
        OwnerReasons.from_table(wrong)
