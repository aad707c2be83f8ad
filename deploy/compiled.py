"""Packs compiled code for a release: ``python3 -m deploy.compiled KEPT``.

Compiles all there is for this Python, in KEPT, a folder that saves time when it is given again.
Writes one archive into ``kernels/compiled/archives/`` and its SHA-256 into ``hashes.py`` beside it;
archives of this Python that are replaced go, those of other Pythons stay.

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
import shutil
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


def imported_by_tests(root: Path) -> set[tuple[str, str]]:
    """Module and name of what tests and benchmarks with compiled functions import of ours."""
    return {
        (statement.module, alias.name)
        for top in ("tests", "benchmarks")
        for path in (root / top).rglob("*.py")
        if b"njit" in (text := path.read_bytes())
        for statement in ast.walk(ast.parse(text))
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }


@contextlib.contextmanager
def noting_what_is_linked() -> Iterator[set[str]]:
    """Symbols of the functions that are linked to others in the meantime."""
    from numba.core.codegen import CPUCodeLibrary

    linked: set[str] = set()
    get = CPUCodeLibrary._get_module_for_linking

    def get_and_note(self: Any) -> Any:
        module = get(self)
        if not isinstance(module, str):
            linked.update(one.name for one in module.functions if not one.is_declaration)
        return module

    # What is kept on disk has its bitcode by the same way, which does not count.
    serialize = CPUCodeLibrary.serialize_using_object_code

    def serialize_unnoted(self: Any) -> Any:
        before = set(linked)
        state = serialize(self)
        linked.intersection_update(before)
        return state

    CPUCodeLibrary._get_module_for_linking = get_and_note
    CPUCodeLibrary.serialize_using_object_code = serialize_unnoted
    try:
        yield linked
    finally:
        CPUCodeLibrary._get_module_for_linking = get
        CPUCodeLibrary.serialize_using_object_code = serialize


def slim(folder: Path, linked: set[str], called: set[tuple[str, str]]) -> None:
    """Leave out of each function's file what only people, or callers that are compiled, need.

    Parameters
    ----------
    folder : Path
        Of the folders of modules.
    linked : set of str
        Symbols of functions that were linked to others, as ``noting_what_is_linked`` says.
    called : set of (str, str)
        Module and name of functions to which others may be linked as well.
    """
    from numba.core.serialize import dumps

    from kernels.compiled.locator import NOT_TO_LINK

    for path in sorted(folder.rglob("*.nbc")):
        library, descriptor, *rest = pickle.loads(path.read_bytes())
        name, kind, (machine_code, bitcode) = library
        is_linked = descriptor.mangled_name in linked
        if not is_linked and (descriptor.modname, descriptor.qualname) not in called:
            bitcode = NOT_TO_LINK + "\n".join(_symbols(bitcode)).encode()
        rest[_TYPES_AS_TEXT] = ""
        path.write_bytes(dumps(((name, kind, (machine_code, bitcode)), descriptor, *rest)))


def _symbols(bitcode: bytes) -> list[str]:
    """Names of what a module defines."""
    from llvmlite import binding

    module = binding.parse_bitcode(bitcode)
    parts = (module.functions, module.global_variables)
    return [one.name for part in parts for one in part if not one.is_declaration]


def pack(root: Path, kept: Path) -> Path:
    """Compile everything in this process, and write the archive; its path.

    Parameters
    ----------
    root : Path
        A checkout; the one that this module belongs to.
    kept : Path
        Folder with what this compiled before: only what changed since is compiled.
    """
    kept.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ["NUMBA_CACHE_DIR"] = str(kept)
    from deploy.rehearsal import rehearse
    from kernels.compiled import base, shipped
    from kernels.compiled.folder import folder_of
    from kernels.compiled.sources import sources
    from kernels.compiled.target import PORTABLE

    shipped.SHA256.clear()  # nothing of an earlier release is packed again
    folder = base()
    if not folder.name.endswith(f"-{PORTABLE}"):
        sys.exit(f"archives are for {PORTABLE}; here it is {folder.name}")
    notes = folder / ".linked"
    known = set(notes.read_text().split()) if notes.exists() else set()
    with tempfile.TemporaryDirectory(prefix="hopscope-pack-") as made:
        work = Path(made) / "work"
        work.mkdir()
        with noting_what_is_linked() as linked:
            rehearse(work)
        known |= linked
        notes.write_text("\n".join(sorted(known)))
        packed = Path(made) / "packed"
        for one in map(folder_of, sources().compiling()):
            if one is not None and one.is_dir():
                shutil.copytree(one, packed / one.name)
        slim(packed, known, imported_by_tests(root))
        archive = root / ARCHIVES / f"{folder.name}{shipped.SUFFIX}"
        archive.parent.mkdir(exist_ok=True)
        python = folder.name.partition("-numba")[0]
        for old in archive.parent.glob(f"{python}-numba*"):
            old.unlink()
        write_hashes(root, {archive.name: shipped.pack(packed, archive)})
    return archive


def write_hashes(root: Path, new: dict[str, str]) -> None:
    """Write the hashes of the archives that are there."""
    known = re.findall(r'"(\S+)": "(\w+)"', (root / HASHES).read_text())
    there = {path.name for path in (root / ARCHIVES).iterdir()}
    hashes = sorted((name, sha) for name, sha in {**dict(known), **new}.items() if name in there)
    lines = [f'    "{name}": "{sha}",' for name, sha in hashes]
    lines = [f"{line}  # noqa: E501\n" if len(line) > 100 else f"{line}\n" for line in lines]
    (root / HASHES).write_text(f"{_HEAD}{''.join(lines)}}}\n")


if __name__ == "__main__":
    sys.stdout.write(f"{pack(ROOT, Path(sys.argv[1]))}\n")
