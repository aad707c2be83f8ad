"""The choices that make a variant, and their names. Pure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal, get_args

Mapping = Literal["thread", "warp", "hybrid"]
Lists = Literal["offsets", "pointers", "padded"]
MAPPINGS: tuple[Mapping, ...] = get_args(Mapping)
LISTS: tuple[Lists, ...] = get_args(Lists)
READ_ONLY, BUSY_WAIT = "read-only", "busy-wait"
# What differs from the plain form: lists at offsets, plain loads, one launch per level.
DIFFERENCES = (*LISTS[1:], READ_ONLY, BUSY_WAIT)


@dataclass(frozen=True)
class Variant:
    """One of each choice; ``variants.cu`` says what they are."""

    mapping: Mapping = "thread"
    lists: Lists = "offsets"
    is_read_only: bool = False
    is_busy_wait: bool = False

    @property
    def differences(self) -> tuple[str, ...]:
        """Of DIFFERENCES those that this one has."""
        has = {self.lists, READ_ONLY * self.is_read_only, BUSY_WAIT * self.is_busy_wait}
        return tuple(name for name in DIFFERENCES if name in has)

    @property
    def name(self) -> str:
        """``warp``, ``hybrid+padded+busy-wait``: what ``parse`` reads."""
        return "+".join((self.mapping, *self.differences))

    def kernel(self, mapping: Mapping) -> str:
        """Name of the device code; ``mapping`` is that of one level where it is launched alone."""
        loads = "readonly" if self.is_read_only else "plain"
        if self.is_busy_wait:
            return f"variant_wait_{mapping}_{self.lists}_{loads}"
        counted = "_counted" if self.mapping == "hybrid" else ""
        return f"variant_level_{mapping}_{self.lists}_{loads}{counted}"


def parse(name: str) -> Variant:
    """The variant of a name: choices joined by +, in any order; by default one thread per node.

    Raises
    ------
    ValueError
        A choice is unknown, or two exclude each other.

    Examples
    --------
    >>> parse("busy-wait+warp").name
    'warp+busy-wait'
    """
    words = name.split("+")
    known = (*MAPPINGS, *LISTS, READ_ONLY, BUSY_WAIT)
    for word in words:
        if word not in known:
            raise ValueError(f"variant {name!r}: {word!r} is none of {', '.join(known)}")
    mappings = [word for word in MAPPINGS if word in words]
    lists = [word for word in LISTS if word in words]
    if len(mappings) > 1 or len(lists) > 1 or len(set(words)) < len(words):
        raise ValueError(f"variant {name!r}: give one of {MAPPINGS} and one of {LISTS} at most")
    return Variant(
        mappings[0] if mappings else "thread",
        lists[0] if lists else "offsets",
        READ_ONLY in words,
        BUSY_WAIT in words,
    )


# All 36; and those that differ from a plain form in one choice at most.
ALL = tuple(
    Variant(*choice) for choice in itertools.product(MAPPINGS, LISTS, (False, True), (False, True))
)
STANDARD = tuple(variant for variant in ALL if len(variant.differences) <= 1)
