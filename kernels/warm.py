"""Compile what runs on cores before workers start: numba's cache on disk has no lock."""

from __future__ import annotations

import importlib
import time

COMPILED_MODULES = (
    "kernels.validate",
    "kernels.breadth_first.cpu",
    "kernels.breadth_first.check",
    "kernels.connected.cpu",
    "kernels.connected.check",
    "kernels.eccentricity.bound_steps",
    "kernels.eccentricity.cpu_steps",
    "kernels.multi_source.cpu_steps",
    "kernels.multi_source.cpu_levels",
    "kernels.multi_source.cpu_sweep",
    "kernels.multi_source.cpu_graphs",
    "kernels.shortest_paths.cpu",
    "kernels.shortest_paths.check",
)


def compile_cpu() -> float:
    """Compile every kernel of the host, or load it from numba's cache.

    Returns
    -------
    float
        Seconds spent: some 10 on the first call on a machine, under 1 later, 0 within the same
        process.

    Notes
    -----
    Every kernel names its signatures, so that importing its module compiles it. Call this once
    before processes that use kernels start: two that compile at once may spoil each other's
    cache files.
    """
    started = time.perf_counter()
    for name in COMPILED_MODULES:
        importlib.import_module(name)
    return time.perf_counter() - started
