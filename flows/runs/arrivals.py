"""New data in a folder or a bucket start a nightly run, once nothing more arrives.

New is a file, or an object, of a path, size and time that no run has been started for; what is
removed is none. What is known is kept in a file, so that data which arrive while nobody looks
start a run too. What lies there when places are first looked at is known: it waits for the
schedule.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pipeline.errors import PipelineError
from pipeline.files import replaced_whole
from pipeline.places import in_one_line, objects
from pipeline.places.urls import is_url
from pipeline.terminal.lines import warn

LOOK_EVERY_S = 5.0  # or more often, if data settle in less
SHARE_OF_TIME = 0.05  # spent looking, at most: folders of millions of files take seconds
_MARK_BYTES = 8


class Arrivals:
    """What lies in some places, what of it is new, and for how long nothing has changed.

    Parameters
    ----------
    places : sequence of str
        Folders, files, or URLs of object stores.
    settle_s : float
        For how long nothing may have changed when a run is started.
    kept : Path
        File of what is known.
    """

    def __init__(self, places: Sequence[str], settle_s: float, kept: Path):
        self._places, self._settle_s, self._kept = tuple(places), settle_s, kept
        self.look_every_s = min(LOOK_EVERY_S, settle_s)
        self._seen: frozenset[bytes] | None = None
        self._since = 0.0

    def is_due(self, now: float) -> bool:
        """Look; whether something is new and nothing has changed for ``settle_s``.

        Raises
        ------
        PipelineError, OSError
            If a place cannot be listed; what has been seen stays.
        """
        marks = frozenset(mark for place in self._places for mark in _marks(place))
        if marks != self._seen:
            self._seen, self._since = marks, now
        known = self._known()
        if known is None:
            self.note_started()
            return False
        return bool(marks - known) and now - self._since >= self._settle_s

    def note_started(self) -> None:
        """What was seen last is known from now on: a run for it was started."""
        marks = b"".join(sorted(self._seen or ()))
        with replaced_whole(self._kept, durable=True) as file:
            file.write(self._header() + marks)

    def _header(self) -> bytes:
        """Of these places: what is known of others says nothing about them."""
        return hashlib.blake2b("\0".join(self._places).encode()).digest()

    def _known(self) -> frozenset[bytes] | None:
        try:
            data = self._kept.read_bytes()
        except FileNotFoundError:
            return None
        header = self._header()
        if not data.startswith(header):
            return None
        marks = data[len(header) :]
        starts = range(0, len(marks), _MARK_BYTES)
        return frozenset(marks[i : i + _MARK_BYTES] for i in starts)


def _marks(place: str) -> Iterator[bytes]:
    for facts in _objects(place) if is_url(place) else _files(Path(place)):
        text = "\0".join(map(str, facts)).encode("utf-8", "surrogateescape")
        yield hashlib.blake2b(text, digest_size=_MARK_BYTES).digest()


def _files(path: Path) -> Iterator[tuple[object, ...]]:
    """Files of a folder, without hidden ones, which are often being written."""
    if path.is_file():
        found = path.stat()
        yield str(path), found.st_size, found.st_mtime_ns
        return
    for folder, names, files in os.walk(path):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            if name.startswith("."):
                continue
            file = os.path.join(folder, name)
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile, or a dangling link
                found = os.stat(file)
                yield file, found.st_size, found.st_mtime_ns


def _objects(url: str) -> Iterator[tuple[object, ...]]:
    for name, written_s in objects.entries(url.rstrip("/")).items():
        at = f"{url.rstrip('/')}/{name}"
        if written_s is None:
            yield from _objects(at)
        else:
            yield at, written_s


class Watcher:
    """Looks from a thread of its own, and starts a run when one is due.

    Parameters
    ----------
    arrivals : Arrivals
    start : callable
        Starts a run; OSError or ValueError if that failed: it is tried again.
    """

    def __init__(self, arrivals: Arrivals, start: Callable[[], object]):
        self._arrivals, self._start = arrivals, start
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="arrivals", daemon=True)
        self._said = ""

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(LOOK_EVERY_S)  # a bucket may not answer

    def _watch(self) -> None:
        wait_s = 0.0
        while not self._over.wait(wait_s):
            began = time.monotonic()
            self._look(began)
            looked_s = time.monotonic() - began
            wait_s = max(self._arrivals.look_every_s, looked_s / SHARE_OF_TIME)

    def _look(self, now: float) -> None:
        try:
            if self._arrivals.is_due(now):
                self._start()
                self._arrivals.note_started()
        except (PipelineError, OSError, ValueError) as error:
            said = in_one_line(error)
            if said != self._said:  # not every few seconds
                warn(f"new data are not looked for: {said}")
            self._said = said
        else:
            self._said = ""
