"""Third-party text and figures: one rule for pages and terminals."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.model.words import (
    LOW_CONFIDENCE,
    confidence_text,
    is_low,
    links_text,
    number,
    printable,
)
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


def test_a_confidence_never_says_more_than_is_known():
    stored = np.array([0.7, 0.996, 0.455, 0.29, 1.0, 0.0, 0.6999], np.float32)
    texts = [confidence_text(value) for value in stored.tolist()]
    assert texts == ["0.70", "0.99", "0.45", "0.29", "0.99", "0.00", "0.69"]
    # What is shown as 0.70 is not low, whether it is asked of numbers or of arrays.
    assert [is_low(value) for value in stored.tolist()] == is_low(stored).tolist()
    assert [float(text) < LOW_CONFIDENCE for text in texts] == is_low(stored).tolist()
    assert not is_low(np.float32("nan"))


def test_links_between_ases_are_told_apart():
    assert links_text(1, 0) == links_text(1, None) == "1 link"
    assert links_text(2000, 1060) == "2,000 links inside ASes and 1,060 between them"


def test_replies_are_counted_in_english():
    assert [number(n, "reply") for n in (0, 1, 2)] == ["0 replies", "1 reply", "2 replies"]
