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

// All zero before the launch.
struct Control {
    unsigned arrivals;       // of grid_barrier
    int n_segments;
    int tail;                // nodes in the queue
    int depth;               // AT_DEPTH; out: the last level that has nodes
    int n_reached;           // AT_N_REACHED; out
    int pad[3];
    int n_found[4];          // nodes found in turn i: n_found[i % 4]
    int found_segments[4];   // of the hubs among them
    offset_t found_arcs[4];  // their arcs
    // Of narrow levels, by turn % 2:
    offset_t narrow_arcs[2];  // arcs of the nodes found, but for the last level
    int narrow_segments[2];   // likewise
    int narrow_depth[2];      // the level after the last
    int narrow_begin[2];      // place in the queue of the last one's nodes
};
static_assert(sizeof(Control) <= 4 * CONTROL);

struct Search {
    const offset_t* indptr;
    const node_t* indices;
    offset_t n_nodes;
    offset_t n_map;          // words of a bitmap
    level_t* level;          // (n_nodes,) out
    node_t* queue;           // (n_nodes,)
    unsigned* seen;          // (n_map,): reached, or without arcs
    unsigned* maps;          // (3, n_map): bitmap of what was found in turn i at i % 3
    node_t* segment_node;
    int* segment_index;
    Control* control;

    __device__ unsigned* map(const int turn) const { return maps + (turn + 3) % 3 * n_map; }
};

// Counts of a block on a level, before they are added to those of all.
struct BlockCounts {
    int n_found;
    int found_segments;
    unsigned long long found_arcs;
};

// The segments that the arcs of a node are cut into, if it is a hub.
__device__ __forceinline__ int segments_of(const offset_t degree)
{
    return degree < SEGMENT ? 0 : (int)((degree + SEGMENT - 1) / SEGMENT);
}

__device__ __forceinline__ void end_of_level(
    const Search& s, BlockCounts& block, const int turn, const int nodes, const offset_t arcs,
    const int segments)
{
    const offset_t all_arcs = warp_sum(arcs);
    const int all_segments = warp_sum_of_ints(segments);
    if (thread_of_warp() == 0 && nodes) {
        atomicAdd(&block.n_found, nodes);
        atomicAdd(&block.found_arcs, (unsigned long long)all_arcs);
        if (all_segments) atomicAdd(&block.found_segments, all_segments);
    }
    __syncthreads();
    if (threadIdx.x == 0 && block.n_found) {
        atomicAdd(&s.control->n_found[turn & 3], block.n_found);
        atomicAdd((unsigned long long*)&s.control->found_arcs[turn & 3], block.found_arcs);
        if (block.found_segments) {
            atomicAdd(&s.control->found_segments[turn & 3], block.found_segments);
        }
        block = {0, 0, 0};
    }
}

// Heads of arcs (arc < 0: none, head -1). No branch: all are read before the first is awaited.
template <int N>
__device__ __forceinline__ void read_heads(
    const Search& s, const offset_t(&arc)[N], node_t(&head)[N])
{
#pragma unroll
    for (int i = 0; i < N; ++i) head[i] = __ldg(&s.indices[arc[i] < 0 ? 0 : arc[i]]);
#pragma unroll
    for (int i = 0; i < N; ++i) {
        if (arc[i] < 0) head[i] = -1;
    }
}

// The bits of words before ``bit`` is set in each, unless ``is_off``: then what was given.
__device__ __forceinline__ unsigned set_bit(
    unsigned* word, const unsigned bit, const bool is_off, unsigned before)
{
    // As assembly: the compiler would branch, and wait for each before the next.
    asm volatile(
        "{ .reg .pred p; setp.eq.u32 p, %3, 0; @p atom.global.or.b32 %0, [%1], %2; }"
        : "+r"(before)
        : "l"(word), "r"(bit), "r"((unsigned)is_off)
        : "memory");
    return before;
}

