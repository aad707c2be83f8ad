"""Which tests stand for a module, and which mutants are drawn."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.oracles.mutants.rooms import ROOMS, modules_of, sample, stages_of
from tests.real_data import REPOSITORY


def fill(root: Path, *names: str, text: str = "a = b + 1\n") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_the_mirror_of_a_module_runs_first_and_each_file_once(tmp_path):
    tests = ["deep/test_tree.py", "deep/test_other.py", "deep/deeper/test_leaf.py", "test_csr.py"]
    fill(tmp_path, *(f"tests/unit/kernels/{name}" for name in tests), "tests/unit/test_words.py")
    stages = stages_of(tmp_path, "kernels", Path("kernels/deep/tree.py"))
    assert [[str(path).removeprefix("tests/unit/kernels/") for path in one] for one in stages] == [
        ["deep/test_tree.py"],
        ["deep/deeper/test_leaf.py", "deep/test_other.py"],
        ["test_csr.py"],
    ]


def test_a_package_is_tested_by_its_folder(tmp_path):
    fill(tmp_path, "tests/unit/kernels/deep/test_tree.py", "tests/unit/kernels/test_csr.py")
    stages = stages_of(tmp_path, "kernels", Path("kernels/deep/__init__.py"))
    assert [one[0].name for one in stages] == ["test_tree.py", "test_csr.py"]


def test_modules_that_need_a_gpu_are_left_out(tmp_path):
    fill(tmp_path, "kernels/a.py", "kernels/gpu.py", "kernels/gpu/b.py", "kernels/_cuda/c.py")
    assert modules_of(tmp_path, "kernels") == [Path("kernels/a.py")]


def test_rooms_take_turns_and_a_seed_repeats_the_draw(tmp_path):
    fill(tmp_path, "one/a.py", "two/b.py", text="a = b + 1 - c\n" * 20)
    found = sample(tmp_path, ["one", "two"], 9, seed=4)
    assert [one.room for one in found[:4]] == ["one", "two", "one", "two"]
    assert Counter(one.room for one in found) == {"one": 5, "two": 4}
    assert len({(one.room, one.site) for one in found}) == 9
    assert sample(tmp_path, ["one", "two"], 9, seed=4) == found
    assert sample(tmp_path, ["one", "two"], 9, seed=5) != found


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_of_a_room_has_tests(room):
    modules = modules_of(REPOSITORY, room)
    assert modules
    assert [path for path in modules if not stages_of(REPOSITORY, room, path)] == []
