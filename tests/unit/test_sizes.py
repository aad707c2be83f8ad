"""What keeps rooms, modules and compiled functions small enough to be read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.real_data import REPOSITORY

MOST_MODULES = 13  # and subrooms apart: about a dozen, besides __init__
MOST_LINES = 400
MOST_ARGUMENTS = 15  # of a compiled function: more have names, in a NamedTuple or a record
MODULES = [
    path.relative_to(REPOSITORY)
    for top in ("flows", "hopscope", "kernels", "pipeline")
    for path in sorted((REPOSITORY / top).rglob("*"))
    if path.suffix in (".cu", ".cuh", ".py")
]
ROOMS = sorted({path.parent for path in MODULES})


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_a_room_holds_about_a_dozen_modules(room):
    held = [path for path in MODULES if path.parent == room and path.stem != "__init__"]
    assert len(held) <= MOST_MODULES


def test_no_module_is_longer_than_a_reader_can_take_in():
    lines = {path: (REPOSITORY / path).read_text().count("\n") for path in MODULES}
    assert {path: n for path, n in lines.items() if n > MOST_LINES} == {}


def compiled(path: Path) -> list[ast.FunctionDef]:
    """Functions that numba compiles."""
    if "njit" not in (text := (REPOSITORY / path).read_text()):
        return []
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return [each for each in functions if any("njit" in ast.dump(d) for d in each.decorator_list)]


def test_a_compiled_function_takes_many_arrays_by_name():
    found = {
        f"{path}: {each.name}": len(each.args.args)
        for path in MODULES
        if path.suffix == ".py"
        for each in compiled(path)
    }
    assert len(found) > 100
    assert {name: n for name, n in found.items() if n > MOST_ARGUMENTS} == {}
