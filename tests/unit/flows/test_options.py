"""Parameters of a flow run become the configs that the command line would make."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from prefect.utilities.callables import parameter_schema
from prefect.utilities.schema_tools import validate

from flows import STARTED_IN
from flows import nightly as module
from flows.analyze import analyze as analyze_flow
from flows.compare import compare as compare_flow
from flows.ingest import ingest as ingest_flow
from flows.measure import measure
from flows.nightly import _configs as configs
from flows.nightly import nightly
from flows.nightly import words_given as parse
from flows.options import (
    further_options,
    given_values,
    parameters_of,
    with_values_in_force,
)
from flows.report import report
from pipeline.config import AnalyzeConfig, IngestConfig, NotifyConfig
from pipeline.errors import UsageError
from pipeline.options import merged, options_of
from pipeline.places.urls import url_of

OPTIONS = merged(IngestConfig, AnalyzeConfig, NotifyConfig)
ENOUGH = {"inputs": ["x"], "store": "s", "out": "o"}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in [name for name in os.environ if name.startswith("HOPSCOPE_")]:
        monkeypatch.delenv(name)


def test_parameters_win_over_variables_and_these_over_defaults(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_STORE", "from-variable")
    monkeypatch.setenv("HOPSCOPE_OUT", "from-variable")
    monkeypatch.setenv("HOPSCOPE_AS_NAMES", "names.json")
    ingest, analyze = configs({"inputs": ["a.warts"], "store": "given", "out": None})
    assert ingest.inputs == (Path("a.warts"),)
    assert ingest.store == analyze.store == Path("given")
    assert analyze.out == Path("from-variable")
    assert ingest.as_names == Path("names.json")
    assert ingest.borders == "elected"


def test_lists_come_from_the_environment_when_none_is_given(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_INPUTS", "/data/one:/data/two")
    monkeypatch.setenv("HOPSCOPE_IP2AS", "v4.gz:v6.gz")
    monkeypatch.setenv("HOPSCOPE_ALLOW_SPECIAL", "10.0.0.0/8 198.18.0.0/15")
    monkeypatch.setenv("HOPSCOPE_METRICS", "radius,hops")
    ingest, analyze = configs({"inputs": None, "store": "s", "out": "o"})
    assert ingest.inputs == (Path("/data/one"), Path("/data/two"))
    assert ingest.ip2as == (Path("v4.gz"), Path("v6.gz"))
    assert ingest.allow_special == ("10.0.0.0/8", "198.18.0.0/15")
    assert analyze.metrics == ("hops", "radius")


@pytest.mark.parametrize("wrong", ["slack", "../x", "Slack Webhook/x", "a/b/c", ["a/b", 3]])
def test_names_of_blocks_are_checked(wrong):
    with pytest.raises(UsageError, match="notify takes blocks like slack-webhook/nights"):
        given_values(OPTIONS, ENOUGH | {"options": {"notify": wrong}})


def test_blocks_in_a_variable_are_between_blanks(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_NOTIFY", "slack-webhook/nights apprise-url/mail")
    found = given_values(OPTIONS, ENOUGH)["notify"]
    assert found == ("slack-webhook/nights", "apprise-url/mail")


def test_any_option_of_the_command_line_can_be_given():
    options = {"allow_special": ["198.18.0.0/15"], "bridge_gaps": True, "asn": 64500, "pack": 4}
    ingest, analyze = configs(ENOUGH | {"options": options})
    assert ingest.allow_special == ("198.18.0.0/15",)
    assert ingest.bridge_gaps
    assert ingest.asn == 64500
    assert analyze.pack == 4


def test_relative_paths_begin_where_serve_was_started(monkeypatch, tmp_path):
    monkeypatch.setenv(STARTED_IN, str(tmp_path))
    given = {"inputs": ["night", "/data/%Y"], "store": "s3://bucket/store", "out": "o"}
    found = given_values(OPTIONS, given | {"options": {"as_rel": "as-rel.txt"}})
    assert found["inputs"] == (tmp_path / "night", Path("/data/%Y"))
    assert (found["out"], found["as_rel"]) == (tmp_path / "o", tmp_path / "as-rel.txt")
    assert url_of(found["store"]) == "s3://bucket/store"


def test_false_wins_over_a_variable_that_switches_on(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_BRIDGE_GAPS", "1")
    monkeypatch.setenv("HOPSCOPE_VERIFY", "yes")
    ingest, analyze = configs(ENOUGH)
    assert (ingest.bridge_gaps, analyze.verify) == (True, True)
    ingest, analyze = configs(ENOUGH | {"options": {"bridge_gaps": False, "verify": False}})
    assert (ingest.bridge_gaps, analyze.verify) == (False, False)


def test_what_is_on_by_default_can_be_switched_off(monkeypatch):
    assert configs(ENOUGH)[1].pages
    assert not configs(ENOUGH | {"options": {"pages": False}})[1].pages
    monkeypatch.setenv("HOPSCOPE_PAGES", "0")
    assert not configs(ENOUGH)[1].pages
    assert configs(ENOUGH | {"options": {"pages": True}})[1].pages


def test_an_input_that_looks_like_an_option_is_a_file():
    ingest, _ = configs(ENOUGH | {"inputs": ["--help", "-x"]})
    assert ingest.inputs == (Path("--help"), Path("-x"))


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"store": "s", "out": "o"}, "missing parameter inputs: pass it or set HOPSCOPE_INPUTS"),
        ({"inputs": ["x"], "out": "o"}, "missing parameter store"),
        (ENOUGH | {"options": {"colour": "red"}}, "no such parameter: colour"),
        (ENOUGH | {"options": {"colour": False}}, "no such parameter: colour"),
        (ENOUGH | {"options": {"pack": "many"}}, "parameter pack takes auto or .*, not 'many'"),
        (ENOUGH | {"options": {"pack": False}}, "parameter pack takes auto or .*, not False"),
        (ENOUGH | {"options": {"verify": "perhaps"}}, "parameter verify takes true or false"),
        (ENOUGH | {"options": {"store": "t"}}, "parameter store is given twice"),
        (ENOUGH | {"metrics": ["height"]}, "parameter metrics takes all, hops, "),
        (ENOUGH | {"metrics": 7}, "parameter metrics takes names like hops"),
        (ENOUGH | {"inputs": [7]}, "parameter inputs takes a file or folder"),
        (ENOUGH | {"inputs": 7}, "parameter inputs takes a list"),
    ],
)
def test_what_is_missing_or_wrong_is_reported_in_one_line(parameters, says):
    with pytest.raises(UsageError, match=says) as caught:
        configs(parameters)
    assert "\n" not in str(caught.value)


def test_a_wrong_variable_is_named(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_PACK", "many")
    with pytest.raises(UsageError, match="HOPSCOPE_PACK takes auto or"):
        configs(ENOUGH)
    assert configs(ENOUGH | {"options": {"pack": 7}})[1].pack == 7


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["a", "--store", "s", "--out", "o", "--pack", "0"], "--pack takes auto or a whole number"),
        (["a", "--store", "s", "--out", "o", "--pcak", "1"], "--pcak"),
        (["a", "--out", "o"], "Missing option '--store': pass it or set HOPSCOPE_STORE"),
    ],
)
def test_a_wrong_word_is_named(words, says):
    with pytest.raises(UsageError, match=says):
        parse(words)


def test_parsed_arguments_survive_the_way_through_parameters():
    words = ["a", "b", "--store", "s", "--out", "o", "--ip2as", "p"]
    words += ["--allow-special", "10.0.0.0/8", "--pack", "auto", "--no-pages", "--asn", "AS7"]
    given = parse(words)
    parameters = parameters_of(OPTIONS, {name: given.values[name] for name in given.chosen})
    assert parameters == {
        "inputs": ["a", "b"],
        "store": "s",
        "out": "o",
        "ip2as": ["p"],
        "options": {"allow_special": ["10.0.0.0/8"], "pack": "auto", "pages": False, "asn": 7},
    }
    assert validate(parameters, parameter_schema(nightly).model_dump(), raise_on_error=False) == []
    ingest, analyze = configs(parameters)
    assert (ingest.allow_special, ingest.asn) == (("10.0.0.0/8",), 7)
    assert (analyze.pack, analyze.pages) == (None, False)


def test_a_word_that_is_the_default_wins_over_a_variable(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_BORDERS", "prefix")
    given = parse(["a", "--store", "s", "--out", "o", "--borders", "elected"])
    chosen = {name: given.values[name] for name in given.chosen}
    assert configs(parameters_of(OPTIONS, chosen))[0].borders == "elected"


GOOD = [
    {"inputs": ["a"], "store": "s", "out": "o", "snapshot": "2026-11-22", "ip2as": ["p"]},
    {"scheduler": "tcp://127.0.0.1:8786", "metrics": None},
    {"metrics": "hops,weighted_diameter"},
    {"metrics": ["all", "weighted_radius"]},
    {"options": {"workers": 2, "borders": "prefix", "bridge_gaps": False}},
    {"options": {"format": "warts", "allow_special": ["10.0.0.0/8"], "asn": 1}},
    {"options": {"pack": "auto"}},
    {"options": {"pack": 4, "max_searches": 0}},
    {"options": {"asns": [7, 8]}},
    {"options": {"asns": "7,AS8"}},
]
WRONG = [
    {"inputs": "a"},
    {"inputs": [""]},
    {"store": 7},
    {"snapshot": "../x"},
    {"snapshot": ""},
    {"metrics": "hops;diameter"},
    {"metrics": ["height"]},
    {"options": {"colour": "red"}},
    {"options": {"pack": "many"}},
    {"options": {"pack": 0}},
    {"options": {"workers": "two"}},
    {"options": {"workers": 0}},
    {"options": {"workers": 1025}},
    {"options": {"asn": 0}},
    {"options": {"borders": "guessed"}},
    {"options": {"device": "tpu"}},
    {"options": {"format": "pdf"}},
    {"options": {"verify": "yes"}},
    {"options": {"aliases": ""}},
    {"colour": "red"},
]
STAGES = [
    (nightly, OPTIONS),
    (ingest_flow, options_of(IngestConfig)),
    (measure, options_of(AnalyzeConfig)),
    (report, options_of(AnalyzeConfig)),
]


@pytest.mark.parametrize(("flow", "options"), STAGES, ids=lambda value: getattr(value, "name", ""))
def test_the_form_takes_what_a_run_takes_and_nothing_of_other_stages(flow, options):
    schema = parameter_schema(flow).model_dump() | {"required": [], "additionalProperties": False}
    known = {each.name for each in options}
    n_good = 0
    for parameters in GOOD:
        names = {*parameters, *parameters.get("options", ())} - {"options"}
        if names <= known:
            assert validate(parameters, schema, raise_on_error=False) == []
            given_values(options, ENOUGH_OF[flow] | parameters)
            n_good += 1
        else:
            assert validate(parameters, schema, raise_on_error=False)
    assert n_good > 1


ENOUGH_OF = {
    flow: {n: v for n, v in ENOUGH.items() if n in {o.name for o in options}}
    for flow, options in STAGES
}


@pytest.mark.parametrize("parameters", WRONG)
def test_form_refuses_what_a_run_would_refuse(parameters):
    schema = parameter_schema(nightly).model_dump() | {"additionalProperties": False}
    assert validate(parameters, schema, raise_on_error=False)


@pytest.mark.parametrize(("flow", "options"), STAGES, ids=lambda value: getattr(value, "name", ""))
def test_every_option_has_its_parameter_and_says_what_it_is(flow, options):
    schema = parameter_schema(flow).model_dump()
    further = schema["definitions"]["FurtherOptions"]["properties"]
    own = {each.name for each in options if each.is_parameter}
    assert set(further) == {each.name for each in options} - own
    assert set(schema["properties"]) - {"measured"} == own | {"options"}
    reported = {**further, **schema["properties"]}
    assert [name for name, field in reported.items() if not field.get("description")] == []


def test_the_nightly_deployment_keeps_its_parameters():
    public = {"inputs", "store", "out", "snapshot", "ip2as", "scheduler", "metrics", "options"}
    assert set(parameter_schema(nightly).properties) == public


def test_options_as_the_form_gives_them_become_configs():
    options = further_options(OPTIONS)(bridge_gaps=True, pack=4, verify=False)
    ingest, analyze = configs(ENOUGH | {"options": options, "metrics": ["hops", "radius"]})
    assert (ingest.bridge_gaps, analyze.pack, analyze.metrics) == (True, 4, ("hops", "radius"))


def test_help_is_no_run(capsys):
    assert module.main(["--help"]) == 0
    assert "--notify-first" in capsys.readouterr().out


def test_forms_of_the_deployments_describe_every_parameter_and_require_the_two_nights():
    for flow in (nightly, ingest_flow, analyze_flow, compare_flow):
        schema = parameter_schema(flow).model_dump()
        assert all(each["description"] for each in schema["properties"].values()), flow.name
        assert schema["required"] == (["old", "new"] if flow is compare_flow else [])
    schema = parameter_schema(compare_flow).model_dump() | {"additionalProperties": False}
    assert list(schema["properties"]) == ["old", "new", "store", "out"]
    assert validate({"old": "a", "new": "b"}, schema, raise_on_error=False) == []
    for wrong in ({"old": "a"}, {"old": "../a", "new": "b"}, {"old": "a", "new": "b", "x": 1}):
        assert validate(wrong, schema, raise_on_error=False), wrong


def test_the_form_shows_what_the_environment_says(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_STORE", "/data/store")
    monkeypatch.setenv("HOPSCOPE_INPUTS", f"/data/a{os.pathsep}/data/b")
    monkeypatch.setenv("HOPSCOPE_NOTIFY_FIRST", "7")
    monkeypatch.setenv("HOPSCOPE_WORKERS", "many")  # wrong: the run says so
    before = nightly.parameters.model_dump(mode="json", exclude_unset=True)
    schema = with_values_in_force(before, OPTIONS)
    shown = schema["properties"]
    assert shown["store"]["default"] == "/data/store"
    assert shown["inputs"]["default"] == ["/data/a", "/data/b"]
    assert shown["snapshot"].get("default") is None
    further = schema["definitions"]["FurtherOptions"]["properties"]
    assert further["notify_first"]["default"] == 7
    assert further["workers"].get("default") is None
    assert "notify_first: 7" in shown["options"]["description"]
    assert before["properties"]["store"].get("default") is None
