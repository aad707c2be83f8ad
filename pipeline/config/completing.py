"""What a shell completes that depends on a store: its snapshots, their ASes; and names of rules.

Each function gets what was typed so far, by names of fields, and the word that was begun. Shells
alone call it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineError


def snapshots(typed: Mapping[str, Any], begun: str) -> list[str]:
    """Names of the snapshots of the store on this machine's disks, the newest first."""
    from pipeline.store import snapshot_names

    store = _store(typed)
    return [] if store is None else snapshot_names(store)[::-1]


def ases(typed: Mapping[str, Any], begun: str) -> list[str]:
    """AS numbers of the snapshot that was typed, or the newest; after ``AS`` if so begun."""
    from pipeline.store import open_snapshot

    store = _store(typed)
    if store is None:
        return []
    try:
        with open_snapshot(store, typed.get("snapshot") or None) as snapshot:
            prefix = begun[:2] if begun[:2].upper() == "AS" else ""
            return [f"{prefix}{asn}" for asn in snapshot.asn.tolist()]
    except PipelineError:
        return []


def rules(typed: Mapping[str, Any], begun: str) -> list[str]:
    """Names of the rules of inference."""
    from pipeline.infer.rules import RULES

    return [rule.name for rule in RULES]


def _store(typed: Mapping[str, Any]) -> Path | None:
    """The folder typed or in the variable; None for a URL, which would have to be asked."""
    text = str(typed.get("store") or os.environ.get("HOPSCOPE_STORE") or "")
    return None if not text or "://" in text else Path(text)