// Claim heads (-1: none) that are not seen: claims[i] are the threads whose i-th is new. Returns
// how many of the warp's are. A plain read first: most are seen already. A stale one costs an
// atomic, never a wrong level.
template <int N>
__device__ __forceinline__ int claim(
    const Search& s, const node_t(&head)[N], unsigned(&claims)[N])
{
    unsigned word[N];
#pragma unroll
    for (int i = 0; i < N; ++i) word[i] = s.seen[(head[i] < 0 ? 0 : head[i]) >> 5];
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const unsigned bit = 1u << (head[i] & 31);
        const bool is_off = head[i] < 0 || (word[i] & bit);
        word[i] = set_bit(&s.seen[(head[i] < 0 ? 0 : head[i]) >> 5], bit, is_off, ~0u);
    }
    int n_claims = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        claims[i] = __ballot_sync(ALL_THREADS, !((word[i] >> (head[i] & 31)) & 1));
        n_claims += __popc(claims[i]);
    }
    return n_claims;
}

// The claimed get a level; their arcs and segments are added.
template <int N>
__device__ __forceinline__ void settle_claimed(
    const Search& s, const node_t(&head)[N], const unsigned(&claims)[N], const level_t depth,
    offset_t& arcs, int& segments)
{
    const int t = thread_of_warp();
    offset_t degree[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const bool is_claimed = (claims[i] >> t) & 1;
        const node_t v = is_claimed ? head[i] : 0;
        degree[i] = s.indptr[v + 1] - s.indptr[v];
        if (is_claimed) s.level[v] = depth;
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
        if (!((claims[i] >> t) & 1)) continue;
        arcs += degree[i];
        segments += segments_of(degree[i]);
    }
}

// Call visit(u, first, n) for the n arcs from ``first`` on of each segment of the hubs that are
// wanted. All threads of a warp call it together; each asks for another segment whether it is.
template <typename Wanted, typename Visit>
__device__ __forceinline__ void visit_segments(const Search& s, Wanted is_wanted, Visit visit)
{
    const int t = thread_of_warp();
    const int n_segments = s.control->n_segments;
    const int stride = warps_of_grid();
    // Segments of one hub lie side by side: a warp takes them from afar, so that all share a hub.
    for (int base = warp_of_grid(); base < n_segments; base += stride * WARP) {
        const offset_t i = base + (offset_t)stride * t;
        node_t mine = -1;
        if (i < n_segments) {
            mine = s.segment_node[i];
            if (!is_wanted(mine)) mine = -1;
        }
        unsigned wanted = __ballot_sync(ALL_THREADS, mine >= 0);
        while (wanted) {
            const int owner = __ffs(wanted) - 1;
            wanted &= wanted - 1;
            const node_t u = __shfl_sync(ALL_THREADS, mine, owner);
            const int index = s.segment_index[base + (offset_t)stride * owner];
            const offset_t first = s.indptr[u] + (offset_t)index * SEGMENT;
            const offset_t last = s.indptr[u + 1];
            visit(u, first, (int)((first + SEGMENT < last ? first + SEGMENT : last) - first));
        }
    }
}

// The same for the hubs of a short list, queue[begin:end], that every warp reads.
template <typename Visit>
__device__ __forceinline__ void visit_hubs(
    const Search& s, const int begin, const int end, Visit visit)
{
    const int t = thread_of_warp();
    const int stride = warps_of_grid();
    int skip = warp_of_grid();  // segments up to this warp's next one
    for (int base = begin; base < end; base += WARP) {
        node_t mine = -1;
        int n_segments = 0;
        if (base + t < end) {
            mine = s.queue[base + t];
            n_segments = segments_of(s.indptr[mine + 1] - s.indptr[mine]);
        }
        unsigned hubs = __ballot_sync(ALL_THREADS, n_segments > 0);
        while (hubs) {
            const int owner = __ffs(hubs) - 1;
            hubs &= hubs - 1;
            const node_t u = __shfl_sync(ALL_THREADS, mine, owner);
            const int n = __shfl_sync(ALL_THREADS, n_segments, owner);
            for (; skip < n; skip += stride) {
                const offset_t first = s.indptr[u] + (offset_t)skip * SEGMENT;
                const offset_t last = s.indptr[u + 1];
                visit(u, first, (int)((first + SEGMENT < last ? first + SEGMENT : last) - first));
            }
            skip -= n;
        }
    }
}

