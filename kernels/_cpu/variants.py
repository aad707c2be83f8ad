"""Names of closures that are compiled in several variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_Function = TypeVar("_Function", bound=Callable)


def variant(name: str) -> Callable[[_Function], _Function]:
    """Add a name to that of a closure, below ``@njit``; another one for each variant.

    numba's symbols have the name of the function, its types and a number that counts from 1 in each
    process. Two variants of one name that two processes compiled, because the first was ended
    early, may have the same symbol: either is then called in place of the other, which writes to
    arrays that are not there.
    """

    def rename(function: _Function) -> _Function:
        function.__name__ = f"{function.__name__}_{name}"
        function.__qualname__ = f"{function.__qualname__}_{name}"
        return function

    return rename
