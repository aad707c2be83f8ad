"""Parameters of a flow run become the configs that the command line would make."""

from __future__ import annotations

from pathlib import Path

import pytest
from prefect.utilities.callables import parameter_schema
from prefect.utilities.schema_tools import validate

from flows.ingest import ingest as ingest_flow
from flows.nightly import nightly
from flows.options import DEFAULTS, NAMED, FurtherOptions, configs, parameters_of, parse
from pipeline.errors import UsageError


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    import os

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


def test_inputs_come_from_the_environment_when_none_is_given(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_INPUTS", "/data/one:/data/two")
    monkeypatch.setenv("HOPSCOPE_IP2AS", "v4.gz:v6.gz")
    ingest, _ = configs({"inputs": None, "store": "s", "out": "o"})
    assert ingest.inputs == (Path("/data/one"), Path("/data/two"))
    assert ingest.ip2as == (Path("v4.gz"), Path("v6.gz"))


def test_any_option_of_the_command_line_can_be_given():
    options = {"allow_special": ["198.18.0.0/15"], "bridge_gaps": True, "asn": 64500, "pack": 4}
    ingest, analyze = configs({"inputs": ["x"], "store": "s", "out": "o", "options": options})
    assert ingest.allow_special == ("198.18.0.0/15",)
    assert ingest.bridge_gaps
    assert ingest.asn == 64500
    assert analyze.pack == 4


def test_false_wins_over_a_variable_that_switches_on(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_BRIDGE_GAPS", "1")
    monkeypatch.setenv("HOPSCOPE_VERIFY", "1")
    given = {"inputs": ["x"], "store": "s", "out": "o"}
    ingest, analyze = configs(given)
    assert (ingest.bridge_gaps, analyze.verify) == (True, True)
    ingest, analyze = configs(given | {"options": {"bridge-gaps": False, "verify": False}})
    assert (ingest.bridge_gaps, analyze.verify) == (False, False)


def test_what_is_on_by_default_can_be_switched_off(monkeypatch):
    given = {"inputs": ["x"], "store": "s", "out": "o"}
    assert configs(given)[1].pages
    assert not configs(given | {"options": {"pages": False}})[1].pages
    monkeypatch.setenv("HOPSCOPE_PAGES", "0")
    assert not configs(given)[1].pages
    assert configs(given | {"options": {"pages": True}})[1].pages


def test_an_input_that_looks_like_an_option_is_a_file():
    ingest, _ = configs({"inputs": ["--help", "-x"], "store": "s", "out": "o"})
    assert ingest.inputs == (Path("--help"), Path("-x"))


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"store": "s", "out": "o"}, "HOPSCOPE_INPUTS"),
        ({"inputs": ["x"], "out": "o"}, "--store"),
        ({"inputs": ["x"], "store": "s", "out": "o", "options": {"colour": "red"}}, "--colour"),
        ({"inputs": ["x"], "store": "s", "out": "o", "options": {"colour": False}}, "--colour"),
        ({"inputs": ["x"], "store": "s", "out": "o", "options": {"pack": "many"}}, "many"),
        ({"inputs": ["x"], "store": "s", "out": "o", "options": {"pack": False}}, "False"),
    ],
)
def test_what_is_missing_or_wrong_is_said_in_one_line(parameters, says):
    with pytest.raises(UsageError, match=says) as caught:
        configs(parameters)
    assert "\n" not in str(caught.value)


def test_parsed_arguments_survive_the_way_through_parameters():
    words = [
        "a",
        "b",
        "--store",
        "s",
        "--out",
        "o",
        "--ip2as",
        "p",
        "--allow-special",
        "10.0.0.0/8",
    ]
    parameters = parameters_of(parse(words))
    assert parameters == {
        "inputs": ["a", "b"],
        "store": "s",
        "out": "o",
        "ip2as": ["p"],
        "options": {"allow_special": ["10.0.0.0/8"]},
    }
    ingest, _ = configs(parameters)
    assert ingest.allow_special == ("10.0.0.0/8",)


GOOD = [
    {"inputs": ["a"], "store": "s", "out": "o", "snapshot": "2026-11-22", "ip2as": ["p"]},
    {"scheduler": "tcp://127.0.0.1:8786", "metrics": None},
    {"metrics": "hops,weighted_diameter"},
    {"metrics": ["all", "weighted_radius"]},
    {"options": {"pack": "auto", "workers": 2, "borders": "prefix", "bridge_gaps": False}},
    {"options": {"pack": 4, "format": "warts", "allow_special": ["10.0.0.0/8"], "asn": 0}},
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
    {"options": {"borders": "guessed"}},
    {"options": {"device": "tpu"}},
    {"options": {"format": "pdf"}},
    {"options": {"verify": "yes"}},
    {"colour": "red"},
]


@pytest.mark.parametrize("flow", [nightly, ingest_flow])
def test_form_takes_what_a_run_takes(flow):
    schema = parameter_schema(flow).model_dump()
    known = set(schema["properties"])
    for parameters in GOOD:
        ours = {name: value for name, value in parameters.items() if name in known}
        assert validate(ours, schema, raise_on_error=False) == []
        configs({"inputs": ["a"], "store": "s", "out": "o"} | ours)


@pytest.mark.parametrize("parameters", WRONG)
def test_form_refuses_what_a_run_would_refuse(parameters):
    schema = parameter_schema(nightly).model_dump() | {"additionalProperties": False}
    assert validate(parameters, schema, raise_on_error=False)


def test_every_option_of_the_command_line_has_its_field_and_says_what_it_is():
    schema = parameter_schema(nightly).model_dump()
    further = schema["definitions"]["FurtherOptions"]["properties"]
    assert set(further) == {"inputs", "store", "out", *DEFAULTS} - set(NAMED)
    assert [name for name, field in further.items() if not field.get("description")] == []
    assert [n for n, field in schema["properties"].items() if not field.get("description")] == []


def test_options_as_the_form_gives_them_become_configs():
    options = FurtherOptions(bridge_gaps=True, pack=4, verify=False)
    given = {"inputs": ["x"], "store": "s", "out": "o", "options": options}
    ingest, analyze = configs(given | {"metrics": ["hops", "radius"]})
    assert (ingest.bridge_gaps, analyze.pack, analyze.metrics) == (True, 4, ("hops", "radius"))
