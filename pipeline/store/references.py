"""What was usual up to each night, as files of a store: ``references/<version>.parquet``.

A file covers nights that may be gone since, so it is kept as long as its own snapshot. It is
whole or not there: without it, references are made again from the nights that the store still has.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import StoreError
from pipeline.files import written_whole
from pipeline.model.addresses import number_addrs
from pipeline.model.columns import concat, schema_of
from pipeline.model.measured.references import OF_PAIR, References
from pipeline.store.columns import as_arrow, naming
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
_ROW_GROUP = 1 << 20  # rows that are in memory as a file has them
_ENDS = ("near", "far", "vantage")
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
    facts = {"rules": _RULES, "n_nights": references.n_nights, "since": references.since}
    schema = _table(references, slice(0)).schema.with_metadata({_FACTS: orjson.dumps(facts)})
    with (
        written_whole(path) as file,
        pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        for start in range(0, len(references), _ROW_GROUP):
            part = _table(references, slice(start, start + _ROW_GROUP))
            writer.write_table(part.cast(schema), row_group_size=_ROW_GROUP)
    send_file(path)
    remove_orphaned_references(store)


def read_references(store: Path, version: str) -> References | None:
    """What was usual up to a version of a snapshot; None: not kept, or it cannot be used."""
    path = reference_file(store, version)
    with contextlib.suppress(StoreError, ValueError, KeyError, TypeError):
        bring_small(path)
        if not path.is_file():
            return None
        with naming(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
            facts = orjson.loads((file.schema_arrow.metadata or {})[_FACTS])
            if facts["rules"] != _RULES:
                return None
            known = {"n_nights": int(facts["n_nights"]), "since": str(facts["since"])}
            return _joined([_part(file, i, known) for i in range(file.num_row_groups)], known)
    return None


def _table(references: References, rows: slice) -> pa.Table:
    """Some rows as they are in a file: each address in two columns, numbers of nights as int32."""
    columns: dict[str, np.ndarray] = {}
    none = np.zeros((1, 2), np.uint64)  # the near address of a pair
    addr = np.concatenate([references.addr, none])  # row -1
    for end in _ENDS:
        own = addr[getattr(references, end)[rows]]
        columns |= {f"{end}_high": own[:, 0], f"{end}_low": own[:, 1]}
    for name, flat in schema_of(References).flat.items():
        if name not in _ENDS:
            kind = np.int32 if np.issubdtype(flat.dtype, np.integer) else flat.dtype
            columns[name] = getattr(references, name)[rows].astype(kind)
    return pa.table({name: as_arrow(column) for name, column in columns.items()})


def _part(file: pq.ParquetFile, group: int, known: dict[str, Any]) -> References:
    """The opposite: a row group, with a table of its own addresses."""
    table = file.read_row_group(group, use_threads=False)
    near, far, vantage = (
        np.column_stack([table.column(f"{end}_{half}").to_numpy() for half in ("high", "low")])
        for end in _ENDS
    )
    is_link = near.any(axis=1)
    addr, rows = number_addrs([near[is_link], far, vantage])
    named = np.full(len(near), OF_PAIR, np.int32)
    named[is_link] = rows[0]
    columns: dict[str, Any] = {"near": named, "far": rows[1], "vantage": rows[2]}
    for name, flat in schema_of(References).flat.items():
        if name not in _ENDS:
            values = table.column(name).to_numpy()
            if np.issubdtype(flat.dtype, np.integer):
                values = np.minimum(values, np.iinfo(flat.dtype).max)
            columns[name] = values.astype(flat.dtype, copy=False)
    return References(**columns, addr=addr, **known)


def _joined(parts: list[References], known: dict[str, Any]) -> References:
    """Parts with one table of addresses."""
    if not parts:
        return replace(References.none(), **known)
    addr, rows = number_addrs([part.addr for part in parts])
    for i, row in enumerate(rows):
        part = parts[i]
        own = {end: row[getattr(part, end)] for end in _ENDS}
        own["near"][part.is_pair] = OF_PAIR
        parts[i] = replace(part, **own, addr=addr)
    return concat(parts)


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
