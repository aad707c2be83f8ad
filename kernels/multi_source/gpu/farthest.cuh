// The smallest nodes of the last level of searches that have ended.

// Where a block lists the farthest nodes of a search.
template <int W, bool SHARD>
struct BlockLists {};

template <int W>
struct BlockLists<W, false> {
    unsigned hits[HIT_WORDS];          // units that have a node of the lane, one bit each
    offset_t unit[N_WARPS];            // the first of them
    int n_units;
    int n_found[N_WARPS];
    node_t node[N_WARPS][N_FARTHEST];
};

// Write the nodes of [from, to) that the slot found at level depth, in order, from out[n] on, up to
// N_FARTHEST in all; returns how many there are then. By a warp.
template <int W, bool SHARD>
__device__ __forceinline__ int list_found(
    const Sweep<W, SHARD>& s, const int depth, const int lane, const offset_t from,
    const offset_t to, const offset_t base, node_t* out, int n)
{
    constexpr int AT_ONCE = 8;
    const int t = thread_of_warp();
    const lanes_t* frontier = s.frontier(depth) + lane / 64;
    const unsigned* map = s.map(depth);
    for (offset_t first = from; first < to && n < N_FARTHEST; first += AT_ONCE * WARP) {
        bool is_hit[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const offset_t v = first + i * WARP + t;
            is_hit[i] = v < to && is_in(map, (node_t)v)
                && ((frontier[v * W] >> (lane & 63)) & 1);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const unsigned hits = __ballot_sync(ALL_THREADS, is_hit[i]);
            const int place = n + __popc(hits & ((1u << t) - 1));
            if (is_hit[i] && place < N_FARTHEST) {
                out[place] = (node_t)(first + i * WARP + t - base);
            }
            n += __popc(hits);
        }
    }
    return n;
}

// The smallest nodes at level depth of one slot, in order, by a warp.
template <int W, bool SHARD>
__device__ __forceinline__ void list_farthest(
    const Sweep<W, SHARD>& s, const int slot, const int depth)
{
    constexpr int AT_ONCE = 8;
    const int t = thread_of_warp();
    const int graph = SHARD ? s.slot_graph[slot] : 0;
    const int lane = slot - s.first_slot(graph);
    const offset_t begin = SHARD ? s.node_ptr[graph] : 0;
    const offset_t end = SHARD ? s.node_ptr[graph + 1] : s.n_nodes;
    node_t* out = s.farthest + (offset_t)slot * N_FARTHEST;
    int n = 0;
    if (end - begin <= SMALL_RANGE) {
        n = list_found(s, depth, lane, begin, end, begin, out, n);
    } else {
        const lanes_t* units = s.units(depth) + lane / 64;
        const offset_t last_unit = (end - 1) >> s.unit_shift;
        for (offset_t unit = begin >> s.unit_shift; unit <= last_unit && n < N_FARTHEST;
             unit += AT_ONCE * WARP) {
            bool is_hit[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                const offset_t at = unit + i * WARP + t;
                is_hit[i] = at <= last_unit && ((units[at * W] >> (lane & 63)) & 1);
            }
            for (int i = 0; i < AT_ONCE && n < N_FARTHEST; ++i) {
                unsigned hits = 0;
#pragma unroll
                for (int j = 0; j < AT_ONCE; ++j) {
                    if (j == i) hits = __ballot_sync(ALL_THREADS, is_hit[j]);
                }
                for (; hits && n < N_FARTHEST; hits &= hits - 1) {
                    offset_t from = (unit + i * WARP + __ffs(hits) - 1) << s.unit_shift;
                    const offset_t next = from + ((offset_t)1 << s.unit_shift);
                    const offset_t to = next < end ? next : end;
                    if (from < begin) from = begin;
                    n = list_found(s, depth, lane, from, to, begin, out, n);
                }
            }
        }
    }
    if (t >= n && t < N_FARTHEST) out[t] = -1;
}

