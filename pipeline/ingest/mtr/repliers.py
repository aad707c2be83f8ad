"""Who answered, as mtr writes it: an address, a name with one in brackets, or ``???``."""

from __future__ import annotations

import re

from pipeline.model.addresses import parse_addr

NO_ADDRESS = "a hop has a name and no address (mtr writes addresses with -n or -b)"
_NAMED = re.compile(r"(?:\S+\s+)?\(([^()\s]+)\)")
_AS = re.compile(r"AS(?:\?\?\?|\d{1,10})\s+")


def read_replier(text: str) -> tuple[int, int] | None:
    """Words of the address; None where nothing answered.

    Raises
    ------
    ValueError
        If there is only a name, or an AS number that runs into the address.
    """
    text = _AS.sub("", text.strip(), count=1)
    if text in ("", "???"):
        return None
    named = _NAMED.fullmatch(text)
    try:
        return parse_addr((named[1] if named else text).partition("%")[0])
    except ValueError:
        raise ValueError(NO_ADDRESS) from None
