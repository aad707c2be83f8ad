"""A store at a URL: the same objects as files of a store, and a mirror of those that were needed.

A version is sent first, its manifest last, then its pointer by one PUT. A reader fetches pointers,
then the manifest of a version, and each other file when it reads it; size and sha256 must be those
of the manifest. On a store that is a folder every function here does nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from pipeline.errors import StoreError, UnreachableError, UsageError, said_by_system
from pipeline.files import replaced_whole
from pipeline.places import objects, url_of
from pipeline.places.mirror import brought, remove_unnamed, sha256_of, unnamed
from pipeline.places.urls import mirrors
from pipeline.store.versions.listing import pointer_paths
from pipeline.store.versions.locks import claim_abandoned, store_turn
from pipeline.store.versions.names import LOCK, MANIFEST, POINTERS, VERSIONS, is_version

SPACE_VARIABLE = "HOPSCOPE_MIRRORS_GB"
SPACE_GB = 100.0  # of versions in all mirrors of a machine; the last one in use always has room


def refresh_pointers(store: Path, name: str | None = None) -> None:
    """Make the pointers of a mirror those of the store; ``name``: only that of one snapshot.

    Raises
    ------
    StoreError
        If the store cannot be reached.
    """
    url = url_of(store)
    if url is None:
        return
    folder = store / POINTERS
    if name is not None:
        names = [f"{name}.json"]
    else:
        names = [n for n in objects.entries(f"{url}/{POINTERS}") if n.endswith(".json")]
        for path in pointer_paths(store):
            if path.name not in names:
                path.unlink(missing_ok=True)
    contents = (
        [objects.read(f"{url}/{POINTERS}/{names[0]}")]
        if len(names) == 1
        else objects.read_all([f"{url}/{POINTERS}/{n}" for n in names])
    )
    folder.mkdir(parents=True, exist_ok=True)
    with store_turn(store):  # a writer removes what was left unfinished here
        for n, data in zip(names, contents, strict=True):
            if data is None:
                (folder / n).unlink(missing_ok=True)
            else:
                _replace(folder / n, data)


def bring_version(version: Path) -> None:
    """Make the manifest of a version, and what holds it, be in a mirror; its files come later.

    Raises
    ------
    StoreError
        If the store does not have it, or cannot be reached.
    """
    url = url_of(version)
    if url is None:
        return
    if not (version / MANIFEST).exists():
        data = objects.read(f"{url}/{MANIFEST}")
        if data is None:
            raise StoreError(f"{url}: is not there (if it has been replaced, open it again)")
        _replace(version / LOCK, b"")
        _replace(version / MANIFEST, data)
        make_room(version)
    if (version / LOCK).exists():
        os.utime(version / LOCK)  # when it was last used


def bring_file(version: Path, manifest: Mapping[str, Any], name: str) -> Path:
    """The path of a file of a version, fetched before if need be."""
    path = version / name
    entry = manifest["files"].get(name)
    if entry is None or url_of(path) is None:
        return path
    return brought(path, entry["size_bytes"], str(entry.get("sha256")))


def sha256_there(path: Path) -> str | None:
    """sha256 of the object that a path mirrors; None if it mirrors none."""
    url = url_of(path)
    return None if url is None else sha256_of(url)


def send_version(store: Path, folder: Path, version: str) -> None:
    """Send the files of a written version, its manifest last; nothing names it yet."""
    url = url_of(store)
    if url is None:
        return
    files = {path.name: path for path in folder.iterdir() if path.name != LOCK}
    manifest = files.pop(MANIFEST)
    there = f"{url}/{VERSIONS}/{version}"
    objects.send({f"{there}/{name}": path for name, path in files.items()})
    objects.send({f"{there}/{MANIFEST}": manifest})


def copy_version(store: Path, old: str, new: str, manifest: Path, names: Iterable[str]) -> None:
    """Copy the files of a version in a store at a URL, and send the manifest of the copy last."""
    url = url_of(store)
    if url is None:
        return
    before, there = f"{url}/{VERSIONS}/{old}", f"{url}/{VERSIONS}/{new}"
    objects.copy({f"{there}/{name}": f"{before}/{name}" for name in names})
    objects.send({f"{there}/{MANIFEST}": manifest})


def send_file(path: Path, data: bytes | None = None) -> None:
    """Write a small file of a store by one PUT; ``data``: what is in it, else it is read."""
    if url := url_of(path):
        objects.write(url, path.read_bytes() if data is None else data)


def bring_small(path: Path) -> None:
    """Fetch a small file of a store into the mirror, if it is not there and the store has it."""
    url = url_of(path)
    if url is not None and not path.exists() and (data := objects.read(url)) is not None:
        _replace(path, data)


def names_there(folder: Path) -> list[str]:
    """What is in a folder of a store at a URL; nothing for one on disk."""
    url = url_of(folder)
    return [] if url is None else sorted(objects.entries(url))


def remove_files(paths: Iterable[Path]) -> None:
    """Remove files of a store at a URL."""
    objects.remove([url for url in map(url_of, paths) if url is not None])


def remove_unnamed_versions(store: Path) -> None:
    """Remove versions that no pointer has named for long: replaced ones, and half uploads."""
    if url := url_of(store):
        remove_unnamed(url, _unnamed(store, url))


def unnamed_versions(store: Path) -> list[Path]:
    """Where the mirrors are of what ``remove_unnamed_versions`` would remove."""
    url = url_of(store)
    return [] if url is None else [store / group for group in unnamed(url, _unnamed(store, url))]


def _unnamed(store: Path, url: str) -> list[str]:
    refresh_pointers(store)
    named = set()
    paths = pointer_paths(store)
    if not paths:
        return []  # they may have been lost: without them every version would be unnamed
    for path in paths:
        try:
            content = orjson.loads(path.read_bytes())
            named |= {content["version"], content.get("replaced", "")}
        except (ValueError, KeyError, TypeError, AttributeError):
            return []  # a broken pointer may have named any of them
    there = objects.entries(f"{url}/{VERSIONS}")
    return [f"{VERSIONS}/{name}" for name in there if is_version(name) and name not in named]


def make_room(used: Path) -> None:
    """Remove versions from mirrors, the longest unused first, while they take too much space.

    ``used`` stays, and so does what a living process holds.
    """
    limit = _space_gb() * 1e9
    found = []
    for lock in mirrors().glob(f"**/{VERSIONS}/*/{LOCK}"):
        try:
            size = sum(entry.stat().st_size for entry in os.scandir(lock.parent))
            found.append((lock.stat().st_mtime, size, lock))
        except OSError:
            continue
    total = sum(size for _, size, _ in found)
    for _, size, lock in sorted(found):
        if total <= limit:
            return
        if lock.parent == used:
            continue
        with claim_abandoned(lock) as is_free:
            if is_free:
                shutil.rmtree(lock.parent, ignore_errors=True)
                total -= size


def _space_gb() -> float:
    given = os.environ.get(SPACE_VARIABLE, "")
    try:
        return float(given) if given else SPACE_GB
    except ValueError:
        raise UsageError(f"{SPACE_VARIABLE} takes a number of gigabytes, not {given!r}") from None


def _replace(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_whole(path, durable=False) as file:
            file.write(data)
    except OSError as error:
        raise UnreachableError(f"{path}: cannot be written: {said_by_system(error)}") from None
