"""The text of every --help, to the byte; ``REWRITE=1 pytest`` of this file renews it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from pipeline.cli import app
from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.options import merged
from tests.real_data import REPOSITORY

GOLDEN = Path(__file__).with_name("golden")
COMMANDS = (
    *("ingest", "analyze", "run", "compare", "generate", "search", "explore", "doctor"),
    *("list", "show", "lookup", "status", "export", "remove", "rename", "restore"),
)
CALLS = [(), *((command,) for command in COMMANDS)]
ALL_CALLED = """
import contextlib, io, json, sys
from pipeline.cli import main

texts = []
for words in json.loads(sys.argv[1]):
    sys.argv[:] = ["hopscope", *words, "--help"]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as said:
        main()
    texts.append(said.getvalue())
print(json.dumps(texts))
"""


@pytest.fixture(scope="module", autouse=True)
def environment():
    """A terminal of one width, and no variable that could show."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("HOPSCOPE_")]:
            patch.delenv(name)
        patch.setenv("COLUMNS", "80")
        yield


@pytest.fixture(scope="module")
def helps(environment) -> dict[tuple[str, ...], str]:
    """What each command says with --help, by its words; from one process."""
    done = subprocess.run(
        [sys.executable, "-c", ALL_CALLED, json.dumps(CALLS)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return dict(zip(CALLS, json.loads(done.stdout), strict=True))


def assert_golden(name: str, said: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("REWRITE"):
        path.write_text(said)
    assert said == path.read_text()


@pytest.mark.parametrize("words", CALLS)
def test_help_of_a_command_is_what_its_file_holds(words, helps):
    assert_golden("_".join(("hopscope", *words)), helps[words])


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


@pytest.mark.parametrize("name", ["nightly", "serve"])
def test_help_of_a_program_of_flows_is_what_its_file_holds(name, capsys):
    main = __import__(f"flows.{name}", fromlist=["main"]).main
    with contextlib.suppress(SystemExit):
        main(["--help"])
    assert_golden(name, capsys.readouterr().out)


@pytest.mark.parametrize("name", ["hopscope_run", "nightly"])
def test_help_of_several_stages_fits_a_screen_and_names_each_option(name):
    """A screen: 48 lines."""
    text = (GOLDEN / f"{name}.txt").read_text()
    assert len(text.splitlines()) <= 48
    shown = {
        f"--{each.word}" for each in merged(IngestConfig, AnalyzeConfig) if not each.is_argument
    }
    assert shown <= set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text))


def test_every_command_has_its_file():
    said = (GOLDEN / "hopscope.txt").read_text().partition("Commands:\n")[2].partition("\n\n")[0]
    commands = {line.split()[0] for line in said.splitlines() if line[2] != " "}
    assert commands == {*COMMANDS, "serve"}
    names = {"hopscope", *(f"hopscope_{command}" for command in COMMANDS), "nightly", "serve"}
    assert {path.stem for path in GOLDEN.iterdir()} == names
