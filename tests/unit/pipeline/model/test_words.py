"""Third-party text: one rule for pages and terminals."""

from __future__ import annotations

import pytest

from pipeline.model.words import printable
from pipeline.report.escaping import printables
from pipeline.terminal.lines import print_line

MISLEADING = "\u061c\u200e\u200f\u202a\u202e\u2066\u2069"  # would turn what follows
UNSHOWN = "\x00\x1b\n\x7f\x9f\u2028\u2029"


def test_characters_that_nothing_can_show_are_replaced():
    assert printable("a\x00b\x1b\x7f\x9f\udcff\n") == "a\ufffdb\ufffd\ufffd\ufffd\ufffd\ufffd"
    assert printable("\u202eevil\u2069") == "\ufffdevil\ufffd"
    assert printable("\u00e9\u4e2d\u05d0") == "\u00e9\u4e2d\u05d0"


@pytest.mark.parametrize("character", MISLEADING + UNSHOWN, ids=ascii)
def test_one_rule_holds_for_pages_and_terminals(character, capsys):
    text = f"a{character}b"
    print_line(text)
    assert capsys.readouterr().out == "a\ufffdb\n"
    assert printables([text, "ab"]) == ["a\ufffdb", "ab"]
