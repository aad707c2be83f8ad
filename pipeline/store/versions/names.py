"""Valid names in a store: of snapshots, of their versions and of the files in them.

Names are matched whole against these patterns before they are joined to a path, so neither a
user's typo nor a manifest from elsewhere can point outside the store.
"""

from __future__ import annotations

import re
import uuid
from pathlib import Path

from pipeline.errors import StoreError, UsageError
from pipeline.model.choices import NAME_RULE, is_name
from pipeline.places.command_lines import command_line

POINTERS = "snapshots"  # folder: <name>.json, one per snapshot
VERSIONS = "versions"  # folder: <name>-<12 hex digits>/, the files of one version
WRITING = ".writing-"  # prefix of a version that is being written
TRASH = ".trash-"  # prefix of a version that is being removed

MANIFEST = "manifest.json"
ASES = "ases.parquet"
INGRESSES = "ingresses.parquet"
EXITS = "exits.parquet"
BORDERS = "borders.parquet"
ADDRESSES = "addresses.parquet"  # where a node has several, or with confidence
VANTAGES = "vantages.parquet"  # this and the next two: of traces only
OBSERVATIONS = "observations.parquet"
PATHS = "paths.parquet"
TRACES = "traces.parquet"  # this and the next: of traces only
INTERFACES = "interfaces.parquet"
HOST_NAMES = "host_names.parquet"  # where any were given
LOCATIONS = "locations.parquet"  # where any were given
REASONS = "reasons.parquet"  # this and the next: where ASes were elected
JOINS = "joins.parquet"
UNMAPPED = "unmapped.parquet"  # of traces
REJECTS = "rejects.jsonl"
LOCK = "lock"  # held shared by readers of a version, exclusive by its writer; empty

_TOKEN = "[0-9a-f]{12}"
_VERSION = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9._-]*-{_TOKEN}")
_ASIDE = re.compile(rf"\.[A-Za-z0-9_][A-Za-z0-9._-]*\.({_TOKEN}|json\.[0-9]+)")
_TABLES = (
    ASES,
    INGRESSES,
    EXITS,
    BORDERS,
    ADDRESSES,
    VANTAGES,
    OBSERVATIONS,
    PATHS,
    TRACES,
    INTERFACES,
    HOST_NAMES,
    LOCATIONS,
    REASONS,
    JOINS,
    UNMAPPED,
)
_NAMES = "|".join(map(re.escape, (*_TABLES, REJECTS)))
_FILE = re.compile(rf"{_NAMES}|(nodes|arcs)-[0-9]{{3,6}}\.parquet")


def new_token() -> str:
    """Twelve hexadecimal digits that no other file or folder of ours has in its name."""
    return uuid.uuid4().hex[:12]


def has_token(name: str, prefix: str) -> bool:
    """Whether a name is ``prefix`` and a token: others are not ours, whatever they begin with."""
    return re.fullmatch(re.escape(prefix) + _TOKEN, name) is not None


def check_name(name: str) -> str:
    """Return a snapshot's name if it is valid.

    Raises
    ------
    UsageError
        If it is empty, longer than 100 characters, starts with ``.`` or ``-``, or has a
        character other than ASCII letters, digits, ``.``, ``_`` and ``-``.
    """
    if not is_name(name):
        raise UsageError(f"snapshot name {name!r}: give {NAME_RULE}")
    return name


def is_version(name: object) -> bool:
    """Whether this can be the folder of a version."""
    return isinstance(name, str) and _VERSION.fullmatch(name) is not None


def name_of_version(version: str) -> str:
    """The name of the snapshot that a version is of."""
    return version.rpartition("-")[0]


def is_pointer_aside(name: str) -> bool:
    """Whether this can be a pointer that is being written, or fetched."""
    return _ASIDE.fullmatch(name) is not None


def is_file(name: object) -> bool:
    """Whether this can be a file of a version, the manifest aside."""
    return isinstance(name, str) and _FILE.fullmatch(name) is not None


def holds_only_a_version(folder: Path) -> bool:
    """Whether a folder holds nothing but files of a version, or nothing.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    return all(_is_of_version(path.name) for path in folder.iterdir())


def _is_of_version(name: str) -> bool:
    """Whether this is a file of a version, or lies beside one while that is fetched."""
    hidden = name[1:].rpartition(".")[0] if name.startswith(".") else ""
    return any(is_file(each) or each in (MANIFEST, LOCK) for each in (name, hidden))


def graph_file(kind: str, number: int) -> str:
    """Name of a numbered file: ``nodes-000.parquet``."""
    return f"{kind}-{number:03d}.parquet"


def broken(path: Path, reason: str) -> StoreError:
    """The error for a file that differs from what was written; says what to do.

    ``path`` is a file of a version or of the pointers, so the store is two folders above it.
    """
    parents = path.absolute().parents
    at = next((p.parent for p in parents if p.name in (VERSIONS, POINTERS)), path.parent)
    return StoreError(
        f"{path}: {reason}; {command_line('doctor', store=at)} checks every file, "
        "and ingesting again under the same name replaces the snapshot"
    )
