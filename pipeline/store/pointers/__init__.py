"""Which version each snapshot name points to; the only place where a store changes visibly.

``snapshots/<name>.json`` names a folder in ``versions/``. A version is written under a hidden
name, renamed when it is whole, and becomes the snapshot by one atomic replacement of the pointer:
a reader finds the version before or after, never a part of one. The newest snapshot is the one
ingested last; ingesting again under an old name makes that one the newest.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from pipeline.errors import StoreError, said_by_system
from pipeline.store.snapshot import Snapshot
from pipeline.store.versions.listing import pointer_paths
from pipeline.store.versions.locks import (
    HeldLock,
    claim_abandoned,
    hold_for_reading,
    hold_for_writing,
    is_settled,
    store_turn,
)
from pipeline.store.versions.mirrored import (
    bring_version,
    refresh_pointers,
    remove_files,
    remove_unnamed_versions,
    send_file,
    send_version,
    unnamed_versions,
)
from pipeline.store.versions.names import (
    LOCK,
    POINTERS,
    TRASH,
    VERSIONS,
    WRITING,
    broken,
    check_name,
    has_token,
    holds_only_a_version,
    is_pointer_aside,
    is_version,
    new_token,
)

# A reader that finds its version gone reads the pointer again; each time a writer has finished in
# between, so this many times in a row means that something else is wrong.
MAX_LOOKS = 20
LATEST_NS = 1 << 62  # in 2116: later than any clock, and so far from what 64 bits hold


@dataclass(frozen=True)
class Pointer:
    """Content of ``snapshots/<name>.json``."""

    name: str
    version: str  # folder in ``versions/``
    ingested_ns: int  # since 1970 UTC; later than that of every snapshot then in the store


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
            raise StoreError(
                f"{store}: no snapshot here; `hopscope ingest INPUT... --store {store}` makes one"
            )
        name = names[-1]
    path = store / POINTERS / f"{check_name(name)}.json"
    refresh_pointers(store, name)
    for _ in range(MAX_LOOKS):
        if not _is_there(path):
            raise StoreError(f"{store}: no snapshot {name!r}; there are: {_listed(store)}")
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


def read_pointer(path: Path) -> Pointer:
    """Read one pointer; StoreError if it is not what was written."""
    try:
        content = orjson.loads(path.read_bytes())
        pointer = Pointer(content["name"], content["version"], int(content["ingested_ns"]))
    except OSError as error:
        raise broken(path, f"cannot be read ({said_by_system(error)})") from None
    except (ValueError, KeyError, TypeError):
        raise broken(path, "is not a pointer to a snapshot") from None
    is_own = is_version(pointer.version) and pointer.version.rpartition("-")[0] == pointer.name
    if not 0 <= pointer.ingested_ns < LATEST_NS:
        raise broken(path, f"says that it was ingested at {pointer.ingested_ns} ns")
    if pointer.name != path.stem or not is_own:
        raise broken(path, f"points to {pointer.version!r} for {pointer.name!r}")
    return pointer


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


def publish_version(store: Path, name: str, folder: Path, lock: HeldLock) -> Path:
    """Make a written version the snapshot of that name; the one before it is then removed.

    On an error the snapshot is either the former or the new one, intact in both cases.
    """
    version = folder.with_name(f"{name}-{folder.name.removeprefix(WRITING)}")
    pointer = store / POINTERS / f"{name}.json"
    garbage: list[Path] = []
    refresh_pointers(store)
    send_version(store, folder, version.name)
    with store_turn(store) as alone:
        os.rename(folder, version)
        fsync_folder(version.parent)
        content = {
            "name": name,
            "version": version.name,
            "ingested_ns": max(time.time_ns(), _latest_ns(store) + 1),
        }
        beside = pointer.with_name(f".{name}.{new_token()}")
        beside.write_bytes(data := orjson.dumps(content, option=orjson.OPT_INDENT_2))
        fsync_file(beside)
        send_file(pointer, data)
        os.replace(beside, pointer)
        try:
            fsync_folder(pointer.parent)
        except OSError as error:
            raise StoreError(
                f"{pointer}: snapshot {name} is there, but the disk did not confirm it "
                f"({said_by_system(error)}), so it may be lost if this machine fails; check the "
                "disk"
            ) from error
        lock.release()
        if alone:
            garbage = _set_garbage_aside(store)
    for path in garbage:
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(StoreError):  # the version is there; a later run removes these
        remove_unnamed_versions(store)
    return version


def remove_snapshots(store: Path, names: Sequence[str]) -> None:
    """Remove snapshots by name: first all pointers, then the versions that nobody uses.

    Raises
    ------
    OSError
        If the store cannot be written; a pointer that is left still names a whole version.
    """
    if not names:
        return
    pointers = [store / POINTERS / f"{check_name(name)}.json" for name in names]
    remove_files(pointers)
    with store_turn(store) as alone:
        for pointer in pointers:
            pointer.unlink(missing_ok=True)
        fsync_folder(store / POINTERS)
        garbage = _set_garbage_aside(store) if alone else []
    for path in garbage:
        shutil.rmtree(path, ignore_errors=True)
    remove_unnamed_versions(store)


def abandon_version(store: Path, name: str, folder: Path, lock: HeldLock) -> None:
    """Remove what a failed write left, unless it has become the snapshot after all."""
    version = folder.with_name(f"{name}-{folder.name.removeprefix(WRITING)}")
    try:
        current = read_pointer(store / POINTERS / f"{name}.json").version
    except StoreError:
        current = ""
    if current != version.name:
        shutil.rmtree(version, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()


def fsync_file(path: Path) -> None:
    """Have a file's bytes on disk before going on."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


fsync_folder = fsync_file  # of a folder: its entries


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
        garbage = _set_garbage_aside(store) if alone else []
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

    A folder with anything else in it is somebody's own, whatever its name.
    """
    try:
        used = {read_pointer(path).version for path in pointer_paths(store)}
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


def _set_garbage_aside(store: Path) -> list[Path]:
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


def _latest_ns(store: Path) -> int:
    latest = 0
    for path in pointer_paths(store):
        try:
            latest = max(latest, read_pointer(path).ingested_ns)
        except StoreError:
            continue
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
