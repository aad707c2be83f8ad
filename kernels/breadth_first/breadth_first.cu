// Breadth-first search from one source, direction-optimising, all levels in one launch.
//
// Input    CSR arcs of a symmetric graph.
// Output   level[v], hops from the source; parent[v], its smallest neighbour one level up.
// Order    Nodes of a level are in the queue in no fixed order; no output depends on it.
// Launch   bfs_search, bfs_search_large: cooperative, 1-D, all blocks resident.
//          The others: 1-D, any grid.
// Atomics  atomicOr on the bitmap of seen nodes claims a node; atomicAdd on tail reserves places
//          in the queue, once for all nodes that a warp claims together. Of frontiers with many
//          arcs the found nodes go to a bitmap instead, since warps would wait for the tail.
//
// A level goes top-down, from the queue, or bottom-up: every node not yet seen asks whether a
// neighbour is in the bitmap of the frontier, and stops at the first that is [1]. Hubs are cut
// into segments, so that no warp walks a million arcs.
//
// [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
// [2] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012.

#include "bitmap.cuh"

// All zero before the launch.
struct Control {
    unsigned arrivals;       // of grid_barrier
    int n_segments;
    int tail;                // nodes in the queue
    int depth;               // AT_DEPTH; out: the last level that has nodes
    int n_reached;           // AT_N_REACHED; out
    int pad[3];
    int n_found[4];          // nodes found at level d: n_found[d % 4]
    offset_t found_arcs[4];  // their arcs
};
static_assert(sizeof(Control) <= 4 * CONTROL);

struct Search {
    const offset_t* indptr;
    const node_t* indices;
    offset_t n_nodes;
    offset_t n_map;          // words of a bitmap
    level_t* level;          // (n_nodes,) out
    node_t* queue;           // (n_nodes,)
    unsigned* seen;          // (n_map,)
    unsigned* maps;          // (3, n_map): bitmap of the frontier of level d at d % 3
    node_t* segment_node;
    int* segment_index;
    Control* control;

    __device__ unsigned* map(const int depth) const { return maps + (depth + 3) % 3 * n_map; }
};

// Counts of a block on a level, before they are added to those of all.
struct BlockCounts {
    int n_found;
    unsigned long long found_arcs;
};

__device__ __forceinline__ void end_of_level(
    const Search& s, BlockCounts& block, const int depth, const int nodes, const offset_t arcs)
{
    const offset_t all_arcs = warp_sum(arcs);
    if (thread_of_warp() == 0 && nodes) {
        atomicAdd(&block.n_found, nodes);
        atomicAdd(&block.found_arcs, (unsigned long long)all_arcs);
    }
    __syncthreads();
    if (threadIdx.x == 0 && block.n_found) {
        atomicAdd(&s.control->n_found[depth & 3], block.n_found);
        atomicAdd((unsigned long long*)&s.control->found_arcs[depth & 3], block.found_arcs);
        block.n_found = 0;
        block.found_arcs = 0;
    }
}

// Give depth to the heads of arcs, one arc per thread (arc < 0: none), and put the newly reached
// into the queue or the bitmap of the level. Called by all threads of a warp together.
template <bool IS_MAPPED>
__device__ __forceinline__ void claim(
    const Search& s, const offset_t arc, const level_t depth, unsigned* found_map, int& nodes,
    offset_t& arcs)
{
    node_t v = 0;
    bool is_claimed = false;
    if (arc >= 0) {
        v = __ldg(&s.indices[arc]);
        const unsigned bit = 1u << (v & 31);
        // Plain read first: most neighbours are seen already. A stale read costs one atomicOr,
        // never a wrong level.
        if (!is_in(s.seen, v)) is_claimed = !(atomicOr(&s.seen[v >> 5], bit) & bit);
    }
    const unsigned claims = __ballot_sync(ALL_THREADS, is_claimed);
    if (claims == 0) return;
    nodes += __popc(claims);
    if (is_claimed) {
        s.level[v] = depth;
        arcs += s.indptr[v + 1] - s.indptr[v];
        if (IS_MAPPED) atomicOr(&found_map[v >> 5], 1u << (v & 31));
    }
    if (IS_MAPPED) return;
    const int t = thread_of_warp();
    int first = 0;
    if (t == 0) first = atomicAdd(&s.control->tail, __popc(claims));
    first = __shfl_sync(ALL_THREADS, first, 0);
    if (is_claimed) s.queue[first + __popc(claims & ((1u << t) - 1))] = v;
}

