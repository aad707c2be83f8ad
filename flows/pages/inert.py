"""Third-party text shown as plain text on every page of Prefect.

Prefect has two sets of pages. One renders table cells, descriptions and messages as Markdown with
HTML, the other shows some of them verbatim, so that entities and backslashes would be visible. Both
display these the same way: an invisible character that keeps markup from beginning, and look-alikes
of three characters.
"""

from __future__ import annotations

import re
import unicodedata

_JOINER = "\u2060"  # word joiner: shows nothing, breaks no line, belongs to no markup
# These pair up wherever they are, so characters that look alike replace them.
_TWINS = str.maketrans({"`": "\u02cb", "*": "\u2217", "~": "\u223c"})
# Each of these can begin markup: tags, entities, links, escapes, addresses.
_OPENS = re.compile(
    r"""<|&|\\|@
    | \](?=[(\[:])
    | :(?=/)
    | \bwww(?=\.)
    | ^(?:[-+=\#>|]|\d+(?=[.)])) # a list, a heading, a quotation
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LOOSE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
# Invisible characters: control characters, and those that change the direction of text.
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def inert(text: object) -> str:
    """One line that looks like ``text`` without markup; plain text is returned unchanged."""
    line = " ".join(str(text).split())
    line = "".join(c for c in line if unicodedata.category(c) not in _HIDDEN).translate(_TWINS)
    line = _OPENS.sub(lambda found: found.group() + _JOINER, line)
    return _LOOSE_UNDERSCORE.sub(f"{_JOINER}_{_JOINER}", line)
