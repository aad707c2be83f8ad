// A level bottom-up: every node that lacks a lane asks its neighbours.

// OR into got the frontier words of heads[0], heads[stride], ... below n, until no lane is missing.
template <int W>
__device__ __forceinline__ void ask(
    const unsigned* map, const lanes_t* frontier, const node_t* __restrict__ heads, int n,
    const int stride, const Lanes<W>& missing, Lanes<W>& got)
{
    constexpr int AT_ONCE = W <= 2 ? 4 : 2;  // gathers in flight
    for (; n > 0; n -= AT_ONCE * stride, heads += AT_ONCE * stride) {
        node_t head[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) head[i] = i * stride < n ? __ldg(heads + i * stride) : -1;
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (head[i] >= 0 && !is_in(map, head[i])) head[i] = -1;
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (head[i] < 0) continue;
            const Lanes<W> x = read_lanes<W>(frontier, head[i]);
            for (int w = 0; w < W; ++w) got.word[w] |= x.word[w];
        }
        if (any_lane(without(missing, got)) == 0) break;
    }
}

// One segment of a hub's arcs, bottom-up, by a warp; the warp that ends last settles the hub.
template <int W, bool SHARD>
__device__ __noinline__ void ask_for_hub(
    const Sweep<W, SHARD>& s, BlockCounts<W>& block, const int segment, const int depth)
{
    const int t = thread_of_warp();
    const int hub = s.segment_hub[segment];
    const offset_t v = s.hub_node[hub];
    const int graph = SHARD ? s.hub_graph[hub] : 0;
    // Both conditions are the same for all segments: only the last of them changes what they read.
    if (SHARD && s.graph_last[graph] < depth - 1) return;
    const Lanes<W> missing = without(s.used(s.lanes_in(graph)), read_lanes<W>(s.seen, v));
    if (any_lane(missing) == 0) return;
    const offset_t first = s.indptr[v] + (offset_t)s.segment_index[segment] * SEGMENT;
    const offset_t degree = s.arcs_of(v);
    offset_t stop = s.indptr[v + 1];
    if (first + SEGMENT < stop) stop = first + SEGMENT;
    Lanes<W> got;
    for (int w = 0; w < W; ++w) got.word[w] = 0;
    ask<W>(
        s.map(depth - 1), s.frontier(depth - 1), s.indices + first + t, (int)(stop - first) - t,
        WARP, missing, got);
    __syncwarp();
    for (int w = 0; w < W; ++w) got.word[w] = warp_or(got.word[w]) & missing.word[w];
    int left = 0;
    if (t == 0) {
        for (int w = 0; w < W; ++w) {
            if (got.word[w]) atomicOr(&s.hub_got[(offset_t)hub * W + w], got.word[w]);
        }
        __threadfence();
        left = atomicSub(&s.hub_left[hub], 1);
        __threadfence();
    }
    if (__shfl_sync(ALL_THREADS, left, 0) != 1) return;
    // The last one: take what all have found, and make ready for the next level.
    if (t == 0) {
        s.hub_left[hub] = (int)((degree + SEGMENT - 1) / SEGMENT);
        for (int w = 0; w < W; ++w) {
            got.word[w] = atomicExch(&s.hub_got[(offset_t)hub * W + w], 0ull);
        }
    }
    for (int w = 0; w < W; ++w) got.word[w] = __shfl_sync(ALL_THREADS, got.word[w], 0);
    if (any_lane(got) == 0) return;
    if (t == 0) {
        write_lanes<W>(s.frontier(depth), v, got);
        Lanes<W> all = read_lanes<W>(s.seen, v);
        for (int w = 0; w < W; ++w) all.word[w] |= got.word[w];
        write_lanes<W>(s.seen, v, all);
        note_level(s, v, got, depth);
        add_to_map(s.map(depth), v, 1u);
        add_to_unit<W>(s.units(depth) + (v >> s.unit_shift) * W, got);
        if (SHARD) s.graph_last[graph] = depth;
        atomicAdd(&block.n_found, 1);
        atomicAdd(&block.found_arcs, (unsigned long long)degree);
    }
    int* counts = s.row(depth) + s.first_slot(graph);
    for (int k = 0; k < 2 * W; ++k) {
        if ((got.word[k / 2] >> (WARP * (k & 1) + t)) & 1) atomicAdd(&counts[WARP * k + t], 1);
    }
}

