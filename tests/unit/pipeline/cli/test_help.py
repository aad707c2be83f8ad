"""The text of every --help, to the byte; ``make generated`` renews it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from pipeline.cli import app
from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.options import merged
from tests.generated import COMMANDS, GOLDEN, helps


@pytest.fixture(scope="module")
def said() -> dict[Path, str]:
    return helps()


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.iterdir()))
def test_help_of_a_command_is_what_its_file_holds(name, said):
    assert said[GOLDEN / name] == (GOLDEN / name).read_text(), "make generated"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_opens_with_an_example_that_the_command_takes(name):
    _, text = (GOLDEN / f"hopscope_{name}.txt").read_text().split("  Example: hopscope ")
    example = shlex.split(text.partition("\n\n")[0])
    assert example[0] == name
    command = get_command(app).get_command(None, name)
    assert command.make_context(name, example[1:]).params


@pytest.mark.parametrize(
    ("file", "program"),
    [
        ("hopscope", "hopscope run"),
        ("serve", "hopscope serve"),
        ("nightly", "python -m flows.nightly"),
    ],
)
def test_help_of_programs_opens_with_an_example_too(file, program):
    _usage, first, _about = (GOLDEN / f"{file}.txt").read_text().split("\n\n", 2)
    assert first.startswith(f"  Example: {program} ")


@pytest.mark.parametrize("name", ["hopscope_run", "nightly"])
def test_help_of_several_stages_fits_a_screen_and_names_each_option(name):
    """A screen: 48 lines."""
    text = (GOLDEN / f"{name}.txt").read_text()
    assert len(text.splitlines()) <= 48
    shown = {
        f"--{each.word}" for each in merged(IngestConfig, AnalyzeConfig) if not each.is_argument
    }
    assert shown <= set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text))


def test_every_command_has_its_file(said):
    lines = (GOLDEN / "hopscope.txt").read_text().partition("Commands:\n")[2].partition("\n\n")[0]
    commands = {line.split()[0] for line in lines.splitlines() if line[2] != " "}
    assert commands == {*COMMANDS, "notify", "serve"}
    assert said.keys() == set(GOLDEN.iterdir())
