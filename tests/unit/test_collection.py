"""Every file of tests is collected: pytest silently skips folders with some names."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The folders and files that pytest walks through, without importing the tests in them.
LISTING = """
import pytest

class Unread(pytest.Module):
    def collect(self):
        return []

def pytest_pycollect_makemodule(module_path, parent):
    print("collected", module_path)
    return Unread.from_parent(parent, path=module_path)
"""


def test_pytest_collects_every_file_of_tests(tmp_path):
    (tmp_path / "listing.py").write_text(LISTING)
    words = ["-m", "pytest", "--collect-only", "-q", "-s", "-p", "listing"]
    done = subprocess.run(
        [sys.executable, *words, "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=os.environ | {"PYTEST_ADDOPTS": "", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "no tests collected" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
    lines = [line for line in done.stdout.splitlines() if line.startswith("collected ")]
    collected = {Path(line.removeprefix("collected ")) for line in lines}
    there = set((ROOT / "tests").rglob("test_*.py"))
    assert there
    assert there - collected == set()
    has_tests = re.compile(r"^(def test_|class Test)", re.MULTILINE)
    assert [path.name for path in there if not has_tests.search(path.read_text())] == []
