"""Compile what runs on cores before several processes run tests: numba's cache has no lock.

``python -m tests.compile_ahead``; does nothing if these sources were compiled before, or their
compiled code came along.
"""

from __future__ import annotations

import importlib
import sys

import pipeline  # noqa: F401  first of all: sets where numba keeps compiled code
from kernels.compiled.folder import COMPLETE, folder_of
from kernels.compiled.sources import sources


def main() -> None:
    folders = {path: folder_of(path) for path in sources().compiling()}
    left = {path: folder for path, folder in folders.items() if not (folder / COMPLETE).exists()}
    if not left:
        return
    sys.stderr.write(f"compiling {len(left)} of {len(folders)} modules for cores, once\n")
    for path, folder in left.items():
        importlib.import_module(sources().module_of(path))
        folder.mkdir(exist_ok=True)
        (folder / COMPLETE).touch()


if __name__ == "__main__":
    main()
