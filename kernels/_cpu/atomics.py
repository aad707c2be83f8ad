"""Numbers that several threads change, inside numba functions: no index is checked."""

from __future__ import annotations

import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels._cpu.lanes import WORD, _pointer

IS_X86 = platform.machine() == "x86_64"


@intrinsic
def look(typingctx, array, at):
    """An int64 as it is now, and whatever was written before it."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], WORD, args[1])
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(array, types.uintp), codegen


@intrinsic
def leave(typingctx, array, at, value):
    """Write to an int64 after everything that this thread wrote before."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], WORD, args[1])
        builder.store_atomic(args[2], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.uintp, types.int64), codegen


@intrinsic
def add(typingctx, array, at, value):
    """Add to an int64 after everything that this thread wrote before; what was there."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], WORD, args[1])
        return builder.atomic_rmw("add", pointer, args[2], "acq_rel")

    return types.int64(array, types.uintp, types.int64), codegen


@intrinsic
def replace(typingctx, array, at, expected, value):
    """Write ``value`` to an int64 if it is ``expected``; whether it was."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], WORD, args[1])
        pair = builder.cmpxchg(pointer, args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(array, types.uintp, types.int64, types.int64), codegen


@intrinsic
def lower(typingctx, array, at, value):
    """Make a float64 that is not negative the lesser of itself and ``value``; whether it was more.

    Such numbers are in the order of their bits.
    """

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], WORD, args[1])
        bits = builder.bitcast(args[2], WORD)
        before = builder.atomic_rmw("umin", pointer, bits, "monotonic")
        is_more = builder.icmp_unsigned(">", before, bits)
        return cgutils.as_bool_bit(builder, is_more)

    return types.boolean(array, types.uintp, types.float64), codegen


@intrinsic
def pause(typingctx):
    """Leave the core to its other thread for a moment, while this one waits."""

    def codegen(context, builder, signature, args):
        if IS_X86:
            kind = ir.FunctionType(ir.VoidType(), [])
            name = "llvm.x86.sse2.pause"
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return types.void(), codegen
