"""Compiling is announced where it happens, and only there."""

from __future__ import annotations

import logging
import sys

import pytest
from numba import njit

from kernels._cpu import compile as module

KERNELS = """
from numba import njit

@njit("int64(int64)")
def first(x):
    return x + 1

@njit("int64(int64)")
def second(x):
    return x + 2
"""


@pytest.fixture(params=[KERNELS, "loaded = True"], ids=["compiled", "loaded"])
def kernels(request, monkeypatch, tmp_path):
    """A module of kernels, and a cache folder that has no word on them; whether it compiles."""
    (tmp_path / "some_kernels.py").write_text(request.param)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "_marker", lambda name: tmp_path / name / "complete")
    monkeypatch.setattr(module, "compiled_modules", lambda kind: ("some_kernels",))
    yield request.param == KERNELS
    sys.modules.pop("some_kernels", None)


def test_what_is_compiled_is_announced_once_and_what_is_loaded_never(kernels, caplog):
    module.compile_cpu(["searches"])
    assert module.is_compiled(["searches"])
    njit("int64(int64)")(lambda x: x + 3)  # later, by others
    said = [record for record in caplog.records if record.name == module.__name__]
    assert len(said) == kernels
    for record in said:
        assert record.levelno == logging.WARNING
        assert "compiling the kernels for the cores of this machine, once" in record.getMessage()


def test_the_seconds_that_are_announced_are_those_of_what_is_missing(monkeypatch, tmp_path):
    modules = module.compiled_modules("weights")
    monkeypatch.setattr(module, "_marker", lambda name: tmp_path / name)
    assert module._seconds("weights") == module._SECONDS["weights"]
    for name in modules[1:]:
        (tmp_path / name).touch()
    assert module._seconds("weights") < module._SECONDS["weights"]
    (tmp_path / modules[0]).touch()
    assert module._seconds("weights") == 0
