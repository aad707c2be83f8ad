"""Arguments of public functions: taken if they are what a function needs, else GraphError."""

from __future__ import annotations

import operator
from typing import Any

from kernels.errors import GraphError, GraphTypeError


def whole_number(name: str, given: Any, least: int | None = None) -> int:
    """``given`` as an int; GraphError unless it is whole, and not less than ``least``."""
    try:
        number = operator.index(given)
    except TypeError:
        number = None
    if number is None or isinstance(given, bool):
        raise GraphError(f"{name} is {given!r}; it must be a whole number")
    if least is not None and number < least:
        raise GraphError(f"{name} is {number}; it must be {least} or more")
    return number


def check_graph(given: Any, *kinds: type) -> None:
    """GraphTypeError unless it is of one of these kinds, CSRGraph and Shard."""
    if not isinstance(given, kinds):
        names = [kind.__name__ for kind in kinds]
        raise unexpected(given, f"a {' or a '.join(names)}", _way_from(given, kinds, names))


def unexpected(given: Any, wanted: str, way: str = "") -> GraphTypeError:
    """The error that says what to give instead, and by which way one becomes the other."""
    kind = f"{type(given).__module__}.{type(given).__qualname__}".removeprefix("builtins.")
    article = "an" if kind[0] in "aeiou" else "a"
    named = "None" if given is None else f"{article} {kind}"
    return GraphTypeError(f"give {wanted}, not {named}{way and '; '}{way}")


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