// Every node that lacks a lane asks its neighbours.
template <int W, bool SHARD>
__device__ __forceinline__ void bottom_up(
    const Sweep<W, SHARD>& s, BlockCounts<W>& block, const int depth)
{
    const int t = thread_of_warp();
    for (int i = warp_of_grid(); i < s.control->n_segments; i += warps_of_grid()) {
        ask_for_hub(s, block, i, depth);
    }
    const offset_t* __restrict__ indptr = s.indptr;
    const lanes_t* frontier = s.frontier(depth - 1);
    const unsigned* map = s.map(depth - 1);
    lanes_t* all_seen = s.seen;
    int n_found[2 * W];  // of lanes t, 32 + t, ... in the graph at hand
    for (int k = 0; k < 2 * W; ++k) n_found[k] = 0;
    int nodes = 0;
    unsigned arcs = 0;  // hubs are counted apart, so a thread's counts fit
    Lanes<W> used = s.used(s.n_slots);
    int graph_at_hand = -1;
    int* n_taken = &s.control->n_taken[depth & 3];
    int next = 0;
    for (int chunk = warp_of_grid(); chunk < s.n_chunks;
         chunk = __shfl_sync(ALL_THREADS, next, 0)) {
        // The first by number, all others to any free warp: some are listing what has ended in the
        // meantime.
        if (t == 0) next = atomicAdd(n_taken, 1) + warps_of_grid();
        int graph = 0;
        if (SHARD) {
            graph = s.chunk_graph[chunk];
            if (graph < 0 || s.graph_last[graph] < depth - 1) continue;
            if (graph != graph_at_hand) {
                if (graph_at_hand >= 0) {
                    add_counts<W>(
                        s.row(depth) + s.first_slot(graph_at_hand), s.lanes_in(graph_at_hand),
                        n_found);
                }
                graph_at_hand = graph;
                used = s.used(s.lanes_in(graph));
            }
        }
        const unsigned begin = (unsigned)s.begin_of(chunk, graph);
        const unsigned end = (unsigned)s.end_of(begin, graph);
        bool is_open = false;  // some node lacks a lane
        bool is_found = false;
        for (unsigned first = begin; first < end; first += WARP) {
            const unsigned v = first + t;
            const node_t* heads = nullptr;
            int n_heads = 0;
            unsigned degree = 0;
            Lanes<W> missing, got;
            for (int w = 0; w < W; ++w) missing.word[w] = got.word[w] = 0;
            if (v < end) {
                missing = without(used, read_lanes<W>(all_seen, v));
                if (any_lane(missing)) {
                    is_open = true;
                    const offset_t arc = indptr[v];
                    degree = (unsigned)(indptr[v + 1] - arc);
                    heads = s.indices + arc;
                    n_heads = degree < SEGMENT ? (int)degree : 0;  // else its segments do it
                }
            }
            unsigned shared = __ballot_sync(ALL_THREADS, n_heads >= SHARED_DEGREE);
            while (shared) {
                const int owner = __ffs(shared) - 1;
                shared &= shared - 1;
                const node_t* theirs =
                    (const node_t*)__shfl_sync(ALL_THREADS, (unsigned long long)heads, owner);
                const int n = __shfl_sync(ALL_THREADS, n_heads, owner);
                Lanes<W> wanted, part;
                for (int w = 0; w < W; ++w) {
                    wanted.word[w] = __shfl_sync(ALL_THREADS, missing.word[w], owner);
                    part.word[w] = 0;
                }
                ask<W>(map, frontier, theirs + t, n - t, WARP, wanted, part);
                __syncwarp();
                for (int w = 0; w < W; ++w) {
                    const lanes_t all = warp_or(part.word[w]);
                    if (t == owner) got.word[w] = all;
                }
                if (t == owner) n_heads = 0;
            }
            ask<W>(map, frontier, heads, n_heads, 1, missing, got);
            for (int w = 0; w < W; ++w) got.word[w] &= missing.word[w];
            const unsigned news = __ballot_sync(ALL_THREADS, any_lane(got) != 0);
            if (news == 0) continue;
            is_found = true;
            nodes += __popc(news);
            if ((news >> t) & 1) {
                arcs += degree;
                write_lanes<W>(s.frontier(depth), v, got);
                note_level(s, v, got, depth);
                for (int w = 0; w < W; ++w) {  // what it had seen, and what is new
                    missing.word[w] = used.word[w] & ~(missing.word[w] & ~got.word[w]);
                }
                write_lanes<W>(all_seen, v, missing);
            }
            Lanes<W> all;
            for (int w = 0; w < W; ++w) all.word[w] = warp_or(got.word[w]);
            if (t == 0) {
                add_to_map(s.map(depth), first, news);
                add_to_unit<W>(s.units(depth) + (offset_t)(first >> s.unit_shift) * W, all);
                // The 32 nodes of a shard's chunk may lie in two units.
                const unsigned last_unit = (first + WARP - 1) >> s.unit_shift;
                if (SHARD && last_unit != first >> s.unit_shift && last_unit < s.n_units) {
                    add_to_unit<W>(s.units(depth) + (offset_t)last_unit * W, all);
                }
            }
            count_lanes<W>(n_found, got);
        }
        if (SHARD) {
            const bool is_open_still = __any_sync(ALL_THREADS, is_open);
            if (t == 0 && !is_open_still) s.chunk_graph[chunk] = -1;
            if (t == 0 && is_found) s.graph_last[graph] = depth;
        }
    }
    if (SHARD && graph_at_hand >= 0) {
        add_counts<W>(
            s.row(depth) + s.first_slot(graph_at_hand), s.lanes_in(graph_at_hand), n_found);
    }
    end_of_level(s, block, depth, n_found, nodes, arcs);
}
