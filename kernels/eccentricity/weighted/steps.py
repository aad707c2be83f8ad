"""Compiled passes over the bounds of weighted eccentricities; see ``bounds``.

``component`` numbers components 0, 1, ...; ``most`` and ``least`` hold, for each of them, the
largest lower and the smallest upper bound of its nodes.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import F32, F64, I32, I64, OUT_F32, OUT_F64, OUT_I32, OUT_U8
from kernels.eccentricity.bounds.steps import matters
from kernels.eccentricity.questions import DIAMETER


@njit([types.float64(F32)], cache=True, nogil=True)
def unit_of(weights):
    """The largest power of two that divides every weight; inf if all are 0."""
    bits = weights.view(np.int32)
    unit = np.inf
    for arc in range(bits.size):
        exponent = (bits[arc] >> 23) & 255
        fraction = bits[arc] & 0x7FFFFF
        if exponent > 0:
            fraction |= 0x800000
            exponent -= 1
        if fraction > 0:  # the weight is fraction * 2 ** (exponent - 149)
            lowest = np.float64(fraction & -fraction)
            unit = min(unit, math.ldexp(lowest, int(exponent) - 149))
    return unit


@njit([types.void(F64, I32, OUT_F64)], cache=True, nogil=True)
def eccentricities_of(distance, component, eccentricity):
    """The largest finite distance of each component; -1 where all are inf."""
    eccentricity[:] = -1.0
    for v in range(distance.size):
        if distance[v] < np.inf:
            eccentricity[component[v]] = max(eccentricity[component[v]], distance[v])


@njit([types.int64(F64, I32, F64, F64, OUT_F64, OUT_F64, OUT_F64, OUT_F64)], cache=True, nogil=True)
def tighten(distance, component, eccentricity, margin, lower, upper, most, least):
    """Bounds by the distances from one source per component; a node whose bounds cross, or -1."""
    crossed = np.int64(-1)
    for v in range(distance.size):
        length = distance[v]
        if length == np.inf:
            continue
        c = component[v]
        less, more = 1 - margin[c], 1 + margin[c]
        below = max(length * less, eccentricity[c] * less - length)
        above = (eccentricity[c] + length) * more
        lower[v], upper[v] = max(lower[v], below), min(upper[v], above)
        most[c], least[c] = max(most[c], lower[v]), min(least[c], upper[v])
        if lower[v] > upper[v]:
            crossed = np.int64(v)
    return crossed


BOUNDS = (I32, F64, F64, F64, F64)


@njit([types.void(types.int64, *BOUNDS, F64, OUT_U8, OUT_F64)], cache=True, nogil=True)
def mark_open(question, component, lower, upper, most, least, from_centre, is_open, outside):
    """1 for each node that must still be searched or bounded; see ``bounds`` for the ball.

    Whatever the question, ``outside`` gets the largest upper bound of each component's nodes
    outside the ball, 0 where there is none.
    """
    outside[:] = 0.0
    for v in range(component.size):
        c = component[v]
        is_outside = 2 * from_centre[v] > most[c]
        if is_outside:
            outside[c] = max(outside[c], upper[v])
        is_open[v] = matters(question, lower[v], upper[v], most[c], least[c]) and (
            question != DIAMETER or is_outside
        )


CHOICE = (types.boolean, types.boolean, I32, F64, F64, I32, OUT_U8, OUT_U8, OUT_I32)


@njit([types.void(*CHOICE)], cache=True, nogil=True)
def choose(
    by_upper, among_open, component, lower, upper, degree, is_open, has_open, best
):  # fmt: skip
    """For each component with open nodes the one to search next, else -1.

    Of its open nodes, or of all that are not known yet: that with the highest upper bound, or with
    the lowest lower bound. Ties: the smallest degree far out, the largest in the middle.
    """
    best[:] = -1
    for v in range(component.size):
        c = component[v]
        if has_open[c] == 0 or lower[v] == upper[v] or (among_open and is_open[v] == 0):
            continue
        b = best[c]
        if b < 0:
            best[c] = v
        elif by_upper:
            if upper[v] > upper[b] or (upper[v] == upper[b] and degree[v] < degree[b]):
                best[c] = v
        elif lower[v] < lower[b] or (lower[v] == lower[b] and degree[v] > degree[b]):
            best[c] = v


@njit([types.void(I64, F32, I32, I64, OUT_F32)], cache=True, nogil=True)
def copy_weights(indptr, weights, nodes, new_indptr, new_weights):
    """Weights of the arcs of ``nodes``, in the order in which a part of the graph has them."""
    for i in range(nodes.size):
        begin = indptr[nodes[i]]
        for k in range(new_indptr[i + 1] - new_indptr[i]):
            new_weights[new_indptr[i] + k] = weights[begin + k]
