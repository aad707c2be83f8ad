"""Bit-parallel searches on one core, with numba: 128 sources share each pass over the arcs.

Every node has two 64-bit words in ``seen`` and ``frontier``; bit l of them is lane l, and lane l
is the l-th source of the group. The graphs of a shard are swept one after another: each then
lies in the cache for all of its groups.

Rule of the direction: a step goes top-down (from the listed frontier nodes) while
``arcs of the frontier * TOP_DOWN_COST < arcs of nodes that miss a lane + n_nodes``, else bottom-up
(every node that misses a lane asks its neighbours). Long, thin graphs so never pay for all nodes
on each level. Measured on 2 cores: see ``benchmarks/bench_searches.py``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels.signatures import I32, I64, OUT_I32, OUT_I64, OUT_U64
from kernels.types import N_FARTHEST

LANES = 128  # two words: one 16-byte gather an arc
TOP_DOWN_COST = 3  # a top-down arc reads and writes at random, a bottom-up arc only reads
SWAR_MIN = 32  # nodes from which counting all lanes at once beats counting bit by bit
N_NARROW = 255  # levels that uint8 can hold: 0 to 254, 255 means unreached
ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
ONE = np.uint64(1)
LOW_BYTES = np.uint64(0x0101_0101_0101_0101)
# Row b: the bits of byte b as eight bytes of 0 or 1, the lowest first.
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
SPREAD = np.ascontiguousarray(_BITS).view(np.dtype("<u8")).astype(np.uint64).ravel()


@njit(cache=True, nogil=True)
def _lane(bit):
    """Position of the only bit that is set."""
    lane = 0
    for width in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(width):
            bit >>= np.uint64(width)
            lane += width
    return lane


@njit(cache=True, nogil=True)
def _insert(farthest, row, node):
    """Keep the N_FARTHEST smallest nodes of a row in ascending order; -1 is an empty place."""
    last = N_FARTHEST - 1
    if farthest[row, last] >= 0 and farthest[row, last] <= node:
        return
    at = last
    while at > 0 and (farthest[row, at - 1] < 0 or farthest[row, at - 1] > node):
        farthest[row, at] = farthest[row, at - 1]
        at -= 1
    farthest[row, at] = node


@njit(cache=True, nogil=True)
def _harvest(frontier, active, n_active, n_nodes, dead, row, farthest):
    """Note the smallest nodes of the last level of the lanes (both words) that have ended."""
    in_order = n_active * 16 > n_nodes  # a long list: go through the nodes themselves instead
    n_places = n_nodes if in_order else n_active
    for word in range(2):
        missing = dead[word]  # lanes that may still take a node
        if missing == 0:
            continue
        for i in range(n_places):
            v = i if in_order else np.int64(active[i])
            bits = frontier[2 * v + word] & missing
            while bits != 0:
                bit = bits & (~bits + ONE)
                bits ^= bit
                lane = row + 64 * word + _lane(bit)
                _insert(farthest, lane, v)
                if in_order and farthest[lane, N_FARTHEST - 1] >= 0:
                    missing ^= bit
            if missing == 0:
                break


@njit(cache=True, nogil=True)
def _count_bits(word, counts, first):
    while word != 0:
        bit = word & (~word + ONE)
        word ^= bit
        counts[first + _lane(bit)] += 1


@njit(cache=True, nogil=True)
def _flush(bytes_of, counts):
    """Add the byte counters (of word w, shift s: lanes 64 w + s, + 8, ...) to the lanes."""
    for word in range(2):
        for shift in range(8):
            packed = bytes_of[8 * word + shift]
            for byte in range(8):
                lane = 64 * word + 8 * byte + shift
                counts[lane] += np.int64((packed >> np.uint64(8 * byte)) & np.uint64(255))
            bytes_of[8 * word + shift] = 0


@njit(cache=True, nogil=True)
def _record(level, at, word, depth):
    """Write ``depth`` (0 to 254) for the lanes of ``word``; untouched levels are 255."""
    change = np.uint64(255 ^ depth)
    while word != 0:
        byte = word & np.uint64(255)
        if byte != 0:
            level[at] ^= SPREAD[byte] * change
        word >>= np.uint64(8)
        at += 1


@njit(cache=True, nogil=True)
def _settle(indptr, base, found, active, n_active, seen, all0, all1, counts, bytes_of, alive):
    """Mark what a step found as seen and count it by lane.

    Returns the arcs of the found nodes, and of those that now have every lane.
    """
    arcs, closed = np.int64(0), np.int64(0)
    alive[0] = 0
    alive[1] = 0
    room = 255  # additions that the byte counters hold
    for i in range(n_active):
        v = np.int64(active[i])
        w0, w1 = found[2 * v], found[2 * v + 1]
        alive[0] |= w0
        alive[1] |= w1
        s0, s1 = seen[2 * v] | w0, seen[2 * v + 1] | w1
        seen[2 * v] = s0
        seen[2 * v + 1] = s1
        degree = indptr[base + v + 1] - indptr[base + v]
        arcs += degree
        if s0 == all0 and s1 == all1:
            closed += degree
        if n_active < SWAR_MIN:
            _count_bits(w0, counts, 0)
            _count_bits(w1, counts, 64)
            continue
        for shift in range(8):
            bytes_of[shift] += (w0 >> np.uint64(shift)) & LOW_BYTES
        for shift in range(8):
            bytes_of[8 + shift] += (w1 >> np.uint64(shift)) & LOW_BYTES
        room -= 1
        if room == 0:
            _flush(bytes_of, counts)
            room = 255
    if room < 255:
        _flush(bytes_of, counts)
    return arcs, closed


@njit(cache=True, nogil=True)
def _top_down(indptr, indices, base, frontier, active, n_active, found, seen, next_active):
    n_next = 0
    for i in range(n_active):
        u = np.int64(active[i])
        f0, f1 = frontier[2 * u], frontier[2 * u + 1]
        for arc in range(indptr[base + u], indptr[base + u + 1]):
            v = np.int64(indices[arc]) - base
            at = np.uintp(2 * v)
            n0, n1 = f0 & ~seen[at], f1 & ~seen[at + np.uintp(1)]
            if n0 | n1:
                if found[at] | found[at + np.uintp(1)] == 0:
                    next_active[n_next] = v
                    n_next += 1
                found[at] |= n0
                found[at + np.uintp(1)] |= n1
    return n_next


@njit(cache=True, nogil=True)
def _bottom_up(indptr, indices, base, n_nodes, frontier, found, seen, all0, all1, next_active):
    n_next = 0
    for v in range(n_nodes):
        o0, o1 = all0 & ~seen[2 * v], all1 & ~seen[2 * v + 1]  # lanes that miss v
        if o0 | o1 == 0:
            continue
        n0, n1 = np.uint64(0), np.uint64(0)
        for arc in range(indptr[base + v], indptr[base + v + 1]):
            at = np.uintp(2 * (np.int64(indices[arc]) - base))
            n0 |= frontier[at]
            n1 |= frontier[at + np.uintp(1)]
            if (o0 & ~n0) | (o1 & ~n1) == 0:
                break
        n0 &= o0
        n1 &= o1
        if n0 | n1:
            found[2 * v] = n0
            found[2 * v + 1] = n1
            next_active[n_next] = v
            n_next += 1
    return n_next


@njit(cache=True, nogil=True)
def _longer(array, size):
    """A copy of twice ``size`` at least, zero beyond the old end."""
    longer = np.zeros(max(2 * array.size, size), array.dtype)
    longer[: array.size] = array
    return longer


@njit(
    [
        types.Tuple((types.int64[::1], types.int64[::1]))(
            I64, I32, I64, I64, I32, OUT_I32, OUT_I64, types.int32[:, ::1], OUT_U64, types.int64
        )
    ],
    cache=True,
    nogil=True,
)
def sweep(
    indptr,
    indices,
    node_ptr,
    source_ptr,
    sources,
    eccentricity,
    n_reached,
    farthest,
    level,
    level_stride,
):
    """Search graph after graph, 128 sources at a time; returns hop_ptr and hop_counts.

    ``sources`` are local node ids. ``eccentricity``, ``n_reached`` ((n_sources,)) and
    ``farthest`` ((n_sources, N_FARTHEST), -1 on entry, local ids) are filled. ``level`` is empty,
    or for one graph (n_nodes * level_stride,) words of all ones: byte 8 * level_stride * v + l
    becomes the level of node v from source l; levels over 254 are left out.
    """
    n_sources = sources.size
    most = np.int64(0)
    for graph in range(node_ptr.size - 1):
        most = max(most, node_ptr[graph + 1] - node_ptr[graph])
    seen = np.zeros(2 * most, np.uint64)
    frontier = np.zeros(2 * most, np.uint64)
    found = np.zeros(2 * most, np.uint64)
    active = np.empty(most, np.int32)
    next_active = np.empty(most, np.int32)
    counts = np.zeros(LANES * 32, np.int64)  # row d: nodes found at level d, by lane
    bytes_of = np.zeros(16, np.uint64)
    alive = np.zeros(2, np.uint64)
    before = np.zeros(2, np.uint64)
    dead = np.zeros(2, np.uint64)
    hop_ptr = np.zeros(n_sources + 1, np.int64)
    hop_counts = np.zeros(8 * n_sources, np.int64)

    for graph in range(node_ptr.size - 1):
        base = node_ptr[graph]
        n_nodes = node_ptr[graph + 1] - base
        graph_arcs = indptr[node_ptr[graph + 1]] - indptr[base]
        for row in range(source_ptr[graph], source_ptr[graph + 1], LANES):
            n_lanes = min(LANES, source_ptr[graph + 1] - row)
            all0 = ALL if n_lanes >= 64 else (ONE << np.uint64(n_lanes)) - ONE
            all1 = np.uint64(0)
            if n_lanes == LANES:
                all1 = ALL
            elif n_lanes > 64:
                all1 = (ONE << np.uint64(n_lanes - 64)) - ONE
            n_active = 0
            for lane in range(n_lanes):
                v = np.int64(sources[row + lane])
                if frontier[2 * v] | frontier[2 * v + 1] == 0:
                    active[n_active] = v
                    n_active += 1
                frontier[2 * v + lane // 64] |= ONE << np.uint64(lane % 64)
            seen[: 2 * n_nodes] = 0
            depth = 0
            counts[:LANES] = 0
            open_arcs = graph_arcs  # arcs of nodes that miss a lane
            frontier_arcs, closed = _settle(
                indptr,
                base,
                frontier,
                active,
                n_active,
                seen,
                all0,
                all1,
                counts[:LANES],
                bytes_of,
                alive,
            )
            open_arcs -= closed
            while n_active > 0:
                if level.size and depth < N_NARROW:
                    for i in range(n_active):
                        v = np.int64(active[i])
                        at = level_stride * v + (row - source_ptr[graph]) // 8
                        _record(level, at, frontier[2 * v], depth)
                        _record(level, at + 8, frontier[2 * v + 1], depth)
                before[0] = alive[0]
                before[1] = alive[1]
                if frontier_arcs * TOP_DOWN_COST < open_arcs + n_nodes:
                    n_next = _top_down(
                        indptr,
                        indices,
                        base,
                        frontier,
                        active,
                        n_active,
                        found,
                        seen,
                        next_active,
                    )
                else:
                    n_next = _bottom_up(
                        indptr,
                        indices,
                        base,
                        n_nodes,
                        frontier,
                        found,
                        seen,
                        all0,
                        all1,
                        next_active,
                    )
                depth += 1
                if (depth + 1) * LANES > counts.size:
                    counts = _longer(counts, (depth + 1) * LANES)
                now = counts[depth * LANES : (depth + 1) * LANES]
                now[:] = 0
                frontier_arcs, closed = _settle(
                    indptr,
                    base,
                    found,
                    next_active,
                    n_next,
                    seen,
                    all0,
                    all1,
                    now,
                    bytes_of,
                    alive,
                )
                open_arcs -= closed
                dead[0] = before[0] & ~alive[0]
                dead[1] = before[1] & ~alive[1]
                if dead[0] | dead[1]:
                    _harvest(frontier, active, n_active, n_nodes, dead, row, farthest)
                    for lane in range(n_lanes):
                        if (dead[lane // 64] >> np.uint64(lane % 64)) & ONE:
                            eccentricity[row + lane] = depth - 1
                for i in range(n_active):  # found must be all zero when a step begins
                    v = np.int64(active[i])
                    frontier[2 * v] = 0
                    frontier[2 * v + 1] = 0
                frontier, found = found, frontier
                active, next_active = next_active, active
                n_active = n_next

            for lane in range(n_lanes):
                at = hop_ptr[row + lane]
                n_levels = np.int64(eccentricity[row + lane]) + 1
                if at + n_levels > hop_counts.size:
                    hop_counts = _longer(hop_counts, at + n_levels)
                for h in range(n_levels):
                    hop_counts[at + h] = counts[h * LANES + lane]
                    n_reached[row + lane] += counts[h * LANES + lane]
                hop_ptr[row + lane + 1] = at + n_levels
    return hop_ptr, hop_counts[: hop_ptr[n_sources]].copy()
