// Bit-parallel searches: bit l of a node's words is lane l, and lane l carries the l-th source of
// every graph of a shard. No search leaves its graph, so one sweep serves them all.
//
// Input    CSR arcs of one symmetric graph, or of a shard of many. A slot is one (graph, lane);
//          those of graph g are contiguous, from slot_ptr[g] on.
// Output   counts[row][slot], nodes found at each level; farthest, the smallest nodes of each
//          slot's last level, or null; planes: bit k of the level of (node, lane) in plane k, or
//          null.
// Order    Within a level nothing depends on the order of threads.
// Launch   Cooperative, 1-D, all blocks resident: one launch runs all levels. It ends when no
//          node is found any more, or when counts is full; then the host launches it again and it
//          continues from its state. No dynamic shared memory.
// Memory   State, see sweep_state: seen, three frontiers, four bitmaps.
//
// A level goes bottom-up (every node that lacks a lane asks its neighbours, one barrier) or, on
// one graph whose frontier is small, top-down (from a list of frontier nodes, two barriers), as
// [2] does for one source. Words of a frontier are read only where its bitmap says that the node
// is in it: a bit, mostly in the cache, before a gather of 16 bytes [1]; so they need no clearing.
// Arcs of hubs are cut into segments.
//
// [1] M. Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014.
// [2] S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.

// Blocks per multiprocessor: leaves 72 registers per thread, so that none is spilled.
#define BLOCKS_EACH 2

#define PATIENCE 3       // bottom-up levels with a small frontier before going back to top-down
#define SMALL_RANGE 1024 // a graph of at most that many nodes is looked through without the units
#define N_WARPS (COOPERATIVE_BLOCK / WARP)
#define HIT_WORDS 512    // units looked at at once, for 32 each
static_assert(N_WARPS >= N_FARTHEST, "a warp for each unit that may be needed");

#include "lanes.cuh"
#include "state.cuh"
#include "bottom_up.cuh"
#include "top_down.cuh"
#include "farthest.cuh"

// Empty state, segments of the hubs, level 0.
template <int W, bool SHARD>
__device__ __noinline__ void start(const Sweep<W, SHARD>& s)
{
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = thread; i < s.n_nodes * W; i += n_threads) s.seen[i] = 0;
    // Bottom-up needs no clear frontier to write, but the sources are or-ed into it.
    for (offset_t i = thread; !SHARD && i < 3 * s.n_nodes * W; i += n_threads) s.words[i] = 0;
    for (offset_t i = thread; i < 4 * s.n_units * W; i += n_threads) s.coarse[i] = 0;
    for (offset_t i = thread; i < 4 * s.n_map; i += n_threads) s.maps[i] = 0;
    for (offset_t i = thread; i < s.n_slots; i += n_threads) {
        s.row(-1)[i] = 0;
        s.row(0)[i] = 1;
        if (SHARD) write_lanes<W>(s.frontier(0), s.slot_node[i], Lanes<W>{});
    }
    for (offset_t i = thread; SHARD && i < s.n_graphs; i += n_threads) {
        s.graph_last[i] = s.lanes_in(i) ? 0 : -1;
    }
    for (offset_t i = thread; SHARD && i < s.n_chunks; i += n_threads) {
        int low = 0, high = s.n_graphs;  // the last graph whose first chunk is at most i
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (s.chunk_ptr[middle] <= i) low = middle; else high = middle;
        }
        s.chunk_graph[i] = s.lanes_in(low) ? low : -1;
    }
    for (offset_t v = thread; v < s.n_nodes; v += n_threads) {
        const offset_t degree = s.arcs_of(v);
        if (degree < SEGMENT) continue;
        int graph = 0;
        if (SHARD) {
            int high = s.n_graphs;
            while (high - graph > 1) {
                const int middle = (graph + high) / 2;
                if (s.node_ptr[middle] <= v) graph = middle; else high = middle;
            }
            if (s.lanes_in(graph) == 0) continue;
        }
        const int n_segments = (int)((degree + SEGMENT - 1) / SEGMENT);
        const int hub = atomicAdd(&s.control->n_hubs, 1);
        const int first = atomicAdd(&s.control->n_segments, n_segments);
        s.hub_node[hub] = (node_t)v;
        if (SHARD) s.hub_graph[hub] = graph;
        s.hub_left[hub] = n_segments;
        for (int w = 0; w < W; ++w) s.hub_got[(offset_t)hub * W + w] = 0;
        for (int i = 0; i < n_segments; ++i) {
            s.segment_hub[first + i] = hub;
            s.segment_index[first + i] = i;
        }
    }
    grid_barrier(&s.control->arrivals);
    for (offset_t slot = thread; slot < s.n_slots; slot += n_threads) {
        const int lane = SHARD ? (int)slot - s.first_slot(s.slot_graph[slot]) : (int)slot;
        const node_t v = s.slot_node[slot];
        const lanes_t bit = 1ull << (lane & 63);
        atomicOr(&s.frontier(0)[(offset_t)v * W + lane / 64], bit);
        atomicOr(&s.seen[(offset_t)v * W + lane / 64], bit);
        atomicOr(&s.units(0)[(v >> s.unit_shift) * W + lane / 64], bit);
        const unsigned node_bit = 1u << (v & 31);
        if (atomicOr(&s.map(0)[v >> 5], node_bit) & node_bit) continue;  // another lane's source
        if (!SHARD) {
            atomicAdd((unsigned long long*)&s.control->found_arcs[0], s.arcs_of(v));
            s.list(0)[atomicAdd(&s.control->n_listed[0], 1)] = v;
        }
    }
    if (thread == 0) s.control->n_found[0] = s.n_slots;  // only whether it is 0 matters
    grid_barrier(&s.control->arrivals);
}

