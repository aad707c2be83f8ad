"""Compile what runs on cores before workers start: numba's cache on disk has no lock."""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import math
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from kernels.compiled import base
from kernels.compiled.folder import COMPLETE, folder_of
from kernels.compiled.sources import sources

log = logging.getLogger(__name__)

_KERNELS = Path(__file__).parents[1]

Work = Literal["searches", "widths", "weights", "forests", "paths", "parts"]
ALL: tuple[Work, ...] = ("searches", "widths", "weights", "forests", "paths", "parts")
# Cold, on one core, about.
_SECONDS: dict[Work, int] = {
    "searches": 15,
    "widths": 25,
    "weights": 5,
    "forests": 5,
    "paths": 3,
    "parts": 2,
}
# Which work needs what a package or module compiles; the longest name that fits a module decides.
ROOMS: dict[str, Work] = {
    "kernels": "searches",
    "kernels.bidirectional": "paths",
    "kernels.breadth_first.cpu_bytes": "widths",
    "kernels.closeness": "widths",
    "kernels.depth_first": "forests",
    "kernels.distance_distribution": "widths",
    "kernels.eccentricity": "widths",
    "kernels.eccentricity.weighted": "weights",
    "kernels._cpu.near_steps": "widths",
    "kernels.partition": "parts",
    "kernels.shortest_paths": "weights",
    "kernels.spanning_tree": "forests",
}
_COMPILES = re.compile(rb"^ *@njit\b", re.MULTILINE)


def compiled_modules(work: Work) -> tuple[str, ...]:
    """Modules for one kind of work that compile functions when they are imported; sorted."""
    return tuple(name for name, kind in _scanned() if kind == work)


@functools.cache
def _scanned() -> tuple[tuple[str, Work], ...]:
    """All modules that compile functions, and which work needs them."""
    names = [name for name, source in _sources() if _COMPILES.search(source)]
    return tuple((name, ROOMS[_room_of(name)]) for name in names)


def _room_of(module: str) -> str:
    """The longest name in ROOMS that is this module or a package around it."""
    return max((room for room in ROOMS if f"{module}.".startswith(f"{room}.")), key=len)


@functools.cache
def _sources() -> tuple[tuple[str, bytes], ...]:
    """Names and texts of the modules that know numba; sorted by path."""
    texts = {path: path.read_bytes() for path in sorted(_KERNELS.rglob("*.py"))}
    return tuple(
        (".".join(path.relative_to(_KERNELS.parent).with_suffix("").parts), text)
        for path, text in texts.items()
        if b"numba" in text
    )


def compile_cpu(work: Sequence[Work] = ALL) -> float:
    """Compile kernels of the host, or load them from numba's cache.

    Parameters
    ----------
    work : sequence of str
        What for: ``searches`` in hops, ``widths`` in hops, searches and widths by ``weights``,
        ``forests`` that span a graph, of least weight or depth-first, ``paths`` between two nodes.

    Returns
    -------
    float
        Seconds spent: some 15, 25, 5, 5 and 3 on the first call on a machine, under 1 later, 0
        within the same process.

    Notes
    -----
    Every kernel names its signatures, so that importing its module compiles it. Call this once
    before processes that use kernels start: two that compile at once may corrupt each other's cache
    files. Where something is compiled, and not only loaded, a warning says so, which Python writes
    to stderr unless logging is set up otherwise.
    """
    started = time.perf_counter()
    unknown = [kind for kind in work if not is_compiled([kind])]
    with _announced(unknown):
        for kind in work:
            for name in compiled_modules(kind):
                importlib.import_module(name)
    for name in (name for kind in unknown for name in compiled_modules(kind)):
        try:
            _marker(name).parent.mkdir(exist_ok=True)
            _marker(name).touch()
        except OSError:  # numba could not write there either
            log.warning("%s is not writable: every run will compile them again", base())
            break
    return time.perf_counter() - started


@contextlib.contextmanager
def _announced(unknown: Sequence[Work]) -> Iterator[None]:
    """Say so as soon as anything is compiled in the meantime; nothing is said of what is loaded."""
    if not unknown:
        yield
        return
    from numba.core import event

    class Announcement(event.Listener):
        is_made = False

        def on_start(self, event: object) -> None:
            if not self.is_made:
                self.is_made = True
                log.warning(
                    "compiling the kernels for the cores of this machine, once: "
                    "about %d s; kept in %s",
                    sum(map(_seconds, unknown)),
                    base(),
                )

        def on_end(self, event: object) -> None:
            """Each function of a kernel ends by itself."""

    announcement = Announcement()
    event.register("numba:compile", announcement)
    try:
        yield
    finally:
        event.unregister("numba:compile", announcement)


def _seconds(kind: Work) -> int:
    """About how long it takes to compile what is missing, by its share of the modules."""
    modules = compiled_modules(kind)
    n_missing = sum(not _marker(name).exists() for name in modules)
    return math.ceil(_SECONDS[kind] * n_missing / len(modules))


def is_compiled(work: Sequence[Work]) -> bool:
    """Whether all that these kinds of work need was compiled here, or came along."""
    return all(_marker(name).exists() for kind in work for name in compiled_modules(kind))


def _marker(module: str) -> Path:
    """A file beside the code of a module that marks it as complete."""
    folder = folder_of(sources().path_of(module))
    assert folder is not None
    return folder / COMPLETE
