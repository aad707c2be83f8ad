"""Values of options that need more than their type: text, or what a flow gives, to a value."""

from __future__ import annotations

import contextlib
import datetime
import re
import zoneinfo
from collections.abc import Sequence
from typing import Any

from pipeline.errors import WrongPartError
from pipeline.metrics import METRICS, names_for_all
from pipeline.model.choices import MAX_ASN, NAME_RULE, as_number_in, is_name
from pipeline.model.synthetic import bandwidth_law_of, law_of

BLOCK_PATTERN = "[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*"  # of Prefect's names


def as_number(value: Any) -> int:
    """An AS number; ``AS`` in front of it is fine."""
    number = as_number_in(value) if isinstance(value, str) else value
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MAX_ASN:
        raise ValueError("one AS number")
    return number


def given_as_number(value: Any) -> int:
    """As ``as_number``, to give to routers: not 0, which is no AS (RFC 7607), but in some files."""
    with contextlib.suppress(ValueError):
        if number := as_number(value):
            return number
    raise ValueError(f"one AS number from 1 to {MAX_ASN}")


def asn_of_inputs(value: Any) -> int:
    """As ``given_as_number``; several numbers are meant for ``analyze --asn``."""
    try:
        return given_as_number(value)
    except ValueError as error:
        raise ValueError(
            f"{error}, for inputs that name none (to select what to measure: analyze --asn N,N)"
        ) from None


def as_numbers(value: Any) -> tuple[int, ...]:
    """AS numbers, ``N,N,...`` or a list of them."""
    # A text without a number is an error: it may be an unset variable, and must not mean all ASes.
    given = [part for part in value.split(",") if part] or [""] if isinstance(value, str) else value
    try:
        return tuple(as_number(each) for each in given)
    except (TypeError, ValueError):
        raise ValueError("AS numbers like 3356,1299") from None


def metric_names(value: Any) -> tuple[str, ...]:
    """Metrics, ``NAME,NAME,...`` or a list, each once; ``all`` means those in hops."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise ValueError("names like hops")
    names = [name.strip() for name in given if name.strip()]
    if not names:
        raise ValueError("names like hops, at least one")
    accepted = ("all", *METRICS)
    for name in names:
        if name not in accepted:
            raise WrongPartError(", ".join(accepted), name)
    if "all" in names:
        names = [*names_for_all(), *names]
    return tuple(name for name in METRICS if name in names)


def snapshot_name(value: Any) -> str:
    """A valid name of a snapshot."""
    if not is_name(value):
        raise ValueError(NAME_RULE)
    return value


def weight_law(value: Any) -> str:
    """A law of weights, as it was written."""
    law_of(str(value))
    return str(value)


def bandwidth_law(value: Any) -> str:
    """A law of bandwidths, as it was written."""
    bandwidth_law_of(str(value))
    return str(value)


def block_names(value: Any) -> tuple[str, ...]:
    """Blocks of Prefect, ``TYPE/NAME``: a list of them, or a text with blanks between them."""
    given = value.split() if isinstance(value, str) else value
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise ValueError("blocks like slack-webhook/nights")
    for name in given:
        if re.fullmatch(BLOCK_PATTERN, name) is None:
            raise WrongPartError("blocks like slack-webhook/nights", name)
    return tuple(given)


def hours(value: Any) -> str:
    """Hours of a day, as they were written."""
    hours_of(str(value))
    return str(value)


def hours_of(text: str) -> tuple[datetime.time, datetime.time]:
    """When some hours begin and end; the end may be on the next day."""
    found = re.fullmatch(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})", text)
    with contextlib.suppress(ValueError):
        if found:
            begin, end = (datetime.time(int(found[i]), int(found[i + 1])) for i in (1, 3))
            if begin != end:
                return begin, end
    raise ValueError("hours like 22:00-07:00")


def time_zone(value: Any) -> str:
    """The name of a time zone that this machine knows."""
    with contextlib.suppress(ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        if isinstance(value, str) and zoneinfo.ZoneInfo(value):
            return value
    raise ValueError("a time zone like Europe/Amsterdam")