template <int W, bool SHARD>
__device__ void go_top_down(
    const Sweep<W, SHARD>& s, BlockCounts<W>& block, const int depth, const int flags)
{
}

template <int W>
__device__ void go_top_down(
    const Sweep<W, false>& s, BlockCounts<W>& block, const int depth, const int flags)
{
    if ((flags & CLEAR) == 0) {
        make_list(s, depth);
        grid_barrier(&s.control->arrivals);
    }
    top_down(s, depth);
    grid_barrier(&s.control->arrivals);
    settle(s, block, depth, flags & OLD_PURE);
}

template <int W, bool SHARD>
__device__ __forceinline__ void sweep(const Sweep<W, SHARD>& s)
{
    __shared__ BlockCounts<W> block;
    __shared__ BlockLists<W, SHARD> lists;
    for (int i = threadIdx.x; i < 64 * W; i += blockDim.x) block.lanes[i] = 0;
    if (threadIdx.x == 0) {
        block.n_found = 0;
        block.found_arcs = 0;
    }
    __syncthreads();
    Control* control = s.control;
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = thread; i < (offset_t)(s.n_rows - 2) * s.n_slots; i += n_threads) {
        s.counts[2 * s.n_slots + i] = 0;
    }
    int depth = s.first_depth;
    int flags = control->flags;
    int patience = PATIENCE;
    if (depth == 1) {
        start(s);
        flags = LISTED | PURE | OLD_PURE | CLEAR;
    } else {
        grid_barrier(&control->arrivals);
    }
    while (true) {
        // Levels up to depth - 1 are complete.
        if (s.farthest != nullptr) list_ended(s, lists, depth - 1);
        const int n_front = control->n_found[(depth - 1) & 3];
        const bool is_ended = n_front == 0;
        if (is_ended || depth - s.first_depth == s.n_rows - 2) {
            if (thread == 0) {
                control->depth = depth - 1;
                control->is_ended = is_ended;
                control->flags = flags;
            }
            return;
        }
        // Whoever reads what is cleared here has passed the barrier at the end of the last level.
        for (offset_t i = thread; i < s.n_map; i += n_threads) s.map(depth + 1)[i] = 0;
        for (offset_t i = thread; i < s.n_units * W; i += n_threads) s.units(depth + 1)[i] = 0;
        if (thread == 0) {
            control->n_found[(depth + 1) & 3] = 0;
            control->found_arcs[(depth + 1) & 3] = 0;
            control->n_listed[(depth + 1) & 3] = 0;
            control->n_taken[(depth + 1) & 3] = 0;
        }
        // Going back to top-down costs about what some bottom-up levels with few open nodes do,
        // and most graphs end before that is worth it.
        const bool is_small = !SHARD
            && control->found_arcs[(depth - 1) & 3] * s.top_down_factor < s.n_arcs + s.n_nodes;
        patience = !is_small ? PATIENCE : patience - 1;
        if (is_small && ((flags & LISTED) || patience < 0)) {
            go_top_down(s, block, depth, flags);
            flags = LISTED | PURE | CLEAR | (flags & PURE ? OLD_PURE : 0);
        } else {
            bottom_up(s, block, depth);
            const bool is_pure = (flags & LISTED) && (flags & PURE);
            flags = (flags & CLEAR ? PURE : 0) | (is_pure ? OLD_PURE : 0);
        }
        grid_barrier(&control->arrivals);
        ++depth;
    }
}

#define SWEEP_GRAPH(NAME, W)                                                                      \
    extern "C" __global__ void __launch_bounds__(COOPERATIVE_BLOCK, BLOCKS_EACH) NAME(            \
        const offset_t* indptr, const node_t* indices, const offset_t n_nodes,                    \
        const offset_t n_arcs, const int n_chunks, const int chunk_size, const node_t* slot_node, \
        const int n_slots, int* counts, const int n_rows, const int first_depth,                  \
        node_t* farthest, lanes_t* planes, const offset_t top_down_factor, const int unit_shift,  \
        Control* control, char* state)                                                            \
    {                                                                                             \
        __shared__ Sweep<W, false> s;                                                             \
        if (threadIdx.x == 0) {                                                                   \
            s = {indptr, indices, n_nodes, n_arcs, n_chunks, chunk_size, 1, nullptr, nullptr,     \
                 nullptr, nullptr, slot_node, n_slots, counts, n_rows, first_depth, farthest,     \
                 planes, top_down_factor, unit_shift, control};                                   \
            place_state(s, state);                                                                \
        }                                                                                         \
        sweep(s);                                                                                 \
    }

