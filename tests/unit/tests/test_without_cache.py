"""Integration tests run without the cache of pytest, which keeps files for their next runs."""

from __future__ import annotations

import subprocess
import sys

from tests.real_data import REPOSITORY

TEST = "test_what_the_commands_leave_in_a_clone_is_ignored_by_git"


def test_integration_tests_run_without_the_cache_of_pytest(tmp_path):
    words = ["-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'of_it'}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, f"tests/integration/test_readme.py::{TEST}"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
