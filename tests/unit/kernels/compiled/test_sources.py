"""What is compiled in of other modules decides about a module's compiled code."""

from __future__ import annotations

import ast

import pytest

from kernels.compiled.sources import PACKAGES, Sources, sources
from tests.real_data import REPOSITORY

ALL = list(sources().compiling())


@pytest.fixture
def write(tmp_path):
    """Writes modules of ``kernels``, each a name and its text; returns what reads them."""

    def written(**texts: str) -> Sources:
        for name, text in texts.items():
            path = (tmp_path / "kernels" / name).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Sources(tmp_path)

    return written


def closure(found: Sources, name: str) -> list[str]:
    paths = found.closure(found.path_of(f"kernels.{name}"))
    return sorted(".".join(path.relative_to(found.root / "kernels").parts) for path in paths)


NUMBA = "from numba import njit\n"


@pytest.mark.parametrize(
    ("line", "other", "counts"),
    [
        ("from kernels.b import step", NUMBA, True),
        ("from kernels.b import (\n    few,  # so few\n    step as do,\n)", NUMBA, True),
        ("from kernels import b", NUMBA, True),
        ("from kernels.b import MANY", "MANY = 1", True),
        ("from kernels.b import (\n    Few,\n    MANY,\n)", "MANY = 1", True),
        ("from kernels.b import Row", "class Row(NamedTuple): ...", True),
        ("from kernels.b import Row", "class Row: ...", False),
        ("from kernels.b import plain", "def plain(): ...", False),
        ("def f():\n    from kernels.b import step", NUMBA, False),
    ],
)
def test_only_what_may_be_compiled_in_counts(line, other, counts, write):
    found = write(a=NUMBA + line, b=other)
    assert closure(found, "a") == (["a.py", "b.py"] if counts else ["a.py"])
    before = found.digest(found.path_of("kernels.a"))
    changed = write(b=other + "\n# changed")
    assert (changed.digest(changed.path_of("kernels.a")) != before) == counts


def test_what_is_compiled_in_through_others_counts(write):
    found = write(
        a=NUMBA + "from kernels.few import FEW",
        few="from kernels.more import MOST\nFEW = MOST",
        more="MOST = 1",
        other=NUMBA + "from kernels.a import FEW",
    )
    assert closure(found, "a") == ["a.py", "few.py", "more.py"]


def test_a_constant_of_a_package_is_that_of_its_module(write):
    found = write(
        **{
            "a": NUMBA + "from kernels.room import MANY",
            "room/__init__": "from kernels.room.few import MANY",
            "room/few": "MANY = 1",
            "room/other": "MANY = 2",
        }
    )
    assert closure(found, "a") == ["a.py", "room.__init__.py", "room.few.py"]


def test_a_circle_of_modules_has_an_end(write):
    found = write(
        a=NUMBA + "from kernels.b import step", b=NUMBA + "from kernels.a import STEP\nSTEP = 1"
    )
    assert closure(found, "a") == closure(found, "b") == ["a.py", "b.py"]


def test_a_copy_elsewhere_has_the_same_digests(write, tmp_path):
    texts = {"a": NUMBA + "from kernels.b import MANY", "b": "MANY = 1"}
    here = write(**texts)
    (tmp_path / "other" / "kernels").mkdir(parents=True)
    for name, text in texts.items():
        (tmp_path / "other" / "kernels" / f"{name}.py").write_text(text)
    there = Sources(tmp_path / "other")
    assert here.digest(here.path_of("kernels.a")) == there.digest(there.path_of("kernels.a"))


def test_modules_of_others_are_not_ours(tmp_path):
    installed = Sources(tmp_path)
    assert installed.module_of(tmp_path / "kernels" / "a.py") == "kernels.a"
    assert installed.module_of(tmp_path / "tests" / "a.py") is None
    assert installed.module_of(tmp_path / "numba" / "a.py") is None
    assert installed.module_of(tmp_path.parent / "kernels" / "a.py") is None
    assert sources().module_of(REPOSITORY / "tests" / "a.py") == "tests.a"


def imports_of(tree):
    """Name -> module and name there, of what a source imports from the project."""
    return {
        name.asname or name.name: (each.module, name.name)
        for each in ast.walk(tree)
        if isinstance(each, ast.ImportFrom) and each.module
        for name in each.names
        if each.module.split(".")[0] in PACKAGES
    }


def names_compiled_in(tree):
    """Names in compiled functions, and in what the module assigns to those names."""
    assigned = {
        target.id: each.value
        for each in tree.body
        if isinstance(each, ast.Assign)
        for part in each.targets
        for target in ast.walk(part)
        if isinstance(target, ast.Name)
    }
    left = [
        each  # with the function around it, whose names it may use
        for each in tree.body
        if any(
            "jit" in ast.unparse(decorator)
            for inner in ast.walk(each)
            if isinstance(inner, ast.FunctionDef)
            for decorator in inner.decorator_list
        )
    ]
    found = set()
    while left:
        names = [each for each in ast.walk(left.pop()) if isinstance(each, ast.Name)]
        local = {each.id for each in names if isinstance(each.ctx, ast.Store)}
        here = {each.id for each in names} - local - found
        found |= here
        left += [assigned[name] for name in here if name in assigned]
    return found


def test_all_that_compiled_functions_use_is_from_a_source_that_counts():
    n_names = 0
    for path in ALL:
        tree, counted = ast.parse(path.read_bytes()), sources().closure(path)
        imported = imports_of(tree)
        for module, name in (imported[each] for each in names_compiled_in(tree) & set(imported)):
            # The name may be that of a module.
            used = [sources().path_of(f"{module}.{name}"), sources().path_of(module)]
            assert any(each in counted for each in used), f"{path}: {name} of {module}"
            n_names += 1
    assert n_names > 100


def test_thresholds_of_steps_are_compiled_in():
    counted = set().union(*map(sources().closure, ALL))
    light = {path.stem for path in counted if b"numba" not in path.read_bytes()}
    assert {"thresholds", "questions", "strategy", "types"} <= light
