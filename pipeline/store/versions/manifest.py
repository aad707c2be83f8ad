"""manifest.json: what a version holds, each file with its size and sha256, and its own checksum."""

from __future__ import annotations

import datetime
import hashlib
import os
import stat
from pathlib import Path

import orjson

from pipeline.errors import StoreError, said_by_system
from pipeline.model.choices import is_name
from pipeline.model.words import is_kind_of_nodes
from pipeline.places import url_of
from pipeline.store.versions.mirrored import sha256_there
from pipeline.store.versions.names import (
    ASES,
    BORDERS,
    INGRESSES,
    MANIFEST,
    REJECTS,
    broken,
    graph_file,
    is_file,
)

SCHEMA = "hopscope-snapshot"
SCHEMA_VERSION = 1
# What a reader relies on; a manifest without it was not written by us.
REQUIRED = {
    "name": str,
    "kind": str,
    "weight_unit": str,
    "has_weights": bool,
    "has_addr": bool,
    "has_id": bool,
    "node_columns": dict,
    "arc_columns": dict,
    "files": dict,
}
# What reports show of it, if present.
OPTIONAL = {"created": str, "inputs": list, "counts": dict, "options": dict, "warnings": list}
REQUIRED_COUNTS = ("n_ases", "n_nodes", "n_edges")
COUNTS = (*REQUIRED_COUNTS, "n_ingresses", "n_candidates", "n_border_links", "n_unmapped")
# Fields of a row of ``inputs``; any may be missing.
INPUT = (
    dict.fromkeys(("path", "format", "holds", "status", "error", "sha256"), str)
    | dict.fromkeys(("copy_of", "kind", "made_by"), str)
    | dict.fromkeys(("rejected", "skipped", "notes"), dict)
    | {"as_ranges": list}
)
INPUT_COUNTS = ("n_records", "n_rejected", "n_hops", "size_bytes")
COLUMN_DTYPES = {"str", "bool", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_NO_CHECKSUM = b"0" * 64  # used in place of the checksum while that is computed


def write_manifest(folder: Path, content: dict) -> Path:
    """Write the manifest of a version; ``content`` lacks schema and checksum."""
    head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "manifest_sha256": "0" * 64}
    data = orjson.dumps(
        head | content,
        default=_as_json,
        option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS,
    )
    checksum = hashlib.sha256(data).hexdigest().encode()
    path = folder / MANIFEST
    path.write_bytes(data.replace(_NO_CHECKSUM, checksum, 1))
    return path


def read_manifest(folder: Path, *, check_files: bool = True) -> dict:
    """Read a manifest and compare every file's size with it, unless only the manifest is wanted.

    Raises
    ------
    StoreError
        If the manifest is missing, not JSON, of another schema version or altered, or a file
        that it names is missing, not of the size it says, or outside the folder.
    """
    path = folder / MANIFEST
    try:
        data = path.read_bytes()
    except OSError as error:
        raise broken(path, f"cannot be read ({said_by_system(error)})") from None
    try:
        manifest = orjson.loads(data)
    except ValueError as error:
        raise broken(path, f"is not JSON ({error})") from None
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise broken(path, f"is not a manifest of a snapshot (its schema is not {SCHEMA!r})")
    version = manifest.get("schema_version")
    if version != SCHEMA_VERSION:
        raise broken(
            path,
            f"has schema version {version!r}, this hopscope reads version {SCHEMA_VERSION}: "
            "read it with the hopscope that wrote it",
        )
    checksum = str(manifest.get("manifest_sha256")).encode()
    if hashlib.sha256(data.replace(checksum, _NO_CHECKSUM, 1)).hexdigest().encode() != checksum:
        raise broken(path, "has been altered (its checksum does not match)")
    for key, kind in REQUIRED.items():
        if not isinstance(manifest.get(key), kind):
            raise broken(path, f"has no valid entry {key!r}")
    for key in REQUIRED_COUNTS:
        if key not in manifest:
            raise broken(path, f"has no entry {key!r}")
    if not is_kind_of_nodes(manifest["kind"]):
        raise broken(path, f"is of nodes of an unknown kind, {manifest['kind']!r}")
    for key in ("node_columns", "arc_columns"):
        if not all(isinstance(d, str) and d in COLUMN_DTYPES for d in manifest[key].values()):
            raise broken(path, f"has a column of unknown dtype in {key!r}")
    if not is_name(manifest["name"]):
        raise broken(
            path, f"is of a snapshot named {manifest['name']!r}, which is not a valid name"
        )
    if fault := _optional_fault(manifest):
        raise broken(path, f"has no valid entry {fault}")
    for name, entry in manifest["files"].items():
        if not is_file(name):
            raise broken(path, f"names {name!r}, which cannot be a file of a snapshot")
        numbers = {"size_bytes"} | ({"n_rows"} if name.endswith(".parquet") else set())
        if not isinstance(entry, dict) or not all(type(entry.get(n)) is int for n in numbers):
            raise broken(path, f"does not give the size of {name}")
        if not isinstance(entry.get("sha256"), str):
            raise broken(path, f"does not give the sha256 of {name}")
        is_here = url_of(folder) is None or (folder / name).exists()  # else: fetched when read
        if check_files and is_here:
            check_size(folder / name, entry["size_bytes"])
    if missing := _expected_files(manifest["files"]) - set(manifest["files"]):
        raise broken(path, f"does not name {', '.join(sorted(missing))}")
    return manifest