#define SWEEP_SHARD(NAME, W)                                                                      \
    extern "C" __global__ void __launch_bounds__(COOPERATIVE_BLOCK, BLOCKS_EACH) NAME(            \
        const offset_t* indptr, const node_t* indices, const offset_t n_nodes,                    \
        const offset_t n_arcs, const int n_chunks, const int chunk_size, const int n_graphs,      \
        const offset_t* node_ptr, const int* chunk_ptr, const int* slot_ptr,                      \
        const int* slot_graph, const node_t* slot_node, const int n_slots, int* counts,           \
        const int n_rows, const int first_depth, node_t* farthest, lanes_t* planes,               \
        const int unit_shift, Control* control, char* state)                                      \
    {                                                                                             \
        __shared__ Sweep<W, true> s;                                                              \
        if (threadIdx.x == 0) {                                                                   \
            s = {indptr, indices, n_nodes, n_arcs, n_chunks, chunk_size, n_graphs, node_ptr,      \
                 chunk_ptr, slot_ptr, slot_graph, slot_node, n_slots, counts, n_rows,             \
                 first_depth, farthest, planes, 0, unit_shift, control};                          \
            place_state(s, state);                                                                \
        }                                                                                         \
        sweep(s);                                                                                 \
    }

// Each is compiled when it is first requested: all six together take six times as long (loader.py).
#if !ONLY_SOME || WITH_msbfs_graph_1
SWEEP_GRAPH(msbfs_graph_1, 1)
#endif
#if !ONLY_SOME || WITH_msbfs_graph_2
SWEEP_GRAPH(msbfs_graph_2, 2)
#endif
#if !ONLY_SOME || WITH_msbfs_graph_4
SWEEP_GRAPH(msbfs_graph_4, 4)
#endif
#if !ONLY_SOME || WITH_msbfs_shard_1
SWEEP_SHARD(msbfs_shard_1, 1)
#endif
#if !ONLY_SOME || WITH_msbfs_shard_2
SWEEP_SHARD(msbfs_shard_2, 2)
#endif
#if !ONLY_SOME || WITH_msbfs_shard_4
SWEEP_SHARD(msbfs_shard_4, 4)
#endif

// Levels of one graph out of their bit planes; four lanes per thread.
template <typename L>
__device__ __forceinline__ void write_levels(
    const lanes_t* __restrict__ seen,    // (n_nodes, n_words)
    const lanes_t* __restrict__ planes,  // (n_planes, n_nodes, n_words)
    const offset_t n_nodes,
    const int n_words,
    const int n_planes,
    const int n_lanes,                   // a multiple of 4
    L* __restrict__ level,               // (n_nodes, level_stride), from the first lane on
    const offset_t level_stride)
{
    const int quads = n_lanes / 4;
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n_nodes * quads; i += stride) {
        const offset_t v = i / quads;
        const int lane = (int)(i - v * quads) * 4;
        const offset_t at = v * n_words + lane / 64;
        const int shift = lane & 63;
        unsigned depth[4] = {0, 0, 0, 0};
        for (int k = 0; k < n_planes; ++k) {
            const unsigned bits = (unsigned)(planes[k * n_nodes * n_words + at] >> shift);
            for (int j = 0; j < 4; ++j) depth[j] |= ((bits >> j) & 1) << k;
        }
        const unsigned is_seen = (unsigned)(seen[at] >> shift);
        struct alignas(4 * sizeof(L)) Quad { L level[4]; } quad;
        const L most = sizeof(L) == 4 ? (L)0x7fffffff : (L)~0ull;  // unreached
        for (int j = 0; j < 4; ++j) quad.level[j] = (is_seen >> j) & 1 ? (L)depth[j] : most;
        *(Quad*)(level + v * level_stride + lane) = quad;
    }
}

#define WRITE_LEVELS(NAME, L)                                                                     \
    extern "C" __global__ void NAME(                                                              \
        const lanes_t* seen, const lanes_t* planes, const offset_t n_nodes, const int n_words,    \
        const int n_planes, const int n_lanes, L* level, const offset_t level_stride)             \
    {                                                                                             \
        write_levels<L>(seen, planes, n_nodes, n_words, n_planes, n_lanes, level, level_stride);  \
    }

WRITE_LEVELS(msbfs_levels_uint8, unsigned char)
WRITE_LEVELS(msbfs_levels_uint16, unsigned short)
WRITE_LEVELS(msbfs_levels_int32, int)

// Raise each slot's eccentricity to the last level of this launch on which it found a node.
extern "C" __global__ void msbfs_eccentricities(
    const int* __restrict__ counts,  // (n_rows, n_slots)
    const offset_t n_slots,
    const int n_rows,
    const int first_depth,           // row 0 is level first_depth - 2
    int* __restrict__ eccentricity)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t slot = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; slot < n_slots; slot += stride) {
        int last = eccentricity[slot];
        for (int row = 2; row < n_rows; ++row) {
            if (counts[row * n_slots + slot]) last = first_depth - 2 + row;
        }
        eccentricity[slot] = last;
    }
}
