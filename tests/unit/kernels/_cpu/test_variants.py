"""Compiled functions have names of their own, by which numba's symbols tell them apart."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator

from numba.core.dispatcher import Dispatcher

from kernels._cpu.compile import ALL
from kernels._cpu.near_steps import COUNT_PAIRS, NOTE_ENDS
from kernels.host import compiled_modules


def compiled_in(value: object) -> Iterator[Dispatcher]:
    """A compiled function, or those in tuples and dictionaries of them."""
    if isinstance(value, Dispatcher):
        yield value
    elif isinstance(value, (tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from compiled_in(each)


def test_no_two_compiled_functions_have_one_name():
    modules = [importlib.import_module(name) for work in ALL for name in compiled_modules(work)]
    functions = {
        each.py_func
        for module in modules
        for value in vars(module).values()
        for each in compiled_in(value)
    }
    assert {each.py_func for each in (*COUNT_PAIRS, *NOTE_ENDS)} <= functions
    names = Counter((each.__module__, each.__qualname__) for each in functions)
    assert len(names) > 50
    assert {name for name, n in names.items() if n > 1} == set()
