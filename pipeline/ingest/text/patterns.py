"""Patterns of others, compiled so that none of them can be slow.

RE2 searches in time linear in the text, whatever the pattern [1]_, and with little memory. One that
needs what RE2 does not have, such as looking ahead, is rejected.

References
----------
.. [1] R. Cox, "Regular expression matching in the wild", 2010.
"""

from __future__ import annotations

from typing import Any

_MAX_PATTERN = 4096  # characters
_MAX_MEMORY = 1 << 18  # bytes, of a compiled pattern and what it keeps while it searches


def compile_pattern(text: str) -> Any:
    """A pattern with one group at least; ValueError with a fixed phrase if it is none of RE2."""
    import re2  # only here: most runs have no rules

    if len(text) > _MAX_PATTERN:
        raise ValueError(f"a pattern of more than {_MAX_PATTERN} characters")
    options = re2.Options()
    options.max_mem, options.log_errors = _MAX_MEMORY, False
    try:
        pattern = re2.compile(text, options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise ValueError(f"not a pattern of RE2: {said.partition(':')[0]}") from None
    if not pattern.groups:
        raise ValueError("a pattern without a group")
    return pattern
