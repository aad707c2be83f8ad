"""Third-party text for pages and scripts.

AS names, file names and messages are untrusted. The templates escape HTML; the rest is done here:
characters that no page can show, and data inside scripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

# C0 and C1 controls and halves of surrogate pairs are invisible at best and unencodable at worst;
# marks that change the direction of what follows can make a name look like another one.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: object) -> str:
    """Text with invisible and misleading characters replaced by U+FFFD."""
    return _UNPRINTABLE.sub("\ufffd", str(text))


def printables(texts: Iterable[str | None]) -> list[str]:
    """``printable`` of many; None becomes the empty text."""
    search = _UNPRINTABLE.search
    return ["" if text is None else printable(text) if search(text) else text for text in texts]


def script_json(value: object) -> str:
    """JSON for use in a script, also in a ``<script>`` element of a page.

    Everything outside ASCII is escaped (U+2028 ends a line of old scripts), and so are ``<``,
    ``>`` and ``&``, so that no text can close the element.
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
