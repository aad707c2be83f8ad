"""Blocks of the guides: those marked sh and python run as written, all others are understood."""

from __future__ import annotations

import re
import shlex

import pytest
import typer.main

from pipeline.cli import app
from tests.commands import hopscope
from tests.notebooks import run
from tests.real_data import REPOSITORY

DOCS = REPOSITORY / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GUIDES = [DOCS / "start" / "ten-minutes.md"]
GUIDES += [
    DOCS / "howto" / f"{name}.md"
    for name in ("my-as", "why", "traces", "judge", "snapshots", "two-nights")
]


def commands_of(text: str) -> list[str]:
    """Lines of hopscope in the blocks of a page, whole ones."""
    blocks = "\n".join(block for kind, block in BLOCK.findall(text) if kind in ("sh", "bash", ""))
    lines = blocks.replace("\\\n", " ").splitlines()
    return [line for line in lines if re.match(r"(\S*/)?hopscope \w", line) and "[" not in line]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_does_what_it_says(guide, scheduler_address, tmp_path, monkeypatch):
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    monkeypatch.chdir(tmp_path)
    ran = 0
    for kind, block in BLOCK.findall(guide.read_text()):
        if kind == "python":
            run(block, {"__name__": "__main__"})
            ran += 1
        for line in block.splitlines() if kind == "sh" else ():
            program, *words = shlex.split(line)
            assert program == ".venv/bin/hopscope"
            done = hopscope(words, tmp_path, {"HOPSCOPE_SCHEDULER": scheduler_address})
            assert done.status == 0, f"{line}:\n{done.said}"
            assert "back in time" not in done.said, line  # a night given after a later one
            ran += 1
    assert ran >= 3


def test_every_command_of_the_docs_is_understood():
    root = typer.main.get_command(app)
    seen = 0
    for path in [REPOSITORY / "README.md", *sorted(DOCS.rglob("*.md"))]:
        for line in commands_of(path.read_text()):
            words = shlex.split(line, comments=True)[1:]
            if words[0] == "serve" or words[-1].startswith("--help"):
                continue  # read by another program
            command = root.commands[words[0]]  # type: ignore[attr-defined]
            try:
                command.make_context(words[0], [*words[1:]]).close()
            except Exception as error:
                pytest.fail(f"{path.name}: {line}: {error}")
            seen += 1
    assert seen > 30
