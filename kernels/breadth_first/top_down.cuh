// A level top-down: from the frontier to its neighbours.

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
