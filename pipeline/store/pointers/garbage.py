"""Versions that no pointer names and no living process holds: found, and removed."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from pipeline.errors import StoreError
from pipeline.store.versions.locks import claim_abandoned, is_settled, store_turn
from pipeline.store.versions.mirrored import remove_unnamed_versions, unnamed_versions
from pipeline.store.versions.names import (
    LOCK,
    POINTERS,
    TRASH,
    VERSIONS,
    WRITING,
    has_token,
    holds_only_a_version,
    is_pointer_aside,
    is_version,
    new_token,
)
from pipeline.store.versions.pointer import kept_versions


def abandoned_versions(store: Path) -> list[Path]:
    """Versions that no pointer names and no living process holds; nothing is changed.

    What is just being made or removed is not among them.
    """
    here = [path for path in _unnamed_versions(store) if _is_abandoned(path)]
    return sorted({*here, *unnamed_versions(store)})


def remove_abandoned_versions(store: Path) -> None:
    """Remove what ``abandoned_versions`` names, as the next ingest would."""
    remove_unnamed_versions(store)
    if not (store / VERSIONS).is_dir():
        return
    with store_turn(store) as alone:
        garbage = set_garbage_aside(store) if alone else []
    for path in garbage:
        shutil.rmtree(path, ignore_errors=True)


def _is_abandoned(version: Path) -> bool:
    if has_token(version.name, TRASH):
        return is_settled(version)
    with claim_abandoned(version / LOCK, if_missing=False) as is_free:
        is_whole = is_free and any(path.name != LOCK for path in _within(version))
        is_unheld = is_free or not (version / LOCK).exists()
        return is_whole or (is_unheld and is_settled(version))


def _within(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # it is just being removed, or cannot be read
        return []


def _unnamed_versions(store: Path) -> list[Path]:
    """Folders of versions that no pointer names: old, being written, or being removed.

    A folder with anything else in it belongs to somebody else, whatever its name.
    """
    try:
        used = kept_versions(store)
        folders = sorted((store / VERSIONS).iterdir())
    except (OSError, StoreError):
        return []  # a broken pointer may have named any of them
    return [path for path in folders if path.name not in used and _is_of_ours(path)]


def _is_of_ours(path: Path) -> bool:
    """Whether a folder in ``versions`` is a version, or what is left of one."""
    named = is_version(path.name) or any(has_token(path.name, each) for each in (TRASH, WRITING))
    if not named or path.is_symlink() or not path.is_dir():
        return False
    try:
        return holds_only_a_version(path)
    except OSError:  # gone, or closed to us
        return False


def set_garbage_aside(store: Path) -> list[Path]:
    """Rename what no pointer names and no living process holds; the caller removes it.

    Call in turn: then a version is renamed and pointed to as one step, and an unnamed one can
    only be replaced or left by a dead writer.
    """
    for path in _within(store / POINTERS):
        if is_pointer_aside(path.name):
            path.unlink(missing_ok=True)
    garbage = []
    for path in _unnamed_versions(store):
        if has_token(path.name, TRASH):
            garbage.append(path)
            continue
        with claim_abandoned(path / LOCK) as abandoned:
            if abandoned:
                aside = path.with_name(f"{TRASH}{new_token()}")
                with contextlib.suppress(FileNotFoundError):  # its owner is just removing it
                    os.rename(path, aside)
                    garbage.append(aside)
    return garbage
