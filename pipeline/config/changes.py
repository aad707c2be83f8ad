"""Options of the commands that change what is in a store: remove, rename, restore."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.config.shared import named_snapshot, store_option
from pipeline.config.values import snapshot_name
from pipeline.options import option


@dataclass(frozen=True)
class RemoveConfig:
    """Snapshots that go."""

    snapshots: tuple[str, ...] = option(
        help="Names of snapshots.",
        variable=None,
        metavar="SNAPSHOT",
        is_argument=True,
    )
    store: Path = store_option()


@dataclass(frozen=True)
class RenameConfig:
    """A snapshot, and its new name."""

    snapshot: str = named_snapshot()
    name: str = option(
        help="Its new name.",
        variable=None,
        metavar="NAME",
        parser=snapshot_name,
        is_argument=True,
    )
    store: Path = store_option()


@dataclass(frozen=True)
class RestoreConfig:
    """A snapshot that was replaced."""

    snapshot: str = named_snapshot()
    store: Path = store_option()
