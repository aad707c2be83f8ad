"""No markup begins in text of third parties; plain text is left as it is."""

from __future__ import annotations

import pytest

from flows.pages.inert import inert

INVISIBLE = "\u2060"
TWINS = str.maketrans({"\u02cb": "`", "\u2217": "*", "\u223c": "~"})


@pytest.mark.parametrize(
    "text",
    ["Example-Net, Inc. (NL)", "AS_ONE_TWO", "a | b", "50 % at 10:30", "Zürich 網路", "C#", ""],
)
def test_plain_text_comes_back_as_it_is(text):
    assert inert(text) == text


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("<img src=x>", "<img"),
        ("</td>", "</"),
        ("![x](//e.test)", "]("),
        ("[x][y]", "]["),
        ("[x]: //e.test", "]:"),
        ("http://e.test", "://"),
        ("WWW.e.test", "WWW."),
        ("x@e.test", "@e"),
        ("&lt;b&gt;", "&lt"),
        ("\\<b>", "\\<"),
        ("# head", "# "),
        ("- [ ] task", "- "),
        ("12. item", "12."),
        ("12) item", "12)"),
        ("> quoted", "> "),
        ("`code`", "`"),
        ("**bold**", "*"),
        ("~~gone~~", "~"),
        (" _i_ ", "_i"),
        ("a\n\n# head", "\n"),
        ("right\u202eto left", "\u202e"),
        ("\x1b[31mred", "\x1b"),
    ],
)
def test_markup_is_disabled_and_looks_the_same(text, broken):
    shown = inert(text)
    assert broken not in shown
    seen = shown.replace(INVISIBLE, "").translate(TWINS)
    assert seen == " ".join(text.replace("\u202e", "").replace("\x1b", "").split())
