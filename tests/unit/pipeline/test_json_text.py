"""JSON of others: what the grammar allows is read, whatever a fast parser refuses."""

from __future__ import annotations

import json
import math

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.json_text import nesting, parse_json
from tests.soak import examples


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e309", math.inf),
        ("-1E+309", -math.inf),
        ("1" * 400, math.inf),
        ("1" * 5000, math.inf),  # more digits than int() takes
        ("-" + "9" * 19, -1e19),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", 2.0**64),
        (r'"\ud800"', "\ufffd"),
        (r'"\ud83d\ude00 \ude00 \\ud800"', "\U0001f600 \ufffd \\ud800"),
        ('{"a": 1e309, "a": 2}', {"a": 2}),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_what_the_grammar_allows_is_read(text, value):
    for given_as in (text, text.encode(), bytearray(text.encode()), memoryview(text.encode())):
        found = parse_json(given_as)
        assert found == value
        assert type(found) is type(value)
    # The same beside a number for which the fast parser gives up.
    assert parse_json(f"[1e309, {text}]") == [math.inf, value]
    found = parse_json(f'["\\udfff", {text}]')
    assert found[1] == value
    orjson.dumps(found)  # no text that cannot be written again


@pytest.mark.parametrize(
    "text",
    [
        *[
            "NaN",
            "Infinity",
            "-Infinity",
            "01",
            "1.",
            ".5",
            "+1",
            "'a'",
            "[1,]",
            '{"a":1,}',
            "",
            "1 2",
        ],
        *['"\x01"', r'"\x41"', r'"\ud80"', "[" * 2000 + "]" * 2000],
    ],
)
def test_what_it_does_not_allow_is_refused(text):
    for given_as in (text, f"[1e309, {text}]", f"[{text}, 1e309]"):
        with pytest.raises(orjson.JSONDecodeError):
            parse_json(given_as)


def test_bytes_that_are_not_utf_8_are_refused_beside_a_large_number():
    for text in (b'["\xff"]', b'[1e309, "\xff"]', '[1e309, "a"]'.encode("utf-16")):
        with pytest.raises(orjson.JSONDecodeError):
            parse_json(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@given(value=VALUES)
@settings(max_examples=examples(100), deadline=None)
def test_any_value_is_the_same_beside_a_large_number(value):
    text = json.dumps(value).replace("Infinity", "1e400")
    assert parse_json(text) == value
    assert parse_json(f"[1e309, {text}]") == [math.inf, value]


def test_nesting_is_counted_outside_strings():
    assert nesting(b'{"a": [1, {"b": "}]"}], "c": {}}') == 3
    assert nesting(b'"[[["') == 0
    assert nesting(b"[" * 300) == 300
