"""Third-party text for pages and scripts.

AS names, file names and messages are untrusted. The templates escape HTML; the rest is done here:
many texts at once, and data inside scripts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pipeline.model.words import UNPRINTABLE, printable


def printables(texts: Iterable[str | None]) -> list[str]:
    """``printable`` of many; None becomes the empty text."""
    search = UNPRINTABLE.search
    return ["" if text is None else printable(text) if search(text) else text for text in texts]


def script_json(value: object) -> str:
    """JSON for use in a script, also in a ``<script>`` element of a page.

    Everything outside ASCII is escaped (U+2028 ends a line of old scripts), and so are ``<``,
    ``>`` and ``&``, so that no text can close the element.
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
