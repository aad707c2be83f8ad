"""Addresses as scripts that a page loads from disk one at a time.

A page opened from disk may fetch nothing but scripts, so each shard is a call with its addresses:
``hopscope.addresses(number, {...})``. Texts in it are numbers in base 64 with continuation bits, as
in source maps: five bits a character, the lowest first. For an IPv4 address that is the difference
from the one before; for an IPv6 address the difference of its upper half, then its lower half, as
a difference too if the upper halves are equal. Owners are runs: how many addresses, and which AS of
the shard's list. ``routers`` are differences, too, of the numbers of routers in ``routers/``: twice
as much, and an odd number for a step back. ``addresses/index.js`` says where each shard begins.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipeline.model.addresses import format_addr, is_v4
from pipeline.report.addresses.table import AddressList
from pipeline.report.escaping import script_json
from pipeline.report.names import ADDRESSES

SHARD = 1 << 14  # addresses; some 80 kB

_DIGITS = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8
)
_MAX_DIGITS = 13  # of 64 bits


def write_addresses(table: AddressList, out: Path) -> int:
    """Write ``addresses/*.js`` into a folder that exists.

    Returns
    -------
    int
        Number of shards.
    """
    folder = out / ADDRESSES
    folder.mkdir()
    v4 = is_v4(table.addr)
    firsts: list[list[str]] = []
    number = 0
    for which in (np.flatnonzero(v4), np.flatnonzero(~v4)):
        begins = []
        for start in range(0, len(which), SHARD):
            part = which[start : start + SHARD]
            begins.append(format_addr(*table.addr[part[0]].tolist()))
            call = f"hopscope.addresses({number},{script_json(_shard(table, part))});\n"
            (folder / f"{number}.js").write_text(call, encoding="ascii")
            number += 1
        firsts.append(begins)
    index = {"v4": firsts[0], "v6": firsts[1], "n": len(table)}
    text = f'hopscope.addresses("index",{script_json(index)});\n'
    (folder / "index.js").write_text(text, encoding="ascii")
    return number


def numbers_text(values: np.ndarray) -> str:
    """Numbers in base 64 with continuation bits, one after another.

    Parameters
    ----------
    values : (n,) uint64
    """
    values = np.asarray(values, np.uint64)
    digits = (values[:, None] >> np.arange(0, 5 * _MAX_DIGITS, 5, dtype=np.uint64)) & np.uint64(31)
    last = _MAX_DIGITS - 1 - (digits[:, ::-1] != 0).argmax(axis=1)
    last[values == 0] = 0
    place = np.arange(_MAX_DIGITS)
    digits |= np.where(place < last[:, None], np.uint64(32), np.uint64(0))
    return _DIGITS[digits[place <= last[:, None]].astype(np.intp)].tobytes().decode()


def _shard(table: AddressList, part: np.ndarray) -> dict:
    addr = table.addr[part]
    if is_v4(addr[:1])[0]:
        gaps = np.diff(addr[:, 1] & np.uint64(0xFFFF_FFFF), prepend=np.uint64(0))
    else:
        high, low = np.diff(addr, axis=0, prepend=np.zeros((1, 2), np.uint64)).T
        gaps = np.stack([high, np.where(high == 0, low, addr[:, 1])], axis=1).ravel()
    asns, owner = np.unique(table.asn[part], return_inverse=True)
    runs = np.flatnonzero(np.diff(owner, prepend=-1))
    owners = np.stack([np.diff(runs, append=len(part)), owner[runs]], axis=1).ravel()
    step = np.diff(table.router[part], prepend=0)
    return {
        "gaps": numbers_text(gaps),
        "owners": numbers_text(owners),
        "asns": asns.tolist(),
        "ingresses": numbers_text(np.diff(np.flatnonzero(table.ingress[part]), prepend=0)),
        "routers": numbers_text((step << 1) ^ (step >> 63)),
    }
