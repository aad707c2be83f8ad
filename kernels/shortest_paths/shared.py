"""Delta-stepping [1]_ by threads, as in the GAP benchmark suite [2]_, one of them leading.

Each thread keeps the nodes that it reached in buckets of its own, by distance. The leader takes
the nearest bucket of all threads, and shares it out in blocks if it holds enough nodes; if not it
relaxes it alone, by plain writes: a graph where few nodes are equally far costs no waiting. A
thread that has no more block to take relaxes what it put into the same bucket meanwhile, if that
is little (bucket fusion, [3]_), and only then reports what it did.

A block is taken by an atomic counter that only ever rises, and a job ends when all its blocks are
reported: so it does not matter how many threads there are, when each one comes, or whether it
rests. A distance is only ever lowered, by an atomic minimum, and whoever lowers one puts the node
into the bucket of the new distance: at the end no arc can lower its head, and distances are those
of any other search, to the bit (``sssp``).

References
----------
.. [1] U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm",
   J. Algorithms 49 (2003).
.. [2] S. Beamer, K. Asanovic, D. Patterson, "The GAP benchmark suite", arXiv:1508.03619.
.. [3] Y. Zhang, A. Brahmakshatriya, X. Chen, L. Dhulipala, S. Kamil, S. Amarasinghe, J. Shun,
   "Optimizing ordered graph algorithms with GraphIt", CGO 2020.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numba import njit, types

from kernels._cpu.atomics import add, leave, look, lower, pause, replace
from kernels._cpu.lanes import prefetch
from kernels._cpu.signatures import F32, I32, I64, OUT_F64, OUT_I32, OUT_I64, named
from kernels._cpu.threads import Team
from kernels.shortest_paths import cpu
from kernels.types import NODE

BLOCK = 64  # nodes that a thread takes at a time
BINS = 64  # buckets that a thread keeps apart; the last one is all that is farther
ALONE = 64  # nodes of a bucket from which threads share it
FUSED = 16  # blocks of a bucket up to which a thread relaxes its own at once
SLICES = 64  # parts of a pass over all nodes or arcs
PATIENCE = 16  # relaxations per arc, on average, after which one core searches again
AHEAD = 8  # nodes of a block between prefetching what is known of a node and using it
SPINS = 4000  # looks for a job before a thread rests
EXACT = 2.0**52  # buckets at most
YIELD = 100  # looks before a thread that waits lets another one run
REST_S = 5e-5

# Places of ``shared``, those that change together in one line of the cache.
KIND, FIRST, BUCKET, BASE = 0, 1, 2, 3  # of the job; BUCKET counts from BASE, the first kept apart
LIMIT = 8  # number of the last item, counted over all jobs, from which on there is none yet
TAKEN, DONE, N_BLOCKS = 16, 24, 32
STATE = 40
CLEAR, RELAX, SORT, SUMMARISE = 0, 1, 2, 3  # kinds of jobs
RUNS, IS_DONE, IS_TOO_MUCH, IS_INVALID = 0, 1, 2, 3  # states
# Places of a thread's row of ``own``: for each bin the next place in ``pool``, 0 if it is empty;
# LENT: that of the bin that was gathered.
FREE, N_ARCS, N_REACHED, LENT = 64, 65, 66, 67
OWN = 72
TOTAL, BEYOND, LARGEST = 0, 1, 2  # of its row of ``lengths``: weights, least put off, farthest
LENGTHS = 8
INVERSE, FARTHEST = 0, 1  # of ``scale``

sched_yield = types.ExternalFunction("sched_yield", types.int32())
# numba counts references to the arrays of a named tuple at each use, by atomics on words that all
# threads share: they took more time than the search. Here nothing is allocated, so none is counted.
UNCOUNTED = {"_nrt": False}


class Searched(NamedTuple):
    """What all threads see."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    distance: np.ndarray
    pool: np.ndarray  # int32 nodes in blocks; block 0 takes what finds no place
    after: np.ndarray  # int32, of each block: the next one of its bin, or of those that are free
    items: np.ndarray  # int32: the place after the last node of each block of a job
    own: np.ndarray  # int64, a row for each thread
    lengths: np.ndarray  # float64, a row for each thread
    scale: np.ndarray  # float64: buckets per unit of length; what is farther than this is forgotten
    shared: np.ndarray


SEARCHED = named(
    Searched,
    *(I64, I32, F32, OUT_F64, OUT_I32, OUT_I32, OUT_I32, OUT_I64, OUT_F64, OUT_F64, OUT_I64),
)


