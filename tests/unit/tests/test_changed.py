"""Which unit tests belong to which files."""

import subprocess
from pathlib import Path

from tests.changed import UNIT, changed_files, rooms_of


def rooms(*names):
    return [str(room.relative_to(UNIT)) for room in rooms_of(map(Path, names))]


def test_a_module_has_the_tests_of_its_room():
    assert rooms("pipeline/infer/owners/confidence.py") == ["pipeline/infer/owners"]
    assert rooms("pipeline/ingest/warts/decode.py") == ["pipeline/ingest/warts"]
    # The nearest folder that there is, and none inside another.
    assert rooms("kernels/_cuda/none/a.cu", "kernels/_cuda/loader.py") == ["kernels/_cuda"]
    assert rooms("pipeline/infer/rule.py", "pipeline/infer/owners/elect.py") == ["pipeline/infer"]


def test_tests_have_themselves_and_helpers_their_folder():
    test = "tests/unit/pipeline/infer/owners/test_confidence.py"
    assert rooms(test) == ["pipeline/infer/owners/test_confidence.py"]
    assert rooms("tests/unit/pipeline/infer/handmade.py") == ["pipeline/infer"]


def test_pages_and_integration_tests_have_none():
    assert (
        rooms("README.md", "docs/index.md", "tests/integration/test_cluster.py", "Makefile") == []
    )


def test_changed_is_what_differs_and_what_is_new(tmp_path):
    def git(*words):
        name = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        subprocess.run(["git", "-C", str(tmp_path), *name, *words], check=True, capture_output=True)

    git("init", "-q")
    for name in ("kept.py", "edited.py", "gone.py"):
        (tmp_path / name).write_text("1")
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "committed.py").write_text("1")
    (tmp_path / "gone.py").unlink()
    git("add", "-A")
    git("commit", "-qm", "second")
    (tmp_path / "edited.py").write_text("2")
    (tmp_path / "a name.py").write_text("1")
    found = [path.name for path in changed_files("HEAD~1", tmp_path)]
    assert found == ["a name.py", "committed.py", "edited.py"]
