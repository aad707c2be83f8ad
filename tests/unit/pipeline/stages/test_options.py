"""Options of commands: what they take, and those of ingest that have no effect on its inputs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.cli import main
from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.errors import UsageError
from pipeline.options import options_of
from pipeline.stages.ingest import ingest
from tests.unit.pipeline.stages.inputs.test_files import ATLAS, BRITE_WITHOUT_AS, SAMPLES, config

OPTIONS = {each.name: each for each in options_of(AnalyzeConfig)}


@pytest.mark.parametrize("text", ["²", "0", "-1", "1.5", "", "9" * 21])
def test_a_pack_size_is_a_number_of_ingresses(text):
    with pytest.raises(UsageError, match="--pack takes auto or a whole number from 1"):
        OPTIONS["pack"].parse(text, "--pack")


@pytest.mark.parametrize("text", ["", ","])
def test_no_as_at_all_is_not_every_as(text):
    with pytest.raises(UsageError, match="--asn takes AS numbers like 3356,1299"):
        OPTIONS["asns"].parse(text, "--asn")
    assert OPTIONS["asns"].parse([], "parameter asns") == ()


def test_no_metric_at_all_is_refused():
    with pytest.raises(UsageError, match="at least one"):
        OPTIONS["metrics"].parse(" ,", "--metrics")


@pytest.mark.parametrize(
    "option",
    [
        *("INPUT", "--store", "--out", "--ip2as", "--as-names", "--aliases"),
        *("--as-rel", "--delegated", "--ixp"),
    ],
)
def test_an_empty_path_is_not_the_current_folder(option, capsys):
    words = {"INPUT": "x", "--store": "s", "--out": "o", "--ip2as": "p"} | {option: ""}
    given = [f"{name}={value}" for name, value in words.items() if name != "INPUT"]
    with pytest.raises(SystemExit) as ended:
        main(["run", words["INPUT"], *given])
    assert ended.value.code == 2
    assert "(. is the current folder), not ''" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["1,2", "x", "-1", "0", "AS0", "4294967296", ""])
def test_the_as_of_inputs_is_one_number_and_the_other_meaning_is_explained(text, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", "x", "--store=s", "--out=o", f"--asn={text}"])
    assert ended.value.code == 2
    reported = capsys.readouterr().err
    assert "for inputs that name none" in reported
    assert "analyze --asn N,N" in reported


def test_an_as_for_inputs_that_all_name_theirs_is_reported_as_without_effect(tmp_path, prefixes):
    summary = ingest(config(tmp_path, ATLAS, ip2as=(prefixes,), asn=64501))
    (line,) = [line for line in summary.warnings if "options without effect: --asn 64501 (" in line]
    assert "hopscope analyze --asn 64501" in line
    used = ingest(config(tmp_path, ATLAS, asn=64501))
    assert not any("--asn" in line for line in used.warnings)


def test_options_without_effect_are_named_in_one_line(tmp_path, prefixes):
    names = tmp_path / "names"
    names.write_text("99|nobody\n")
    (tmp_path / "b.brite").write_bytes(BRITE_WITHOUT_AS)
    given = {"ip2as": (prefixes,), "bridge_gaps": True, "ingresses": 1, "as_names": names}
    topology = ingest(config(tmp_path, tmp_path / "b.brite", asn=7, **given))
    assert topology.warnings == [
        "options without effect: --ip2as, --allow-special, --bridge-gaps (only for traces, and no "
        f"input holds any); --as-names (names 0 of 1 AS: {names}, 1 record)"
    ]
    names.write_text("64500|one\n")
    traces = ingest(config(tmp_path, ATLAS, **given))
    (line,) = (line for line in traces.warnings if "without effect" in line)
    assert line.endswith(": --ingresses (only for topologies, and no input holds any)")


def test_ingresses_to_draw_where_every_as_has_some_are_reported(tmp_path):
    two = BRITE_WITHOUT_AS.replace(b"-1\tRT_NODE", b"7\tRT_NODE", 1)
    (tmp_path / "b.brite").write_bytes(two.replace(b"-1\tRT_NODE", b"8\tRT_NODE"))
    (tmp_path / "none.brite").write_bytes(BRITE_WITHOUT_AS)
    one = ingest(config(tmp_path, tmp_path / "b.brite", ingresses=3))
    (line,) = (line for line in one.warnings if "without effect" in line)
    assert "--ingresses 3 (only for ASes without an ingress, and all have some)" in line
    both = (tmp_path / "b.brite", tmp_path / "none.brite")
    drawn = ingest(config(tmp_path, *both, ingresses=3, asn=9))
    assert not any("--ingresses" in line for line in drawn.warnings)


def test_every_other_option_of_ingest_serves_all_inputs():
    serves_all = {each.name for each in options_of(IngestConfig) if not each.needs}
    of_both = {"inputs", "store", "snapshot", "format", "as_names", "asn", "workers"}
    assert serves_all == of_both


@pytest.mark.parametrize(("asn", "is_unused"), [(64500, True), (5, True), (None, False)])
def test_an_as_number_for_routers_that_all_name_one_has_no_effect(tmp_path, asn, is_unused):
    brite = SAMPLES / "brite" / "topdown_java.brite"
    summary = ingest(config(tmp_path, brite, asn=asn))
    assert any(f"--asn {asn} (only for inputs that name no AS" in w for w in summary.warnings) == (
        is_unused
    )


def test_an_as_number_for_routers_without_one_is_used(tmp_path):
    (tmp_path / "a.brite").write_bytes(BRITE_WITHOUT_AS)
    summary = ingest(replace(config(tmp_path, tmp_path / "a.brite", asn=5), allow_special=()))
    assert summary.warnings == []


def test_a_prefix_that_is_not_special_is_not_admitted(tmp_path):
    given = IngestConfig(inputs=(ATLAS,), store=tmp_path, asn=1, allow_special=("8.8.8.0/24",))
    with pytest.raises(UsageError, match=r"8\.8\.8\.0/24: no special-purpose range overlaps it"):
        ingest(given)