constexpr int ARCS_AT_ONCE = 4;  // of a thread, from the frontier to its neighbours

// Call visit(arcs) for the arcs of the frontier, queue[begin:end], ARCS_AT_ONCE of each thread
// (-1: none), all threads of a warp together [2].
template <typename Visit>
__device__ __forceinline__ void visit_frontier(
    const Search& s, const int begin, const int end, const bool has_hubs, const level_t depth,
    Visit visit)
{
    const int t = thread_of_warp();
    const int n = end - begin;
    const auto visit_segment = [&](node_t, const offset_t first, const int n_arcs) {
        for (int base = t; base - t < n_arcs; base += ARCS_AT_ONCE * WARP) {
            offset_t arcs[ARCS_AT_ONCE];
#pragma unroll
            for (int i = 0; i < ARCS_AT_ONCE; ++i) {
                arcs[i] = base + i * WARP < n_arcs ? first + base + i * WARP : -1;
            }
            visit(arcs);
        }
    };
    if (has_hubs && (offset_t)n * warps_of_grid() < s.control->n_segments) {
        visit_hubs(s, begin, end, visit_segment);
    } else if (has_hubs) {
        visit_segments(s, [&](const node_t u) { return s.level[u] == depth - 1; }, visit_segment);
    }
    const int each = items_each(n);
    for (int first = warp_of_grid() * each; first < n; first += warps_of_grid() * each) {
        offset_t arc = 0, degree = 0;
        if (t < each && first + t < n) {
            const node_t u = s.queue[begin + first + t];
            arc = s.indptr[u];
            degree = s.indptr[u + 1] - arc;
        }
        if (degree >= SEGMENT) degree = 0;  // its segments do it
        visit_many_arcs<ARCS_AT_ONCE>(arc, (int)degree, visit);
    }
}

// From the frontier to its neighbours; those that are new get a level and a place in the queue.
__device__ __noinline__ void top_down(
    const Search& s, BlockCounts& block, const int begin, const int end, const bool has_hubs,
    const level_t depth, const int turn)
{
    const int t = thread_of_warp();
    int nodes = 0, segments = 0;
    offset_t arcs = 0;
    visit_frontier(s, begin, end, has_hubs, depth, [&](const offset_t(&arc)[ARCS_AT_ONCE]) {
        node_t head[ARCS_AT_ONCE];
        unsigned claims[ARCS_AT_ONCE];
        read_heads(s, arc, head);
        const int n_claims = claim(s, head, claims);
        if (n_claims == 0) return;
        nodes += n_claims;
        int place = 0;
        if (t == 0) place = atomicAdd(&s.control->tail, n_claims);
        settle_claimed(s, head, claims, depth, arcs, segments);
        place = __shfl_sync(ALL_THREADS, place, 0);
#pragma unroll
        for (int i = 0; i < ARCS_AT_ONCE; ++i) {
            if ((claims[i] >> t) & 1) s.queue[place + __popc(claims[i] & ((1u << t) - 1))] = head[i];
            place += __popc(claims[i]);
        }
    });
    end_of_level(s, block, turn, nodes, arcs, segments);
}

