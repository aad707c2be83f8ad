"""Arguments of public functions: taken if they are what a function needs, else GraphError."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from kernels.errors import DeviceError, GraphError, GraphTypeError
from kernels.words import number


def as_index(given: Any) -> int | None:
    """``given`` as an int; None unless it is a whole number. True and False are flags, not 1 and 0.

    Any integer type will do, and an array of no dimensions that holds one.
    """
    if isinstance(given, bool):
        return None
    try:
        return operator.index(given)
    except TypeError:
        return None


def one_of(role: str, given: Any, n: int, unit: str, whole: str) -> int:
    """``given`` as one of 0 .. n - 1; GraphError otherwise: nothing is counted from the end.

    Parameters
    ----------
    role : str
        What it is for: source, target.
    unit, whole : str
        What is counted, and what holds them: node, graph.
    """
    index = as_index(given)
    if index is None:
        raise GraphError(f"{role} {given!r} is not a {unit}; give an integer")
    if not 0 <= index < n:
        raise GraphError(f"{role} {index} is not a {unit}; the {whole} has {number(n, unit)}")
    return index


def whole_number(name: str, given: Any, least: int | None = None) -> int:
    """``given`` as an int; GraphError unless it is whole, and not less than ``least``."""
    index = as_index(given)
    if index is None:
        raise GraphError(f"{name} is {given!r}; it must be a whole number")
    if least is not None and index < least:
        raise GraphError(f"{name} is {index}; it must be {least} or more")
    return index


def flag(name: str, given: Any) -> bool:
    """``given`` as a bool; GraphError unless it is True or False: a generator, say, is none."""
    if not isinstance(given, bool | np.bool_):
        raise GraphError(f"{name} is {given!r}; it must be True or False")
    return bool(given)


def one_word(name: str, given: Any, words: Iterable[str]) -> None:
    """GraphError unless it is one of these words."""
    words = list(words)
    if not isinstance(given, str) or given not in words:
        shown = " ".join(repr(given).split())
        raise GraphError(f"{name} {shown}: give one of {', '.join(words)}")


def checked_device(device: Any) -> str:
    """``device``; DeviceError unless it is a word for one."""
    if not isinstance(device, str) or device not in ("cpu", "gpu"):
        shown = " ".join(repr(device).split())
        raise DeviceError(f"device {shown} is unknown; it is 'cpu' or 'gpu'")
    return device


def is_masked(given: Any) -> bool:
    """Whether entries may be marked as missing: NumPy reads those as any others."""
    return isinstance(given, np.ndarray) and hasattr(given, "mask")


def row(name: str, given: Any) -> np.ndarray:
    """What is on the host as an array of NumPy; GraphError for what is no row of values.

    Iterators and sets are none: NumPy takes them for one value.
    """
    if is_masked(given):
        raise GraphError(f"{name} is a masked array; give array.compressed(), or array.filled()")
    try:
        array = np.asarray(given)
    except ValueError as error:  # rows of different lengths
        raise GraphError(f"{name} is not one row of numbers: {error}") from None
    if array.ndim == 0 and not isinstance(given, np.ndarray):
        raise GraphError(f"{name} is {_named(given)}; give a list or an array")
    return array


def integer_row(name: str, given: Any) -> np.ndarray:
    """(n,) integers of the type that they have; GraphError for anything else on the host."""
    array = row(name, given)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        what = f"dtype {array.dtype}" if array.ndim == 1 else f"shape {array.shape}"
        raise GraphError(f"{name} has {what}; give one row of integers")
    return array


def several(given: Any, wanted: str, way: str) -> list[Any]:
    """All of what was given, an iterator's too; GraphTypeError for None, and for one alone."""
    is_one = isinstance(given, str | bytes) or getattr(given, "ndim", 1) == 0
    if is_one or not isinstance(given, Iterable):
        raise unexpected(given, wanted, way)
    return list(given)


def check_graph(given: Any, *kinds: type) -> None:
    """GraphTypeError unless it is of one of these kinds, CSRGraph and Shard."""
    if not isinstance(given, kinds):
        names = [kind.__name__ for kind in kinds]
        raise unexpected(given, f"a {' or a '.join(names)}", _way_from(given, kinds, names))


def unexpected(given: Any, wanted: str, way: str = "") -> GraphTypeError:
    """The error that says what to give instead, and by which way one becomes the other."""
    return GraphTypeError(f"give {wanted}, not {_named(given)}{way and '; '}{way}")


def _named(given: Any) -> str:
    kind = f"{type(given).__module__}.{type(given).__qualname__}".removeprefix("builtins.")
    article = "an" if kind[0] in "aeiou" else "a"
    return "None" if given is None else f"{article} {kind}"


def _way_from(given: Any, kinds: tuple[type, ...], names: list[str]) -> str:
    if isinstance(getattr(given, "graph", None), kinds):
        return "it has one as .graph"
    if type(given).__name__ == "CSRGraph":
        return "Shard.from_graphs([graph]) makes one"
    if "CSRGraph" not in names:
        return ""
    if type(given).__name__ == "Shard":
        return "shard.graph(i) is one"
    if hasattr(given, "tocoo"):
        return "CSRGraph.from_scipy makes one"
    if hasattr(given, "edges") and hasattr(given, "is_directed"):
        return "CSRGraph.from_networkx makes one"
    return ""
