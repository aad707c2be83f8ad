"""Fields of warts records: numbers, addresses, parameters, MPLS labels; why a record is refused.

Big-endian throughout:

- parameters: flag bytes of 7 flags each, bit 7 says that another follows; if the first is not 0,
  the length of all values (2), then the values by ascending flag. Values that a later version
  appended come after the flags known here and are skipped by this length;
- address in a record: length (1), type (1), bytes; length 0: number (4) of an address that this
  record already held. Older files: number of an address record that came before.
"""

from __future__ import annotations

import numpy as np
from numba import njit

MIN_ADDRESS_BYTES = 6  # in a record: length, type, four bytes

# Why a record was refused; positions in ``REASONS``.
REASONS = (
    "",
    "parameters do not fit the record",
    "address of unknown type or length",
    "reference to an undefined address",
    "trace without a destination",
    "reply without a TTL",
    "record ends before its end mark",
    "record length leads to no record",
    "link of a node that is not there",
    "probe without a flow or a TTL",
)
OK, BAD_PARAMS, BAD_ADDRESS, BAD_REFERENCE, NO_DESTINATION, NO_TTL, NO_END, BAD_LENGTH = range(8)
NO_NODE, NO_FLOW = 8, 9

# In tables of sizes by flag: values that give their own length.
ADDRESS_VALUE, EXTENSION_VALUE = 254, 255

MEMORY = np.dtype(
    [
        ("pos", np.int64),  # where the caller finds the cause
        ("reason", np.int64),  # in REASONS
        ("n_addrs", np.int64),  # in the table of the record in progress
        ("addr", np.int64),  # row there of the address that was read last
    ],
    align=True,
)


@njit(cache=True, nogil=True)
def read_u16(data, pos):
    return (np.int64(data[pos]) << 8) | np.int64(data[pos + 1])


@njit(cache=True, nogil=True)
def read_u32(data, pos):
    return (read_u16(data, pos) << 16) | read_u16(data, pos + 2)


@njit(cache=True, nogil=True)
def parse_address(data, pos, length, kind, out, row):
    """Write an address of ``length`` bytes into out[row]; False if its type is unknown."""
    if kind == 1 and length == 4:
        out[row, 0] = np.uint64(0)
        out[row, 1] = np.uint64(0xFFFF00000000) | np.uint64(read_u32(data, pos))
        return True
    if kind == 2 and length == 16:
        for half in range(2):
            at = pos + 8 * half
            out[row, half] = (np.uint64(read_u32(data, at)) << np.uint64(32)) | np.uint64(
                read_u32(data, at + 4)
            )
        return True
    return False


@njit(cache=True, nogil=True)
def _record_address(data, pos, end, table, memory):
    """Skip an address value; memory.addr becomes its row in the record's table.

    Returns the position after it, or -1 with the reason in memory.
    """
    if pos >= end:
        memory.reason = BAD_PARAMS
        return -1
    length = np.int64(data[pos])
    if length == 0:
        if pos + 5 > end:
            memory.reason = BAD_PARAMS
            return -1
        number = read_u32(data, pos + 1)
        if number >= memory.n_addrs:
            memory.reason = BAD_REFERENCE
            return -1
        memory.addr = number
        return pos + 5
    if pos + 2 + length > end:
        memory.reason = BAD_PARAMS
        return -1
    number = memory.n_addrs
    if not parse_address(data, pos + 2, length, np.int64(data[pos + 1]), table, number):
        memory.reason = BAD_ADDRESS
        return -1
    memory.addr = number
    memory.n_addrs = number + 1
    return pos + 2 + length


@njit(cache=True, nogil=True)
def read_parameters(data, pos, end, sizes, places, table, memory):
    """Find the values of one parameter block.

    places[flag] becomes the position of the flag's value, for an address its row in ``table``, and
    -1 where the flag is unset. Returns the position after the block, or -1 with the reason.
    """
    n_known = len(sizes)
    for flag in range(n_known):
        places[flag] = -1
    memory.reason = BAD_PARAMS
    if pos >= end:
        return -1
    if data[pos] == 0:
        return pos + 1
    first = pos
    while pos < end and data[pos] & 0x80:
        pos += 1
    pos += 1
    if pos + 2 > end:
        return -1
    behind_flags = pos
    value = pos + 2
    stop = value + read_u16(data, pos)
    if stop > end:
        return -1
    base = 1
    for at in range(first, behind_flags):
        bits = np.int64(data[at]) & 0x7F
        flag = base
        base += 7
        while bits:
            if flag >= n_known:
                return stop
            if bits & 1:
                size = np.int64(sizes[flag])
                if size == ADDRESS_VALUE:
                    value = _record_address(data, value, stop, table, memory)
                    if value < 0:
                        return -1
                    places[flag] = memory.addr
                else:
                    if size == EXTENSION_VALUE:
                        if value + 2 > stop:
                            return -1
                        size = 2 + read_u16(data, value)
                    if value + size > stop:
                        return -1
                    places[flag] = value
                    value += size
            bits >>= 1
            flag += 1
    return stop


@njit(cache=True, nogil=True)
def read_known_address(data, places, number_flag, addr_flag, table, numbered, n_numbered, out, row):
    """Copy the address that a block gives, directly or by number, to out[row].

    Returns 1 when there is one, 0 when there is none, -1 if no record has that number.
    """
    if places[addr_flag] >= 0:
        out[row, 0] = table[places[addr_flag], 0]
        out[row, 1] = table[places[addr_flag], 1]
        return 1
    if places[number_flag] >= 0:
        number = read_u32(data, places[number_flag])
        if number >= n_numbered:
            return -1
        out[row, 0] = numbered[number, 0]
        out[row, 1] = numbered[number, 1]
        return 1
    return 0


@njit(cache=True, nogil=True)
def has_labels(data, pos):
    """Whether the ICMP extensions at ``pos`` hold an MPLS label stack (RFC 4950: class 1, type 1).

    Their length (2), then objects: length of what follows (2), class (1), type (1), bytes.
    """
    stop = pos + 2 + read_u16(data, pos)
    pos += 2
    while pos + 4 <= stop:
        if data[pos + 2] == 1 and data[pos + 3] == 1:
            return True
        pos += 4 + read_u16(data, pos)
    return False
