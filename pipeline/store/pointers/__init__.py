"""Which version each snapshot name points to; the only place where a store changes visibly.

``snapshots/<name>.json`` names a folder in ``versions/``. A version is written under a hidden
name, renamed when it is whole, and becomes the snapshot by one atomic replacement of the pointer:
a reader finds the version before or after, never a part of one. The pointer also names the version
that was replaced, which stays until the next replacement. The newest snapshot is the one ingested
last; ingesting again under an old name makes that one the newest.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

from pipeline.errors import StoreError, did_you_mean, said_by_system
from pipeline.places.command_lines import command_line
from pipeline.store.pointers.garbage import set_garbage_aside
from pipeline.store.snapshot import Snapshot
from pipeline.store.versions.listing import pointer_paths
from pipeline.store.versions.locks import (
    HeldLock,
    hold_for_reading,
    hold_for_writing,
    store_turn,
)
from pipeline.store.versions.mirrored import (
    bring_version,
    refresh_pointers,
    remove_unnamed_versions,
    send_version,
)
from pipeline.store.versions.names import (
    LOCK,
    POINTERS,
    VERSIONS,
    WRITING,
    broken,
    check_name,
    is_version,
    new_token,
)
from pipeline.store.versions.pointer import (
    Pointer,
    fsync_folder,
    pointer_or_none,
    pointer_path,
    read_pointer,
    write_pointer,
)

# A reader that finds its version gone reads the pointer again; each time a writer has finished in
# between, so this many times in a row means that something else is wrong.
MAX_LOOKS = 20


def snapshot_names(store: Path) -> list[str]:
    """Names of a store's snapshots, the one ingested last at the end; empty without a store.

    Raises
    ------
    StoreError
        If a pointer is broken.
    """
    names, faults = names_and_faults(store)
    if faults:
        raise next(iter(faults.values()))
    return names


def names_and_faults(store: Path) -> tuple[list[str], dict[str, StoreError]]:
    """Names as ``snapshot_names`` gives them, and the errors of broken pointers by name."""
    refresh_pointers(Path(store))
    pointers: list[Pointer] = []
    faults: dict[str, StoreError] = {}
    for path in pointer_paths(Path(store)):
        try:
            pointers.append(read_pointer(path))
        except StoreError as error:
            faults[path.stem] = error
    return [p.name for p in sorted(pointers, key=lambda p: (p.ingested_ns, p.name))], faults


def open_snapshot(store: Path, name: str | None = None) -> Snapshot:
    """Open a snapshot; it stays intact while it is open, even if it is replaced in the meantime.

    Parameters
    ----------
    store : Path
    name : str or None
        None: the one ingested last.

    Raises
    ------
    UsageError
        If the name cannot be one.
    StoreError
        If there is no such store or snapshot, or it is broken (``read_manifest``).
    """
    store = Path(store)
    if name is None:
        try:
            names = snapshot_names(store)
        except StoreError as error:  # which one is the newest is unknown
            raise StoreError(f"{error}; or give --snapshot NAME of another one") from None
        if not names:
            made_by = command_line("ingest", "INPUT...", store=store)
            raise StoreError(f"{store}: no snapshot here; {made_by} makes one")
        name = names[-1]
    path = pointer_path(store, check_name(name))
    refresh_pointers(store, name)
    for _ in range(MAX_LOOKS):
        if not _is_there(path):
            raise StoreError(
                f"{store}: no snapshot {name!r}; available snapshots: {_listed(store)}"
                f"{did_you_mean(name, (path.stem for path in pointer_paths(store)))}"
            )
        folder = store / VERSIONS / read_pointer(path).version
        bring_version(folder)
        lock = hold_for_reading(folder / LOCK)
        if lock is not None:
            return Snapshot.open_dir(folder, lock)
        if folder.exists():  # a copy without its lock file: nothing is removed here
            return Snapshot.open_dir(folder)
        time.sleep(0.01)
    raise broken(path, f"points to {folder.name}, which does not exist")


def open_version(store: Path, version: str) -> Snapshot:
    """Open one version of a snapshot, whether its name still points to it or not.

    Raises
    ------
    StoreError
        If the store does not have it (any longer), or it is broken.
    """
    folder = Path(store) / VERSIONS / version
    if is_version(version):
        bring_version(folder)
    if is_version(version) and folder.is_dir():
        lock = hold_for_reading(folder / LOCK)
        if lock is not None or folder.is_dir():
            return Snapshot.open_dir(folder, lock)
    raise StoreError(
        f"{store}: no version {version!r} of a snapshot: a later ingest has replaced it, or it is "
        "of another store"
    )


def begin_version(store: Path) -> tuple[Path, HeldLock]:
    """A new hidden folder to write a version into, held by this process.

    Raises
    ------
    StoreError
        If it is not known which snapshots there are (``pointer_paths``).
    OSError
        If the store cannot be written.
    """
    pointer_paths(store)
    for folder in (store, store / POINTERS, store / VERSIONS):
        folder.mkdir(parents=True, exist_ok=True)
    with store_turn(store):
        folder = store / VERSIONS / f"{WRITING}{new_token()}"
        folder.mkdir()
        return folder, hold_for_writing(folder / LOCK)


class NameTakenError(StoreError):
    """A name has another version than the one that was to be replaced."""


def publish_version(
    store: Path, name: str, folder: Path, lock: HeldLock, over: str | None = None
) -> Path:
    """Make a written version the snapshot of that name.

    The version before it stays until the next replacement; the one before that is removed. On an
    error the snapshot is either the former or the new one, intact in both cases.

    Parameters
    ----------
    over : str or None
        The version that alone may be replaced, empty for none; None: any.

    Raises
    ------
    NameTakenError
        If the name has another version than ``over``: nothing is changed.
    """
    version = folder.with_name(f"{name}-{folder.name.removeprefix(WRITING)}")
    path = pointer_path(store, name)
    garbage: list[Path] = []
    refresh_pointers(store)
    send_version(store, folder, version.name)
    with store_turn(store) as alone:
        before = pointer_or_none(path)
        there = before.version if before else ("?" if path.exists() else "")  # a broken one
        if over not in (None, there):
            raise NameTakenError(f"{store}: snapshot {name} has just been replaced")
        os.rename(folder, version)
        fsync_folder(version.parent)
        ingested_ns = max(time.time_ns(), _latest_ns(store) + 1)
        write_pointer(store, Pointer(name, version.name, ingested_ns).over(before))
        lock.release()
        if alone:
            garbage = set_garbage_aside(store)
    for each in garbage:
        shutil.rmtree(each, ignore_errors=True)
    with contextlib.suppress(StoreError):  # the version is there; a later run removes these
        remove_unnamed_versions(store)
    return version


def abandon_version(store: Path, name: str, folder: Path, lock: HeldLock) -> None:
    """Remove what a failed write left, unless it has become the snapshot after all."""
    version = folder.with_name(f"{name}-{folder.name.removeprefix(WRITING)}")
    pointer = pointer_or_none(pointer_path(store, name))
    if pointer is None or version.name not in (pointer.version, pointer.replaced):
        shutil.rmtree(version, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()


def _latest_ns(store: Path) -> int:
    latest = 0
    for path in pointer_paths(store):
        try:
            pointer = read_pointer(path)
        except StoreError:
            continue
        latest = max(latest, pointer.ingested_ns, pointer.replaced_ns)
    return latest


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise broken(path, f"cannot be read ({said_by_system(error)})") from None
    return True


def _listed(store: Path) -> str:
    names = [path.stem for path in pointer_paths(store)]
    older = f", and {len(names) - 10:,} more" if len(names) > 10 else ""
    return ", ".join(names[-10:]) + older or "none"
