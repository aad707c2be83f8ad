// Breadth-first search from one source, direction-optimising, all levels in one launch.
//
// Input    CSR arcs of a symmetric graph.
// Output   level[v], hops from the source; parent[v], its smallest neighbour one level up.
// Order    Nodes of a level are in the queue in no fixed order; no output depends on it.
// Launch   bfs_search, bfs_search_large: cooperative, 1-D, all blocks resident.
//          The others: 1-D, any grid.
// Atomics  atomicOr on the bitmap of seen nodes claims a node; atomicAdd on tail reserves places
//          in the queue, once for all nodes that a warp claims together. Of frontiers with many
//          arcs the heads are marked in a bitmap instead, since warps would wait for the tail.
// Races    Bits of seen and of a map are read while others set them. A read that misses one costs
//          an atomic; bits are never taken back during a level.
//
// A level goes top-down, from the queue, or bottom-up: every node not yet seen asks whether a
// neighbour is in the bitmap of the frontier, and stops at the first that is [1]. Hubs are cut
// into segments, so that no warp walks a million arcs.
//
// [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
// [2] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012.

#include "bitmap.cuh"
#include "state.cuh"
#include "top_down.cuh"
#include "bottom_up.cuh"
#include "narrow.cuh"
#include "cluster.cuh"

// Put the nodes of a bitmap into the queue.
__device__ __noinline__ void make_list(const Search& s, const unsigned* map)
{
    const int t = thread_of_warp();
    for (offset_t first = (offset_t)warp_of_grid() * WARP; first < s.n_map;
         first += (offset_t)warps_of_grid() * WARP) {
        unsigned bits = first + t < s.n_map ? map[first + t] : 0;
        if (!__any_sync(ALL_THREADS, bits != 0)) continue;
        int before = __popc(bits);
        for (int offset = 1; offset < WARP; offset *= 2) {
            const int other = __shfl_up_sync(ALL_THREADS, before, offset);
            if (t >= offset) before += other;
        }
        int at = 0;
        if (t == WARP - 1) at = atomicAdd(&s.control->tail, before);
        at = __shfl_sync(ALL_THREADS, at, WARP - 1) + before - __popc(bits);
        for (; bits; bits &= bits - 1) {
            s.queue[at++] = (node_t)((first + t) * 32 + __ffs(bits) - 1);
        }
    }
}

// List the n segments of each thread's nodes, at + k * stride + t.
template <int N>
__device__ __forceinline__ void list_segments(
    const Search& s, const offset_t at, const offset_t stride, const int(&n)[N])
{
    const int t = thread_of_warp();
    int sum = 0;
#pragma unroll
    for (int k = 0; k < N; ++k) sum += n[k];
    const int all = warp_sum_of_ints(sum);
    if (all == 0) return;
    int place = 0;
    if (t == 0) place = atomicAdd(&s.control->n_segments, all);
    place = __shfl_sync(ALL_THREADS, place, 0);
#pragma unroll
    for (int k = 0; k < N; ++k) {
        unsigned hubs = __ballot_sync(ALL_THREADS, n[k] > 0);
        while (hubs) {
            const int owner = __ffs(hubs) - 1;
            hubs &= hubs - 1;
            const int n_theirs = __shfl_sync(ALL_THREADS, n[k], owner);
            for (int i = t; i < n_theirs; i += WARP) {
                s.segment_node[place + i] = (node_t)(at + k * stride + owner);
                s.segment_index[place + i] = i;
            }
            place += n_theirs;
        }
    }
}

