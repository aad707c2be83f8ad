// A level top-down, of one graph: from a list of frontier nodes to their neighbours.

// Add the words of a frontier node to the head of one arc per thread (arc < 0: none). Called by all
// threads of a warp together.
template <int W>
__device__ __forceinline__ void push_words(
    const Sweep<W, false>& s, const offset_t arc, const Lanes<W>& words, const int depth,
    lanes_t* found, unsigned* found_map, node_t* list)
{
    node_t v = 0;
    bool is_first = false;
    if (arc >= 0) {
        v = __ldg(&s.indices[arc]);
        Lanes<W> news = without(words, read_lanes<W>(s.seen, v));
        if (any_lane(news)) news = without(news, read_lanes<W>(found, v));
        if (any_lane(news)) {
            for (int w = 0; w < W; ++w) {
                if (news.word[w]) atomicOr(&found[(offset_t)v * W + w], news.word[w]);
            }
            const unsigned bit = 1u << (v & 31);
            is_first = !is_in(found_map, v) && !(atomicOr(&found_map[v >> 5], bit) & bit);
        }
    }
    const unsigned firsts = __ballot_sync(ALL_THREADS, is_first);
    if (firsts == 0) return;
    const int t = thread_of_warp();
    int at = 0;
    if (t == 0) at = atomicAdd(&s.control->n_listed[depth & 3], __popc(firsts));
    at = __shfl_sync(ALL_THREADS, at, 0);
    if (is_first) list[at + __popc(firsts & ((1u << t) - 1))] = v;
}

// From the listed frontier nodes to their neighbours; what they find is settled afterwards.
template <int W>
__device__ __noinline__ void top_down(const Sweep<W, false>& s, const int depth)
{
    const int t = thread_of_warp();
    const lanes_t* frontier = s.frontier(depth - 1);
    const unsigned* map = s.map(depth - 1);
    const node_t* list = s.list(depth - 1);
    lanes_t* found = s.frontier(depth);
    unsigned* found_map = s.map(depth);
    node_t* found_list = s.list(depth);
    const int n_listed = s.control->n_listed[(depth - 1) & 3];
    for (int i = warp_of_grid(); i < s.control->n_segments; i += warps_of_grid()) {
        const node_t u = s.hub_node[s.segment_hub[i]];
        if (!is_in(map, u)) continue;
        const Lanes<W> words = read_lanes<W>(frontier, u);
        const offset_t first = s.indptr[u] + (offset_t)s.segment_index[i] * SEGMENT;
        const offset_t end = s.indptr[u + 1];
        const offset_t stop = first + SEGMENT < end ? first + SEGMENT : end;
        for (offset_t arc = first; arc < stop; arc += WARP) {
            push_words<W>(
                s, arc + t < stop ? arc + t : -1, words, depth, found, found_map, found_list);
        }
    }
    const int each = items_each(n_listed);
    for (int first = warp_of_grid() * each; first < n_listed; first += warps_of_grid() * each) {
        offset_t arc = 0, degree = 0;
        Lanes<W> words;
        for (int w = 0; w < W; ++w) words.word[w] = 0;
        if (t < each && first + t < n_listed) {
            const node_t u = list[first + t];
            arc = s.indptr[u];
            degree = s.indptr[u + 1] - arc;
            words = read_lanes<W>(frontier, u);
        }
        if (degree >= SEGMENT) degree = 0;  // its segments do it
        visit_arcs(arc, (int)degree, [&](const offset_t a, const int owner) {
            Lanes<W> theirs;
            for (int w = 0; w < W; ++w) {
                theirs.word[w] = __shfl_sync(ALL_THREADS, words.word[w], owner);
            }
            push_words<W>(s, a, theirs, depth, found, found_map, found_list);
        });
    }
}

// Mark, count and note what top_down found; clear the frontier of depth - 2 for the next level.
template <int W>
__device__ __noinline__ void settle(
    const Sweep<W, false>& s, BlockCounts<W>& block, const int depth, const bool is_old_listed)
{
    const int t = thread_of_warp();
    const node_t* list = s.list(depth);
    const lanes_t* found = s.frontier(depth);
    const int n_listed = s.control->n_listed[depth & 3];
    int n_found[2 * W];
    for (int k = 0; k < 2 * W; ++k) n_found[k] = 0;
    int nodes = 0;
    offset_t arcs = 0;
    const int each = items_each(n_listed);
    for (int first = warp_of_grid() * each; first < n_listed; first += warps_of_grid() * each) {
        Lanes<W> got;
        for (int w = 0; w < W; ++w) got.word[w] = 0;
        if (t < each && first + t < n_listed) {
            const node_t v = list[first + t];
            got = read_lanes<W>(found, v);
            Lanes<W> seen = read_lanes<W>(s.seen, v);
            for (int w = 0; w < W; ++w) seen.word[w] |= got.word[w];
            write_lanes<W>(s.seen, v, seen);
            note_level(s, v, got, depth);
            add_to_unit<W>(s.units(depth) + (v >> s.unit_shift) * W, got);
            arcs += s.arcs_of(v);
        }
        nodes += min(each, n_listed - first);
        count_lanes<W>(n_found, got);
    }
    lanes_t* old = s.frontier(depth - 2);
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    if (is_old_listed) {
        const node_t* old_list = s.list(depth - 2);
        const int n_old = s.control->n_listed[(depth - 2) & 3];
        for (offset_t i = thread; i < n_old; i += n_threads) {
            for (int w = 0; w < W; ++w) old[(offset_t)old_list[i] * W + w] = 0;
        }
    } else {
        for (offset_t i = thread; i < s.n_nodes * W; i += n_threads) old[i] = 0;
    }
    end_of_level(s, block, depth, n_found, nodes, arcs);
}

// Before the first top-down level after bottom-up ones: list the frontier, clear where to write.
template <int W>
__device__ __noinline__ void make_list(const Sweep<W, false>& s, const int depth)
{
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    lanes_t* found = s.frontier(depth);
    for (offset_t i = thread; i < s.n_nodes * W; i += n_threads) found[i] = 0;
    const int t = thread_of_warp();
    const unsigned* map = s.map(depth - 1);
    node_t* list = s.list(depth - 1);
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
        if (t == WARP - 1) at = atomicAdd(&s.control->n_listed[(depth - 1) & 3], before);
        at = __shfl_sync(ALL_THREADS, at, WARP - 1) + before - __popc(bits);
        for (; bits; bits &= bits - 1) {
            list[at++] = (node_t)((first + t) * 32 + __ffs(bits) - 1);
        }
    }
}
