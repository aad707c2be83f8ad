"""How results print, as text and in notebooks: figures whole, of arrays the first entries."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from kernels.csr import to_host

N_WHOLE, N_FIRST = 8, 6  # entries: an array of N_WHOLE is shown whole, of a longer one the first


class Printed:
    """A dataclass (``repr=False``) that prints what it has, what its own class adds first.

    Fields that are None, or made with ``repr=False``, are left out.
    """

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={text}" for name, text in self._shown())
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{name}</td><td>{html.escape(text)}</td></tr>" for name, text in self._shown()
        )
        return f"<b>{type(self).__name__}</b><table>{rows}</table>"

    def _shown(self) -> Iterator[tuple[str, str]]:
        printed = {each.name for each in fields(self) if each.repr}  # type: ignore[arg-type]
        for each in type(self).__mro__:
            for name in vars(each).get("__annotations__", ()):
                if name in printed and getattr(self, name) is not None:
                    yield name, _text(getattr(self, name))


def _text(value: Any) -> str:
    if not hasattr(value, "dtype") or not hasattr(value, "shape") or value.shape == ():
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    if len(value.shape) > 1:
        return f"{' x '.join(f'{n:,}' for n in value.shape)} {value.dtype}"
    n = len(value)
    if n <= N_WHOLE:
        return f"[{_entries(value)}]"
    return f"[{_entries(value[:N_FIRST])} ...] ({n:,} {value.dtype})"


def _entries(values: Any) -> str:
    """Entries of an array, from whichever memory it lies in."""
    return " ".join(_text(each) for each in to_host(values).tolist())
