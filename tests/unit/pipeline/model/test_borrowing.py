"""Functions that borrow arrays: counting none, making none, and giving none back."""

import re

import numba
import numpy as np
import pytest
from numba import njit

from pipeline.infer.owners.election import costs, regions, relations, settling, watched
from pipeline.infer.owners.election.watched import Watched
from pipeline.model.borrowing import BORROWS
from tests.unit.pipeline.infer.owners.election.cases import case_of

COUNTED = {"nogil": True}
UNCACHED = BORROWS | {"cache": False}
SCALARS = numba.types.Number, numba.types.Boolean, numba.types.NoneType
ALL = {
    name: each
    for module in (costs, regions, relations, settling, watched)
    for name, each in vars(module).items()
    if isinstance(each, numba.core.dispatcher.Dispatcher)
    and each.targetoptions.get("_nrt") is False
}


def first_of_last(arrays):
    return arrays[-1][0]


def calls_that_count(function):
    (text,) = function.inspect_llvm().values()
    return set(re.findall(r"call [^\n]*@(NRT_\w+)", text))


def test_nothing_counts_what_is_borrowed():
    arrays = tuple(np.arange(2) for _ in range(4))
    found = {}
    for name, options in {"borrowed": UNCACHED, "counted": COUNTED}.items():
        inner = njit(**options)(first_of_last)
        assert inner(arrays) == 0
        found[name] = calls_that_count(inner)
    assert found["borrowed"] == set()
    assert "NRT_decref" in found["counted"] or "NRT_incref" in found["counted"]


@pytest.mark.parametrize(
    "makes", [lambda a: np.empty(3)[0], lambda a: a.copy()[0], lambda a: np.sort(a)[0]]
)
def test_what_makes_an_array_cannot_be_compiled_so(makes):
    with pytest.raises(numba.core.errors.NumbaError):
        njit(**UNCACHED)(makes)(np.arange(3.0))


def test_no_array_is_given_back_and_none_is_counted():
    # A caller would count what it is given as its own, and free it.
    case = case_of([(0, 1)], [(0, 3), (1, 3)], [0, 1])
    types = numba.typeof(case), numba.typeof(Watched.of(case))
    row, tally = numba.typeof(1), numba.typeof(np.zeros((2, 9), np.int64))
    for function, arguments in (
        (settling._settle, types),
        (regions.move_regions, types),
        (costs.explain, (types[0], row, row, tally)),
        (costs.gain, (types[0], row, row, row)),
    ):
        # Compiled again: what is loaded from a cache asks for nothing that it calls.
        options = UNCACHED if function in ALL.values() else COUNTED
        njit(**options)(function.py_func).compile(arguments)
    seen = set()
    while new := {(name, args) for name, each in ALL.items() for args in each.overloads} - seen:
        for name, args in new:
            again = njit(**UNCACHED)(ALL[name].py_func)
            again.compile(args)
            given = again.overloads[args].signature.return_type
            assert isinstance(given, SCALARS) or all(isinstance(x, SCALARS) for x in given), name
            assert calls_that_count(again) == set(), name
        seen |= new
    # These two are compiled apart, and seen only if another test has called them before.
    assert ALL.keys() - {name for name, _ in seen} <= {"explain", "gain"}
