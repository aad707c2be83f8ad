"""Results of a store at a URL: each segment is one object, with a copy of it in the mirror.

Segments never change, and one PUT writes one, so it is there whole or not at all. On a store that
is a folder every function here does nothing.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import StoreError
from pipeline.places import objects, url_of
from pipeline.store.versions.mirrored import remove_files

_SUFFIX = ".parquet"


def refresh_segments(folder: Path) -> None:
    """Make the segments of a table in a mirror those of the store.

    Raises
    ------
    StoreError
        If the store cannot be reached.
    """
    url = url_of(folder)
    if url is None:
        return
    names = [name for name in objects.entries(url) if name.endswith(_SUFFIX) and name[0] != "."]
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob(f"[!.]*{_SUFFIX}"):
        if path.name not in names:  # part of another one now
            path.unlink(missing_ok=True)
    for name in names:
        if (folder / name).exists():
            continue
        aside = folder / f".{name}.{uuid.uuid4().hex[:12]}"
        try:
            objects.fetch(f"{url}/{name}", aside)
            os.replace(aside, folder / name)
        except StoreError:
            if name in objects.entries(url):
                raise
        finally:
            aside.unlink(missing_ok=True)


def refresh_all_segments(results: Path) -> None:
    """The same for all tables of a store."""
    if url := url_of(results):
        for name, written in objects.entries(url).items():
            if written is None:
                refresh_segments(results / name)


def send_segment(written: Path, segment: Path) -> None:
    """Write a segment to the store from a file.

    Raises
    ------
    OSError
        If that is not possible.
    """
    if url := url_of(segment):
        try:
            objects.send({url: written})
        except StoreError as error:
            raise OSError(str(error)) from None


def remove_segments(segments: Sequence[Path]) -> None:
    """Remove segments from the store; OSError if that is not possible."""
    try:
        remove_files(segments)
    except StoreError as error:
        raise OSError(str(error)) from None


def forget_tables(folder: Path, keep_s: float) -> None:
    """Remove tables of other versions to which nothing was added for so long."""
    url = url_of(folder.parent)
    if url is None:
        return
    name = folder.name.rpartition("-")[0]
    with contextlib.suppress(StoreError):  # a later run will
        for other in objects.entries(url):
            if other == folder.name or other.rpartition("-")[0] != name:
                continue
            written = [at for at in objects.entries(f"{url}/{other}").values() if at is not None]
            if written and time.time() - max(written) > keep_s:
                objects.remove(objects.below(f"{url}/{other}"))
