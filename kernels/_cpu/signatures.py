"""numba types of kernel arguments, so that each kernel is compiled once, for one signature.

Arrays that a kernel only reads are typed read-only: numba then takes writable ones as well, and
memory-mapped or Arrow arrays without a copy.
"""

from __future__ import annotations

from typing import Any

from numba import types

I32 = types.Array(types.int32, 1, "C", readonly=True)
I64 = types.Array(types.int64, 1, "C", readonly=True)
F32 = types.Array(types.float32, 1, "C", readonly=True)
F64 = types.Array(types.float64, 1, "C", readonly=True)
U8 = types.Array(types.uint8, 1, "C", readonly=True)
U16 = types.Array(types.uint16, 1, "C", readonly=True)
U32 = types.Array(types.uint32, 1, "C", readonly=True)
U64 = types.Array(types.uint64, 1, "C", readonly=True)
OUT_I32 = types.int32[::1]
OUT_I64 = types.int64[::1]
OUT_F32 = types.float32[::1]
OUT_F64 = types.float64[::1]
OUT_U8 = types.uint8[::1]
OUT_U32 = types.uint32[::1]
OUT_U64 = types.uint64[::1]


def returns(count: int):
    """The type of a tuple of ``count`` int64."""
    return types.UniTuple(types.int64, count)


def named(fields: Any, *kinds: Any) -> Any:
    """The type of a NamedTuple whose fields are of these kinds."""
    return types.BaseTuple.from_types(kinds, fields)
