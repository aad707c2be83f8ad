"""Rows of 64-bit words as vector registers inside numba functions, and hints to the cache.

A lane is a bit: lane l of a row is bit ``l % 64`` of its word ``l // 64``. numba has no type for
a vector register, so these few operations are written as LLVM instructions; LLVM picks what the
processor has (AVX-512, AVX2, NEON). Loads and stores index rows, or words and bytes where stated,
and check no bounds.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

BIT, BYTE, I32, WORD = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
BITS = ir.VectorType(BIT, 64)
BYTES = ir.VectorType(BYTE, 64)


class Lanes(types.Type):
    """``n_words`` words of one row, in a register."""

    def __init__(self, n_words: int):
        self.n_words = n_words
        super().__init__(name=f"Lanes({n_words})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.VectorType(WORD, fe_type.n_words))


def _vector(n_words):
    return ir.VectorType(WORD, n_words)


def _pointer(context, builder, array_type, array, kind, index):
    """Pointer to element ``index`` of an array seen as elements of ``kind``."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, kind.as_pointer()), [index])


@intrinsic(prefer_literal=True)
def load(typingctx, n_words, rows, row):
    """Row ``row`` of an array of rows of ``n_words`` words."""
    lanes = Lanes(n_words.literal_value)

    def codegen(context, builder, signature, args):
        kind = _vector(lanes.n_words)
        pointer = _pointer(context, builder, signature.args[1], args[1], kind, args[2])
        return builder.load(pointer, align=8)

    return lanes(n_words, rows, types.uintp), codegen


@intrinsic
def store(typingctx, rows, row, lanes):
    """Overwrite row ``row``."""

    def codegen(context, builder, signature, args):
        kind = _vector(lanes.n_words)
        pointer = _pointer(context, builder, signature.args[0], args[0], kind, args[1])
        builder.store(args[2], pointer, align=8)
        return context.get_dummy_value()

    return types.void(rows, types.uintp, lanes), codegen


@intrinsic(prefer_literal=True)
def load_at(typingctx, n_words, log, at):
    """The row at byte ``at``, a multiple of 16."""
    lanes = Lanes(n_words.literal_value)

    def codegen(context, builder, signature, args):
        first = _pointer(context, builder, signature.args[1], args[1], BYTE, args[2])
        pointer = builder.bitcast(first, _vector(lanes.n_words).as_pointer())
        return builder.load(pointer, align=16)

    return lanes(n_words, log, types.uintp), codegen


@intrinsic
def fence(typingctx):
    """Let other threads see what was streamed: such writes are not ordered by themselves."""

    def codegen(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def stream(typingctx, log, at, lanes):
    """Write a row at byte ``at``, a multiple of 16, past the caches: it is not read soon."""

    def codegen(context, builder, signature, args):
        first = _pointer(context, builder, signature.args[0], args[0], BYTE, args[1])
        pointer = builder.bitcast(first, _vector(lanes.n_words).as_pointer())
        written = builder.store(args[2], pointer, align=16)
        written.set_metadata("nontemporal", builder.module.add_metadata([I32(1)]))
        return context.get_dummy_value()

    return types.void(log, types.uintp, lanes), codegen


@intrinsic(prefer_literal=True)
def prefetch(typingctx, n_words, rows, row):
    """Ask for row ``row`` to be in the nearest cache soon."""

    def codegen(context, builder, signature, args):
        kind = _vector(n_words.literal_value)
        pointer = _pointer(context, builder, signature.args[1], args[1], kind, args[2])
        pointer = builder.bitcast(pointer, BYTE.as_pointer())
        signature_ = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), I32, I32, I32])
        function = cgutils.get_or_insert_function(builder.module, signature_, "llvm.prefetch.p0")
        builder.call(function, [pointer, I32(0), I32(3), I32(1)])  # to read, keep, data
        return context.get_dummy_value()

    return types.void(n_words, rows, types.uintp), codegen


@intrinsic
def replace_if(typingctx, array, at, expected, value):
    """Write ``value`` to an int32 atomically if it is ``expected``; returns whether it was.

    Other threads see it only after everything that this one wrote before.
    """

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], I32, args[1])
        pair = builder.cmpxchg(pointer, args[2], args[3], "acq_rel", "monotonic")
        return builder.extract_value(pair, 1)

    return types.boolean(array, types.uintp, types.int32, types.int32), codegen


