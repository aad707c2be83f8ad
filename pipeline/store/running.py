"""Runs in progress on a store, each in a small file that it renews: for ``hopscope status``.

Beside each file is a lock, which is released with its process, however that ends: a file whose lock
is free is from a run that was killed. The next run removes it. A store that cannot be written costs
only this.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from pipeline.model.progress import DASHBOARD_LINK, Progress, ProgressCallback, no_progress
from pipeline.store.versions.locks import HeldLock, claim_abandoned, hold_for_writing, is_settled

RUNNING = ".running"  # folder in a store
RENEW_S = 1.0  # a file is written again at most this often, and at each new step

_LOCK = ".lock"
_runs: dict[Path, _Run] = {}  # of several stages in this process, by their store


@contextlib.contextmanager
def running(
    store: Path, command: str, snapshot: str | None, progress: ProgressCallback
) -> Iterator[ProgressCallback]:
    """Let others see a run while the block lasts; yields what takes its progress.

    Parameters
    ----------
    store : Path
        Nothing is written while it does not exist.
    command : str
        What runs: ``ingest``, ``analyze``.
    snapshot : str or None
        None: not known yet.
    progress : callable
        Gets all progress too.
    """
    run = _runs.get(Path(store).absolute())
    if run is not None:
        with run.stage(command, snapshot, progress):
            yield run
        return
    run = _Run(Path(store) / RUNNING)
    try:
        with run.stage(command, snapshot, progress):
            yield run
    finally:
        run.end()


@contextlib.contextmanager
def running_stages(store: Path) -> Iterator[None]:
    """Let others see what ``running`` shows in the block as one run, between its stages too."""
    key = Path(store).absolute()
    run = _runs[key] = _Run(Path(store) / RUNNING)
    try:
        yield
    finally:
        del _runs[key]
        run.end()


def runs_on(store: Path) -> list[dict[str, Any]]:
    """Runs on a store, the longest first: what each wrote last, and ``is_alive``."""
    found = []
    for path in sorted((Path(store) / RUNNING).glob("[!.]*.json")):
        with contextlib.suppress(OSError, ValueError), claim_abandoned(_lock_of(path)) as is_dead:
            facts = orjson.loads(path.read_bytes())
            if isinstance(facts, dict):
                found.append(facts | {"is_alive": not is_dead})
    return sorted(found, key=lambda facts: facts["started_s"])


def dead_runs(store: Path) -> list[Path]:
    """Files of runs that were killed, by name; nothing is changed."""
    found = []
    for lock in sorted((Path(store) / RUNNING).glob(f"*{_LOCK}")):
        with claim_abandoned(lock, if_missing=False) as is_dead:
            facts = lock.with_suffix(".json")
            if is_dead and (facts.exists() or is_settled(lock)):  # else it is just being made
                found.append(facts)
    return found


def remove_dead_runs(store: Path) -> None:
    """Remove what ``dead_runs`` names, as the next run would.

    Raises
    ------
    OSError
        If the store cannot be written.
    """
    _remove_dead(Path(store) / RUNNING)


class _Run:
    def __init__(self, folder: Path):
        self._folder = folder
        self._progress: ProgressCallback = no_progress
        self._path = folder / f"{uuid.uuid4().hex[:12]}.json"
        self._lock: HeldLock | None = None
        self._facts: dict[str, Any] = {
            "pid": os.getpid(),
            "host": platform.node(),
            "started_s": time.time(),
            "dashboard": None,
        }
        self._step, self._step_began_s, self._written = "", 0.0, 0.0

    @contextlib.contextmanager
    def stage(
        self, command: str, snapshot: str | None, progress: ProgressCallback
    ) -> Iterator[None]:
        self._facts |= {"command": command, "snapshot": snapshot}
        self._progress, before = progress, self._progress
        try:
            yield
        finally:
            self._progress = before

    def __call__(self, progress: Progress) -> None:
        self._progress(progress)
        if link := DASHBOARD_LINK.search(progress.detail):
            self._facts["dashboard"] = link.group()
        now = time.monotonic()
        if progress.stage == self._step and now - self._written < RENEW_S:
            return
        if progress.stage != self._step:
            self._step, self._step_began_s = progress.stage, time.time()
        self._written = now
        with contextlib.suppress(OSError):
            self._write(asdict(progress))

    def _write(self, progress: dict[str, Any]) -> None:
        if self._lock is None:
            if not self._folder.parent.is_dir():
                return
            self._folder.mkdir(exist_ok=True)
            _remove_dead(self._folder)
            self._lock = hold_for_writing(_lock_of(self._path))
        facts = {"step": progress.pop("stage"), **progress, "step_began_s": self._step_began_s}
        aside = self._path.with_name(f".{self._path.name}")
        aside.write_bytes(orjson.dumps(self._facts | facts | {"told_s": time.time()}))
        os.replace(aside, self._path)

    def end(self) -> None:
        if self._lock is not None:
            with contextlib.suppress(OSError):
                _remove(self._path)
            self._lock.release()


def _lock_of(path: Path) -> Path:
    return path.with_suffix(_LOCK)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_name(f".{path.name}").unlink(missing_ok=True)
    _lock_of(path).unlink(missing_ok=True)


def _remove_dead(folder: Path) -> None:
    for lock in folder.glob(f"*{_LOCK}"):
        with claim_abandoned(lock, if_missing=False) as is_dead:
            if is_dead:
                _remove(lock.with_suffix(".json"))
