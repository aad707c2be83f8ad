"""Parameters of a flow run become the configs that the command line would make."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.options import configs, parameters_of, parse
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
