"""Faults that are planted into a module, for tests that must find them."""

from __future__ import annotations

import inspect
import types


def with_fault(module: types.ModuleType, old: str, new: str) -> types.ModuleType:
    """A copy of a module in which one piece of its source, which is there once, is another."""
    source = inspect.getsource(module)
    assert source.count(old) == 1, f"{module.__name__} has {source.count(old)} times: {old}"
    copy = types.ModuleType(module.__name__)
    copy.__file__ = module.__file__
    exec(compile(source.replace(old, new), str(module.__file__), "exec"), copy.__dict__)
    return copy
