"""An option is one field: what follows from it, and what becomes of what users give."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from pipeline.cli import main
from pipeline.config import AnalyzeConfig, DoctorConfig, GenerateConfig, IngestConfig
from pipeline.errors import UsageError
from pipeline.model.choices import SCHEDULES
from pipeline.options import FALSE, TRUE, merged, option, options_of, values
from pipeline.schedule.transport import drive
from pipeline.terminal.arguments import takes
from pipeline.terminal.reference import page
from tests.real_data import REPOSITORY

CONFIGS = (IngestConfig, AnalyzeConfig, GenerateConfig, DoctorConfig)

TOY_FIELD = """
    colour: tuple[Literal["red", "blue"], ...] = option(
        default=(), help="Colour of the ink; repeatable."
    )
"""
# What users and programs see of the options of analyze.
SHOWN = """
import contextlib, inspect, io, json
from flows.options import given_values, with_parameters
from pipeline.cli import main
from pipeline.config import AnalyzeConfig
from pipeline.options import config_of, options_of
from pipeline.terminal.reference import page

options = options_of(AnalyzeConfig)
help = io.StringIO()
with contextlib.redirect_stdout(help), contextlib.suppress(SystemExit):
    main(["analyze", "--help"])

@with_parameters(options)
def flow(**parameters):
    return given_values(options, parameters)