@intrinsic
def lower_to(typingctx, array, at, value):
    """Make a uint64 the lesser of itself and ``value``, atomically."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], WORD, args[1])
        builder.atomic_rmw("umin", pointer, args[2], "monotonic")
        return context.get_dummy_value()

    return types.void(array, types.uintp, types.uint64), codegen


@intrinsic(prefer_literal=True)
def no_lanes(typingctx, n_words):
    """A row of zeros."""
    lanes = Lanes(n_words.literal_value)

    def codegen(context, builder, signature, args):
        return ir.Constant(_vector(lanes.n_words), [0] * lanes.n_words)

    return lanes(n_words), codegen


@intrinsic
def union(typingctx, a, b):
    """Lanes of either."""

    def codegen(context, builder, signature, args):
        return builder.or_(*args)

    return a(a, b), codegen


@intrinsic
def common(typingctx, a, b):
    """Lanes of both."""

    def codegen(context, builder, signature, args):
        return builder.and_(*args)

    return a(a, b), codegen


@intrinsic
def minus(typingctx, a, b):
    """Lanes of ``a`` that ``b`` lacks."""

    def codegen(context, builder, signature, args):
        return builder.and_(args[0], builder.not_(args[1]))

    return a(a, b), codegen


@intrinsic
def some(typingctx, lanes):
    """Whether any lane is set."""

    def codegen(context, builder, signature, args):
        kind = ir.IntType(64 * lanes.n_words)
        whole = builder.bitcast(args[0], kind)
        return builder.icmp_unsigned("!=", whole, ir.Constant(kind, 0))

    return types.boolean(lanes), codegen


@intrinsic
def n_set(typingctx, lanes):
    """How many lanes are set."""

    def codegen(context, builder, signature, args):
        kind, name = args[0].type, f"v{lanes.n_words}i64"
        counting = ir.FunctionType(kind, [kind])
        adding = ir.FunctionType(WORD, [kind])
        bits = cgutils.get_or_insert_function(builder.module, counting, f"llvm.ctpop.{name}")
        whole = cgutils.get_or_insert_function(
            builder.module, adding, f"llvm.vector.reduce.add.{name}"
        )
        return builder.call(whole, [builder.call(bits, [args[0]])])

    return types.int64(lanes), codegen


@intrinsic
def word_of(typingctx, lanes, i):
    """Word ``i`` as a uint64."""

    def codegen(context, builder, signature, args):
        return builder.extract_element(args[0], builder.trunc(args[1], I32))

    return types.uint64(lanes, types.uintp), codegen


@intrinsic
def lowest(typingctx, word):
    """Position of the lowest bit that is set; 64 for zero."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], BIT(0))

    return types.uint64(types.uint64), codegen


@intrinsic
def tally(typingctx, counters, at, lanes):
    """Add each lane to its byte of ``counters``, the first one at byte ``at``."""

    def codegen(context, builder, signature, args):
        for i in range(lanes.n_words):
            word = builder.extract_element(args[2], I32(i))
            start = builder.add(args[1], WORD(64 * i))
            first = _pointer(context, builder, signature.args[0], args[0], BYTE, start)
            pointer = builder.bitcast(first, BYTES.as_pointer())
            ones = builder.sext(builder.bitcast(word, BITS), BYTES)  # -1 where set
            builder.store(builder.sub(builder.load(pointer, align=1), ones), pointer, align=1)
        return context.get_dummy_value()

    return types.void(counters, types.uintp, lanes), codegen


@intrinsic
def write_levels(typingctx, level, at, last, found, p0, p1, p2, p3, p4, p5, p6, p7):
    """Write the levels of lanes as bytes, from their bits: lane l's bit b is that of plane ``pb``.

    Bytes begin at ``at``, the last word's at ``last``: it may overlap the word before. Lanes not
    ``found`` get 255.
    """

    def codegen(context, builder, signature, args):
        found, planes = args[3], args[4:12]
        none = ir.Constant(BYTES, [0] * 64)
        unreached = ir.Constant(BYTES, [255] * 64)
        n_words = signature.args[3].n_words
        for i in range(n_words):
            start = args[2] if i == n_words - 1 else builder.add(args[1], WORD(64 * i))
            first = _pointer(context, builder, signature.args[0], args[0], BYTE, start)
            pointer = builder.bitcast(first, BYTES.as_pointer())

            def mask(row, i=i):
                return builder.bitcast(builder.extract_element(row, I32(i)), BITS)

            total = none
            for b, plane in enumerate(planes):
                value = ir.Constant(BYTES, [1 << b] * 64)
                total = builder.or_(total, builder.select(mask(plane), value, none))
            builder.store(builder.select(mask(found), total, unreached), pointer, align=1)
        return context.get_dummy_value()

    place = types.uintp
    return types.void(level, place, place, *[found] * 9), codegen