def delta_stepping(
    arrays: tuple[np.ndarray, np.ndarray, np.ndarray],
    sources: np.ndarray,
    target: int,
    team: Team,
    width: float = 1.0,
    alone: int = ALONE,
    patience: int = PATIENCE,
) -> tuple[int, tuple[np.ndarray, float, int]]:
    """State, and distances, the largest finite one, and how many are finite.

    ``sources`` are distinct. Weights are checked. Nodes farther than the target (-1: none), if a
    path leads there, have inf. Only with the state IS_DONE is the rest right.
    """
    n_nodes = len(arrays[0]) - 1
    n_blocks = 1 + 4 * n_nodes // BLOCK + team.size * (BINS + 1)
    indptr, indices, weights = map(_read_only, arrays)
    searched = Searched(
        indptr,
        indices,
        weights,
        distance=np.empty(n_nodes, np.float64),
        pool=np.empty(n_blocks * BLOCK, NODE),
        after=np.empty(n_blocks, np.int32),
        items=np.empty(max(n_blocks, SLICES), np.int32),
        own=np.zeros((team.size + 1) * OWN, np.int64),
        lengths=np.zeros((team.size + 1) * LENGTHS),
        scale=np.array([0.0, np.inf]),
        shared=np.zeros(64, np.int64),
    )

    def search(me: int) -> None:
        if me > 0:
            while follow(searched, me):
                time.sleep(REST_S)
            return
        state = IS_TOO_MUCH
        try:
            state = lead(searched, sources, team.size, target, width, alone, patience)
        finally:
            searched.shared[STATE] = state

    team.run(search, range(team.size))
    own, lengths = searched.own.reshape(-1, OWN), searched.lengths.reshape(-1, LENGTHS)
    n_reached, largest = int(own[:, N_REACHED].sum()), float(lengths[:, LARGEST].max())
    return int(searched.shared[STATE]), (searched.distance, largest, n_reached)


def _read_only(array: np.ndarray) -> np.ndarray:
    """Named arrays are not taken as what they are not, as arguments are."""
    view = array.view()
    view.flags.writeable = False
    return view


@njit(**UNCOUNTED)
def _push(searched, me, bin_, node):
    """Put a node into a bin of this thread."""
    own, pool = searched.own, searched.pool
    place = np.uintp(me * OWN + bin_)
    at = own[place]
    if at & (BLOCK - 1) == 0:
        block = own[me * OWN + FREE]
        if block > 0:
            own[me * OWN + FREE] = searched.after[block]
        else:
            block = add(searched.shared, N_BLOCKS, 1) + 1
            if block >= searched.after.size:
                leave(searched.shared, STATE, IS_TOO_MUCH)
                return
        searched.after[block] = (at - 1) // BLOCK if at > 0 else 0
        at = block * BLOCK
    pool[np.uintp(at)] = node
    own[place] = at + 1


@njit(**UNCOUNTED)
def _relax(searched, me, end, is_alone):
    """Relax the arcs of the nodes of a block up to a place."""
    indptr, indices, weights = searched.indptr, searched.indices, searched.weights
    distance, pool = searched.distance, searched.pool
    base, inverse = np.float64(searched.shared[BASE]), searched.scale[INVERSE]
    nearest = base + np.float64(searched.shared[BUCKET])
    beyond, n_arcs = searched.lengths[me * LENGTHS + BEYOND], 0
    block = (end - 1) // BLOCK
    for at in range(np.uintp(block * BLOCK), np.uintp(end)):
        later = at + np.uintp(AHEAD)
        if later < np.uintp(end):
            prefetch(1, indptr, np.uintp(pool[later]))
            soon = np.uintp(pool[at + np.uintp(AHEAD // 2)])
            prefetch(1, distance, soon)
            words = np.uintp(indptr[soon]) >> np.uintp(1)  # prefetch counts words of 8 bytes
            prefetch(1, indices, words)
            prefetch(1, weights, words)
        u = np.uintp(pool[at])
        length = distance[u]
        if length * inverse < nearest:  # was in a nearer bucket
            continue
        n_arcs += indptr[u + np.uintp(1)] - indptr[u]
        for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + np.uintp(1)])):
            v = np.uintp(indices[arc])
            reach = length + np.float64(weights[arc])
            if reach < distance[v]:
                if is_alone:
                    distance[v] = reach
                elif not lower(distance, v, reach):
                    continue
                place = reach * inverse - base
                if place >= BINS - 1:
                    beyond = min(beyond, reach)
                    place = np.float64(BINS - 1)
                _push(searched, me, np.int64(place), v)
    searched.lengths[me * LENGTHS + BEYOND] = beyond
    searched.own[me * OWN + N_ARCS] += n_arcs


