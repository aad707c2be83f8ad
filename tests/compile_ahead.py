"""Compile what runs on cores before several processes run tests: numba's cache has no lock.

``python -m tests.compile_ahead``; does nothing if these sources were compiled before.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import zlib
from importlib.metadata import version
from pathlib import Path

import pipeline  # noqa: F401  first of all: sets where numba keeps compiled code

ROOT = Path(__file__).parents[1]


def modules() -> list[str]:
    """Names of the modules with functions that are compiled when the module is imported."""
    return [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for package in ("kernels", "pipeline")
        for path in sorted((ROOT / package).rglob("*.py"))
        if b"@njit" in path.read_bytes()
    ]


def marker() -> Path | None:
    """A file in numba's cache that marks it as complete; None if there is no cache.

    Of this checkout alone: numba files what it compiles by the path of each source.
    """
    facts = (platform.python_version(), version("numba"), version("numpy"), platform.node())
    facts += (f"{zlib.crc32(bytes(ROOT)):08x}",)
    folder = os.environ.get("NUMBA_CACHE_DIR")
    return Path(folder) / f"compiled-tests-{'-'.join(facts)}" if folder else None


def main() -> None:
    done = marker()
    if done is not None and done.exists():
        return
    sys.stderr.write("compiling for the cores of this machine, once: a minute or two\n")
    for name in modules():
        importlib.import_module(name)
    if done is not None:
        done.touch()


if __name__ == "__main__":
    main()
