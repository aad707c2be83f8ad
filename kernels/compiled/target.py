"""Which processor numba compiles for, and the words by which compiled code is filed.

x86-64-v3 (AVX2, FMA, BMI; Intel since Haswell, AMD since Zen) where the processor has it: then what
one machine compiles runs on the next. Others are compiled for as they are. Variables of the user
come first: ``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES`` choose another processor, and what is
compiled with any other variable that changes code is kept apart.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import sys
from pathlib import Path

PORTABLE = "x86-64-v3"
# As the kernel names what x86-64-v3 has beyond the 64-bit processors of 2003; abm is lzcnt.
_FLAGS = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
_FLAGS |= {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}  # of x86-64-v2
_CHOSEN = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")
# Variables that say how many threads there are, and where files are: no code depends on them.
_HARMLESS = ("NUMBA_CACHE_", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "NUMBA_DEBUG_CACHE")


def choose_target(cpuinfo: Path = Path("/proc/cpuinfo")) -> None:
    """Let numba compile for PORTABLE, unless the user chose or the processor lacks it.

    Where numba has begun to compile for this processor already, it goes on so, and where the user's
    locators say where code is kept, none of ours is there.
    """
    chosen = (*_CHOSEN, "NUMBA_CACHE_LOCATOR_CLASSES")
    if any(name in os.environ for name in chosen) or not has_portable(cpuinfo):
        return
    registry = sys.modules.get("numba.core.registry")
    if registry is not None and "_toplevel_target_context" in vars(registry.cpu_target):
        return
    os.environ.update(NUMBA_CPU_NAME=PORTABLE, NUMBA_CPU_FEATURES="")
    if (config := sys.modules.get("numba.core.config")) is not None:
        config.reload_config()


def has_portable(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether this processor has all of PORTABLE."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    try:
        with cpuinfo.open(encoding="ascii", errors="replace") as stream:
            flags = next((line for line in stream if line.startswith("flags")), "")
    except OSError:
        return False
    return set(flags.partition(":")[2].split()) >= _FLAGS


@functools.cache
def target() -> str:
    """Words for all that decides about compiled code besides its sources; part of a file's name.

    Python, numba, llvmlite, the processor, and the user's variables, as they were when this was
    first asked. Not numpy: what numba compiles uses an array's memory, not numpy's code.
    """
    facts = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("NUMBA_") and not name.startswith(_HARMLESS)
    }
    if tuple(facts.get(name) for name in _CHOSEN) == (PORTABLE, ""):
        processor = PORTABLE
        facts = {name: value for name, value in facts.items() if name not in _CHOSEN}
    else:  # as numba finds it, which depends on the machine
        processor = platform.machine()
        facts["machine"] = platform.node()
    words = [sys.implementation.cache_tag + getattr(sys, "abiflags", "")]
    words += [f"{name}-{_version(name)}" for name in ("numba", "llvmlite")]
    words.append(f"{sys.platform}-{processor}")
    if facts:
        words.append(hashlib.sha256(repr(sorted(facts.items())).encode()).hexdigest()[:8])
    return "-".join(words)


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow: most commands do without

    try:
        return version(package)
    except PackageNotFoundError:  # added to the path by hand
        return "unknown"