@njit(**UNCOUNTED)
def _sort(searched, me, end):
    """Put the nodes of a block of the last bin into those of the new base."""
    base, inverse = np.float64(searched.shared[BASE]), searched.scale[INVERSE]
    beyond, block = searched.lengths[me * LENGTHS + BEYOND], (end - 1) // BLOCK
    for at in range(block * BLOCK, end):
        node = searched.pool[at]
        length = searched.distance[node]
        place = length * inverse - base
        if place < 0:  # was in a nearer bucket
            continue
        if place >= BINS - 1:
            beyond = min(beyond, length)
            place = np.float64(BINS - 1)
        _push(searched, me, np.int64(place), node)
    searched.lengths[me * LENGTHS + BEYOND] = beyond


@njit(**UNCOUNTED)
def _clear(searched, me, part):
    """Forget the distances of a part, and check and add up the weights of another."""
    n_nodes, n_arcs = searched.distance.size, searched.weights.size
    searched.distance[part * n_nodes // SLICES : (part + 1) * n_nodes // SLICES] = np.inf
    first, end = part * n_arcs // SLICES, (part + 1) * n_arcs // SLICES
    mean, are_valid = cpu.scan_weights(searched.weights[first:end])
    searched.lengths[me * LENGTHS + TOTAL] += mean * (end - first)
    if not are_valid:
        leave(searched.shared, STATE, IS_INVALID)


@njit(**UNCOUNTED)
def _summarise(searched, me, part):
    """Forget what is too far of a part; the largest distance, and how many are finite."""
    n_nodes = searched.distance.size
    some = searched.distance[part * n_nodes // SLICES : (part + 1) * n_nodes // SLICES]
    if searched.scale[FARTHEST] < np.inf:
        cpu.forget_beyond(some, searched.scale[FARTHEST])
    largest, n_reached = cpu.summarise(some)
    searched.own[me * OWN + N_REACHED] += n_reached
    farthest = searched.lengths[me * LENGTHS + LARGEST]
    searched.lengths[me * LENGTHS + LARGEST] = max(farthest, largest)


@njit(**UNCOUNTED)
def _wait(n):
    """A moment, the ``n``-th; where there are more threads than cores others may need this one."""
    pause()
    if n % YIELD == YIELD - 1:
        sched_yield()


@njit(**UNCOUNTED)
def _claim(shared):
    """Number of an item that is this thread's now; -1 if there is none."""
    while True:
        limit, at = look(shared, LIMIT), look(shared, TAKEN)
        if at >= limit:
            return -1
        if replace(shared, TAKEN, at, at + 1):
            return at


@njit(**UNCOUNTED)
def _fuse(searched, me):
    """Relax what this thread has in the bucket of the job, as long as that is little."""
    place = me * OWN + searched.shared[BUCKET]
    while look(searched.shared, STATE) == RUNS:
        end = searched.own[place]
        n, block = 0, (end - 1) // BLOCK if end > 0 else 0
        while block > 0 and n <= FUSED:
            block = np.int64(searched.after[block])
            n += 1
        if n == 0 or n > FUSED:
            return
        searched.own[place] = 0
        while end > 0:
            _relax(searched, me, end, False)
            block = (end - 1) // BLOCK
            before = np.int64(searched.after[block])
            searched.after[block] = searched.own[me * OWN + FREE]
            searched.own[me * OWN + FREE] = block
            end = (before + 1) * BLOCK if before > 0 else 0


@njit(**UNCOUNTED)
def _help(searched, me):
    """Items of the job until there is none; whether there was one."""
    shared = searched.shared
    n = 0
    item = _claim(shared)
    while item >= 0:
        kind, part = shared[KIND], np.int64(searched.items[item - shared[FIRST]])
        if kind == RELAX:
            _relax(searched, me, part, False)
        elif kind == SORT:
            _sort(searched, me, part)
        elif kind == CLEAR:
            _clear(searched, me, part)
        else:
            _summarise(searched, me, part)
        n += 1
        item = _claim(shared)
    if n == 0:
        return False
    if shared[KIND] == RELAX:  # still this job: what this thread did is not reported
        _fuse(searched, me)
    add(shared, DONE, n)
    return True


@njit(**UNCOUNTED)
def _share(searched, kind, n):
    """Have items done by all threads."""
    shared = searched.shared
    shared[KIND], shared[FIRST] = kind, shared[LIMIT]
    limit = shared[LIMIT] + n
    leave(shared, LIMIT, limit)
    _help(searched, 0)
    n = 0
    while look(shared, DONE) < limit:
        _wait(n)
        n += 1


@njit(**UNCOUNTED)
def _gather(searched, n_threads, bin_):
    """Borrow the blocks of a bin from all threads as items: (items, nodes)."""
    n, n_nodes = 0, 0
    for thread in range(n_threads):
        end = searched.own[thread * OWN + bin_]
        searched.own[thread * OWN + bin_] = 0
        searched.own[thread * OWN + LENT] = end
        while end > 0:
            searched.items[n] = end
            n += 1
            block = (end - 1) // BLOCK
            n_nodes += end - block * BLOCK
            block = np.int64(searched.after[block])
            end = (block + 1) * BLOCK if block > 0 else 0
    return n, n_nodes


@njit(**UNCOUNTED)
def _give_back(searched, n_threads):
    """Free what was gathered, each block for the thread that filled it.

    Threads that relax few nodes begin many blocks, and others relax those: if these kept them, they
    would have all blocks in the end.
    """
    for thread in range(n_threads):
        end = searched.own[thread * OWN + LENT]
        if end > 0:
            first = block = (end - 1) // BLOCK
            while searched.after[block] > 0:
                block = np.int64(searched.after[block])
            searched.after[block] = searched.own[thread * OWN + FREE]
            searched.own[thread * OWN + FREE] = first


@njit(**UNCOUNTED)
def _is_empty(searched, n_threads, bin_):
    last = 0
    for thread in range(n_threads):
        last = max(last, searched.own[thread * OWN + bin_])
    return last == 0


@njit(**UNCOUNTED)
def _rebase(searched, n_threads, alone):
    """Count buckets from the nearest one beyond those that were kept apart."""
    least = np.inf
    for thread in range(n_threads):
        place = thread * LENGTHS + BEYOND
        least = min(least, searched.lengths[place])
        searched.lengths[place] = np.inf
    searched.shared[BASE] = np.int64(least * searched.scale[INVERSE])
    n, n_nodes = _gather(searched, n_threads, BINS - 1)
    if n_nodes >= alone:
        _share(searched, SORT, n)
    else:
        for i in range(n):
            _sort(searched, 0, np.int64(searched.items[i]))
    _give_back(searched, n_threads)


@njit(**UNCOUNTED)
def _n_relaxed(searched, n_threads):
    n = 0
    for thread in range(n_threads):
        n += searched.own[thread * OWN + N_ARCS]
    return n


@njit(
    [types.int64(SEARCHED, I32, types.int64, types.int64, types.float64, types.int64, types.int64)],
    cache=True,
    nogil=True,
    **UNCOUNTED,
)
def lead(searched, sources, n_threads, target, width, alone, patience):
    """Search; the state at the end."""
    shared, distance, items = searched.shared, searched.distance, searched.items
    for part in range(SLICES):
        items[part] = part
    _share(searched, CLEAR, SLICES)
    if look(shared, STATE) != RUNS:
        return shared[STATE]
    n_arcs, total = searched.indices.size, 0.0
    for thread in range(n_threads):
        total += searched.lengths[thread * LENGTHS + TOTAL]
        searched.lengths[thread * LENGTHS + BEYOND] = np.inf
    # Steps of one core, less again by the same factor: among many arcs per node the wider bucket
    # has more arcs relaxed twice, among few the narrower one has too few nodes to share.
    factor = min(1.0, cpu.DEGREE * distance.size / max(1, n_arcs))
    step = width * factor * factor
    # No path is longer than all weights together: numbers of buckets are small enough to be exact.
    searched.scale[INVERSE] = min(n_arcs / step, EXACT) / total if total > 0 else 1.0
    for source in sources:
        distance[source] = 0.0
        _push(searched, 0, 0, source)
    bucket = 0
    while True:
        while bucket < BINS - 1 and _is_empty(searched, n_threads, bucket):
            bucket += 1
        nearest = np.float64(shared[BASE] + bucket)
        if target >= 0 and distance[target] * searched.scale[INVERSE] < nearest:
            break
        if bucket == BINS - 1:
            if _is_empty(searched, n_threads, BINS - 1):
                break
            _rebase(searched, n_threads, alone)
            bucket = 0
        else:
            shared[BUCKET] = bucket
            n, n_nodes = _gather(searched, n_threads, bucket)
            if n_nodes >= alone:
                _share(searched, RELAX, n)
            else:
                for i in range(n):
                    _relax(searched, 0, np.int64(items[i]), True)
            _give_back(searched, n_threads)
        if look(shared, STATE) != RUNS or _n_relaxed(searched, n_threads) > patience * n_arcs:
            return IS_TOO_MUCH
    if target >= 0:
        searched.scale[FARTHEST] = distance[target]
    for part in range(SLICES):
        items[part] = part
    _share(searched, SUMMARISE, SLICES)
    return IS_DONE


@njit([types.boolean(SEARCHED, types.int64)], cache=True, nogil=True, **UNCOUNTED)
def follow(searched, me):
    """Help until there was no job for a while; False at the end."""
    shared, n = searched.shared, 0
    while n < SPINS:
        if look(shared, STATE) != RUNS:
            return False
        if look(shared, TAKEN) < look(shared, LIMIT) and _help(searched, me):
            n = 0
        _wait(n)
        n += 1
    return True
