"""Commands that messages advise."""

from __future__ import annotations

import re
import shlex

from pipeline.places import folder_of
from pipeline.places.command_lines import command_line
from tests.real_data import REPOSITORY


def test_a_command_names_its_places_as_a_shell_takes_them():
    line = command_line("analyze", "--asn", 7, store="it's; rm -rf", out="a b")
    words = ["hopscope", "analyze", "--asn", "7", "--store", "it's; rm -rf", "--out", "a b"]
    assert shlex.split(line.strip("`")) == words
    assert command_line("list") == "`hopscope list`"


def test_a_mirror_is_named_by_its_url():
    line = command_line("restore", "night", store=folder_of("s3://bucket/store"))
    assert line == "`hopscope restore night --store s3://bucket/store`"


def test_no_message_writes_a_command_on_a_store_itself():
    """It would lack the store, or quote none of it."""
    places = "analyze|compare|doctor|ingest|list|remove|rename|restore|run|show"
    own = re.compile(rf'f".*hopscope ({places})\b|"[^"]*`hopscope ({places})\b[^"`]*"?$', re.M)
    found = {
        f"{path.relative_to(REPOSITORY)}: {line}"
        for folder in ("flows", "hopscope", "pipeline")
        for path in (REPOSITORY / folder).rglob("*.py")
        for line in path.read_text().splitlines()
        if own.search(line) and "--store DIR" not in line and "`hopscope run`, " not in line
    }
    assert not found
