"""Prefix tables in JSON, as rows of text: bgpkit's pfx2as, and ROAs of RPKI validators.

Their records are flat objects in one list: ``{"prefix": ..., "asn": ..., "count": ...}`` and
``{"asn": "AS13335", "prefix": ..., "maxLength": ...}``. They are cut out of the text, so that a
table of a million records is not held as objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import orjson

_RECORD = re.compile(rb'\{[^{}]*"prefix"[^{}]*\}')
_ROA = re.compile(rb'"max_?[lL]ength"')
_MOST_BYTES = 1 << 16  # of a record


def is_json(head: bytes) -> bool:
    return head.lstrip()[:1] in (b"{", b"[")


def holds_roas(head: bytes) -> bool:
    return _ROA.search(head) is not None


def rows_of(head: bytes, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines ``prefix asn count`` of the records of each block; ``-`` stands for what is missing.

    Of JSON that is broken, the records that are whole are read.
    """
    rest = b""
    for block in chain([head], blocks):
        text = rest + block
        end = text.rfind(b"}") + 1
        rest = text[end:][-_MOST_BYTES:]
        found = _RECORD.findall(text, 0, end)
        if found:
            yield "".join(map(_row, _parsed(found))).encode("utf-8", "replace")


def _parsed(found: list[bytes]) -> list[Any]:
    try:
        return orjson.loads(b"[" + b",".join(found) + b"]")
    except orjson.JSONDecodeError:
        return list(map(_one, found))


def _one(text: bytes) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _row(record: object) -> str:
    values = record if isinstance(record, dict) else {}
    fields = values.get("prefix", "-"), values.get("asn", "-"), values.get("count", 1)
    return " ".join("".join(str(value).split()) or "-" for value in fields) + "\n"
