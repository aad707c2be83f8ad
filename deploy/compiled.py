"""Packs compiled code for a release: ``python3 -m deploy.compiled``.

Compiles all there is for this Python, in a cache of its own, and writes one archive into
``kernels/compiled/archives/`` and its SHA-256 into ``hashes.py`` beside it. Archives of this Python
that are replaced go; those of other Pythons stay.

What numba keeps for a function is machine code, the same as LLVM's bitcode, and types as text for
people. The text goes, and the bitcode too unless other compiled functions call this one: half of
what is kept, and four fifths of the archive.
"""

from __future__ import annotations

import ast
import contextlib
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HASHES = "kernels/compiled/hashes.py"
ARCHIVES = "kernels/compiled/archives"
_TYPES_AS_TEXT = 4  # its place behind the library and the descriptor
_HEAD = '''"""SHA-256 of the archives of compiled code; ``deploy.compiled`` writes this module."""

from __future__ import annotations

SHA256: dict[str, str] = {
'''


def called_by_tests(root: Path) -> set[str]:
    """Names of what is called in compiled functions of a checkout's tests and benchmarks."""
    found: set[str] = set()
    for path in (path for top in ("tests", "benchmarks") for path in (root / top).rglob("*.py")):
        if b"njit" in (text := path.read_bytes()):
            calls = (each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call))
            found.update(ast.unparse(call.func).rpartition(".")[2] for call in calls)
    return found


@contextlib.contextmanager
def noting_what_is_linked() -> Iterator[set[str]]:
    """Names of the libraries that are linked into others in the meantime."""
    from numba.core.codegen import CPUCodeLibrary

    linked: set[str] = set()
    add = CPUCodeLibrary.add_linking_library

    def add_and_note(self: Any, library: Any) -> None:
        linked.add(library.name)
        add(self, library)

    CPUCodeLibrary.add_linking_library = add_and_note
    try:
        yield linked
    finally:
        CPUCodeLibrary.add_linking_library = add


def slim(folder: Path, linked: set[str], called: set[str]) -> None:
    """Leave out of each function's file what only people, or callers that are compiled, need.

    Parameters
    ----------
    folder : Path
        Of the folders of modules.
    linked : set of str
        Libraries that were linked into others, as ``noting_what_is_linked`` says.
    called : set of str
        Functions that others may be linked to as well.
    """
    from numba.core.serialize import dumps

    from kernels.compiled.locator import NOT_TO_LINK

    for path in sorted(folder.rglob("*.nbc")):
        library, descriptor, *rest = pickle.loads(path.read_bytes())
        name, kind, (machine_code, bitcode) = library
        if name not in linked and descriptor.qualname.rpartition(".")[2] not in called:
            bitcode = NOT_TO_LINK + "\n".join(_symbols(bitcode)).encode()
        rest[_TYPES_AS_TEXT] = ""
        path.write_bytes(dumps(((name, kind, (machine_code, bitcode)), descriptor, *rest)))


def _symbols(bitcode: bytes) -> list[str]:
    """Names of what a module defines."""
    from llvmlite import binding

    module = binding.parse_bitcode(bitcode)
    parts = (module.functions, module.global_variables)
    return [one.name for part in parts for one in part if not one.is_declaration]


def pack(root: Path) -> Path:
    """Compile everything in this process, and write the archive; its path."""
    with tempfile.TemporaryDirectory(prefix="hopscope-pack-") as made:
        os.environ["NUMBA_CACHE_DIR"] = made
        from deploy.rehearsal import rehearse
        from kernels.compiled import base, shipped
        from kernels.compiled.target import PORTABLE

        shipped.SHA256.clear()  # nothing of an earlier release is packed again
        folder = base()
        if not folder.name.endswith(f"-{PORTABLE}"):
            sys.exit(f"archives are for {PORTABLE}; here it is {folder.name}")
        work = Path(made) / "work"
        work.mkdir()
        with noting_what_is_linked() as linked:
            rehearse(work)
        slim(folder, linked, called_by_tests(root))
        archive = root / ARCHIVES / f"{folder.name}{shipped.SUFFIX}"
        python = folder.name.partition("-numba")[0]
        for old in archive.parent.glob(f"{python}-numba*"):
            old.unlink()
        write_hashes(root, {archive.name: shipped.pack(folder, archive)})
    return archive


def write_hashes(root: Path, new: dict[str, str]) -> None:
    """Write the hashes of the archives that are there."""
    known = re.findall(r'"(\S+)": "(\w+)"', (root / HASHES).read_text())
    hashes = {**dict(known), **new}
    there = {path.name for path in (root / ARCHIVES).iterdir()}
    lines = [f'    "{name}": "{sha}",\n' for name, sha in sorted(hashes.items()) if name in there]
    (root / HASHES).write_text(f"{_HEAD}{''.join(lines)}}}\n")


if __name__ == "__main__":
    sys.stdout.write(f"{pack(ROOT)}\n")