(further, _) = inspect.signature(flow).parameters["options"].annotation.__args__
from_variable = config_of(AnalyzeConfig, flow(store="s", out="o"))
from_json = config_of(AnalyzeConfig, flow(store="s", out="o", options={"colour": ["red"]}))
print(json.dumps({
    "help": help.getvalue(),
    "field": further.model_json_schema()["properties"].get("colour"),
    "variable": from_variable.colour,
    "parameter": from_json.colour,
    "page": page(),
}))
"""


def test_a_toy_option_is_one_field_in_one_file(tmp_path):
    for package in ("flows", "pipeline"):
        shutil.copytree(REPOSITORY / package, tmp_path / package)
    path = tmp_path / "pipeline" / "config" / "analyze.py"
    before, own_field, after = path.read_text().partition("    version: str | None = None")
    assert own_field
    text = before + TOY_FIELD.lstrip("\n") + own_field + after
    path.write_text(
        text.replace(
            "from pathlib import Path", "from pathlib import Path\nfrom typing import Literal"
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", SHOWN],
        cwd=tmp_path,
        env=os.environ | {"HOPSCOPE_COLOUR": "blue red", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    shown = json.loads(done.stdout)
    assert "--colour red|blue" in shown["help"]
    assert "Colour of the ink; repeatable." in shown["help"]
    assert shown["field"]["description"] == "Colour of the ink; repeatable."
    assert shown["field"]["anyOf"][0]["items"]["enum"] == ["red", "blue"]
    assert (shown["variable"], shown["parameter"]) == (["blue", "red"], ["red"])
    row = "| `--colour` | `red` or `blue` |  | `HOPSCOPE_COLOUR` | `options.colour` | Colour of "
    assert row in shown["page"]
    assert row not in page()


@pytest.mark.parametrize("config", CONFIGS)
def test_every_option_says_what_it_is_and_where_it_can_be_given(config):
    for each in options_of(config):
        assert each.help.endswith("."), each.name
        assert each.variable in (None, f"HOPSCOPE_{each.name.upper()}")
        plain = None if each.is_required else each.plain(each.default)
        assert plain is None or each.parse(plain, each.flag) == each.default


def test_two_stages_make_one_command_in_the_order_of_both():
    names = [each.name for each in merged(IngestConfig, AnalyzeConfig)]
    ingest = [each.name for each in options_of(IngestConfig)]
    analyze = [each.name for each in options_of(AnalyzeConfig) if each.name != "asns"]
    assert [name for name in names if name in ingest] == ingest
    assert [name for name in names if name in analyze] == analyze
    assert len(names) == len(set(names))
    assert names.index("ingresses") < names.index("metrics") < names.index("workers")


def test_workers_of_two_stages_are_those_of_both():
    (shared,) = (each for each in merged(IngestConfig, AnalyzeConfig) if each.name == "workers")
    (alone,) = (each for each in merged(IngestConfig) if each.name == "workers")
    assert "GPU" in shared.help
    assert "GPU" not in alone.help


@dataclass(frozen=True)
class Toy:
    must: int = option(help="A number.", minimum=1, maximum=9)
    share: float = option(default=0.5, help="A share.", minimum=0, maximum=1)
    words: tuple[str, ...] = option(default=(), help="Words.")
    paths: tuple[Path, ...] = option(default=(), help="Paths.")
    path: Path | None = option(default=None, help="A path.")
    switch: bool = option(default=False, help="A switch.")
    size: int | None = option(default=None, help="A size.", unset="auto", minimum=1)
    inside: int = 7


TOYS = {each.name: each for each in options_of(Toy)}


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("must", "7", 7),
        ("must", 7, 7),
        ("share", "0.25", 0.25),
        ("share", 1, 1),
        ("words", ["a b", "c"], ("a b", "c")),
        ("words", "a b", ("a", "b")),
        ("paths", "a b:c", (Path("a b"), Path("c"))),
        ("path", "a", Path("a")),
        ("size", "auto", None),
        ("size", "3", 3),
        *(("switch", word, True) for word in (True, *TRUE, "Yes")),
        *(("switch", word, False) for word in (False, *FALSE, "OFF")),
    ],
)
def test_text_and_json_become_the_value(name, given, value):
    assert TOYS[name].parse(given, "x") == value


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        *(("must", given, "a whole number from 1 to 9") for given in ("0", 10, "x", 1.5, True)),
        *(("must", given, "a whole number from 1 to 9") for given in ("1_0", "²", "", None, [1])),
        *(("share", given, "a number from 0 to 1") for given in ("nan", "inf", -0.1, "1,0", False)),
        *(("path", given, "a file or folder") for given in ("", 7, ["a"])),
        *(("paths", given, "a ") for given in ([""], 7, [7])),
        *(("switch", given, "true or false") for given in ("maybe", 2, [], "")),
        *(("size", given, "auto or a whole number from 1") for given in ("many", 0, "Auto")),
    ],
)
def test_wrong_values_are_refused_with_the_name_by_which_they_were_given(name, given, says):
    with pytest.raises(UsageError, match=rf"^HOPSCOPE_X takes {says}.*, not "):
        TOYS[name].parse(given, "HOPSCOPE_X")


def test_an_unknown_or_missing_parameter_is_named():
    with pytest.raises(UsageError, match="no such parameter: inside"):
        values(options_of(Toy), {"must": 1, "inside": 2}, {})
    with pytest.raises(UsageError, match="missing parameter must: pass it or set HOPSCOPE_MUST"):
        values(options_of(Toy), {}, {})
    assert values(options_of(Toy), {}, {"HOPSCOPE_MUST": "2", "HOPSCOPE_SHARE": ""})["must"] == 2


def test_a_command_distinguishes_options_passed_set_and_not_given(monkeypatch):
    app, seen = typer.Typer(), []
    app.command()(takes(options_of(Toy), as_json=True)(seen.append))
    monkeypatch.setenv("HOPSCOPE_PATHS", "a b:c")
    monkeypatch.setenv("HOPSCOPE_WORDS", "a b:c")
    monkeypatch.setenv("HOPSCOPE_SWITCH", "on")
    app(["--must", "3", "--share", "0.5", "--json"], standalone_mode=False)
    (given,) = seen
    assert given.said == ("must", "share")
    assert given.chosen == ("must", "share", "words", "paths", "switch")
    assert given.config(Toy) == Toy(
        3, words=("a", "b:c"), paths=(Path("a b"), Path("c")), switch=True
    )
    assert given.as_json


@pytest.mark.parametrize(
    ("words", "variables", "says"),
    [
        (["--pack", "0"], {}, "--pack takes auto or a whole number from 1 to 2147483647, not '0'"),
        (["--workers", "two"], {}, "--workers takes a whole number from 1 to 1024, not 'two'"),
        (["--workers", "100000"], {}, "--workers takes a whole number from 1 to 1024, not"),
        (["--device", "tpu"], {}, "--device takes auto, cpu, gpu, not 'tpu'"),
        (["--snapshot", "../x"], {}, "--snapshot takes 1 to 100 letters"),
        (["--snapshot", "é"], {}, "--snapshot takes 1 to 100 letters (a-z, A-Z), digits, '.', "),
        ([], {"HOPSCOPE_VERIFY": "maybe"}, "HOPSCOPE_VERIFY takes true or false, not 'maybe'"),
        ([], {"HOPSCOPE_SCHEDULE": "fast"}, "HOPSCOPE_SCHEDULE takes free, striding, barrier"),
    ],
)
def test_the_command_line_names_the_option_or_the_variable(
    words, variables, says, monkeypatch, capsys
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        main(["analyze", "--store", "s", "--out", "o", *words])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(f"hopscope: {says}")


def test_every_schedule_is_one_that_can_be_driven():
    assert set(drive.SCHEDULES) == set(SCHEDULES)
