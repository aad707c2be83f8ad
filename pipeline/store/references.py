"""What was usual up to each night, as files of a store: ``references/<version>.parquet``.

A file covers nights that may be gone since, so it is kept as long as its own snapshot. It is
whole or not there: without it, references are made again from the nights that the store still has.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import StoreError
from pipeline.files import written_whole
from pipeline.model.columns import schema_of
from pipeline.model.measured.references import References
from pipeline.store.columns import as_arrow, read_table
from pipeline.store.versions.mirrored import (
    bring_small,
    names_there,
    remove_files,
    send_file,
)
from pipeline.store.versions.names import is_version
from pipeline.store.versions.pointer import kept_versions

FOLDER = "references"  # in a store

_FACTS = b"hopscope.references"
_RULES = 1  # of smoothing: files of other rules are made again
_SUFFIX = ".parquet"
_UNFINISHED_S = 3600.0  # a file that is being written is younger


def reference_file(store: Path, version: str) -> Path:
    """Where the references up to a version of a snapshot are, or would be."""
    return Path(store) / FOLDER / f"{version}{_SUFFIX}"


def keep_references(store: Path, version: str, references: References) -> None:
    """Write baselines up to a night; those of versions that are gone are removed.

    Raises
    ------
    UsageError, StoreError, OSError
        If the store cannot be written.
    """
    path = reference_file(store, version)
    path.parent.mkdir(exist_ok=True)
    columns = {name: as_arrow(getattr(references, name)) for name in schema_of(References).flat}
    facts = {"rules": _RULES, "n_nights": references.n_nights, "since": references.since}
    table = pa.table(columns).replace_schema_metadata({_FACTS: orjson.dumps(facts)})
    with written_whole(path) as file:
        pq.write_table(table, file, compression="zstd", write_page_checksum=True)
    send_file(path)
    remove_orphaned_references(store)


def read_references(store: Path, version: str) -> References | None:
    """What was usual up to a version of a snapshot; None: not kept, or it cannot be used."""
    path = reference_file(store, version)
    names = schema_of(References).flat
    with contextlib.suppress(StoreError, ValueError, KeyError, TypeError):
        bring_small(path)
        if not path.is_file():
            return None
        table = read_table(path, tuple(names))
        facts = orjson.loads((table.schema.metadata or {})[_FACTS])
        if facts["rules"] != _RULES:
            return None
        columns = {
            name: table.column(name).to_numpy().astype(each.dtype, copy=False)
            for name, each in names.items()
        }
        return References(**columns, n_nights=int(facts["n_nights"]), since=str(facts["since"]))
    return None


def nights_of_references(store: Path, version: str) -> tuple[int, str] | None:
    """How many nights kept references cover, and the first; None: not kept, or of other rules."""
    path = reference_file(store, version)
    with contextlib.suppress(StoreError, ValueError, KeyError, TypeError, OSError):
        bring_small(path)
        if path.is_file():
            facts = orjson.loads((pq.read_schema(path).metadata or {})[_FACTS])
            if facts["rules"] == _RULES:
                return int(facts["n_nights"]), str(facts["since"])
    return None


def copy_references(store: Path, old: str, new: str) -> None:
    """Keep the baselines of a version for a copy of it, too, if there are any."""
    path = reference_file(store, old)
    with contextlib.suppress(StoreError):  # they would be made again
        bring_small(path)
        if path.is_file():
            with written_whole(reference_file(store, new)) as file:
                file.write(path.read_bytes())
            send_file(reference_file(store, new))


def orphaned_references(store: Path) -> list[Path]:
    """Files of versions that no snapshot is any more, and those that killed runs did not finish."""
    folder = Path(store) / FOLDER
    try:
        used = kept_versions(store)
        there = [folder / name for name in names_there(folder)]
        paths = sorted({*(folder.iterdir() if folder.is_dir() else ()), *there})
    except (OSError, StoreError):
        return []  # a broken pointer may have named any of them
    return [path for path in paths if _is_orphan(path, used)]


def _is_orphan(path: Path, used: set[str]) -> bool:
    version = path.name.removesuffix(_SUFFIX)
    if path.name.startswith("."):
        with contextlib.suppress(OSError):
            return time.time() - path.stat().st_mtime > _UNFINISHED_S
    return path.name.endswith(_SUFFIX) and is_version(version) and version not in used


def remove_orphaned_references(store: Path) -> None:
    """Remove what ``orphaned_references`` names."""
    paths = orphaned_references(store)
    remove_files(paths)
    for path in paths:
        path.unlink(missing_ok=True)
