"""Words and numbers from users that several modules need: choices, snapshot names, AS numbers."""

from __future__ import annotations

import re
from typing import Literal, get_args

Borders = Literal["elected", "prefix"]
BORDERS: tuple[Borders, ...] = get_args(Borders)

Routers = Literal["inferred", "interfaces"]
ROUTERS: tuple[Routers, ...] = get_args(Routers)
ROUTERS_BY_DEFAULT: Routers = "inferred"

DeviceChoice = Literal["auto", "cpu", "gpu"]
DEVICE_CHOICES: tuple[DeviceChoice, ...] = get_args(DeviceChoice)

Schedule = Literal["free", "striding", "barrier"]
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)

RunStatus = Literal["complete", "partial", "failed"]  # partial: something failed
RUN_STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)

MAX_ASN = 2**32 - 1

FIRST_EVENTS = 10  # that a page of changes opens with; a notice has as many at most

ADJACENCY_SUFFIX = ".adj"  # of files of neighbour lists, read and written

TRUTH = "ground_truth.json"  # beside the traces of networks whose truth is known

MAX_NAME = 100  # characters; leaves room for the suffixes within the usual limit of 255
NAME_PATTERN = rf"[A-Za-z0-9_][A-Za-z0-9._-]{{0,{MAX_NAME - 1}}}"  # of a snapshot, whole
NAME_RULE = (
    f"1 to {MAX_NAME} letters (a-z, A-Z), digits, '.', '_' or '-', starting with a letter, a digit "
    "or '_'"
)


def as_number_in(text: str) -> int | None:
    """The AS number that a user wrote, with or without ``AS`` in front; None: it is not one."""
    digits = text.strip().upper().removeprefix("AS").strip()
    if not (text.isascii() and digits.isdecimal()):
        return None
    digits = digits.lstrip("0") or "0"
    # Python reads numbers of thousands of digits slowly, or refuses them.
    asn = int(digits) if len(digits) <= len(str(MAX_ASN)) else MAX_ASN + 1
    return asn if asn <= MAX_ASN else None


def is_name(name: object) -> bool:
    """Whether this can be the name of a snapshot."""
    return isinstance(name, str) and re.fullmatch(NAME_PATTERN, name) is not None
