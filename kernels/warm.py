"""Compile what runs on cores before workers start: numba's cache on disk has no lock."""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

log = logging.getLogger(__name__)

_KERNELS = Path(__file__).parent

COMPILED_MODULES = (
    "kernels.validate",
    "kernels.breadth_first.cpu",
    "kernels.breadth_first.check",
    "kernels.connected.cpu",
    "kernels.connected.check",
    "kernels.eccentricity.bound_steps",
    "kernels.eccentricity.components",
    "kernels.eccentricity.cpu_steps",
    "kernels.eccentricity.kept_levels",
    "kernels.eccentricity.landmarks",
    "kernels.eccentricity.level_search",
    "kernels.eccentricity.pair_sweep",
    "kernels.eccentricity.sweep",
    "kernels.eccentricity.territories",
    "kernels.eccentricity.trees",
    "kernels.eccentricity.widths",
    "kernels.multi_source.cpu_steps",
    "kernels.multi_source.cpu_levels",
    "kernels.multi_source.cpu_sweep",
    "kernels.multi_source.cpu_graphs",
    "kernels.shortest_paths.cpu",
    "kernels.shortest_paths.check",
    "kernels.shortest_paths.bound_steps",
)


def compile_cpu() -> float:
    """Compile every kernel of the host, or load it from numba's cache.

    Returns
    -------
    float
        Seconds spent: some 15 on the first call on a machine, under 1 later, 0 within the same
        process.

    Notes
    -----
    Every kernel names its signatures, so that importing its module compiles it. Call this once
    before processes that use kernels start: two that compile at once may spoil each other's
    cache files. A first call logs a warning that says what it does, which Python writes to stderr
    unless told otherwise.
    """
    started = time.perf_counter()
    marker = _marker()
    is_known = marker.exists()
    if not is_known:
        log.warning(
            "compiling the kernels for the cores of this machine, once: some 15 s; kept in %s",
            marker.parent,
        )
    for name in COMPILED_MODULES:
        importlib.import_module(name)
    if not is_known:
        try:
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()
        except OSError:  # numba could not keep them there either
            log.warning("%s cannot be written: every run will compile them again", marker.parent)
    return time.perf_counter() - started


def _marker() -> Path:
    """A file beside what numba keeps that tells that all of it is there.

    Its name bears what decides whether numba finds its own files: sources, versions, processor.
    """
    sha = hashlib.sha256()
    for path in sorted(_KERNELS.rglob("*.py")):
        source = path.read_bytes()
        if b"numba" in source:
            sha.update(source)
    for fact in (platform.python_version(), version("numba"), version("numpy"), platform.node()):
        sha.update(fact.encode() + b"\0")
    folder = os.environ.get("NUMBA_CACHE_DIR")
    return Path(folder or _KERNELS / "__pycache__") / f"compiled-{sha.hexdigest()[:16]}"
