"""Snapshots removed, renamed and brought back; each by atomic replacements of pointers."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from pipeline.errors import StoreError, UsageError
from pipeline.places.command_lines import command_line
from pipeline.store.pointers import (
    abandon_version,
    begin_version,
    open_snapshot,
    open_version,
)
from pipeline.store.pointers.garbage import set_garbage_aside
from pipeline.store.references import copy_references
from pipeline.store.snapshot import Snapshot
from pipeline.store.versions.listing import pointer_paths
from pipeline.store.versions.locks import HeldLock, store_turn
from pipeline.store.versions.manifest import write_manifest
from pipeline.store.versions.mirrored import (
    copy_version,
    refresh_pointers,
    remove_files,
    remove_unnamed_versions,
)
from pipeline.store.versions.names import MANIFEST, POINTERS, VERSIONS, WRITING, check_name
from pipeline.store.versions.pointer import (
    Pointer,
    fsync_file,
    fsync_folder,
    pointer_or_none,
    pointer_path,
    read_pointer,
    write_pointer,
)


def open_replaced(store: Path, name: str) -> Snapshot | None:
    """The version that a snapshot took the place of; None if there is none any longer.

    Raises
    ------
    StoreError
        If the snapshot is not there, its pointer is broken, or the version is.
    """
    store = Path(store)
    refresh_pointers(store, check_name(name))
    with open_snapshot(store, name):  # says what there is, if not that one
        pointer = read_pointer(pointer_path(store, name))
    try:
        return open_version(store, pointer.replaced) if pointer.replaced else None
    except StoreError:
        if (store / VERSIONS / pointer.replaced).exists():
            raise
        return None  # an earlier hopscope, which knows of none, has removed it


def restore_snapshot(store: Path, name: str) -> None:
    """Give a name the version back that was replaced; the present one can be restored in turn.

    Its time of ingest is that of then, and so is its place among the snapshots.

    Raises
    ------
    StoreError
        If there is no such snapshot, nothing that it replaced, or that is not whole: nothing is
        changed then.
    """
    store = Path(store)
    replaced = open_replaced(store, name)
    if replaced is None:
        clean = command_line("doctor", "--clean", store=store)
        raise StoreError(
            f"{store}: nothing to restore: no version that snapshot {name} replaced is kept (one "
            f"is, from a replacement to the next or to {clean})"
        )
    with replaced:
        replaced.verify()
        with store_turn(store):
            pointer = read_pointer(pointer_path(store, name))
            if pointer.replaced != replaced.version:
                raise StoreError(f"{store}: snapshot {name} was just replaced: try again")
            write_pointer(store, pointer.restored())


def forget_replaced(store: Path) -> None:
    """Let go of all versions that were replaced: nothing names them then, so they are garbage.

    Raises
    ------
    OSError
        If the store cannot be written.
    """
    if not (store / POINTERS).is_dir():
        return
    refresh_pointers(store)
    with store_turn(store):
        try:
            paths = list(pointer_paths(store))
        except StoreError:  # not known which there are: nothing is let go of
            return
        for path in paths:
            try:
                pointer = read_pointer(path)
            except StoreError:  # it is a finding of its own
                continue
            if pointer.replaced:
                write_pointer(store, pointer.alone())


def remove_snapshots(
    store: Path, names: Sequence[str], where: Callable[[Pointer | None], bool] = lambda _: True
) -> list[str]:
    """Remove snapshots by name: first all pointers, then the versions that are not in use.

    Parameters
    ----------
    store : Path
    names : sequence of str
    where : callable
        Whether a pointer, None for a broken one, is to go. It is asked in turn: what another
        ingest has put there meanwhile can stay.

    Returns
    -------
    list of str
        Names that were removed.

    Raises
    ------
    OSError
        If the store cannot be written; a pointer that is left still names a whole version.
    """
    if not names:
        return []
    paths = [pointer_path(store, check_name(name)) for name in names]
    with store_turn(store) as alone:
        paths = [path for path in paths if where(pointer_or_none(path))]
        remove_files(paths)
        for path in paths:
            path.unlink(missing_ok=True)
        fsync_folder(store / POINTERS)
        garbage = set_garbage_aside(store) if alone else []
    for path in garbage:
        shutil.rmtree(path, ignore_errors=True)
    remove_unnamed_versions(store)
    return [path.stem for path in paths]


def rename_snapshot(store: Path, old: str, new: str) -> None:
    """Give a snapshot another name, and so the version that it replaced.

    Versions have the name in their manifests, so each gets another folder: of links to its files,
    or of copies where the file system has no links. The new pointer is there before the old one
    goes, and says what it was renamed from; after a kill in between renaming again ends it. What
    another ingest has put under the old name meanwhile stays there.

    Raises
    ------
    UsageError
        If the new name cannot be one, or is taken.
    StoreError
        If there is no such snapshot, or it is broken.
    OSError
        If the store cannot be written.
    """
    store = Path(store)
    check_name(new)
    if new == old:
        raise UsageError(f"snapshot {old} has that name already")
    refresh_pointers(store)
    with open_snapshot(store, old) as snapshot:
        pointer = read_pointer(pointer_path(store, old))
        if not pointer_path(store, new).exists():
            replaced = open_replaced(store, old)
            with replaced or contextlib.nullcontext():
                versions = [each for each in (snapshot, replaced) if each is not None]
                _copy_as(store, pointer, versions, new)
        elif not _is_renamed(store, pointer, new):
            raise UsageError(
                f"{store} has a snapshot {new} already: give another name, or first "
                f"{command_line('remove', new, store=store)}"
            )
    remove_snapshots(store, [old], where=lambda there: _is_renamed(store, there, new))


def _is_renamed(store: Path, pointer: Pointer | None, new: str) -> bool:
    """Whether all that a pointer names is there by a new name, by a renaming."""
    there = pointer_or_none(pointer_path(store, new))
    return pointer is not None and there is not None and there.has_all_of(pointer)


def _copy_as(store: Path, pointer: Pointer, versions: Sequence[Snapshot], new: str) -> None:
    """Make copies of a version, and of the one that it replaced, the snapshot ``new``."""
    old = pointer.name
    made: list[tuple[Path, HeldLock]] = []
    try:
        for each in versions:
            made.append(begin_version(store))
            _copy(store, each, made[-1][0], new)
        folders = [folder.with_name(_version_of(folder, new)) for folder, _ in made]
        with store_turn(store):
            is_same = pointer == read_pointer(pointer_path(store, old))
            is_same = is_same and pointer.version == versions[0].version
            if not is_same or pointer_path(store, new).exists():
                raise StoreError(f"{store}: {old} or {new} was just replaced: try again")
            for (folder, _), version in zip(made, folders, strict=True):
                os.rename(folder, version)
            fsync_folder(store / VERSIONS)
            renamed = Pointer(
                new, folders[0].name, pointer.ingested_ns, renamed_from=pointer.versions
            )
            if len(folders) > 1:
                renamed = renamed.over(Pointer(new, folders[1].name, pointer.replaced_ns))
            write_pointer(store, renamed)
    finally:
        for folder, lock in made:
            abandon_version(store, new, folder, lock)


def _copy(store: Path, snapshot: Snapshot, folder: Path, new: str) -> None:
    """Put a version by another name into a folder."""
    files = snapshot.manifest["files"]
    for name in files:
        source = snapshot.path / name
        if not source.exists():  # in a mirror: it is fetched when it is read
            continue
        try:
            os.link(source, folder / name)
        except OSError:
            shutil.copyfile(source, folder / name)
            fsync_file(folder / name)
    own = ("schema", "schema_version", "manifest_sha256")
    content = {key: value for key, value in snapshot.manifest.items() if key not in own}
    fsync_file(write_manifest(folder, content | {"name": new}))
    fsync_folder(folder)
    version = _version_of(folder, new)
    copy_version(store, snapshot.version, version, folder / MANIFEST, files)
    copy_references(store, snapshot.version, version)


def _version_of(folder: Path, name: str) -> str:
    return f"{name}-{folder.name.removeprefix(WRITING)}"
