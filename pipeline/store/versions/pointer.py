"""One pointer, ``snapshots/<name>.json``: what it says, and how it is replaced as a whole."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from pipeline.errors import StoreError, said_by_system
from pipeline.store.versions.listing import pointer_paths
from pipeline.store.versions.mirrored import send_file
from pipeline.store.versions.names import POINTERS, broken, is_version, name_of_version, new_token

LATEST_NS = 1 << 62  # in 2116: later than any clock, and so far from what 64 bits hold


@dataclass(frozen=True)
class Pointer:
    """Content of ``snapshots/<name>.json``.

    ``replaced``: the version that this one took the place of, which stays until the next
    replacement; empty without one. ``renamed_from``: the versions of another name that these two
    are copies of, if they came here by a renaming; nothing else writes it.
    """

    name: str
    version: str  # folder in ``versions/``
    ingested_ns: int  # since 1970 UTC; later than that of every snapshot then in the store
    replaced: str = ""
    replaced_ns: int = 0  # when that one was ingested
    renamed_from: tuple[str, ...] = ()

    @property
    def versions(self) -> tuple[str, ...]:
        """All versions that it names."""
        return (self.version, self.replaced) if self.replaced else (self.version,)

    def has_all_of(self, old: Pointer) -> bool:
        """Whether all that a pointer names was renamed to what this one names."""
        return all(version in self.renamed_from for version in old.versions)

    def over(self, before: Pointer | None) -> Pointer:
        """This pointer in the place of another one, whose version it keeps."""
        if before is None or before.version == self.version:
            return self
        return replace(self, replaced=before.version, replaced_ns=before.ingested_ns)

    def restored(self) -> Pointer:
        """The pointer to the version that was replaced, which keeps this one in turn."""
        return Pointer(self.name, self.replaced, self.replaced_ns, self.version, self.ingested_ns)

    def alone(self) -> Pointer:
        """This pointer without the version that it replaced."""
        return replace(self, replaced="", replaced_ns=0)


def pointer_path(store: Path, name: str) -> Path:
    """Where the pointer of a snapshot is, or would be."""
    return Path(store) / POINTERS / f"{name}.json"


def read_pointer(path: Path) -> Pointer:
    """Read one pointer; StoreError if it is not what was written."""
    try:
        content = orjson.loads(path.read_bytes())
        pointer = Pointer(
            content["name"],
            content["version"],
            int(content["ingested_ns"]),
            content.get("replaced", ""),
            int(content.get("replaced_ns", 0)),
            tuple(content.get("renamed_from", ())),
        )
    except OSError as error:
        raise broken(path, f"cannot be read ({said_by_system(error)})") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise broken(path, "is not a pointer to a snapshot") from None
    for ingested_ns in (pointer.ingested_ns, pointer.replaced_ns):
        if not 0 <= ingested_ns < LATEST_NS:
            raise broken(path, f"says that it was ingested at {ingested_ns} ns")
    if pointer.name != path.stem or not _is_own(pointer.version, pointer.name):
        raise broken(path, f"points to {pointer.version!r} for {pointer.name!r}")
    if pointer.replaced and not _is_own(pointer.replaced, pointer.name):
        raise broken(path, f"says that {pointer.name!r} has replaced {pointer.replaced!r}")
    return pointer


def _is_own(version: object, name: str) -> bool:
    return isinstance(version, str) and is_version(version) and name_of_version(version) == name


def pointer_or_none(path: Path) -> Pointer | None:
    """As ``read_pointer``; None if there is none, or it is broken."""
    with contextlib.suppress(StoreError):
        return read_pointer(path)
    return None


def write_pointer(store: Path, pointer: Pointer) -> None:
    """Replace a pointer by one atomic step, on disk and then durable. Call in turn.

    Raises
    ------
    OSError
        If it cannot be written: the former one is then there.
    StoreError
        If it is there, but the disk did not confirm it.
    """
    path = pointer_path(store, pointer.name)
    content = {
        "name": pointer.name,
        "version": pointer.version,
        "ingested_ns": pointer.ingested_ns,
    }
    if pointer.replaced:
        content |= {"replaced": pointer.replaced, "replaced_ns": pointer.replaced_ns}
    if pointer.renamed_from:
        content["renamed_from"] = pointer.renamed_from
    beside = path.with_name(f".{pointer.name}.{new_token()}")
    beside.write_bytes(data := orjson.dumps(content, option=orjson.OPT_INDENT_2))
    fsync_file(beside)
    send_file(path, data)
    os.replace(beside, path)
    try:
        fsync_folder(path.parent)
    except OSError as error:
        raise StoreError(
            f"{path}: snapshot {pointer.name} is there, but the disk did not confirm it "
            f"({said_by_system(error)}), so it may be lost if this machine fails; check the disk"
        ) from error


def kept_versions(store: Path) -> set[str]:
    """Versions that pointers name: those of snapshots, and those that these replaced.

    Raises
    ------
    StoreError
        If a pointer is broken: it may name any version.
    """
    pointers = [read_pointer(path) for path in pointer_paths(store)]
    return {version for pointer in pointers for version in pointer.versions}


def fsync_file(path: Path) -> None:
    """Have a file's bytes on disk before going on."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


fsync_folder = fsync_file  # of a folder: its entries
