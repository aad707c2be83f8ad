"""Which nights a comparison is of, and of which versions of them: in the metadata of its events."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.model.words import printable
from pipeline.places.command_lines import command_line
from pipeline.report.names import CHANGES

# Its files; the last one is a folder.
COMPARISON = frozenset({"changes.parquet", "events.parquet", "changes.html", "changes.js", CHANGES})
# How our files begin, of any version, and columns that its tables have.
_MARKS = {
    "changes.html": b"<title>hopscope ",
    "changes.js": b"// The page of a comparison",
    "hopscope.css": b"/* Reports of hopscope",
    "hopscope.js": b"// Reports of hopscope",
}
_COLUMNS = {
    "changes.parquet": frozenset({"what", "kind", "event", "asn", "other_asn"}),
    "events.parquet": frozenset({"event", "kind", "asn", "n_changes", "text"}),
}
_HEAD_BYTES = 2000
_SHARD = re.compile(r"(index|\d+)\.js")  # in the folder of a comparison
_KEYS = (b"hopscope.old", b"hopscope.new", b"hopscope.old_version", b"hopscope.new_version")


class Compared(NamedTuple):
    """Names and versions of the older and the newer night; empty where a file does not say."""

    old: str
    new: str
    old_version: str = ""
    new_version: str = ""

    def metadata(self) -> dict[bytes, bytes]:
        """For the schema of the events."""
        return {key: text.encode() for key, text in zip(_KEYS, self, strict=True)}

    def is_of(self, version: str) -> bool:
        """Whether it is of a version of the newer night, as far as it says."""
        return self.new_version in ("", version)

    def is_replaced(self, versions: Mapping[str, str]) -> bool:
        """Whether the older night was ingested again since; ``versions``: by name, now."""
        now = versions.get(self.old, "")
        return bool(self.old_version and now) and now != self.old_version

    def left_out(self, version: str, versions: Mapping[str, str], store: str, out: Path) -> str:
        """A line if it does not belong to the report of a version any more; empty: it does.

        Parameters
        ----------
        version : str
            Of the newer night, whose report is written.
        versions : mapping of str to str
            As for ``is_replaced``.
        store : str
        out : Path
            Of both nights, and of their reports: for the command that makes it again.
        """
        old, new = printable(self.old), printable(self.new)
        if not self.is_of(version):
            why = f"is not of this version of {new}" if new else "is of another version"
        elif self.is_replaced(versions):
            why = f"is of an earlier version of {old}"
        else:
            return ""
        named = f" with {old}" if old else ""
        names = (old, new) if old and new else ("OLD", "NEW")
        command = command_line("compare", *names, store=store, out=out)
        return f"the comparison{named} {why} and was left out; {command} makes it again"


def compared_of(schema: pa.Schema) -> Compared:
    """What the schema of events says."""
    metadata = schema.metadata or {}
    return Compared(*(metadata.get(key, b"").decode("utf-8", "replace") for key in _KEYS))


def compared_in(folder: Path) -> Compared:
    """What the comparison in a folder of a report says; nothing where there is none."""
    try:
        return compared_of(pq.read_schema(folder / "events.parquet"))
    except (OSError, pa.ArrowException):
        return Compared("", "")


def foreign_in(folder: Path) -> list[str]:
    """Files with names of a comparison, or of what its page loads, that hopscope did not write."""
    names = sorted(_MARKS.keys() | _COLUMNS.keys() | {CHANGES})
    return [name for name in names if os.path.lexists(folder / name) and not _is_ours(folder, name)]


def is_shard(path: Path) -> bool:
    """Whether a path in a report is that of a script with changes."""
    return len(path.parts) == 2 and path.parts[0] == CHANGES and bool(_SHARD.fullmatch(path.name))


def _is_ours(folder: Path, name: str) -> bool:
    path = folder / name
    if name == CHANGES:
        return path.is_dir() and all(is_shard(Path(CHANGES, each.name)) for each in path.iterdir())
    if path.is_symlink() or not path.is_file():
        return False
    try:
        if name in _COLUMNS:
            return _COLUMNS[name].issubset(pq.read_schema(path).names)
        with path.open("rb") as file:
            return _MARKS[name] in file.read(_HEAD_BYTES)
    except (OSError, pa.ArrowException):
        return False


def compared_before(folder: Path, version: str | None) -> Compared:
    """The comparison that a new report finds in its folder.

    Older files do not say of which versions they are: they are taken to be of that of the report
    beside them.

    Parameters
    ----------
    folder : Path
    version : str or None
        Of the night in the report that is there; None: there is none.
    """
    compared = compared_in(folder)
    is_there = any((folder / name).exists() for name in COMPARISON)
    if compared.new_version or version is None or not is_there:
        return compared
    return compared._replace(new_version=version)
