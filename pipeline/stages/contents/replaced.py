"""Versions that were replaced by an ingest of the same name, and can be restored."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.errors import StoreError
from pipeline.model.measured.reading import newest_on_calendar
from pipeline.model.words import number, printable, size_text, sizes
from pipeline.places import shown
from pipeline.places.command_lines import command_line
from pipeline.store import Snapshot, open_snapshot, open_version
from pipeline.store.pointers.changing import open_replaced
from pipeline.store.pointers.nights import nights_alike, origin_of
from pipeline.store.versions.names import name_of_version


def holds(snapshot: Snapshot) -> dict[str, Any]:
    """How much a version holds, of when and of which files, as its manifest says."""
    manifest = snapshot.manifest
    counts = manifest.get("counts") or {}
    inputs = measured_of(manifest)
    return {
        "version": snapshot.version,
        "created": manifest.get("created"),
        "node_kind": snapshot.kind,
        "n_traces": counts.get("n_traces"),
        "n_silent": counts.get("silent_routers", 0),
        **{name: manifest[name] for name in ("n_ases", "n_nodes", "n_edges")},
        "size_bytes": snapshot.n_bytes,
        "newest_s": newest_on_calendar(inputs),
        "files": [Path(str(row.get("path"))).name for row in inputs],
    }


def measured_of(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Entries of the inputs that hold measurements, not tables about them."""
    inputs = manifest.get("inputs") or ()
    return [row for row in inputs if row.get("holds") in ("traces", "topology")]


def holds_text(facts: Mapping[str, Any]) -> str:
    """``holds`` in words."""
    counts = [number(facts["n_traces"], "trace")] if facts["n_traces"] else []
    counts += sizes(facts["n_ases"], facts["n_nodes"], facts["node_kind"], facts["n_silent"])
    counts += [number(facts["n_edges"], "link"), size_text(facts["size_bytes"])]
    if facts["newest_s"]:
        newest = datetime.datetime.fromtimestamp(facts["newest_s"], datetime.UTC)
        counts.append(f"newest record {newest:%Y-%m-%d %H:%M:%S} UTC")
    if facts["files"]:
        counts.append(f"from {_named(facts['files'])}")
    return ", ".join(counts)


def _named(files: Sequence[str]) -> str:
    more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    return f"{printable(files[0])}{more}"


def replaced_by(store: Path, version: Path) -> dict[str, Any] | None:
    """What a version that was just written took the place of; None if of nothing.

    Returns
    -------
    dict or None
        ``snapshot``; ``before`` and ``now``, as ``holds``; ``is_same``: whether both are of the
        same measurements.
    """
    try:
        with open_version(store, version.name) as now:
            before = open_replaced(store, now.name)
            if before is None or before.version == now.version:  # replaced again meanwhile
                return None
            with before:
                origin = origin_of(now.manifest)
                return {
                    "snapshot": now.name,
                    "is_same": origin is not None and origin == origin_of(before.manifest),
                    "before": holds(before),
                    "now": holds(now),
                }
    except StoreError:  # a broken one was replaced, as its error advises
        return None


def replacement_warnings(store: Path, replaced: Mapping[str, Any] | None) -> list[str]:
    """A line if a snapshot was replaced by one of other measurements."""
    if replaced is None or replaced["is_same"]:
        return []
    before, now = replaced["before"], replaced["now"]
    return [
        f"snapshot {replaced['snapshot']} held other data, which is replaced: "
        f"{holds_text(before)} by {holds_text(now)}; "
        f"{command_line('restore', replaced['snapshot'], store=store)} brings it back, until the "
        "next replacement"
    ]


def alike_warnings(store: Path, version: Path) -> list[str]:
    """A line if a night that was given no name may be of the measurements of another one."""
    if not (alike := nights_alike(store, version.name)):
        return []
    name = name_of_version(version.name)
    return [
        f"snapshot {name} may be of the same measurements in other files as {', '.join(alike)}: "
        "they have the same date, number of traces and time of the newest record; "
        f"{command_line('remove', name, store=store)} removes it"
    ]


def notice_of(store: Path, name: str, files: Iterable[Path]) -> str:
    """What to say before files are read into a name that holds others; empty if it does not.

    What they hold is known once they are read. Bytes are compared only where all sizes are equal.
    """
    try:
        with open_snapshot(store, name) as snapshot:
            facts = holds(snapshot)
            before = measured_of(snapshot.manifest)
    except StoreError:  # there is none, or it is broken
        return ""
    files = [path for path in files if path.is_file()]
    sizes_now = sorted(path.stat().st_size for path in files)
    if sizes_now == sorted(row.get("size_bytes") or 0 for row in before):
        digests = {row.get("sha256") for row in before}
        if all(_sha256_of(path) in digests for path in files):
            return ""
    named = f": {_named([path.name for path in files])}" if files else ""
    return (
        f"snapshot {name} holds {holds_text(facts)}; {number(len(files), 'file')} of other content "
        f"({size_text(sum(sizes_now))}{named}) will replace it: to keep it, stop and give another "
        "--snapshot"
    )


def _sha256_of(path: Path) -> str:
    """sha256 of a file as stored; empty if it cannot be read, which its reader says."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def kept_of(store: Path, name: str) -> dict[str, Any] | None:
    """``holds`` and ``store`` of the version that can be restored; None: none, or a broken one."""
    try:
        replaced = open_replaced(store, name)
        if replaced is None:
            return None
        with replaced:
            return holds(replaced) | {"store": shown(store)}
    except StoreError:
        return None
