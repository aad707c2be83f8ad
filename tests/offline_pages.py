"""Whether pages fetch anything when they are viewed: ``python -m tests.offline_pages FOLDER``."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path

# Attributes whose targets browsers load by themselves; links that readers click are not among them.
LOADED = {"src", "srcset", "poster", "data"}
# Relations of <link> that make no request.
NOT_LOADED = {"canonical", "next", "prev", "alternate"}


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            relations = {*(dict(attrs).get("rel") or "").split()}
            linked = tag == "link" and name == "href" and not relations & NOT_LOADED
            if (name in LOADED or linked) and _is_elsewhere(value or ""):
                self.found.append(f"<{tag} {name}={value}>")


def _is_elsewhere(target: str) -> bool:
    return target.lower().lstrip().startswith(("http:", "https:", "//"))


def fetched(folder: Path) -> list[str]:
    """What pages and style sheets of a folder load from elsewhere, one line each."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        loads = _Loads()
        loads.feed(path.read_text())
        found += [f"{path}: {each}" for each in loads.found]
    for path in sorted(folder.rglob("*.css")):
        text = path.read_text().replace('"', "").replace("'", "")
        if any(f"url({start}" in text for start in ("http", "//")) or "@import" in text:
            found.append(f"{path}: a style sheet loads something from elsewhere")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(fetched(Path(sys.argv[1]))) or None)
