"""Makes the last commit before a release: ``python3 -m deploy.release VERSION``.

Writes the version where it is kept, ``pipeline/__init__.py``, and with the date into CITATION.cff;
gathers the files of ``changelog/`` in CHANGELOG.md, and removes them. Commits and tags nothing.
"""

from __future__ import annotations

import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What begins the name of a file of ``changelog/``, and its heading in CHANGELOG.md, in this order.
AREAS = {
    "graphs": "From measurements to graphs",
    "store": "The store",
    "searches": "Searches",
    "reports": "Reports",
    "nights": "Nights",
    "changed": "Changed",
}
_NAME = re.compile(rf"({'|'.join(AREAS)})\.[\w-]+\.md")
_LINE = re.compile(r"(- |  )\S.*")
_SECTION = re.compile(r"^## \[([^\]]+)\] - (.+)\n", re.MULTILINE)


class ReleaseError(Exception):
    """Nothing is written; says why."""


def fragments(folder: Path) -> dict[str, list[str]]:
    """The lines of each area, in the order of the names of their files.

    Raises
    ------
    ReleaseError
        If a file has another name, or a line that is none of a list.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.iterdir()):
        if path.name == "README.md":
            continue
        name = _NAME.fullmatch(path.name)
        if name is None:
            raise ReleaseError(f"{path}: name it <area>.<name>.md, area of {', '.join(AREAS)}")
        lines = path.read_text(encoding="utf-8").splitlines()
        wrong = [line for line in lines if not _LINE.fullmatch(line)]
        if wrong or not lines or not lines[0].startswith("- "):
            raise ReleaseError(f"{path}: lines begin with '- ', or two spaces to go on")
        found.setdefault(name[1], []).extend(lines)
    return found


def with_section(text: str, version: str, date: str, new: dict[str, list[str]]) -> str:
    """CHANGELOG.md with a dated section of a version: the unreleased one, if there is one.

    Raises
    ------
    ReleaseError
        If there is a section of that version, or nothing to say of it.
    """
    dated = [name for name, state in _SECTION.findall(text) if state != "unreleased"]
    if version in dated:
        raise ReleaseError(f"CHANGELOG.md: {version} is released already")
    first = _SECTION.search(text)
    before = text[: first.start()] if first else text.rstrip("\n") + "\n\n"
    after = text[first.start() :] if first else ""
    areas: dict[str, list[str]] = {}
    if first and first[2] == "unreleased":
        old, _, after = text[first.end() :].partition("\n## ")
        after = f"## {after}" if after else ""
        for part in old.split("\n### ")[1:]:
            heading, _, lines = part.partition("\n")
            areas[heading] = lines.strip("\n").splitlines()
    for area, lines in new.items():
        areas.setdefault(AREAS[area], []).extend(lines)
    if not areas:
        raise ReleaseError("nothing has changed: changelog/ is empty")
    order = [*AREAS.values(), *areas]
    parts = [
        f"### {heading}\n\n" + "\n".join(areas[heading]) + "\n"
        for heading in sorted(areas, key=order.index)
    ]
    section = f"## [{version}] - {date}\n\n" + "\n".join(parts)
    return before + section + (f"\n{after}" if after else "")


def release(root: Path, version: str, date: str) -> None:
    """Write a version into the files of a checkout.

    Raises
    ------
    ReleaseError
        If it is no version, or as ``fragments`` and ``with_section``.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", version):
        raise ReleaseError(f"{version}: give a version such as 0.2.0")
    changelog = root / "CHANGELOG.md"
    new = fragments(root / "changelog")
    text = with_section(changelog.read_text(encoding="utf-8"), version, date, new)
    changelog.write_text(text, encoding="utf-8")
    _rewrite(root / "pipeline/__init__.py", r'^__version__ = ".*"$', f'__version__ = "{version}"')
    _rewrite(
        root / "CITATION.cff",
        r"^version: .*\n(date-released: .*\n)?",
        f"version: {version}\ndate-released: {date}\n",
    )
    for path in (root / "changelog").iterdir():
        if path.name != "README.md":
            path.unlink()


def _rewrite(path: Path, pattern: str, line: str) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(pattern, line, text, flags=re.MULTILINE), encoding="utf-8")


if __name__ == "__main__":
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    try:
        release(ROOT, sys.argv[1], today)
    except ReleaseError as error:
        sys.exit(str(error))
