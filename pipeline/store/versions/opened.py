"""A version of a snapshot, held open: its folder and manifest, and its files when needed."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pipeline.places import folder_of, url_of
from pipeline.store.versions.locks import HeldLock, hold_for_reading
from pipeline.store.versions.manifest import altered_files, check_sha256, read_manifest
from pipeline.store.versions.mirrored import bring_file, bring_version
from pipeline.store.versions.names import LOCK, broken
from pipeline.store.versions.schemas import check_footer

MOST_HASHED = 4 << 20  # bytes of a file that is hashed when it is read: at most some 10 ms
MOST_HASHED_AT_OPENING = 1 << 18  # bytes of one that is hashed at opening: at most some 0.5 ms


class OpenVersion:
    """A version that no writer removes while it is open.

    Attributes
    ----------
    path : Path
        Folder of its files.
    name : str
        Of the snapshot.
    manifest : dict
        Content of manifest.json.

    Notes
    -----
    Opening reads the manifest, compares the sizes of all files and the bytes of small ones, and
    reads the footers of tables: their types and numbers of rows. A version may be pickled (the
    folder is opened again). While it is open, a writer that replaces it leaves its files alone, if
    the file system has locks; ``close`` or losing the last reference ends that.
    """

    def __init__(self, path: Path, lock: HeldLock | None = None):
        self.path = Path(path)
        self._lock = lock
        self.manifest = read_manifest(self.path)
        self.name: str = self.manifest["name"]
        self._check_files()

    @classmethod
    def open_dir(cls, path: Path | str, lock: HeldLock | None = None) -> Self:
        """Open the folder of a version, or what ``address`` says, as tasks name it.

        Raises
        ------
        StoreError
            If it is missing, of another schema version, cut short or altered.
        """
        path = folder_of(path)
        bring_version(path)
        return cls(path, lock or hold_for_reading(path / LOCK))

    def close(self) -> None:
        """Let a writer remove this version once it is replaced; it can be read until then."""
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        return type(self).open_dir, (self.address,)

    @property
    def version(self) -> str:
        """Name of its folder; another one for each ingest."""
        return self.path.name

    @property
    def n_bytes(self) -> int:
        """Of its files, as the manifest says."""
        return sum(entry["size_bytes"] for entry in self.manifest["files"].values())

    @property
    def address(self) -> str:
        """What other processes open it by: its URL if the store has one, else its whole path."""
        return url_of(self.path) or str(self.path.resolve())

    def file(self, name: str) -> Path:
        """The path of one of its files, which is fetched first if the store is elsewhere.

        Raises
        ------
        StoreError
            If it cannot be fetched, or is not what was written.
        """
        return bring_file(self.path, self.manifest, name)

    def _with(self, *names: str) -> Path:
        """Its folder, once these files are in it, as they were written."""
        for name in names:
            self._unaltered(name)
        return self.path

    def _unaltered(self, name: str) -> Path:
        """The path of a file; the bytes of a small one are compared with the manifest.

        Checksums of pages cover values, not names of columns: an optional one would be missed.
        """
        path, entry = self.file(name), self.manifest["files"][name]
        if entry["size_bytes"] <= MOST_HASHED:
            check_sha256(path, entry)
        return path

    def _check_files(self) -> None:
        """Compare files with the manifest; those that are not here, when they are fetched."""
        for name, entry in self.manifest["files"].items():
            path = self.path / name
            if url_of(path) is not None and not path.exists():
                continue
            if entry["size_bytes"] <= MOST_HASHED_AT_OPENING:
                check_sha256(path, entry)
            if path.suffix == ".parquet":
                check_footer(path, self.manifest)

    def verify(self) -> None:
        """Compare the sha256 of every file with the manifest.

        Raises
        ------
        StoreError
            Names every file that is not as it was written.
        """
        if wrong := altered_files(self.path, self.manifest):
            raise broken(self.path, "; ".join(wrong))
