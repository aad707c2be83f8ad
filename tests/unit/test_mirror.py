"""tests/unit mirrors the tree: a file is in the folder of the room that it tests."""

from __future__ import annotations

import ast
import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path

from tests.real_data import REPOSITORY

UNIT = Path(__file__).parent
# Files that test the project as a whole.
WHOLE = {
    "test_collection.py",
    "test_import_contracts.py",
    "test_mirror.py",
    "test_sizes.py",
    "test_untrusted_data.py",
    "test_words.py",
}
# Files that know of their room only what the command line does with it.
BY_COMMAND = {
    "pipeline/cli/test_help.py",
    "pipeline/stages/nights/test_cities.py",
    "pipeline/stages/test_nothing_measured.py",
    "pipeline/stages/test_organisations_and_relations.py",
}
FILES = [
    path.relative_to(UNIT)
    for path in sorted(UNIT.rglob("test_*.py"))
    if str(path.relative_to(UNIT)) not in WHOLE
]


def subrooms(room: Path) -> set[str]:
    """Folders of a room that have modules."""
    return {path.parent.name for path in (REPOSITORY / room).glob("*/*.py")}


def is_module(place: Path) -> bool:
    return (REPOSITORY / place).is_dir() or (REPOSITORY / place).with_suffix(".py").is_file()


def modules_named(text: str) -> Iterator[str]:
    """Dotted names in imports of a program, and of the programs in its strings."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and "import " in str(node.value):
            with contextlib.suppress(SyntaxError):  # text that is not a program
                yield from modules_named(str(node.value))


@functools.cache
def subjects(path: Path) -> set[Path]:
    """Rooms and modules of the folder that a file is in, which it imports or is named after."""
    found = set()
    for name in modules_named((UNIT / path).read_text()):
        place = Path(*name.split("."))
        found.add(place if is_module(place) else place.parent)  # the name of a function is left out
    if is_module(own := path.parent / path.stem.removeprefix("test_")):
        found.add(own)
    return {place for place in found if place.is_relative_to(path.parent)}


def subroom_of(path: Path) -> str | None:
    """The one subroom that a file is about, if it is above it."""
    parts = {place.relative_to(path.parent).parts[:1] for place in subjects(path)}
    names = {part[0] for part in parts if part}
    inside = subrooms(path.parent)
    if parts and () not in parts and len(names) == 1 and names <= inside:
        return names.pop()
    named = path.stem.removeprefix("test_") + "_"
    return next((room for room in sorted(inside) if named.startswith(f"{room}_")), None)


def test_every_folder_of_tests_is_a_room():
    folders = {path.parent for path in FILES}
    rooms = {"hopscope", "kernels", "pipeline", "flows", "deploy", "benchmarks", "tests"}
    assert {folder.parts[0] for folder in folders} == rooms
    assert [folder for folder in folders if not any((REPOSITORY / folder).glob("*.py"))] == []


def test_every_file_tests_the_room_that_it_stands_in():
    files = [path for path in FILES if str(path) not in BY_COMMAND]
    assert len(files) == len(FILES) - len(BY_COMMAND)
    assert [path for path in files if not subjects(path)] == []


def test_files_about_one_subroom_stand_in_it():
    assert {path: room for path in FILES if (room := subroom_of(path))} == {}