// From the frontier, queue[begin:end], to its neighbours [2].
template <bool IS_MAPPED>
__device__ __noinline__ void top_down(
    const Search& s, BlockCounts& block, const int begin, const int end, const level_t depth)
{
    const int t = thread_of_warp();
    unsigned* found_map = s.map(depth);
    int nodes = 0;
    offset_t arcs = 0;
    for (int i = warp_of_grid(); i < s.control->n_segments; i += warps_of_grid()) {
        const node_t u = s.segment_node[i];
        if (s.level[u] != depth - 1) continue;
        const offset_t first = s.indptr[u] + (offset_t)s.segment_index[i] * SEGMENT;
        const offset_t last = s.indptr[u + 1];
        const offset_t stop = first + SEGMENT < last ? first + SEGMENT : last;
        for (offset_t arc = first; arc < stop; arc += WARP) {
            claim<IS_MAPPED>(s, arc + t < stop ? arc + t : -1, depth, found_map, nodes, arcs);
        }
    }
    const int n = end - begin;
    const int each = items_each(n);
    for (int first = warp_of_grid() * each; first < n; first += warps_of_grid() * each) {
        offset_t arc = 0, degree = 0;
        if (t < each && first + t < n) {
            const node_t u = s.queue[begin + first + t];
            arc = s.indptr[u];
            degree = s.indptr[u + 1] - arc;
        }
        if (degree >= SEGMENT) degree = 0;  // its segments do it
        visit_arcs(arc, (int)degree, [&](const offset_t a, int) {
            claim<IS_MAPPED>(s, a, depth, found_map, nodes, arcs);
        });
    }
    end_of_level(s, block, depth, nodes, arcs);
}