// The same of a frontier with many arcs: heads are only marked, seen or not, and settle gives
// levels to the new ones, node by node in order.
__device__ __noinline__ void mark(
    const Search& s, const int begin, const int end, const bool has_hubs, const level_t depth,
    unsigned* found_map)
{
    visit_frontier(s, begin, end, has_hubs, depth, [&](const offset_t(&arc)[ARCS_AT_ONCE]) {
        node_t head[ARCS_AT_ONCE];
        unsigned word[ARCS_AT_ONCE];
        read_heads(s, arc, head);
#pragma unroll
        for (int i = 0; i < ARCS_AT_ONCE; ++i) {
            word[i] = found_map[(head[i] < 0 ? 0 : head[i]) >> 5];
        }
        // A stale read of a hub's bit would cost an atomic for each of its arcs, all on one word.
#pragma unroll
        for (int i = 0; i < ARCS_AT_ONCE; ++i) {
            const bool is_off = head[i] < 0 || ((word[i] >> (head[i] & 31)) & 1);
            if (!is_off) word[i] = __ldcg(&found_map[head[i] >> 5]);
        }
#pragma unroll
        for (int i = 0; i < ARCS_AT_ONCE; ++i) {
            const unsigned bit = 1u << (head[i] & 31);
            if (head[i] >= 0 && !(word[i] & bit)) atomicOr(&found_map[head[i] >> 5], bit);
        }
    });
}

// The new ones among the nodes of the map are reached, at level ``depth``; others leave it.
__device__ __noinline__ void settle(
    const Search& s, BlockCounts& block, unsigned* found_map, const level_t depth, const int turn)
{
    constexpr int AT_ONCE = 4;
    const int t = thread_of_warp();
    int nodes = 0, segments = 0;
    offset_t arcs = 0;
    for (offset_t first = (offset_t)warp_of_grid() * WARP; first < s.n_map;
         first += (offset_t)warps_of_grid() * WARP) {
        unsigned bits = 0;
        if (first + t < s.n_map) {
            const unsigned marked = found_map[first + t];
            const unsigned seen = s.seen[first + t];
            bits = marked & ~seen;
            if (bits != marked) found_map[first + t] = bits;
            if (bits) s.seen[first + t] = seen | bits;
        }
        unsigned some = __ballot_sync(ALL_THREADS, bits != 0);
        nodes += warp_sum_of_ints(__popc(bits));
        while (some) {
            offset_t degree[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                const int owner = some ? __ffs(some) - 1 : 0;
                const unsigned word = __shfl_sync(ALL_THREADS, bits, owner);
                const bool is_new = some && ((word >> t) & 1);
                const offset_t v = is_new ? (first + owner) * 32 + t : 0;
                degree[i] = s.indptr[v + 1] - s.indptr[v];
                if (is_new) s.level[v] = depth;
                else degree[i] = 0;
                some &= some - 1;
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                arcs += degree[i];
                segments += segments_of(degree[i]);
            }
        }
    }
    end_of_level(s, block, turn, nodes, arcs, segments);
}

