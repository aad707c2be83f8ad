"""Compile what runs on cores before workers start: numba's cache on disk has no lock."""

from __future__ import annotations

import functools
import hashlib
import importlib
import logging
import os
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Literal

log = logging.getLogger(__name__)

_KERNELS = Path(__file__).parents[1]

# What each kind of work compiles, and about how many seconds that takes, cold, on one core.
_SEARCHES = (
    "kernels.validate",
    "kernels.breadth_first.cpu",
    "kernels.breadth_first.check",
    "kernels.connected.cpu",
    "kernels.connected.part",
    "kernels.connected.check",
    "kernels.multi_source.cpu.steps",
    "kernels.multi_source.cpu.levels",
    "kernels.multi_source.cpu.ends",
    "kernels.multi_source.cpu.costs",
    "kernels.multi_source.cpu.sweep",
    "kernels.multi_source.cpu.graphs",
)
_WIDTHS = (
    "kernels.eccentricity.bounds.steps",
    "kernels.eccentricity.bounds.components",
    "kernels.eccentricity.bounds.imply",
    "kernels.eccentricity.searches.farthest",
    "kernels.eccentricity.reductions.distance_rows",
    "kernels.eccentricity.reductions.far_pairs",
    "kernels.eccentricity.reductions.landmarks",
    "kernels.breadth_first.cpu_bytes",
    "kernels.multi_source.cpu.near_steps",
    "kernels.eccentricity.searches.near_sweep",
    "kernels.distance_distribution.cpu",
    "kernels.eccentricity.searches.sweep_steps",
    "kernels.eccentricity.reductions.references",
    "kernels.eccentricity.reductions.pendant_trees",
    "kernels.eccentricity.shard",
)
_WEIGHTS = (
    "kernels.shortest_paths.cpu",
    "kernels.shortest_paths.check",
    "kernels.eccentricity.weighted.steps",
)
Work = Literal["searches", "widths", "weights"]
COMPILED: dict[Work, tuple[tuple[str, ...], int]] = {
    "searches": (_SEARCHES, 15),
    "widths": (_WIDTHS, 25),
    "weights": (_WEIGHTS, 5),
}
ALL: tuple[Work, ...] = ("searches", "widths", "weights")


def compile_cpu(work: Sequence[Work] = ALL) -> float:
    """Compile kernels of the host, or load them from numba's cache.

    Parameters
    ----------
    work : sequence of str
        For what: ``searches`` in hops, ``widths`` in hops, searches and widths by ``weights``.

    Returns
    -------
    float
        Seconds spent: some 15, 25 and 5 on the first call on a machine, under 1 later, 0 within
        the same process.

    Notes
    -----
    Every kernel names its signatures, so that importing its module compiles it. Call this once
    before processes that use kernels start: two that compile at once may spoil each other's
    cache files. A first call logs a warning that says what it does, which Python writes to stderr
    unless stated otherwise.
    """
    started = time.perf_counter()
    unknown = [kind for kind in work if not is_compiled([kind])]
    if unknown:
        log.warning(
            "compiling the kernels for the cores of this machine, once: some %d s; kept in %s",
            sum(COMPILED[kind][1] for kind in unknown),
            _marker(unknown[0]).parent,
        )
    for kind in work:
        for name in COMPILED[kind][0]:
            importlib.import_module(name)
    for kind in unknown:
        marker = _marker(kind)
        try:
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()
        except OSError:  # numba could not keep them there either
            log.warning("%s cannot be written: every run will compile them again", marker.parent)
            break
    return time.perf_counter() - started


def is_compiled(work: Sequence[Work]) -> bool:
    """Whether a call of ``compile_cpu`` with these kinds of work has ended on this machine."""
    return all(_marker(kind).exists() for kind in work)


def _marker(kind: Work) -> Path:
    """A file beside what numba keeps that tells that all for one kind of work is there.

    Its name bears what decides whether numba finds its own files: where the sources lie, what
    they say, versions, processor.
    """
    folder = os.environ.get("NUMBA_CACHE_DIR")
    return Path(folder or _KERNELS / "__pycache__") / f"compiled-{kind}-{_state()}"


@functools.cache
def _state() -> str:
    sha = hashlib.sha256(str(_KERNELS).encode())
    for path in sorted(_KERNELS.rglob("*.py")):
        source = path.read_bytes()
        if b"numba" in source:
            sha.update(source)
    for fact in (platform.python_version(), version("numba"), version("numpy"), platform.node()):
        sha.update(fact.encode() + b"\0")
    return sha.hexdigest()[:16]
