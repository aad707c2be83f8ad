"""JSON that others wrote, read as far as the grammar goes: one answer for every reader.

The grammar bounds neither numbers nor what an escape may stand for, but fast parsers do, and refuse
a whole record for a number in a field that is not read.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import orjson

# Escapes, so that each is seen whole: pairs of surrogates, and surrogates without a partner.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|"
    r"(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_MOST_NESTED = 1024  # as deep as orjson goes; how deep Python's parser goes differs by version


def parse_json(text: bytes | bytearray | memoryview | str) -> Any:
    """The value of a JSON text.

    Numbers beyond a float64 are infinite, whole ones beyond 64 bits are floats, a surrogate without
    its partner is U+FFFD, and of a key that is given twice the last value counts. NaN and Infinity
    are not JSON.

    Raises
    ------
    orjson.JSONDecodeError
        If the text is not JSON, is not UTF-8, or is nested more deeply than parsers go.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        fault = error
    try:
        readable = text if isinstance(text, str) else bytes(text).decode()
        if nesting(readable.encode(errors="surrogatepass")) > _MOST_NESTED:
            raise fault
        readable = _ESCAPE.sub(lambda found: r"\ufffd" if found[1] else found[0], readable)
        return _LENIENT.decode(readable)
    except (ValueError, RecursionError):
        raise fault from None


def nesting(text: bytes) -> int:
    """How deep the brackets of a JSON text are nested; of a broken text, at least that."""
    marks = np.frombuffer(_STRING.sub(b"", text), np.uint8)
    opened = (marks == ord("{")) | (marks == ord("["))
    closed = (marks == ord("}")) | (marks == ord("]"))
    depth = np.cumsum(opened.astype(np.int64) - closed)
    return int(depth.max(initial=0))


def _whole(text: str) -> int | float:
    """As orjson reads whole numbers: those of more than 64 bits are floats."""
    if len(text) <= 20 and -(2**63) <= (value := int(text)) < 2**64:
        return value
    return float(text)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


_LENIENT = json.JSONDecoder(parse_int=_whole, parse_constant=_no_number)