// The searches of a shard that found nothing at depth, a warp each: their last level was depth - 1.
template <int W>
__device__ __noinline__ void list_ended(
    const Sweep<W, true>& s, BlockLists<W, true>&, const int depth)
{
    const int* before = s.row(depth - 1);
    const int* now = s.row(depth);
    const offset_t n_warps = warps_of_grid();
    for (offset_t first = warp_of_grid(); first < s.n_slots; first += n_warps * WARP) {
        const offset_t slot = first + thread_of_warp() * n_warps;
        const bool is_ended = slot < s.n_slots && now[slot] == 0 && before[slot] > 0;
        unsigned ended = __ballot_sync(ALL_THREADS, is_ended);
        for (; ended; ended &= ended - 1) {
            list_farthest(s, (int)(first + (__ffs(ended) - 1) * n_warps), depth - 1);
        }
    }
}

// The same of one graph, one block each: all units are looked at at once, then each warp looks
// through one of those that have such a node.
template <int W>
__device__ __noinline__ void list_ended(
    const Sweep<W, false>& s, BlockLists<W, false>& lists, const int depth)
{
    const int t = thread_of_warp(), warp = threadIdx.x / WARP;
    for (int slot = gridDim.x - 1 - blockIdx.x; slot < s.n_slots; slot += gridDim.x) {
        if (s.row(depth)[slot] != 0 || s.row(depth - 1)[slot] == 0) continue;
        const lanes_t* units = s.units(depth - 1) + slot / 64;
        node_t* out = s.farthest + (offset_t)slot * N_FARTHEST;
        int n = 0;
        for (offset_t base = 0; base < s.n_units && n < N_FARTHEST; base += 32 * HIT_WORDS) {
            const offset_t rest = s.n_units - base;
            const int n_units = rest < 32 * HIT_WORDS ? (int)rest : 32 * HIT_WORDS;
            for (int first = warp * WARP; first < n_units; first += COOPERATIVE_BLOCK) {
                const bool is_hit = first + t < n_units
                    && ((units[(base + first + t) * W] >> (slot & 63)) & 1);
                const unsigned hits = __ballot_sync(ALL_THREADS, is_hit);
                if (t == 0) lists.hits[first / WARP] = hits;
            }
            __syncthreads();
            int n_hit = 0;  // of the first warp: units found so far
            for (int word = 0; warp == 0 && word * 32 < n_units && n_hit < N_WARPS; word += WARP) {
                unsigned bits = (word + t) * 32 < n_units ? lists.hits[word + t] : 0;
                int at = __popc(bits);
                for (int offset = 1; offset < WARP; offset *= 2) {
                    const int other = __shfl_up_sync(ALL_THREADS, at, offset);
                    if (t >= offset) at += other;
                }
                const int total = __shfl_sync(ALL_THREADS, at, WARP - 1);
                at += n_hit - __popc(bits);
                for (; bits && at < N_WARPS; bits &= bits - 1, ++at) {
                    lists.unit[at] = base + (word + t) * 32 + __ffs(bits) - 1;
                }
                n_hit += total;
            }
            if (threadIdx.x == 0) lists.n_units = min(n_hit, N_WARPS);
            __syncthreads();
            if (warp < lists.n_units) {
                const offset_t from = lists.unit[warp] << s.unit_shift;
                const offset_t next = from + ((offset_t)1 << s.unit_shift);
                const int found = list_found(
                    s, depth - 1, slot, from, next < s.n_nodes ? next : s.n_nodes, 0,
                    lists.node[warp], 0);
                if (t == 0) lists.n_found[warp] = min(found, N_FARTHEST);
            }
            __syncthreads();
            for (int i = 0; i < lists.n_units; ++i) {  // in order; each unit has at least one
                const int found = lists.n_found[i];
                if (warp == 0 && t < found && n + t < N_FARTHEST) out[n + t] = lists.node[i][t];
                n += found;
            }
            __syncthreads();
        }
        if (warp == 0 && t >= n && t < N_FARTHEST) out[t] = -1;
    }
}
