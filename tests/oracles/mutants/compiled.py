"""Where numba keeps what it compiles of mutants: filed by what decides the compiled code.

numba looks only at the file of a function. A caller in another module would keep the old code of
the function that a mutant changes.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
from pathlib import Path

from numba.core.caching import _CacheLocator

FOLDER = "HOPSCOPE_MUTANTS_COMPILED"  # the variable that names the folder
ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("kernels", "pipeline")


def imported(path: Path, root: Path) -> set[Path]:
    """Modules that a module imports compiled functions or constants of."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        if node.module.split(".")[0] not in PACKAGES:
            continue
        place = root.joinpath(*node.module.split("."))
        for alias in node.names:
            module = next(filter(Path.is_file, _files(place, alias.name)), None)
            if module and (alias.name.isupper() or b"numba" in module.read_bytes()):
                found.add(module)
    return found


def _files(place: Path, name: str) -> list[Path]:
    """Where a name may be defined: in a module of that name, a module or a package."""
    return [(place / name).with_suffix(".py"), place.with_suffix(".py"), place / "__init__.py"]


def digest(path: Path, root: Path) -> str:
    """Hex digits over a module and all modules whose functions or constants it compiles in."""
    todo, seen = [path], set()
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo.extend(imported(one, root))
    sha = hashlib.sha256()
    for one in sorted(seen):
        sha.update(str(one.relative_to(root)).encode() + b"\0" + one.read_bytes() + b"\0")
    return sha.hexdigest()[:16]


class Locator(_CacheLocator):
    """Of the copy of the project that this module stands in; see NUMBA_CACHE_LOCATOR_CLASSES."""

    def __init__(self, folder: Path, line: int) -> None:
        self.folder, self.line = folder, line

    def get_cache_path(self) -> str:
        return str(self.folder)

    def get_source_stamp(self) -> str:
        return self.folder.name

    def get_disambiguator(self) -> str:
        return str(self.line)

    @classmethod
    def from_function(cls, py_func, py_file):  # type: ignore[no-untyped-def]
        """None for files of others: those are not compiled into files."""
        path = Path(py_file).resolve()
        if FOLDER not in os.environ or not path.is_file() or not path.is_relative_to(ROOT):
            return None
        name = "_".join(path.relative_to(ROOT).with_suffix("").parts)
        found = cls(
            Path(os.environ[FOLDER]) / name / _digest(path), py_func.__code__.co_firstlineno
        )
        found.ensure_cache_path()
        return found


@functools.cache
def _digest(path: Path) -> str:
    return digest(path, ROOT)
