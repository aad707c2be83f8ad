"""A snapshot against its truth: the figures of what was inferred, and what is said of others."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter

import pytest

import hopscope
from pipeline.cli import main
from pipeline.config import IngestConfig, JudgeConfig
from pipeline.errors import UsageError
from pipeline.judge import TRUTH, load_truth
from pipeline.judge.observing import measurements_of
from pipeline.judge.stored import topology_of
from pipeline.model.addresses import format_addrs
from pipeline.stages.ingest import ingest
from pipeline.stages.judge import judge
from pipeline.store import open_snapshot
from tests.oracles.truth import LAB_RANGES, judge_lab, open_lab
from tests.real_data import REPOSITORY

LAB = REPOSITORY / "data" / "samples" / "lab"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judge") / "store"
    ingest(
        IngestConfig(
            inputs=tuple(measurements_of(LAB)),
            store=folder,
            snapshot="lab",
            ip2as=(LAB / "lab.pfx2as",),
            allow_special=LAB_RANGES,
        )
    )
    return folder


def said(capfd, *words):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words)])
    return ended.value.code or 0, *capfd.readouterr()


def shares(facts):
    return {name: (one["right"], one["of"]) for name, one in facts["figures"].items()}


def test_a_stored_snapshot_has_the_figures_of_what_was_inferred(store):
    with open_lab(LAB) as lab:
        found = judge_lab(lab, routers="inferred")
    facts = judge(JudgeConfig(store, LAB))
    assert shares(facts) == {
        "ingresses": (found.ingresses_right, found.ingresses),
        "routers": (found.routers_right, found.routers),
        "borders": (found.borders_found, found.borders_visible),
        "ases": (found.ases_found, found.ases_visible),
        "addresses": (found.addrs_right, found.addrs),
        "links_right": (found.links_found, found.links_judged),
        "links_right_past_tunnels": (found.plain_links_right, found.plain_links),
        "links_found": (found.links_found, found.links_visible),
        "alias_pairs_right": (found.alias_pairs_right, found.alias_pairs),
        "alias_pairs_found": (found.alias_pairs_found, found.alias_pairs_visible),
        "hops": (found.hops_equal, found.hop_pairs),
        "hops_past_tunnels": (found.past_equal, found.past_pairs),
        "hops_at_best": (found.best_equal, found.best_pairs),
    }
    assert facts["hops"]["mean_excess"] == found.hops_excess
    assert facts["left_out"]["candidates"] == found.candidates
    assert {one["standard_error"] for one in facts["figures"].values()} - {None}
    assert sum(one["n"] for one in facts["confidence"]) == sum(one.n for one in found.rated)
    assert facts["warnings"] == []


def test_without_traces_beside_the_truth_those_count_that_the_snapshot_keeps(store):
    beside, kept = judge(JudgeConfig(store, LAB)), judge(JudgeConfig(store, LAB / TRUTH))
    assert kept["traces"]["source"] == "kept by the snapshot"
    assert kept["traces"]["n"] < beside["traces"]["n"]
    # This snapshot is too small to keep a trace of every link.
    more, less = shares(beside), shares(kept)
    assert all(less[name][1] <= more[name][1] for name in more)
    assert all(less[name] == more[name] for name in ("ingresses", "borders", "ases", "hops"))
    (warning,) = kept["warnings"]
    assert f"the {kept['traces']['n']:,} kept of {beside['traces']['n']:,} traces" in warning


def test_a_truth_of_another_night_is_told(store, tmp_path):
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    place = tmp_path / "lab"
    place.mkdir()
    shutil.copy(LAB / TRUTH, place)
    assert not [each for each in judge(JudgeConfig(copy, place))["warnings"] if "newest" in each]
    ingest(
        IngestConfig(
            inputs=(LAB / "h0.icmp-paris.warts.gz",),
            store=copy,
            snapshot="later",
            ip2as=(LAB / "lab.pfx2as",),
            allow_special=LAB_RANGES,
        )
    )
    for truth in (place, place / TRUTH):
        warning, *_ = judge(JudgeConfig(copy, truth))["warnings"]
        assert warning.startswith("the newest snapshot, later, is judged; the truth is in a folder")
        assert "--snapshot lab judges that one" in warning
    told = judge(JudgeConfig(copy, place, snapshot="later"))["warnings"]
    assert not [each for each in told if "newest" in each]


def test_given_traces_say_what_can_be_found(store):
    one = LAB / "h0.icmp-paris.warts.gz"
    facts = judge(JudgeConfig(store, LAB, traces=(one,)))
    assert facts["traces"]["source"] == "that were given"
    assert (
        0
        < facts["figures"]["borders"]["of"]
        < judge(JudgeConfig(store, LAB))["figures"]["borders"]["of"]
    )


def test_errors_are_listed_by_kind(store, tmp_path, capfd):
    path = tmp_path / "errors.csv"
    status, out, _ = said(capfd, "judge", store, LAB, "--errors", path, "--json")
    facts = json.loads(out)
    assert status == 0
    with path.open() as file:
        rows = list(csv.DictReader(file))
    counted = Counter((row["what"], row["kind"]) for row in rows)
    assert {(one["what"], one["kind"]): one["n"] for one in facts["errors"]["kinds"]} == counted
    ingresses, addresses = facts["figures"]["ingresses"], facts["figures"]["addresses"]
    n = Counter(row["what"] for row in rows)
    assert n["ingress"] == ingresses["of"] - ingresses["right"] > 0
    assert n["address"] == addresses["of"] - addresses["right"]
    assert all(row["kind"] and (row["addr"] or row["router"]) for row in rows)


def test_errors_replace_no_file_but_a_table_of_errors(store, tmp_path, capfd):
    owners = owners_of(store, tmp_path / "owners.csv")
    before = owners.read_bytes()
    for path in (owners, tmp_path / "truth.json"):
        path.write_bytes(before)
        status, out, err = said(capfd, "judge", owners, LAB, "--errors", path)
        assert (status, out) == (2, "")
        assert f"{path.name} is there already, and is no table of errors" in " ".join(err.split())
        assert path.read_bytes() == before
    errors = tmp_path / "errors.csv"
    for _ in range(2):
        assert said(capfd, "judge", owners, LAB, "--errors", errors)[0] == 0
        assert errors.read_text().startswith("what,kind,addr,router,asn,true_asn,")


def test_a_kit_in_caidas_form_that_is_all_true_is_judged_so(tmp_path):
    truth = load_truth(LAB)
    number = {router: i for i, router in enumerate(truth.asn_of, 1)}
    own = {router: [] for router in number}
    for addr, router in truth.router_of.items():
        own[router].append(addr)
    (tmp_path / "midar-iff.nodes").write_text(
        "# format: node <node_id>:   <i1>   <i2>   ...   <in>\n"
        + "".join(f"node N{number[each]}:  {' '.join(own[each])} \n" for each in number)
        + "node N900001:  224.0.0.1 \nnode N900002:  0.1.2.3 \n"  # CAIDA's placeholders
    )
    (tmp_path / "midar-iff.nodes.as").write_text(
        "".join(f"node.AS N{number[each]} {asn} origins\n" for each, asn in truth.asn_of.items())
    )
    ends = [sorted(number[each] for each in link) for link in truth.links]
    (tmp_path / "midar-iff.links").write_text(
        "".join(f"link L{i}:  N{one} N{other} \n" for i, (one, other) in enumerate(ends))
        + "link L999999:  N900001:224.0.0.1 N900002 \n"
    )
    facts = judge(JudgeConfig(tmp_path / "midar-iff.links", LAB))
    assert facts["addresses"]["stated"] == facts["addresses"]["known"] == len(truth.router_of)
    figures = {name: one for name, one in facts["figures"].items() if one["of"]}
    assert figures.keys() >= {"ingresses", "borders", "addresses", "links_right", "links_found"}
    del figures["hops_at_best"]  # says what traces show
    assert {one["share"] for one in figures.values()} == {1.0}
    assert facts["errors"]["kinds"] == []


def test_the_figures_are_printed_with_what_they_are_of(store, capfd):
    status, out, err = said(capfd, "judge", store, LAB)
    facts = judge(JudgeConfig(store, LAB))
    assert status == 0
    assert err == "" or "hopscope:" not in err
    one = facts["figures"]["ingresses"]
    line = next(line for line in out.splitlines() if "ingresses right (P)" in line)
    assert f"{one['share']:.3f}" in line
    assert str(one["of"]) in line


def test_the_truth_of_another_network_is_told_first(store, tmp_path, capfd):
    (tmp_path / TRUTH).write_text(
        json.dumps({"asn_of": {"r": 1}, "loopback": {"r": "203.0.113.1"}, "links": []})
    )
    status, out, err = said(capfd, "judge", store, tmp_path)
    assert (status, out) == (2, "")
    assert "it is the truth of another network" in err
    truth = json.loads((LAB / TRUTH).read_text())
    few = dict(list(truth["loopback"].items())[:3])
    (tmp_path / TRUTH).write_text(json.dumps(truth | {"links": [], "loopback": few}))
    facts = judge(JudgeConfig(store, tmp_path))
    assert "is it the truth of this network?" in facts["warnings"][0]


def test_what_has_no_addresses_is_refused_with_the_option_that_names_another(tmp_path, capfd):
    store = tmp_path / "store"
    assert said(capfd, "generate", "ba", "--routers", 50, "--asn", 7, "--store", store)[0] == 0
    status, out, err = said(capfd, "judge", store, LAB)
    assert (status, out) == (2, "")
    assert "has no addresses" in err
    assert "--snapshot names another one of the store" in err


def test_errors_go_to_a_file(store, tmp_path):
    with pytest.raises(UsageError, match="is a folder"):
        judge(JudgeConfig(store, LAB, errors=tmp_path))


def owners_of(store, path, change=lambda asn: asn):
    """Addresses of a snapshot and their ASes, as a table."""
    with open_snapshot(store) as snapshot:
        topology = topology_of(snapshot)
    asn = topology.node_asn[topology.addr_node].tolist()
    texts = format_addrs(topology.addrs)
    rows = zip(texts, map(change, asn), topology.addr_node.tolist(), strict=True)
    path.write_text("".join(f"{text},{one},n{node}\n" for text, one, node in rows))
    return path


def test_what_a_method_does_not_say_has_a_reason(store, tmp_path):
    owners = owners_of(store, tmp_path / "owners.csv")
    facts, own = judge(JudgeConfig(owners, LAB)), judge(JudgeConfig(store, LAB))
    found, ours = shares(facts), shares(own)
    for name in ("ingresses", "borders", "addresses", "alias_pairs_right", "alias_pairs_found"):
        assert found[name] == ours[name]
    for name in ("links_right", "links_found", "hops", "hops_at_best"):
        assert found[name] == (None, None)
        assert facts["figures"][name]["reason"] == "the output says nothing of links"
    assert facts["judged"]["method"] == "CSV"
    assert facts["confidence"] == []


def test_an_exported_kit_has_the_figures_of_its_snapshot(store, tmp_path, capfd):
    path = tmp_path / "kit.links"
    assert said(capfd, "export", "lab", "--store", store, "--out", path, "--format", "itdk")[0] == 0
    found, ours = shares(judge(JudgeConfig(path, LAB))), shares(judge(JudgeConfig(store, LAB)))
    for name in ("links_right_past_tunnels", "hops_past_tunnels"):
        assert found.pop(name) == (None, None)
    assert found == {name: of for name, of in ours.items() if name in found}


def test_routers_without_owners_are_not_judged_by_owners(store, tmp_path, capfd):
    path = tmp_path / "kit.links"
    assert said(capfd, "export", "lab", "--store", store, "--out", path, "--format", "itdk")[0] == 0
    (tmp_path / "kit.nodes.as").unlink()
    facts, own = judge(JudgeConfig(path, LAB)), judge(JudgeConfig(store, LAB))
    figures = facts["figures"]
    for name in ("ingresses", "routers", "borders", "ases", "addresses", "hops", "links_found"):
        assert figures[name]["of"] is None
        assert figures[name]["reason"] == "the output says nothing of owners"
    assert shares(facts)["alias_pairs_right"] == shares(own)["alias_pairs_right"]
    assert {kind["what"] for kind in facts["errors"]["kinds"]} <= {"router"}


def test_wrong_owners_cost_what_they_are(store, tmp_path):
    right = judge(JudgeConfig(owners_of(store, tmp_path / "right.csv"), LAB))
    wrong = judge(JudgeConfig(owners_of(store, tmp_path / "wrong.csv", lambda asn: 64499), LAB))
    assert wrong["figures"]["ingresses"]["of"] == 0
    assert wrong["figures"]["ingresses"]["reason"] == "it states no ingress"
    assert wrong["figures"]["borders"]["right"] == 0 < right["figures"]["borders"]["right"]
    assert wrong["figures"]["addresses"]["share"] < 0.5


def test_without_traces_owners_are_judged_alone(store, tmp_path):
    owners = owners_of(store, tmp_path / "owners.csv")
    facts = judge(JudgeConfig(owners, LAB / TRUTH))
    assert facts["traces"] == {"source": None, "n": 0}
    assert facts["figures"]["ingresses"]["reason"] == "no traces say where ASes are entered"
    assert facts["figures"]["addresses"]["of"] == facts["addresses"]["known"]


def test_a_part_of_a_network_judges_that_part(store, tmp_path, capfd):
    whole = load_truth(LAB)
    own = {router for router, asn in whole.asn_of.items() if asn == 64496}
    (tmp_path / "addresses.csv").write_text(
        "address,router,asn\n"
        + "".join(f"{a},{r},64496\n" for a, r in whole.router_of.items() if r in own)
    )
    facts = hopscope.open(store)["lab"].judge(tmp_path)
    assert facts["figures"]["ingresses"]["share"] is None
    assert 0 < facts["figures"]["addresses"]["of"] < facts["addresses"]["stated"]
    links = [sorted(link, key=lambda one: one not in own) for link in whole.links]
    (tmp_path / "links.csv").write_text(
        "".join(
            f"{one},{other if other in own else f'AS{whole.asn_of[other]}'}\n"
            for one, other in links
            if one in own
        )
    )
    facts = hopscope.open(store)["lab"].judge(tmp_path)
    of_whole = judge(JudgeConfig(store, LAB))["figures"]["ingresses"]
    assert 0 < facts["figures"]["ingresses"]["of"] < of_whole["of"]
    assert facts["left_out"]["ingresses_not_judged"] > 0
    status, out, _ = said(capfd, "judge", store, tmp_path)
    assert status == 0
    assert "at unknown routers" in out
    assert "Not said: border routers found (R), ASes entered (no border of known" in out


def test_a_file_has_no_snapshots(store, tmp_path, capfd):
    owners = owners_of(store, tmp_path / "owners.csv")
    status, _, err = said(capfd, "judge", owners, LAB, "--snapshot", "lab")
    assert status == 2
    assert "is no store" in err
    (tmp_path / "empty").mkdir()
    for nothing in ("nothing", "empty"):
        status, _, err = said(capfd, "judge", tmp_path / nothing, LAB)
        assert status == 2
        assert "no snapshot here" in err


def test_a_file_that_is_mostly_broken_is_named_and_ends_with_1(store, tmp_path, capfd):
    owners = owners_of(store, tmp_path / "owners.csv")
    owners.write_text(owners.read_text() + "x,1\n" * 10)
    status, _, err = said(capfd, "judge", owners, LAB)
    assert status == 0
    assert "owners.csv: 10 broken records rejected: not an address (10)" in err
    owners.write_text(owners.read_text() + "x,1\n" * 1000)
    status, out, err = said(capfd, "judge", owners, LAB, "--json")
    assert status == 1
    assert "1,010 of 1,316 records rejected (76 %): not an address (1010)" in err
    assert json.loads(out)["complete"] is False


def test_traces_that_are_cut_short_are_used_to_the_fault(store, tmp_path, capfd):
    cut = tmp_path / "h1.warts.gz"
    cut.write_bytes((LAB / "h1.icmp-paris.warts.gz").read_bytes()[:-2000])
    status, out, err = said(capfd, "judge", store, LAB, "--traces", cut, "--json")
    assert status == 1
    assert "h1.warts.gz: " in err
    assert json.loads(out)["traces"]["n"] > 0


def test_what_is_read_and_compared_is_told(store):
    steps = []
    judge(JudgeConfig(store, LAB), steps.append)
    n_files = len(list(measurements_of(LAB)))
    read = [each for each in steps if each.stage == "read"]
    assert [(read[0].done, read[-1].done)] == [(0, n_files)]
    assert {each.total for each in read} == {n_files}
    assert [each.done for each in steps if each.stage == "compare"] == [0, 1, 2, 3]
    kept: list = []
    judge(JudgeConfig(store, LAB / TRUTH), kept.append)
    assert [(each.stage, each.unit) for each in kept[:2]] == [("read", "traces")] * 2