// Every node not yet seen asks its neighbours.
__device__ __noinline__ void bottom_up(const Search& s, BlockCounts& block, const level_t depth)
{
    const int t = thread_of_warp();
    const unsigned* map = s.map(depth - 1);
    unsigned* found_map = s.map(depth);
    int nodes = 0;
    offset_t arcs = 0;
    for (int i = warp_of_grid(); i < s.control->n_segments; i += warps_of_grid()) {
        const node_t v = s.segment_node[i];
        if (is_in(s.seen, v)) continue;
        const offset_t first = s.indptr[v] + (offset_t)s.segment_index[i] * SEGMENT;
        const offset_t last = s.indptr[v + 1];
        const int n = (int)((first + SEGMENT < last ? first + SEGMENT : last) - first);
        const bool is_hit = has_frontier(map, s.indices + first + t, n - t, WARP);
        if (!__any_sync(ALL_THREADS, is_hit)) continue;
        bool is_claimed = false;
        if (t == 0) {
            const unsigned bit = 1u << (v & 31);
            is_claimed = !(atomicOr(&s.seen[v >> 5], bit) & bit);  // several segments may hit
            if (is_claimed) {
                atomicOr(&found_map[v >> 5], bit);
                s.level[v] = depth;
                arcs += s.indptr[v + 1] - s.indptr[v];
            }
        }
        nodes += __popc(__ballot_sync(ALL_THREADS, is_claimed));
    }
    for (offset_t word = warp_of_grid(); word < s.n_map; word += warps_of_grid()) {
        const unsigned seen = s.seen[word];
        if (seen == ~0u) continue;
        const offset_t v = word * 32 + t;
        const node_t* heads = nullptr;
        int n_heads = 0;
        if (v < s.n_nodes && !((seen >> t) & 1)) {
            const offset_t arc = s.indptr[v];
            const offset_t degree = s.indptr[v + 1] - arc;
            heads = s.indices + arc;
            n_heads = degree < SEGMENT ? (int)degree : 0;  // else its segments do it
        }
        const int degree = n_heads;
        bool is_hit = false;
        unsigned shared = __ballot_sync(ALL_THREADS, n_heads >= SHARED_DEGREE);
        while (shared) {
            const int owner = __ffs(shared) - 1;
            shared &= shared - 1;
            const node_t* theirs =
                (const node_t*)__shfl_sync(ALL_THREADS, (unsigned long long)heads, owner);
            const int n = __shfl_sync(ALL_THREADS, n_heads, owner);
            const bool is_theirs = has_frontier(map, theirs + t, n - t, WARP);
            const bool is_any = __any_sync(ALL_THREADS, is_theirs);
            if (t == owner) {
                is_hit = is_any;
                n_heads = 0;
            }
        }
        if (n_heads) is_hit = has_frontier(map, heads, n_heads, 1);
        const unsigned news = __ballot_sync(ALL_THREADS, is_hit);
        if (news == 0) continue;
        if (is_hit) {
            s.level[v] = depth;
            arcs += degree;
        }
        if (t == 0) {  // atomic: a hub among these nodes may be claimed at the same time
            atomicOr(&s.seen[word], news);
            atomicOr(&found_map[word], news);
        }
        nodes += __popc(news);
    }
    end_of_level(s, block, depth, nodes, arcs);
}

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

