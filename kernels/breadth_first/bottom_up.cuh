// A level bottom-up.

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