// All levels and bitmaps, and the segments of hubs.
__device__ __forceinline__ void start(const Search& s, const node_t source)
{
    const int t = thread_of_warp();
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = thread; i < 3 * s.n_map; i += n_threads) s.maps[i] = 0;
    constexpr int AT_ONCE = 4;
    for (offset_t at = thread - t; at < s.n_nodes; at += AT_ONCE * n_threads) {
        offset_t degree[AT_ONCE];
        int n_segments[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const offset_t v = at + k * n_threads + t;
            const offset_t safe = v < s.n_nodes ? v : 0;
            degree[k] = s.indptr[safe + 1] - s.indptr[safe];
            if (v < s.n_nodes) s.level[v] = v == source ? 0 : UNREACHED;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const offset_t v = at + k * n_threads + t;
            if (v >= s.n_nodes) degree[k] = 0;
            n_segments[k] = segments_of(degree[k]);
            const unsigned is_seen = __ballot_sync(ALL_THREADS, degree[k] == 0 || v == source);
            if (t == 0 && v < s.n_nodes) s.seen[v >> 5] = is_seen;
        }
        list_segments(s, at, n_threads, n_segments);
    }
    if (thread == 0) {
        s.queue[0] = source;
        s.control->tail = 1;
    }
    grid_barrier(&s.control->arrivals);
}