// Every node not yet seen asks its neighbours.
__device__ __noinline__ void bottom_up(
    const Search& s, BlockCounts& block, const bool has_hubs, const level_t depth, const int turn)
{
    const int t = thread_of_warp();
    const unsigned* map = s.map(turn - 1);
    unsigned* found_map = s.map(turn);
    int nodes = 0, segments = 0;
    offset_t arcs = 0;
    const auto ask = [&](const node_t v, const offset_t first, const int n) {
        const bool is_hit = has_frontier(map, s.indices + first + t, n - t, WARP);
        if (!__any_sync(ALL_THREADS, is_hit)) return;
        bool is_claimed = false;
        if (t == 0) {
            const unsigned bit = 1u << (v & 31);
            is_claimed = !(atomicOr(&s.seen[v >> 5], bit) & bit);  // several segments may hit
            if (is_claimed) {
                atomicOr(&found_map[v >> 5], bit);
                s.level[v] = depth;
                const offset_t degree = s.indptr[v + 1] - s.indptr[v];
                arcs += degree;
                segments += segments_of(degree);
            }
        }
        nodes += __popc(__ballot_sync(ALL_THREADS, is_claimed));
    };
    if (has_hubs) visit_segments(s, [&](const node_t v) { return !is_in(s.seen, v); }, ask);
    for (offset_t word = warp_of_grid(); word < s.n_map; word += warps_of_grid()) {
        const unsigned seen = s.seen[word];
        if (seen == ~0u) continue;
        const offset_t v = word * 32 + t;
        const node_t* heads = nullptr;
        int n_heads = 0;
        if (!((seen >> t) & 1)) {
            const offset_t arc = s.indptr[v];
            const offset_t degree = s.indptr[v + 1] - arc;
            heads = s.indices + arc;
            n_heads = degree < SEGMENT ? (int)degree : 0;  // else its segments do it
        }
        const int degree = n_heads;
        // First its own few: most nodes stop there, and need no warp.
        bool is_hit = n_heads && is_in(map, __ldg(heads));
        if (n_heads > 1 && !is_hit) {
            is_hit = has_frontier(map, heads + 1, (n_heads < ASK_ALONE ? n_heads : ASK_ALONE) - 1, 1);
        }
        n_heads = is_hit || n_heads <= ASK_ALONE ? 0 : n_heads - ASK_ALONE;
        heads += ASK_ALONE;
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
    end_of_level(s, block, turn, nodes, arcs, segments);
}

// Levels of few nodes, all by one block of BLOCK threads: its barrier takes a tenth of the time of
// the grid's. Each thread has NODES nodes of the frontier.
template <int BLOCK, int NODES>
struct Narrow {
    static constexpr int ROOM = NODES * BLOCK;
    node_t nodes[2][ROOM];
    int n_found[3];
    int segments[2];
    unsigned long long arcs[2];
};

__device__ __forceinline__ bool is_narrow(const int n, const offset_t arcs, const int room)
{
    return n <= room && arcs <= NARROW_DEGREE * (offset_t)n + SEGMENT;
}

// Claim the heads of the arcs (-1: none) of all threads and append them to the list of the block;
// what does not fit goes to the queue.
template <int ROOM, int N>
__device__ __forceinline__ void claim_narrow(
    const Search& s, const offset_t(&arc)[N], node_t* found, int* n_found, const int end)
{
    const int t = thread_of_warp();
    node_t head[N];
    unsigned claims[N];
    read_heads(s, arc, head);
    const int n_claims = claim(s, head, claims);
    if (n_claims == 0) return;
    int place = 0;
    if (t == 0) place = atomicAdd(n_found, n_claims);
    place = __shfl_sync(ALL_THREADS, place, 0);
#pragma unroll
    for (int i = 0; i < N; ++i) {
        if ((claims[i] >> t) & 1) {
            const int own = place + __popc(claims[i] & ((1u << t) - 1));
            if (own < ROOM) {
                found[own] = head[i];
            } else {
                s.queue[end + own] = head[i];
            }
        }
        place += __popc(claims[i]);
    }
}

// From queue[begin:end] as many levels as are narrow, top-down, at least one.
template <int BLOCK, int NODES>
__device__ __noinline__ void narrow_levels(
    const Search& s, Narrow<BLOCK, NODES>& block, int begin, int end, level_t depth, const node_t target,
    const int turn)
{
    constexpr int EACH = 4, ROOM = Narrow<BLOCK, NODES>::ROOM;
    const int t = thread_of_warp();
    int n = end - begin;
    for (int i = threadIdx.x; i < n; i += BLOCK) block.nodes[0][i] = s.queue[begin + i];
    if (threadIdx.x < 3) block.n_found[threadIdx.x] = 0;
    if (threadIdx.x < 2) block.segments[threadIdx.x] = block.arcs[threadIdx.x] = 0;
    offset_t all_arcs = 0, arcs = 0;  // of this thread's nodes: of all found, of the last level
    int all_segments = 0, segments = 0;
    __syncthreads();
    for (int at = 0;; ++at) {
        const node_t* nodes = block.nodes[at & 1];
        node_t* found = block.nodes[(at + 1) & 1];
        if (n > ROOM || n == 0) {
            for (int i = threadIdx.x; i < n; i += BLOCK) {
                const node_t u = i < ROOM ? nodes[i] : s.queue[begin + i];
                const offset_t degree = s.indptr[u + 1] - s.indptr[u];
                arcs += degree;
                segments += segments_of(degree);
                s.level[u] = depth - 1;
                s.queue[begin + i] = u;
            }
            break;
        }
        offset_t first[NODES];
        int degree[NODES];
        bool is_last = false;
#pragma unroll
        for (int k = 0; k < NODES; ++k) {
            const int i = threadIdx.x + k * BLOCK;
            const node_t u = i < n ? nodes[i] : 0;
            first[k] = s.indptr[u];
            const offset_t last = s.indptr[u + 1];
            degree[k] = i < n ? (int)(last - first[k]) : 0;
            if (i >= n || at == 0) continue;  // what the first level has was counted before
            s.level[u] = depth - 1;
            s.queue[begin + i] = u;
            is_last |= u == target || degree[k] > SHARED_DEGREE;
        }
        if (at > 0) {
#pragma unroll
            for (int k = 0; k < NODES; ++k) {
                arcs += degree[k];
                segments += segments_of(degree[k]);
            }
        }
        if (threadIdx.x == 0) block.n_found[(at + 1) % 3] = 0;
        if (__syncthreads_or(is_last)) break;
        all_arcs += arcs;
        all_segments += segments;
        arcs = segments = 0;
        int* n_found = &block.n_found[at % 3];
        int most = 0;
#pragma unroll
        for (int k = 0; k < NODES; ++k) {
            unsigned shared = __ballot_sync(ALL_THREADS, degree[k] > 2 * NARROW_DEGREE);
            while (shared) {
                const int owner = __ffs(shared) - 1;
                shared &= shared - 1;
                const offset_t theirs = __shfl_sync(ALL_THREADS, first[k], owner);
                const int m = __shfl_sync(ALL_THREADS, degree[k], owner);
                if (t == owner) degree[k] = 0;
                for (int j = t; j - t < m; j += EACH * WARP) {
                    offset_t arc[EACH];
#pragma unroll
                    for (int i = 0; i < EACH; ++i) {
                        arc[i] = j + i * WARP < m ? theirs + j + i * WARP : -1;
                    }
                    claim_narrow<ROOM>(s, arc, found, n_found, end);
                }
            }
            most = degree[k] > most ? degree[k] : most;
        }
        for (int j = 0; __any_sync(ALL_THREADS, j < most); j += EACH) {
            if (n <= BLOCK) {
                offset_t arc[EACH];
#pragma unroll
                for (int i = 0; i < EACH; ++i) arc[i] = j + i < degree[0] ? first[0] + j + i : -1;
                claim_narrow<ROOM>(s, arc, found, n_found, end);
            } else {
                offset_t arc[NODES * EACH];
#pragma unroll
                for (int i = 0; i < NODES * EACH; ++i) {
                    const int of_node = j + i % EACH;
                    arc[i] = of_node < degree[i / EACH] ? first[i / EACH] + of_node : -1;
                }
                claim_narrow<ROOM>(s, arc, found, n_found, end);
            }
        }
        __syncthreads();
        n = *n_found;
        begin = end;
        end += n;
        ++depth;
    }
    all_arcs = warp_sum(all_arcs);
    arcs = warp_sum(arcs);
    all_segments = warp_sum_of_ints(all_segments);
    segments = warp_sum_of_ints(segments);
    if (t == 0) {
        atomicAdd(&block.arcs[0], (unsigned long long)all_arcs);
        atomicAdd(&block.arcs[1], (unsigned long long)arcs);
        atomicAdd(&block.segments[0], all_segments);
        atomicAdd(&block.segments[1], segments);
    }
    __syncthreads();
    if (threadIdx.x) return;
    Control& control = *s.control;
    control.tail = end;
    control.n_found[turn & 3] = n;
    control.found_arcs[turn & 3] = (offset_t)block.arcs[1];
    control.found_segments[turn & 3] = block.segments[1];
    control.narrow_arcs[turn & 1] = (offset_t)block.arcs[0];
    control.narrow_segments[turn & 1] = block.segments[0];
    control.narrow_depth[turn & 1] = depth;
    control.narrow_begin[turn & 1] = begin;
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
    level_t* level,           // (n_nodes,) out
    node_t* queue,            // (n_nodes,) scratch, as the following
    unsigned* maps,           // (4, n_map): seen, three frontiers
    int* segments,            // (2, n_arcs / SEGMENT * 2)
    Control* control)
{
    __shared__ BlockCounts block;
    __shared__ Search s;
    __shared__ Narrow<BLOCK, NODES> narrow;
    if (threadIdx.x == 0) {
        block = {0, 0, 0};
        const offset_t n_map = (n_nodes + 31) / 32;
        s = {indptr, indices, n_nodes, n_map, level, queue, maps, maps + n_map,
             segments, segments + 2 * (n_arcs / SEGMENT), control};
    }
    __syncthreads();
    const int t = thread_of_warp();
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = thread; i < 3 * s.n_map; i += n_threads) s.maps[i] = 0;
    constexpr int AT_ONCE = 4;
    for (offset_t at = thread - t; at < n_nodes; at += AT_ONCE * n_threads) {
        offset_t degree[AT_ONCE];
        int n_segments[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const offset_t v = at + k * n_threads + t;
            const offset_t safe = v < n_nodes ? v : 0;
            degree[k] = indptr[safe + 1] - indptr[safe];
            if (v < n_nodes) level[v] = v == source ? 0 : UNREACHED;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const offset_t v = at + k * n_threads + t;
            if (v >= n_nodes) degree[k] = 0;
            n_segments[k] = segments_of(degree[k]);
            const unsigned is_seen = __ballot_sync(ALL_THREADS, degree[k] == 0 || v == source);
            if (t == 0 && v < n_nodes) s.seen[v >> 5] = is_seen;
        }
        list_segments(s, at, n_threads, n_segments);
    }
    if (thread == 0) {
        queue[0] = source;
        control->tail = 1;
    }
    grid_barrier(&control->arrivals);
    offset_t frontier_arcs = indptr[source + 1] - indptr[source];
    int n_front = 1, begin = 0, end = 1, depth = 1, n_reached = 1;
    offset_t open_arcs = n_arcs - frontier_arcs;
    int frontier_segments = segments_of(frontier_arcs);
    int open_segments = control->n_segments - frontier_segments;
    bool is_bottom_up = false, is_listed = true, is_mapped = false;
    // A turn is a level, or narrow ones in a row. Another block may give the target level depth
    // while this one still asks: only what was complete before counts, or some blocks would leave
    // and the others wait for them forever.
    for (int turn = 1; n_front && !(target >= 0 && (unsigned)level[target] < (unsigned)depth);
         ++turn) {
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
                    narrow_levels(s, narrow, begin, end, depth, target, turn);
                }
                grid_barrier(&control->arrivals, true);
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
        const offset_t beta, level_t* level, node_t* queue, unsigned* maps, int* segments,        \
        Control* control)                                                                         \
    {                                                                                             \
        search<BLOCK, NODES>(indptr, indices, n_nodes, n_arcs, source, target, alpha, beta,       \
                             level, queue, maps, segments, control);                              \
    }

#if !ONLY_SOME || WITH_bfs_search
BFS_SEARCH(bfs_search, SMALL_BLOCK, 1, 2)
#endif
#if !ONLY_SOME || WITH_bfs_search_large
BFS_SEARCH(bfs_search_large, LARGE_BLOCK, 2, 2)
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
