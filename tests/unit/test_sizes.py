"""What keeps compiled functions readable."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.real_data import REPOSITORY

MOST_ARGUMENTS = 15  # of a compiled function: more have names, in a NamedTuple or a record
MODULES = [
    path.relative_to(REPOSITORY)
    for top in ("flows", "hopscope", "kernels", "pipeline")
    for path in sorted((REPOSITORY / top).rglob("*.py"))
]


def compiled(path: Path) -> list[ast.FunctionDef]:
    """Functions that numba compiles."""
    if "njit" not in (text := (REPOSITORY / path).read_text()):
        return []
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return [each for each in functions if any("njit" in ast.dump(d) for d in each.decorator_list)]


def test_a_compiled_function_takes_many_arrays_by_name():
    found = {
        f"{path}: {each.name}": len(each.args.args) for path in MODULES for each in compiled(path)
    }
    assert len(found) > 100
    assert {name: n for name, n in found.items() if n > MOST_ARGUMENTS} == {}
