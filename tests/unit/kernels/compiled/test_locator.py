"""numba asks us where code is kept, whenever it is imported, unless the user names others."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.real_data import REPOSITORY

ASKED = """
{before}
import pipeline
{after}
from numba.core.caching import CacheImpl
from pipeline.model.random_words import mix
ours = [one.__module__ for one in CacheImpl._locator_classes].count("kernels.compiled.locator")
print(ours, type(mix._cache._impl.locator).__module__, mix._cache.cache_path)
"""


def asked(tmp_path, before="", after="", **variables) -> list[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", ASKED.format(before=before, after=after)],
        env=kept | {"PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(tmp_path)} | variables,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("import numba", ""), ("import kernels", "import numba, hopscope")],
)
def test_numba_asks_us_once_whoever_imports_it_first(before, after, tmp_path):
    times, asked_first, folder = asked(tmp_path, before, after)
    assert (times, asked_first) == ("1", "kernels.compiled.locator")
    assert folder.startswith(f"{tmp_path}/hopscope/compiled/")
    assert "/pipeline.model.random_words-" in folder


def test_whom_the_user_names_is_asked_alone(tmp_path):
    given = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
    _, asked_first, folder = asked(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "given"), **given)
    assert asked_first == "numba.core.caching"
    assert folder.startswith(str(tmp_path / "given"))


def test_functions_of_others_are_kept_where_numba_keeps_them(tmp_path):
    (tmp_path / "theirs.py").write_text("from numba import njit\n@njit(cache=True)\ndef f(): ...\n")
    before = f"import sys; sys.path.insert(0, {str(tmp_path)!r})"
    after = "import theirs; print(theirs.f._cache.cache_path)"
    assert asked(tmp_path, before, after)[0] == str(tmp_path / "__pycache__")


def test_programs_that_are_started_get_no_locator_of_ours(tmp_path):
    after = "import os; print(os.environ.get('NUMBA_CACHE_LOCATOR_CLASSES'))"
    assert asked(tmp_path, "", after)[0] == "None"


def test_a_full_disk_is_said_once_and_ends_nothing(tmp_path):
    before = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    lines = (
        "import logging; logging.basicConfig()",
        before,
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)",
        "from pipeline.model.random_words import mix",
        "import numpy as np",
        "print(int(mix(np.uint64(1))), int(mix(np.uint64(2))))",
    )
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env=kept | {"PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 2
    assert done.stderr.count("compiled code is not kept") == 1, done.stderr
