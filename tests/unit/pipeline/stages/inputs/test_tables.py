"""Tables beside the inputs: what of them reaches the inference, and what refuses a run."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from pipeline.config import IngestConfig
from pipeline.errors import UsageError
from pipeline.stages.ingest import ingest
from pipeline.stages.inputs.tables import files_text, read_tables
from pipeline.stages.warnings import CONFLICTS, input_warnings
from tests.real_data import REPOSITORY

GOOD = {
    "as_rel": "1|2|-1\n",
    "as2org": "1 a\n2 a\n",
    "ixp": "195.42.144.0/23 France-IX 51706\n",
    "delegated": "lab|ZZ|asn|1|1|2020|allocated|a\n",
}


def config(tmp_path, **texts) -> IngestConfig:
    given = {}
    for name, text in texts.items():
        path = tmp_path / f"{name}.txt"
        path.write_text(text)
        given[name] = (path,) if name in ("delegated", "ixp") else path
    return IngestConfig(inputs=(tmp_path,), store=tmp_path / "store", **given)


def test_every_table_is_read_and_told(tmp_path):
    given = config(tmp_path, **GOOD)
    tables = read_tables(given, needed=True)
    registries = tables.registries
    assert registries.relationships is not None
    assert registries.organisations is not None
    assert registries.delegations is not None
    assert registries.exchanges is not None
    assert [(r.format, r.status, r.n_records) for r in tables.reports] == [
        ("as-rel", "ok", 1),
        ("as2org", "ok", 2),
        ("delegated", "ok", 1),
        ("exchange points", "ok", 1),
    ]
    assert all(len(report.sha256) == 64 for report in tables.reports)
    assert {path.name for path in given.tables} == {f"{name}.txt" for name in GOOD}


def test_files_may_come_in_a_list(tmp_path):
    given = config(tmp_path, ixp=GOOD["ixp"])
    given = replace(given, ixp=list(given.ixp))
    assert read_tables(given, needed=True).reports[0].n_records == 1


@pytest.mark.parametrize("option", GOOD)
def test_a_table_that_says_nothing_is_refused(tmp_path, option):
    given = config(tmp_path, **{option: json.dumps([1, 2])})
    with pytest.raises(UsageError, match=rf"{option}\.txt: no .*; give "):
        read_tables(given, needed=True)
    assert read_tables(given, needed=False).reports[0].status == "rejected"


EMPTY = {
    "as2org": "# format:aut|changed|aut_name|org_id|opaque_id|source\n",
    "ixp": '{"ixpfx": {"data": []}, "netixlan": {"data": []}}',
    "delegated": "2|lab|20261122|0|19830705|20261121|+0100\n",
    "as_names": "{}",
}


def test_a_valid_table_without_entries_is_said_and_the_run_goes_on(tmp_path):
    given = config(tmp_path, **EMPTY)
    done = ingest(replace(given, inputs=(ATLAS,), asn=5, allow_special=SPECIAL))
    assert done.complete
    for path in given.tables:
        assert f"{path}: a valid table, but holds no entries" in done.warnings
    (unused,) = [w for w in done.warnings if w.startswith("options without effect")]
    assert all(
        flag in unused for flag in ("--as2org (", "--ixp (", "--delegated (", "--as-names (")
    )


def test_what_a_table_skips_is_said_if_nothing_is_left(tmp_path):
    given = config(tmp_path, delegated="lab||ipv4|5.0.0.0|256||available|\n")
    (report,) = read_tables(given, needed=True).reports
    row = vars(report) | {"holds": "table"}
    said = f"{report.path}: a valid table, but nothing in it is used: available (1)"
    assert said in input_warnings([row])


ATLAS = REPOSITORY / "data" / "samples" / "atlas" / "results.jsonl"
SPECIAL = ("198.51.100.0/24", "203.0.113.0/24")  # where the sample's addresses lie
OF_OTHERS = GOOD | {
    "aliases": "node N1:  9.9.9.1 9.9.9.2\n",
    "delegated": "lab|ZZ|ipv4|9.9.9.0|256|2020|allocated|a\n",
}


def test_tables_that_say_nothing_about_the_traces_are_named(tmp_path):
    given = config(tmp_path, **OF_OTHERS)
    given = replace(given, inputs=(ATLAS,), asn=5, allow_special=SPECIAL)
    (warning,) = [w for w in ingest(given).warnings if w.startswith("options without effect")]
    assert warning == (
        "options without effect: "
        f"--aliases (has 0 of 3 addresses of routers: {given.aliases}, 1 record); "
        f"--as-rel (names 0 of 1 AS: {given.as_rel}, 1 record); "
        f"--as2org (names 0 of 1 AS: {given.as2org}, 2 records); "
        "--delegated (its blocks have 0 of 3 addresses of routers: "
        f"{given.delegated[0]}, 1 record); "
        f"--ixp (its LANs have 0 of 5 addresses: {given.ixp[0]}, 1 record)"
    )
    (tmp_path / "as_rel.txt").write_text("5|6|-1\n")
    (tmp_path / "as2org.txt").write_text("5 a\n")
    (warning,) = [w for w in ingest(given).warnings if w.startswith("options without effect")]
    assert "--as-rel" not in warning
    assert "--as2org" not in warning


REGISTRY = "route: 198.51.100.0/24\norigin: AS64500\n"
FOREIGN = "objects of a routing registry, not a prefix table; convert them: "


def prefix_tables(tmp_path, **texts):
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    paths = tuple(tmp_path / name for name in texts)
    return replace(config(tmp_path), inputs=(ATLAS,), ip2as=paths, allow_special=SPECIAL)


def test_a_wrong_prefix_table_is_named_beside_one_that_is_right_but_maps_nothing(tmp_path):
    given = prefix_tables(tmp_path, wrong=REGISTRY, v6="2600::\t32\t1\n")
    with pytest.raises(UsageError) as caught:
        ingest(given)
    said = str(caught.value)
    assert said.index(f"{given.ip2as[0]}: {FOREIGN}") < said.index("no prefix table covers")
    assert (
        f"fix this: a table that can be read whole in place of {given.ip2as[0]} (--ip2as)" in said
    )
    assert "newer" not in said


def test_a_file_that_could_not_be_read_is_named_beside_a_table_that_could_not(tmp_path):
    given = prefix_tables(tmp_path, wrong=REGISTRY, v6="2600::\t32\t1\n")
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(gzip.compress(ATLAS.read_bytes())[:-40])
    with pytest.raises(UsageError) as caught:
        ingest(replace(given, inputs=(ATLAS, cut)))
    said = str(caught.value)
    assert said.count(str(cut)) == said.count(FOREIGN) == 1


def test_a_wrong_prefix_table_costs_the_status_and_is_the_remedy_beside_one_that_maps(tmp_path):
    given = prefix_tables(tmp_path, wrong=REGISTRY, v4="198.51.100.0\t24\t64500\n")
    done = ingest(replace(given, allow_special=(*SPECIAL, "192.0.2.0/24")))
    assert not done.complete
    low, *_ = done.warnings
    assert "to fix this: " in low
    assert f"in place of {given.ip2as[0]} (--ip2as)" in low
    assert any(f"rejected file: {given.ip2as[0]}: {FOREIGN}" in line for line in done.warnings)


OF_MANY = {
    "ip2as": "198.51.100.0\t24\t64500\n",
    "ixp": GOOD["ixp"],
    "delegated": GOOD["delegated"],
    "host_names": "198.51.100.1 a.example.net\n",
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("option", OF_MANY)
def test_each_of_several_tables_is_judged_by_itself(tmp_path, option, first):
    good, wrong = tmp_path / "good", tmp_path / "wrong"
    good.write_text(OF_MANY[option])
    wrong.write_text("<html>\n")
    given = replace(config(tmp_path), inputs=(ATLAS,), asn=5, allow_special=SPECIAL)
    done = ingest(replace(given, **{option: (wrong, good) if first else (good, wrong)}))
    assert not done.complete
    status = {report.path: report.status for report in done.reports}
    assert (status[str(good)], status[str(wrong)]) == ("ok", "rejected")
    assert any(line.startswith(f"rejected file: {wrong}: ") for line in done.warnings)


def test_several_tables_of_an_option_are_counted_without_those_that_are_refused(tmp_path):
    given = config(tmp_path, delegated=OF_OTHERS["delegated"])
    (tmp_path / "junk").write_text("junk\n")
    (tmp_path / "more").write_text("lab|ZZ|asn|1|1|2020|allocated|a\n" * 1000)
    files = (tmp_path / "junk", *given.delegated, tmp_path / "more")
    read = read_tables(replace(given, delegated=files), needed=True).read
    assert files_text(read["--delegated"]) == f"{files[1]} and 1 more file, 1,001 records"


@pytest.mark.parametrize(
    ("option", "text", "note"),
    [
        (
            "aliases",
            "node N1: 9.9.9.1 9.9.9.2\nnode N2: 9.9.9.1 9.9.9.3\n",
            "address of two nodes",
        ),
        ("as_rel", "1|2|-1\n1|2|0\n", "listed again with another relationship"),
        ("as2org", "1 a\n1 b\n", "ASes of two organisations"),
        (
            "delegated",
            "lab|ZZ|ipv4|9.9.9.0|256|2020|allocated|a\nlab|ZZ|ipv4|9.9.9.0|256|2020|allocated|b\n",
            "blocks of two holders",
        ),
        ("ixp", "9.9.9.0/24 A 1\n9.9.9.0/24 B 1\n", "LANs listed again with another name"),
    ],
)
def test_entries_that_contradict_one_another_are_counted_in_a_warning(tmp_path, option, text, note):
    (report,) = read_tables(config(tmp_path, **{option: text}), needed=True).reports
    row = {"path": report.path, "holds": "table", "notes": dict(report.notes)}
    (line,) = input_warnings([row])
    assert line == f"{report.path} contradicts itself: {note} (1; {CONFLICTS[note]})"


@pytest.mark.parametrize(
    ("option", "text"),
    [("ip2as", "20.1.0.0\t16\t{}\n"), ("delegated", "lab|ZZ|ipv4|9.9.9.0|256|2020|allocated|{}\n")],
)
def test_tables_that_contradict_one_another_are_both_named(tmp_path, option, text):
    paths = tuple(tmp_path / str(k) for k in (1, 2, 3))
    for path in paths[:2]:
        path.write_text(text.format(path.name))
    paths[2].write_text("junk\n")  # rejected, so nothing of it contradicts anything
    given = replace(config(tmp_path, **GOOD), **{option: paths})
    reports = read_tables(given, needed=True).reports
    rows = [vars(report) | {"holds": "table"} for report in reports]
    line = next(line for line in input_warnings(rows) if "one another" in line)
    assert line.startswith(f"{paths[0]} and {paths[1]} contradict one another, or themselves: ")


def test_options_that_only_an_election_uses_are_named_without_one(tmp_path):
    given = config(tmp_path, **GOOD | {"as_rel": "5|6|-1\n", "as2org": "5 a\n"})
    given = replace(given, ixp=(), inputs=(ATLAS,), asn=5, allow_special=SPECIAL)
    prefix = replace(given, borders="prefix")
    named = "options without effect: --delegated{} (only where borders are elected)"
    assert named.format("") in ingest(prefix).warnings
    both = named.format(", --routers inferred")
    assert both in ingest(replace(prefix, routers="inferred")).warnings
    assert not any(
        "elected" in line for line in ingest(replace(given, routers="inferred")).warnings
    )
    # What ASes are to each other is shown in any case.
    assert not any("--as-rel" in line for line in ingest(prefix).warnings)
