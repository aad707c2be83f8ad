"""What ingest reports of addresses without an AS, and that it never writes an empty snapshot."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from pipeline.cli import main
from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.errors import UsageError
from pipeline.model.measured.mapped import MappedShare
from pipeline.stages.analyze import analyze
from pipeline.stages.ingest import ingest
from pipeline.stages.inputs.unmapped import unmapped_text
from pipeline.stages.warnings import low_share_warnings
from pipeline.store import open_snapshot, snapshot_names
from pipeline.terminal.summaries import ingest_facts, print_ingest


def atlas(path: Path, *paths: list[str]) -> Path:
    """A file with one Atlas result per path of addresses; ``*`` for a hop without an answer."""
    lines = [
        {
            "type": "traceroute",
            "fw": 5020,
            "timestamp": 1_700_000_000,
            "src_addr": "20.9.9.9",
            "dst_addr": "20.8.8.8",
            "result": [
                {"hop": ttl, "result": [{"x": "*"} if addr == "*" else {"from": addr, "rtt": ttl}]}
                for ttl, addr in enumerate(addrs, start=1)
            ],
        }
        for addrs in paths
    ]
    path.write_bytes(b"\n".join(orjson.dumps(line) for line in lines) + b"\n")
    return path


def config(tmp_path: Path, *paths: list[str], **more) -> IngestConfig:
    table = tmp_path / "prefixes"
    table.write_text("20.1.0.0\t16\t1\n20.2.0.0\t16\t2\n")
    traces = atlas(tmp_path / "traces.jsonl", *paths)
    return IngestConfig(
        inputs=(traces,), store=tmp_path / "store", snapshot="today", ip2as=(table,), **more
    )


MAPPED = [f"20.{asn}.0.{i}" for asn in (1, 2) for i in range(1, 10)]  # 18 addresses


def test_the_mapped_share_is_always_reported(tmp_path, capsys):
    summary = ingest(config(tmp_path, MAPPED))
    assert summary.warnings == []
    assert (summary.n_addrs, summary.n_addrs_mapped) == (18, 18)
    print_ingest(summary)
    assert "18 of 18 addresses mapped or admitted (100.0 %)" in capsys.readouterr().out
    facts = ingest_facts(summary)
    assert (facts["n_addrs"], facts["n_addrs_mapped"]) == (18, 18)
    manifest = open_snapshot(tmp_path / "store").manifest
    assert manifest["counts"]["n_addrs"] == manifest["counts"]["n_addrs_mapped"] == 18
    assert manifest["warnings"] == []


def test_below_nine_tenths_the_first_warning_names_prefixes_and_what_helps(tmp_path):
    (tmp_path / "junk.warts").write_text("no warts\n")
    lost = ["198.18.0.1", "198.18.0.2", "20.5.0.1"]
    given = config(tmp_path, MAPPED, lost)
    summary = ingest(
        IngestConfig(**vars(given) | {"inputs": (*given.inputs, tmp_path / "junk.warts")})
    )
    first = summary.warnings[0]
    assert first.startswith("18 of 21 addresses mapped or admitted (85.7 %)")
    assert "198.18.0.0/24 (2), 20.5.0.0/24 (1)" in first
    covers = "and a prefix table that covers it (--ip2as) for 2"
    assert f"--allow-special 198.18.0.0/15 {covers}, a newer prefix table (--ip2as) for 1" in first
    assert len(summary.warnings) == 2
    assert open_snapshot(given.store).manifest["warnings"] == [first]
    analyzed = analyze(AnalyzeConfig(store=given.store, out=tmp_path / "out", pages=False))
    report = orjson.loads((analyzed.out / "report.json").read_bytes())
    assert report["warnings"][0] == first


def test_private_addresses_are_placed_by_what_is_around_them_not_by_a_remedy(tmp_path):
    private = [MAPPED[0], "10.0.0.1", "10.0.0.2", "192.168.0.1", MAPPED[1]]
    (first,) = ingest(config(tmp_path, MAPPED, private)).warnings
    where = "10.0.0.0/8 (2), 192.168.0.0/16 (1)"
    assert first == (
        "18 of 21 addresses mapped or admitted (85.7 %); private addresses, placed by the routers "
        f"around them: {where}"
    )
    (by_prefix,) = ingest(config(tmp_path, MAPPED, private, borders="prefix")).warnings
    assert by_prefix.endswith(f"; private addresses, in no AS: {where}")
    _replaced, both = ingest(config(tmp_path, MAPPED, private, ["20.5.0.1"])).warnings
    assert "; largest prefixes without an AS: 20.5.0.0/24 (1); private addresses" in both
    assert both.endswith("(1); to fix this: a newer prefix table (--ip2as) for 1")


def test_nine_tenths_are_enough(tmp_path):
    assert ingest(config(tmp_path, MAPPED, ["20.5.0.1", "20.5.0.2"])).warnings == []


def test_if_nothing_is_mapped_the_former_snapshot_is_kept(tmp_path):
    ingest(config(tmp_path, MAPPED))
    before = open_snapshot(tmp_path / "store")
    with pytest.raises(UsageError, match=r"0 of 2 addresses .*--allow-special 10\.0\.0\.0/8 and a"):
        ingest(config(tmp_path, ["10.0.0.1", "10.0.1.1"]))
    with pytest.raises(UsageError, match=r"10\.0\.0\.0/8 \(2\); to fix this: a newer prefix table"):
        ingest(config(tmp_path, ["10.0.0.1", "20.5.0.1", "10.0.1.1"]))
    after = open_snapshot(tmp_path / "store", "today")
    assert after.path == before.path
    assert after.asn.tolist() == [1, 2]
    assert list(snapshot_names(tmp_path / "store")) == ["today"]


def test_nothing_mapped_ends_with_status_2_and_no_snapshot(tmp_path, capsys):
    given = config(tmp_path, ["10.0.0.1", "10.0.1.1"])
    where = ["--ip2as", given.ip2as[0], "--store", given.store, "--out", tmp_path / "out"]
    for command in (["ingest", *where[:4]], ["run", *where], ["ingest", *where[:4], "--json"]):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in [command[0], *given.inputs, *command[1:]]])
        assert ended.value.code == 2
        printed = capsys.readouterr()
        assert "0 of 2 addresses mapped or admitted" in printed.err
        assert "--allow-special 10.0.0.0/8" in printed.err
        assert printed.out == ""
    assert list(snapshot_names(given.store)) == []
    assert not (tmp_path / "out").exists()


def test_a_low_share_is_the_first_warning_that_a_command_prints(tmp_path, capsys):
    given = config(tmp_path, MAPPED, ["198.18.0.1", "198.18.0.2", "20.5.0.1"])
    (tmp_path / "junk.warts").write_text("no warts\n")
    words = [*given.inputs, tmp_path / "junk.warts", "--ip2as", *given.ip2as]
    words += ["--store", given.store]
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in ["ingest", *words, *more]])
        assert ended.value.code == 1  # a file was rejected
        printed = capsys.readouterr()
        if more:
            facts = json.loads(printed.out)
            assert (facts["n_addrs"], facts["n_addrs_mapped"]) == (21, 18)
            first = facts["warnings"][0]
        else:
            assert "18 of 21 addresses mapped or admitted (85.7 %)" in printed.out
            both = " ".join(printed.err.split())
            assert both.index("18 of 21 addresses") < both.index("junk.warts")
            first = both
        assert "198.18.0.0/24 (2), 20.5.0.0/24 (1)" in first
        assert "--allow-special 198.18.0.0/15" in first


def test_a_run_warns_once(tmp_path, capsys):
    given = config(tmp_path, MAPPED, ["198.18.0.1", "198.18.0.2", "20.5.0.1"])
    words = [*given.inputs, "--ip2as", *given.ip2as, "--store", given.store]
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in ["run", *words, "--out", tmp_path / "out", "--no-pages"]])
    assert ended.value.code == 0
    printed = capsys.readouterr()
    assert printed.err.count("largest prefixes without an AS") == 1
    (written,) = tmp_path.glob("out/*/report.json")
    report = orjson.loads(written.read_bytes())
    assert sum("largest prefixes" in line for line in report["warnings"]) == 1


def test_an_admitted_range_that_no_table_holds_maps_to_no_as(tmp_path):
    with pytest.raises(
        UsageError,
        match=r"no prefix table covers any of the 2 addresses that answered, 2 admitted by "
        r"--allow-special but in no prefix table.*newer prefix table",
    ):
        ingest(config(tmp_path, ["10.0.0.1", "10.0.1.1"], allow_special=("10.0.0.0/8",)))
    assert not (tmp_path / "store" / "today").exists()


def admitted(tmp_path: Path, n: int) -> IngestConfig:
    """18 mapped addresses, and n of an admitted range that no table holds."""
    lost = [f"10.0.0.{i}" for i in range(1, n + 1)]
    return config(tmp_path, MAPPED, lost, allow_special=("10.0.0.0/8",))


def test_addresses_that_are_only_admitted_stand_beside_the_share_and_are_warned_of(
    tmp_path, capsys
):
    share = "48 of 48 addresses mapped or admitted (100.0 %), 30 of them in no prefix table"
    given = admitted(tmp_path, 30)
    words = ["--store", str(given.store), "--out", str(tmp_path / "out")]
    table, traces = str(given.ip2as[0]), str(given.inputs[0])
    runs = {
        "run": [
            traces,
            "--snapshot",
            "today",
            "--ip2as",
            table,
            "--allow-special",
            "10.0.0.0/8",
            *words,
        ],
        "analyze": words,
        "show": ["today", "--store", str(given.store)],
    }
    for command, given_words in runs.items():
        with pytest.raises(SystemExit) as ended:
            main([command, *given_words])
        assert ended.value.code == 0
        printed = capsys.readouterr()
        assert share in printed.out, command
        said = " ".join(printed.err.split())
        first = said.index(f"{share} (only admitted by --allow-special); largest prefixes")
        assert said.count("largest prefixes") == 1, command
        assert "to fix this: a newer prefix table (--ip2as) for 30" in said
        assert "no ingress" not in said or first < said.index("no ingress")
    with pytest.raises(SystemExit):
        main(["show", "today", "--store", str(given.store), "--json"])
    facts = json.loads(capsys.readouterr().out)
    names = ("n_addrs", "n_addrs_mapped", "n_addrs_in_no_table")
    assert [facts[name] for name in names] == [48, 48, 30]
    (written,) = tmp_path.glob("out/*/report.json")
    report = orjson.loads(written.read_bytes())
    assert [report["counts"][name] for name in names] == [48, 48, 30]
    assert report["warnings"][0].startswith(share)


def test_a_few_admitted_addresses_are_counted_without_a_warning(tmp_path, capsys):
    summary = ingest(admitted(tmp_path, 2))
    assert summary.warnings == []
    print_ingest(summary)
    shown = "20 of 20 addresses mapped or admitted (100.0 %), 2 of them in no prefix table"
    assert shown in capsys.readouterr().out
    assert ingest_facts(summary)["n_addrs_in_no_table"] == 2
    analyzed = analyze(AnalyzeConfig(store=tmp_path / "store", out=tmp_path / "out", pages=False))
    assert not any("prefix table" in line for line in analyzed.warnings)
    assert shown in analyzed.report.notes


def test_analyze_repeats_the_warning_of_a_low_share_first_and_of_older_snapshots_too():
    counts = {"n_addrs": 21, "n_addrs_mapped": 18}
    line = "18 of 21 addresses mapped or admitted (85.7 %); largest prefixes without an AS: none"
    older = {"counts": counts, "warnings": [line, "another"]}
    assert low_share_warnings(older) == [line]
    assert low_share_warnings(older | {"counts": counts | {"n_addrs_mapped": 21}}) == []
    assert low_share_warnings({"counts": counts, "warnings": ["another"]}) == []
    assert low_share_warnings({}) == []


def test_traces_without_any_answer_make_no_snapshot(tmp_path):
    with pytest.raises(UsageError, match="no address answered"):
        ingest(config(tmp_path, [], []))


def test_lans_that_hold_many_addresses_are_the_cause_that_is_named():
    text = unmapped_text(
        MappedShare(100, n_mapped=99, n_in_as=40, n_on_lan=59, n_on_wide_lan=58, n_unrouted=1)
    )
    assert text == (
        "99 of 100 addresses mapped or admitted (99.0 %), 59 on LANs of exchange points (--ixp), "
        "which are in no AS; to fix this: LANs with their true prefix lengths (--ixp) for 58, "
        "a newer prefix table (--ip2as) for 1"
    )


def test_addresses_on_a_lan_are_known_and_only_those_beside_it_need_its_length(tmp_path):
    lans = tmp_path / "lans.txt"
    lans.write_text("20.5.0.0/24\n")
    crossed = ["20.1.0.1", "20.1.0.2", "20.5.0.7", "20.2.0.1", "20.2.0.2"]
    assert ingest(config(tmp_path, crossed, ixp=(lans,))).warnings == []
    _replaced, line = ingest(config(tmp_path, [*crossed, "20.5.1.7"], ixp=(lans,))).warnings
    assert line.startswith("5 of 6 addresses mapped or admitted (83.3 %), 1 on LANs of exchange")
    assert line.endswith("; to fix this: LANs with their true prefix lengths (--ixp) for 1")
    lans.write_text("20.5.0.0/19\n")
    _replaced, line = ingest(config(tmp_path, crossed, ixp=(lans,))).warnings
    assert line.startswith("5 of 5 addresses mapped or admitted (100.0 %), 1 on LANs of exchange")
    assert line.endswith("; to fix this: LANs with their true prefix lengths (--ixp) for 1")


def test_an_ipv6_table_that_was_given_should_be_newer():
    lost = {"n_addrs": 5, "n_mapped": 2, "n_in_as": 2, "n_unrouted": 3, "n_unrouted_v6": 3}
    for has_table, which in ((True, "a newer IPv6"), (False, "an IPv6")):
        text = unmapped_text(MappedShare(**lost, has_v6_table=has_table))
        assert text.endswith(f"; to fix this: {which} prefix table (--ip2as) for 3")


def test_ranges_that_no_router_is_in_are_named_and_not_recommended():
    lost = {"n_addrs": 5, "n_mapped": 2, "n_in_as": 2, "of_no_router": (("127.0.0.0/8", 2),)}
    text = unmapped_text(MappedShare(**lost))
    assert text.endswith("(40.0 %); addresses that no router has: 127.0.0.0/8 (2)")
    text = unmapped_text(MappedShare(**lost, special=(("198.18.0.0/15", 1),)))
    assert text.endswith("127.0.0.0/8 (2); to fix this: --allow-special 198.18.0.0/15 for 1")


def test_special_ranges_beyond_the_first_are_counted():
    special = tuple((f"203.0.{i}.0/24", 9 - i) for i in range(5))
    text = unmapped_text(MappedShare(n_addrs=99, n_mapped=1, n_in_as=1, special=special))
    assert text.endswith(" 203.0.2.0/24 for 7, --allow-special with 2 more ranges for 11")
