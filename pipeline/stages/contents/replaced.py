"""Versions that were replaced by an ingest of the same name, and can be restored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import StoreError
from pipeline.model.words import number, size_text, sizes
from pipeline.places import shown
from pipeline.store import Snapshot, open_snapshot, open_version
from pipeline.store.pointers.changing import open_replaced
from pipeline.store.pointers.nights import origin_of


def holds(snapshot: Snapshot) -> dict[str, Any]:
    """How much a version holds, as its manifest says."""
    manifest = snapshot.manifest
    counts = manifest.get("counts") or {}
    return {
        "version": snapshot.version,
        "created": manifest.get("created"),
        "node_kind": snapshot.kind,
        "n_traces": counts.get("n_traces"),
        "n_silent": counts.get("silent_routers", 0),
        **{name: manifest[name] for name in ("n_ases", "n_nodes", "n_edges")},
        "size_bytes": snapshot.n_bytes,
    }


def holds_text(facts: Mapping[str, Any]) -> str:
    """``holds`` in words."""
    counts = [number(facts["n_traces"], "trace")] if facts["n_traces"] else []
    counts += sizes(facts["n_ases"], facts["n_nodes"], facts["node_kind"], facts["n_silent"])
    counts += [number(facts["n_edges"], "link"), size_text(facts["size_bytes"])]
    return ", ".join(counts)


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
        f"{holds_text(before)} by {holds_text(now)}; `hopscope restore {replaced['snapshot']} "
        f"--store {shown(store)}` brings it back, until the next replacement"
    ]


def notice_of(store: Path, name: str, files: Iterable[Path]) -> str:
    """What to say before files are read into a name that holds others; empty if it does not.

    Others by their sizes: what they hold is known once they are read.
    """
    try:
        with open_snapshot(store, name) as snapshot:
            facts = holds(snapshot)
            inputs = snapshot.manifest.get("inputs") or ()
    except StoreError:  # there is none, or it is broken
        return ""
    sizes_now = sorted(path.stat().st_size for path in files if path.is_file())
    measured = [row for row in inputs if row.get("holds") in ("traces", "topology")]
    if sizes_now == sorted(row.get("size_bytes") or 0 for row in measured):
        return ""
    return (
        f"snapshot {name} holds {holds_text(facts)}; {number(len(sizes_now), 'file')} "
        f"({size_text(sum(sizes_now))}) will replace it: to keep it, stop and give another "
        "--snapshot"
    )


def kept_of(store: Path, name: str) -> dict[str, Any] | None:
    """``holds`` of the version that can be restored; None if there is none, or it is broken."""
    try:
        replaced = open_replaced(store, name)
        if replaced is None:
            return None
        with replaced:
            return holds(replaced)
    except StoreError:
        return None
