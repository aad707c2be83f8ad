"""Tables given as inputs: which option takes them."""

from __future__ import annotations

import re
from pathlib import Path

from pipeline.config import IngestConfig
from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.opening import open_bytes
from pipeline.options import options_of

_HEAD_BYTES = 1 << 16


def where_it_belongs(path: Path) -> str:
    """What to do with a file that is no input but a table of ``ingest``; empty: it is none.

    Told by the first line that is no comment, or by a comment before it: see ``Option.rows``.
    """
    try:
        with open_bytes(path) as stream:
            head = stream.read(_HEAD_BYTES).removeprefix(BOM)
    except FormatError:
        return ""
    patterns = [
        (each.flag, re.compile(each.rows)) for each in options_of(IngestConfig) if each.rows
    ]
    for line in head.decode("utf-8", "replace").splitlines():
        for flag, pattern in patterns:
            if pattern.match(line):
                return f"it looks like a table for {flag}: give it with {flag}, beside the inputs"
        if line.strip() and not line.startswith("#"):
            break
    return ""
