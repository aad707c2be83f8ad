"""What is compiled for: a portable processor where there is one, and what the user says."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from kernels.compiled import target as module
from tests.real_data import REPOSITORY

PORTABLE = {"NUMBA_CPU_NAME": module.PORTABLE, "NUMBA_CPU_FEATURES": ""}
LOCATORS = "NUMBA_CACHE_LOCATOR_CLASSES"
V3 = "flags : fpu " + " ".join(sorted(module._FLAGS)) + " avx512f\n"


@pytest.fixture
def cpuinfo(tmp_path, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    for name in (*PORTABLE, LOCATORS):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cpuinfo"


def numba_variables():
    return {name: value for name, value in os.environ.items() if name in PORTABLE}


@pytest.mark.parametrize("missing", ["avx2", "abm", "bmi2", "movbe"])
def test_a_processor_that_lacks_something_is_compiled_for_as_it_is(missing, cpuinfo):
    cpuinfo.write_text("processor : 0\n" + V3.replace(f" {missing}", ""))
    assert not module.has_portable(cpuinfo)


def test_a_processor_that_has_it_all_is_known(cpuinfo):
    cpuinfo.write_text("processor : 0\n" + V3)
    assert module.has_portable(cpuinfo)


def test_another_kind_of_processor_has_its_own_code(cpuinfo, monkeypatch):
    cpuinfo.write_text(V3)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert not module.has_portable(cpuinfo)


def test_where_nothing_says_what_it_has_the_processor_is_taken_as_it_is(cpuinfo):
    assert not module.has_portable(cpuinfo)


def test_where_locators_of_the_user_are_asked_the_processor_is_taken_as_it_is(cpuinfo, monkeypatch):
    cpuinfo.write_text(V3)
    monkeypatch.setenv(LOCATORS, "InTreeCacheLocator")
    module.choose_target(cpuinfo)
    assert numba_variables() == {}


def test_the_users_choice_stays(cpuinfo, monkeypatch):
    cpuinfo.write_text(V3)
    monkeypatch.setenv("NUMBA_CPU_NAME", "znver4")
    module.choose_target(cpuinfo)
    assert numba_variables() == {"NUMBA_CPU_NAME": "znver4"}


ASKED = """
import sys
{before}
import kernels
from numba import config, njit
njit("int64(int64)")(lambda x: x)
from numba.core.registry import cpu_target
print(config.CPU_NAME, cpu_target.target_context.codegen().magic_tuple()[1])
from kernels.compiled.target import target
print(target())
"""


def asked(before: str = "", **variables: str) -> list[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", ASKED.format(before=before)],
        env=kept | {"PYTHONPATH": str(REPOSITORY)} | variables,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.split()


needs_portable = pytest.mark.skipif(not module.has_portable(), reason="the processor is older")


@needs_portable
@pytest.mark.parametrize("before", ["", "import numba"])
def test_numba_compiles_for_it_imported_earlier_or_not(before):
    name, used, named = asked(before)
    assert name == used == module.PORTABLE
    assert named.endswith(f"-{module.PORTABLE}")


@needs_portable
def test_where_numba_has_begun_for_this_processor_it_goes_on_so():
    name, used, named = asked('import numba; numba.njit("int64(int64)")(lambda x: x + 1)')
    assert name == "None"
    assert used != module.PORTABLE
    assert module.PORTABLE not in named


@needs_portable
def test_what_other_variables_change_is_kept_apart():
    plain = asked()[-1]
    assert asked(NUMBA_OPT="1")[-1].startswith(f"{plain}-")
    assert asked(NUMBA_NUM_THREADS="1")[-1] == plain
