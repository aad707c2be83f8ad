"""The command by which hopscope generated a file, in the file's own header."""

from __future__ import annotations

import re

_COMMAND = re.compile(rb"hopscope generate(?: [\w.-]{1,40}){1,40}")


def command_in(line: bytes) -> str:
    """The command in a line of a header; empty if there is none."""
    found = _COMMAND.search(line)
    return found.group().decode() if found else ""