__device__ __forceinline__ void search(
    const offset_t* indptr,   // (n_nodes + 1,)
    const node_t* indices,    // (n_arcs,)
    const offset_t n_nodes,
    const offset_t n_arcs,
    const node_t source,
    const node_t target,      // -1: none
    const offset_t alpha,     // bottom-up while frontier arcs * alpha exceed arcs not yet seen ...
    const offset_t beta,      // ... and frontier nodes * beta exceed n_nodes
    level_t* level,           // (n_nodes,) out
    node_t* queue,            // (n_nodes,) scratch, as the following
    unsigned* maps,           // (4, n_map): seen, three frontiers
    int* segments,            // (2, n_arcs / SEGMENT * 2)
    Control* control)
{
    __shared__ BlockCounts block;
    __shared__ Search s;
    if (threadIdx.x == 0) {
        block = {0, 0};
        const offset_t n_map = (n_nodes + 31) / 32;
        s = {indptr, indices, n_nodes, n_map, level, queue, maps, maps + n_map,
             segments, segments + 2 * (n_arcs / SEGMENT), control};
    }
    __syncthreads();
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = thread; i < 4 * s.n_map; i += n_threads) maps[i] = 0;
    for (offset_t v = thread; v < n_nodes; v += n_threads) {
        level[v] = v == source ? 0 : UNREACHED;
        const offset_t degree = indptr[v + 1] - indptr[v];
        if (degree < SEGMENT) continue;
        const int n_segments = (int)((degree + SEGMENT - 1) / SEGMENT);
        const int first = atomicAdd(&control->n_segments, n_segments);
        for (int i = 0; i < n_segments; ++i) {
            s.segment_node[first + i] = (node_t)v;
            s.segment_index[first + i] = i;
        }
    }
    grid_barrier(&control->arrivals);
    offset_t frontier_arcs = indptr[source + 1] - indptr[source];
    if (thread == 0) {
        s.seen[source >> 5] = 1u << (source & 31);
        queue[0] = source;
        control->tail = 1;
    }
    grid_barrier(&control->arrivals);
    int n_front = 1, begin = 0, end = 1, depth = 1, n_reached = 1;
    offset_t open_arcs = n_arcs - frontier_arcs;
    bool is_bottom_up = false, is_listed = true;
    // Another block may give the target level depth while this one still asks: only what was
    // complete before counts, or some blocks would leave and the others wait for them forever.
    while (n_front && !(target >= 0 && (unsigned)level[target] < (unsigned)depth)) {
        const bool is_wide = n_front * beta > n_nodes;
        is_bottom_up = is_wide && (is_bottom_up || frontier_arcs * alpha > open_arcs);
        for (offset_t i = thread; i < s.n_map; i += n_threads) s.map(depth + 1)[i] = 0;
        if (thread == 0) {
            control->n_found[(depth + 1) & 3] = 0;
            control->found_arcs[(depth + 1) & 3] = 0;
        }
        if (is_bottom_up) {
            if (is_listed) {
                for (offset_t i = begin + thread; i < end; i += n_threads) {
                    atomicOr(&s.map(depth - 1)[queue[i] >> 5], 1u << (queue[i] & 31));
                }
                grid_barrier(&control->arrivals);
            }
            bottom_up(s, block, depth);
            is_listed = false;
            grid_barrier(&control->arrivals);
        } else {
            if (!is_listed) {
                begin = end;
                make_list(s, s.map(depth - 1));
                grid_barrier(&control->arrivals);
                end = begin + n_front;
            }
            // Many warps that append to one queue wait for one another; bits lie apart.
            const bool is_mapped = frontier_arcs > s.n_map;
            if (is_mapped) {
                top_down<true>(s, block, begin, end, depth);
            } else {
                top_down<false>(s, block, begin, end, depth);
            }
            is_listed = !is_mapped;
            grid_barrier(&control->arrivals);
            if (is_listed) {
                begin = end;
                end = begin + control->n_found[depth & 3];
            }
        }
        n_front = control->n_found[depth & 3];
        frontier_arcs = control->found_arcs[depth & 3];
        open_arcs -= frontier_arcs;
        n_reached += n_front;
        ++depth;
    }
    if (thread == 0) {
        control->depth = n_front ? depth - 1 : depth - 2;
        control->n_reached = n_reached;
    }
}

// BLOCKS blocks per multiprocessor are resident: four hide more of the waits for memory, and leave
// each thread fewer registers.
#define BFS_SEARCH(NAME, BLOCKS)                                                                  \
    extern "C" __global__ void __launch_bounds__(COOPERATIVE_BLOCK, BLOCKS) NAME(                 \
        const offset_t* indptr, const node_t* indices, const offset_t n_nodes,                    \
        const offset_t n_arcs, const node_t source, const node_t target, const offset_t alpha,    \
        const offset_t beta, level_t* level, node_t* queue, unsigned* maps, int* segments,        \
        Control* control)                                                                         \
    {                                                                                             \
        search(indptr, indices, n_nodes, n_arcs, source, target, alpha, beta, level, queue, maps, \
               segments, control);                                                                \
    }

#if !ONLY_SOME || WITH_bfs_search
BFS_SEARCH(bfs_search, 1)
#endif
#if !ONLY_SOME || WITH_bfs_search_large
BFS_SEARCH(bfs_search_large, 4)
#endif

// Arcs are sorted, so the first neighbour one level up is the smallest.
extern "C" __global__ void bfs_parents(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    const level_t* __restrict__ level,
    node_t* __restrict__ parent)  // (n_nodes,) out
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; v < n_nodes; v += stride) {
        const level_t depth = level[v];
        node_t found = depth == 0 ? (node_t)v : UNREACHED;
        if (depth > 0) {
            for (offset_t arc = indptr[v]; arc < indptr[v + 1]; ++arc) {
                if (level[indices[arc]] == depth - 1) {
                    found = indices[arc];
                    break;
                }
            }
        }
        parent[v] = found;
    }
}