def _optional_fault(manifest: dict) -> str:
    """The entry shown in reports that has a wrong type or value; empty if none has."""
    for key, kind in OPTIONAL.items():
        if key in manifest and not isinstance(manifest[key], kind):
            return repr(key)
    if not _is_time(manifest.get("created", "1970-01-01")):
        return "'created'"
    for key in COUNTS:
        if not _is_count(manifest.get(key, 0)):
            return repr(key)
    if not all(isinstance(line, str) for line in manifest.get("warnings", [])):
        return "'warnings'"
    for name, value in manifest.get("counts", {}).items():
        if (name.startswith("n_") or name == "silent_routers") and not _is_count(value):
            return f"{name!r} in 'counts'"
    for i, row in enumerate(manifest.get("inputs", [])):
        if not isinstance(row, dict):
            return f"{i} in 'inputs'"
        for key, kind in INPUT.items():
            if not isinstance(row.get(key, kind()), kind):
                return f"{key!r} of input {i}"
        counted = [n for key in ("rejected", "skipped", "notes") for n in row.get(key, {}).values()]
        counted += [row.get(key) for key in INPUT_COUNTS]
        if not all(value is None or _is_count(value) for value in counted):
            return f"with counts of input {i}"
        if not _is_number(row.get("newest_s") or 0):
            return f"'newest_s' of input {i}"
        if not all(_is_range(each) for each in row.get("as_ranges", [])):
            return f"'as_ranges' of input {i}"
    return ""


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _is_time(text: str) -> bool:
    try:
        return bool(datetime.datetime.fromisoformat(text))
    except ValueError:
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_range(value: object) -> bool:
    """Whether this is the first and the last of some AS numbers."""
    return isinstance(value, list) and len(value) == 2 and all(type(asn) is int for asn in value)


def _expected_files(files: dict) -> set[str]:
    """The tables of every snapshot, and whole pairs of numbered files from 000 on."""
    n_pairs = sum(name.startswith(("nodes-", "arcs-")) for name in files) + 1
    pairs = {graph_file(kind, i) for i in range(n_pairs // 2) for kind in ("nodes", "arcs")}
    return {ASES, INGRESSES, BORDERS, REJECTS} | pairs


def check_size(path: Path, size_bytes: int) -> None:
    """Raise StoreError unless this is a plain file of that size."""
    try:
        found = os.lstat(path)
    except OSError as error:
        raise broken(path, f"is missing ({said_by_system(error)})") from None
    if not stat.S_ISREG(found.st_mode):
        raise broken(path, "is not a regular file")
    if found.st_size != size_bytes:
        raise broken(path, f"has {found.st_size} bytes, {size_bytes} were written")


def check_sha256(path: Path, entry: dict) -> None:
    """Raise StoreError unless a file has the bytes that a manifest says."""
    try:
        found = file_sha256(path)
    except OSError as error:
        is_gone = isinstance(error, FileNotFoundError)
        reason = "is missing (if it has been replaced, open it again)" if is_gone else ""
        raise broken(path, reason or f"cannot be read ({said_by_system(error)})") from None
    if found != entry["sha256"]:
        raise broken(path, "has been altered, or is of another version")


def altered_files(folder: Path, manifest: dict) -> list[str]:
    """What is wrong with each file that is not as it was written."""
    wrong = []
    for name, entry in manifest["files"].items():
        try:
            found = sha256_there(folder / name) or file_sha256(folder / name)
        except OSError as error:
            wrong.append(f"{name} cannot be read ({said_by_system(error)})")
            continue
        except StoreError as error:
            wrong.append(str(error))
            continue
        if found != entry["sha256"]:
            wrong.append(f"{name} has been altered (sha256 {found[:12]}...)")
    return wrong


def file_sha256(path: Path) -> str:
    """sha256 of a file, hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _as_json(value: object) -> object:
    return sorted(value) if isinstance(value, (set, frozenset)) else str(value)