template <int BLOCK, int NODES>
__device__ __forceinline__ void search(
    const offset_t* indptr,   // (n_nodes + 1,)
    const node_t* indices,    // (n_arcs,)
    const offset_t n_nodes,
    const offset_t n_arcs,
    const node_t source,
    const node_t target,      // -1: none
    const offset_t alpha,     // bottom-up while frontier arcs * alpha exceed arcs not yet seen ...
    const offset_t beta,      // ... and frontier nodes * beta exceed n_nodes
    const int n_levels,       // narrow ones in a row after which the search is left
    const bool goes_on,       // it was left; narrow_search went on
    level_t* level,           // (n_nodes,) out
    node_t* queue,            // (n_nodes,) scratch, as the following
    unsigned* maps,           // (4, n_map): seen, three frontiers
    int* segments,            // (2, n_arcs / SEGMENT * 2)
    Control* control)
{
    __shared__ BlockCounts block;
    __shared__ Search s;
    __shared__ Narrow<BLOCK, NODES> narrow;
    static_assert(NODES * BLOCK <= CLUSTER * CLUSTER * CLUSTER_ROOM);
    if (threadIdx.x == 0) {
        block = {0, 0, 0};
        const offset_t n_map = (n_nodes + 31) / 32;
        s = {indptr, indices, n_nodes, n_map, level, queue, maps, maps + n_map,
             segments, segments + 2 * (n_arcs / SEGMENT), control};
    }
    __syncthreads();
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    offset_t frontier_arcs, open_arcs;
    int n_front, begin, end, depth, n_reached, turn, frontier_segments, open_segments;
    if (goes_on) {
        frontier_arcs = control->frontier_arcs;
        open_arcs = control->open_arcs;
        n_front = control->n_front;
        begin = control->begin;
        end = begin + n_front;
        depth = control->next_depth;
        n_reached = control->n_reached;
        turn = control->turn + 1;
        frontier_segments = control->frontier_segments;
        open_segments = control->open_segments;
    } else {
        start(s, source);
        frontier_arcs = indptr[source + 1] - indptr[source];
        open_arcs = n_arcs - frontier_arcs;
        n_front = end = depth = n_reached = turn = 1;
        begin = 0;
        frontier_segments = segments_of(frontier_arcs);
        open_segments = control->n_segments - frontier_segments;
    }
    bool is_bottom_up = false, is_listed = true, is_mapped = false, is_left = false;
    // A turn is a level, or narrow ones in a row. Another block may give the target level depth
    // while this one still asks: only what was complete before counts, or some blocks would leave
    // and the others wait for them forever.
    for (; n_front && !(target >= 0 && (unsigned)level[target] < (unsigned)depth); ++turn) {
        if (is_left && is_narrow(n_front, frontier_arcs, narrow.ROOM)) {
            if (thread == 0) {
                control->is_left = 1;
                control->open_arcs = open_arcs;
                control->frontier_arcs = control->frontier_segments = 0;  // narrow_search counts
                control->turn = turn - 1;
                control->begin = begin;
                control->n_front = n_front;
                control->next_depth = depth;
                control->n_reached = n_reached;
                control->open_segments = open_segments;
            }
            return;
        }
        is_left = false;
        const bool is_wide = n_front * beta > n_nodes;
        is_bottom_up = is_wide && (is_bottom_up || frontier_arcs * alpha > open_arcs);
        for (offset_t i = thread; i < s.n_map; i += n_threads) s.map(turn + 1)[i] = 0;
        if (thread == 0) {
            control->n_found[(turn + 1) & 3] = 0;
            control->found_arcs[(turn + 1) & 3] = 0;
            control->found_segments[(turn + 1) & 3] = 0;
        }
        if (is_bottom_up) {
            if (!is_mapped) {
                for (offset_t i = begin + thread; i < end; i += n_threads) {
                    atomicOr(&s.map(turn - 1)[queue[i] >> 5], 1u << (queue[i] & 31));
                }
                grid_barrier(&control->arrivals);
            }
            bottom_up(s, block, open_segments > 0, depth, turn);
            is_listed = false;
            is_mapped = true;
            grid_barrier(&control->arrivals);
        } else {
            if (!is_listed) {
                begin = end;
                make_list(s, s.map(turn - 1));
                grid_barrier(&control->arrivals);
                end = begin + n_front;
            }
            is_mapped = frontier_arcs > s.n_map;
            is_listed = !is_mapped;
            if (is_mapped) {
                mark(s, begin, end, frontier_segments > 0, depth, s.map(turn));
                grid_barrier(&control->arrivals);
                settle(s, block, s.map(turn), depth, turn);
                grid_barrier(&control->arrivals);
            } else if (is_narrow(n_front, frontier_arcs, narrow.ROOM)) {
                if (blockIdx.x == 0) {
                    narrow_levels(s, narrow, begin, end, depth, target, turn, n_levels);
                }
                grid_barrier(&control->arrivals, true);
                is_left = control->narrow_depth[turn & 1] - depth == n_levels;
                depth = control->narrow_depth[turn & 1] - 1;
                open_arcs -= control->narrow_arcs[turn & 1];
                open_segments -= control->narrow_segments[turn & 1];
                begin = control->narrow_begin[turn & 1];
                n_reached += begin - end;
                end = begin + control->n_found[turn & 3];
            } else {
                top_down(s, block, begin, end, frontier_segments > 0, depth, turn);
                grid_barrier(&control->arrivals);
                begin = end;
                end = begin + control->n_found[turn & 3];
            }
        }
        n_front = control->n_found[turn & 3];
        frontier_arcs = control->found_arcs[turn & 3];
        frontier_segments = control->found_segments[turn & 3];
        open_arcs -= frontier_arcs;
        open_segments -= frontier_segments;
        n_reached += n_front;
        ++depth;
    }
    if (thread == 0) {
        control->is_left = 0;
        control->depth = n_front ? depth - 1 : depth - 2;
        control->n_reached = n_reached;
    }
}

// N_BLOCKS blocks of BLOCK threads per multiprocessor are resident: more threads hide more of the
// waits for memory, and leave each fewer registers.
#define BFS_SEARCH(NAME, BLOCK, N_BLOCKS, NODES)                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK, N_BLOCKS) NAME(                           \
        const offset_t* indptr, const node_t* indices, const offset_t n_nodes,                    \
        const offset_t n_arcs, const node_t source, const node_t target, const offset_t alpha,    \
        const offset_t beta, const int n_levels, const bool goes_on, level_t* level,              \
        node_t* queue, unsigned* maps, int* segments, Control* control)                           \
    {                                                                                             \
        search<BLOCK, NODES>(indptr, indices, n_nodes, n_arcs, source, target, alpha, beta,       \
                             n_levels, goes_on, level, queue, maps, segments, control);           \
    }

#if !ONLY_SOME || WITH_bfs_search
BFS_SEARCH(bfs_search, SMALL_BLOCK, 1, 2)
#endif
#if !ONLY_SOME || WITH_bfs_search_large
BFS_SEARCH(bfs_search_large, LARGE_BLOCK, 2, 2)
#endif

#include "parents.cuh"
