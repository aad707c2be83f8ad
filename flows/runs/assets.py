"""Snapshots, reports and comparisons as assets of Prefect: what was made of what, and when.

Each kind is one asset, named by the URI of the folder that its members are in, and each night is a
materialization of it, whose event names the night. Automations can act on these events.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefect import Task
from prefect.assets import Asset, materialize
from prefect.cache_policies import NO_CACHE
from prefect.context import AssetContext

from flows.runs.retries import ONCE_MORE
from pipeline.places import url_of

SNAPSHOTS, CHANGES = "snapshots", "changes"  # below the URI of a store, and of reports
# Characters that Prefect takes; others, which paths may have, become underscores.
_NOT_IN_KEYS = re.compile(r"[^A-Za-z0-9/:._@=+,~-]")
_MAX_KEY = 512

logger = logging.getLogger(__name__)


def asset_of(folder: Path, below: str = "") -> Asset:
    """The asset of a store or of reports, on a disk or at a URL."""
    uri = url_of(folder) or f"file://{Path(folder).resolve().as_posix()}"
    parts = [_NOT_IN_KEYS.sub("_", uri)] + [below] * bool(below)
    return Asset(key="/".join(parts)[:_MAX_KEY])


def materializing(stage: Task, asset: Asset, made_of: Sequence[Asset] = ()) -> Any:
    """A stage whose task runs materialize an asset, made of others."""
    given: dict[str, Any] = {"cache_policy": NO_CACHE, "persist_result": False} | ONCE_MORE
    return materialize(asset, name=stage.name, asset_deps=list(made_of), **given)(stage.fn)


def note_materialized(**facts: Any) -> None:
    """Say what a task run made, in the event of its asset; without facts: nothing."""
    context = AssetContext.get()
    if context is None:
        return
    if not facts:
        context.downstream_assets.clear()
    for asset in context.downstream_assets:
        with contextlib.suppress(ValueError):
            context.add_asset_metadata(asset.key, facts)
