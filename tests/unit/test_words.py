"""Words that a native reader stumbles over, or that another word of the glossary has replaced."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.real_data import REPOSITORY

KINDS = (".css", ".cu", ".cuh", ".html", ".js", ".md", ".py", ".toml", ".yaml", ".yml")
# A pattern -> what to write instead. Blanks in a pattern match ends of lines, too.
WORDS = {
    r"\bnought\b": "zero, nothing",
    r"\bseldom\b": "rarely",
    r"\banew\b": "again",
    r"\bthe midst of\b": "the middle of",
    r"\bfor want of\b": "for lack of",
    r"\bhangs? together\b": "is connected",
    r"\bhangs? on (a few|few) hubs\b": "is linked to",
    r"\btold apart\b": "distinguished, recognised",
    r"\btells so\b": "says so",
    r"\b(was|were|is|are) asked for\b": "requested",
    r"\b(about|after|at least|one in|than) so many\b": "this many, that number",
    r"\bdoubles (among|dropped|included)\b": "duplicates",
    r"\bthe own (list|part|words)\b": "its own, the rank's own",
    r"\b(is|are) to be (got|had)\b": "is fetched, exists",
    r"\b(goes|go) on (news|with)\b": "continues with",
    r"\b(events?|level|nights?|what) (is|are|was|were) told\b": "reported",
    r"\bthere are at last\b": "in the end",
    r"\bforesees?\b": "predicts",
    r"\bwho (lowered|takes) (it|them)\b": "the one that",
    r"\bgoes on where it was\b": "continues where it stopped",
    r"\brests? on (some |fewer )?nights\b": "covers",
    r"\b(which|who) is rather in\b": "more likely in",
    r"(?<!there )(?<!There )\b(is|are) no (bitmap|date|edge|event|file|folder)s?\b": "not a",
    r"(?<!there )(?<!There )\b(is|are) no (graph|header|link|mirror|neighbour)s?\b": "not a",
    r"(?<!there )(?<!There )\b(is|are) no (node|option|report|scheduler|snapshot)s?\b": "not a",
    r"(?<!there )(?<!There )\b(is|are) no (terminal|trace)s?\b": "not a",
    r"\bno traceroutes:": "that are not traceroutes",
    r"\b[Ss]hown are (the|those)\b": "... are shown",
    r"\bfor lack of width\b": "because it is too narrow",
    r"\bbeside other programs\b": "while other programs ran",
    r"\bwith nothing beside\b": "with nothing else running",
    r"\btried once more where\b": "retried once if",
    r"\bsurer\b": "more certain",
    r"\bby its (authors' )?own word\b": "as it says",
    r"\b(takes|after) the same words\b": "arguments",
    r"\b(are|is) told (?!to\b)": "reported, distinguished, learns",
    r"\b(tell|tells) of (?!aliases)": "reports",
    r"\bworth (its|their|the) while\b": "worth the effort",
    r"\b(object a line|searches a second)\b": "per line, per second",
    r"\bonly something else can tell\b": "can report it",
    r"\bentered unseen\b": "begins inside",
    r"\bstand-ins?\b": "placeholder; of a program in tests: substitute",
    r"\btruth values?\b": "boolean",
    r"\bwho enters where\b": "ingress routers by neighbour AS",
    r"\bhow wide\b": "diameter and radius",
    r"\bmeasured nothing of\b": "made no new measurements of",
    r"\bwhat (is|was) usual\b": "a baseline",
    r"\bof the most traces first\b": "most traversed first",
    r"\bkept graph\b": "a snapshot of one AS",
    r"\bexact candidate\b": "eccentricity search: a candidate is a would-be ingress",
}
FOLDERS = ("benchmarks", "deploy", "docs", "flows", "hopscope", "kernels", "pipeline", "tests")


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Text of each file of the project, without marks of comments and line ends."""
    paths = [path for path in REPOSITORY.iterdir() if path.is_file()]
    for folder in FOLDERS:
        paths += [path for path in (REPOSITORY / folder).rglob("*") if path.is_file()]
    found = {}
    for path in paths:
        if path.suffix in KINDS and path != Path(__file__):
            text = path.read_text(errors="replace")
            name = str(path.relative_to(REPOSITORY))
            found[name] = re.sub(r"\s+(?:(?:#|//) )?", " ", text)
    assert len(found) > 500
    return found


def always_in(pattern: str) -> str:
    """The longest text that is in every match of a pattern: most files are without it."""
    plain = re.sub(r"\\b|\[\w+\]", "\n", pattern)
    while "(" in plain:  # the innermost groups first
        plain = re.sub(r"\([^()]*\)\??", "\n", plain)
    found = max(re.sub(r".\?", "\n", plain).split("\n"), key=len)
    assert re.fullmatch(r"[\w ':-]*", found), f"{pattern}: other syntax than is read here"
    return found


def test_what_is_always_in_a_match():
    assert always_in(r"\bhangs? on (a few|few) hubs\b") == " hubs"
    assert always_in(r"\bby its (authors' )?own word\b") == "own word"
    assert always_in(r"(?<!there )\b(is|are) no (a|b (c|d))s?:") == " no "
    assert always_in(r"\b(all|of it)\b") == ""
    for pattern in (r"\bone\d+ or\b", "one|other", "a.*lot"):
        with pytest.raises(AssertionError, match="other syntax"):
            always_in(pattern)


@pytest.mark.parametrize("pattern", WORDS)
def test_a_word_that_readers_stumble_over_is_nowhere(texts, pattern):
    rare = always_in(pattern)
    found = [
        f"{name}: ...{text[max(0, each.start() - 40) : each.end() + 20]}..."
        for name, text in texts.items()
        if rare in text
        for each in re.finditer(pattern, text)
    ]
    assert not found, "\n".join([f"write: {WORDS[pattern]}", *found])
