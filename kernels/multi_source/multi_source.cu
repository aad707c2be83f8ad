// Bit-parallel searches: bit l of a node's words is lane l, and lane l carries the l-th source of
// every graph of a shard. No search leaves its graph, so one sweep serves them all.
//
// Input    CSR arcs of a symmetric shard, cut into chunks: runs of nodes of one graph with about
//          equal numbers of arcs. A slot is one (graph, lane); those of graph g stand together,
//          from slot_ptr[g] on.
// Output   counts[slot] of each level; last[v]: lanes that found v on their last level; levels.
// Order    Every node decides for itself from the frontier of the level before (bottom-up), so
//          no output depends on the order of threads.
// Launch   1-D grid of whole warps; a warp takes chunk after chunk. No shared memory.
// Atomics  atomicAdd of a warp's counts, once a chunk and lane.
//
// [1] M. Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014.

struct NoLevel {};

__device__ __forceinline__ void msbfs_record(NoLevel*, offset_t, level_t) {}
template <typename L>
__device__ __forceinline__ void msbfs_record(L* level, offset_t at, level_t depth)
{
    level[at] = (L)depth;
}

// The lanes that a graph with n_lanes sources uses, of word w.
__device__ __forceinline__ lanes_t msbfs_used(const int n_lanes, const int w)
{
    const int used = n_lanes - 64 * w;
    return used <= 0 ? 0 : used >= 64 ? ~0ull : (1ull << used) - 1;
}

// One level. W: words a node, 64 lanes each.
template <int W, typename L>
__device__ __forceinline__ void msbfs_step(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const node_t* __restrict__ chunk_begin,  // (n_chunks,) first node of each chunk
    const node_t* __restrict__ chunk_end,    // (n_chunks,) one past its last node
    const int* __restrict__ chunk_graph,     // (n_chunks,)
    const int n_chunks,
    const int* __restrict__ slot_ptr,        // (n_graphs + 1,)
    const lanes_t* __restrict__ frontier,    // (n_nodes, W) found at depth - 1
    lanes_t* __restrict__ found,             // (n_nodes, W) in: found at depth - 2; out: at depth
    lanes_t* __restrict__ seen,              // (n_nodes, W) in and out
    lanes_t* __restrict__ last,              // (n_nodes, W) in and out
    const int* __restrict__ counts_2,        // (n_slots,) counts of depth - 2
    const int* __restrict__ counts_1,        // (n_slots,) counts of depth - 1
    int* __restrict__ counts,                // (n_slots,) counts of depth, zero on entry
    level_t* __restrict__ deepest,           // (1,) out: depth, if any node was found
    const level_t depth,
    L* __restrict__ level,                   // (n_nodes, level_stride), from the first lane on
    const offset_t level_stride)
{
    const int t = thread_of_warp();
    const int n_warps = gridDim.x * (blockDim.x / WARP);
    for (int chunk = (blockIdx.x * blockDim.x + threadIdx.x) / WARP; chunk < n_chunks;
         chunk += n_warps) {
        const int slot = slot_ptr[chunk_graph[chunk]];
        const int n_lanes = slot_ptr[chunk_graph[chunk] + 1] - slot;
        lanes_t used[W], ended[W];  // ended: lanes whose last level was depth - 2
        int n_found[2 * W];         // of lanes t, 32 + t, 64 + t, 96 + t
        for (int w = 0; w < W; ++w) {
            used[w] = msbfs_used(n_lanes, w);
            ended[w] = 0;
        }
        for (int k = 0; k < 2 * W; ++k) {
            const int lane = WARP * k + t;
            const bool is_over = lane < n_lanes && counts_2[slot + lane] > 0
                && counts_1[slot + lane] == 0;
            ended[k / 2] |= (lanes_t)__ballot_sync(ALL_THREADS, is_over) << (WARP * (k & 1));
            n_found[k] = 0;
        }
        bool any = false;
        const offset_t end = chunk_end[chunk];
        for (offset_t first = chunk_begin[chunk]; first < end; first += WARP) {
            const offset_t v = first + t;
            offset_t arc = 0, stop = 0;
            lanes_t missing[W], got[W];
            for (int w = 0; w < W; ++w) missing[w] = got[w] = 0;
            if (v < end) {
                lanes_t open = 0;
                for (int w = 0; w < W; ++w) {
                    // Only this thread touches found[v], so what is there is still depth - 2.
                    const lanes_t final = found[v * W + w] & ended[w];
                    if (final) last[v * W + w] |= final;
                    missing[w] = used[w] & ~seen[v * W + w];
                    open |= missing[w];
                }
                if (open) {
                    arc = indptr[v];
                    stop = indptr[v + 1];
                }
            }
            unsigned shared = __ballot_sync(ALL_THREADS, stop - arc >= SHARED_DEGREE);
            while (shared) {
                const int owner = __ffs(shared) - 1;
                shared &= shared - 1;
                const offset_t from = __shfl_sync(ALL_THREADS, arc, owner);
                const offset_t to = __shfl_sync(ALL_THREADS, stop, owner);
                lanes_t part[W], wanted[W];
                for (int w = 0; w < W; ++w) {
                    part[w] = 0;
                    wanted[w] = __shfl_sync(ALL_THREADS, missing[w], owner);
                }
                int round = 0;
                for (offset_t a = from; a < to; a += WARP, ++round) {
                    if (a + t < to) {
                        const offset_t at = (offset_t)indices[a + t] * W;
                        for (int w = 0; w < W; ++w) part[w] |= frontier[at + w];
                    }
                    if (round % 16 == 15) {  // a vote now and then: are all lanes there?
                        lanes_t lacking = 0;
                        for (int w = 0; w < W; ++w) {
                            part[w] = warp_or(part[w]);
                            lacking |= wanted[w] & ~part[w];
                        }
                        if (lacking == 0) break;
                    }
                }
                for (int w = 0; w < W; ++w) {
                    const lanes_t all = warp_or(part[w]);
                    if (t == owner) got[w] = all;
                }
                if (t == owner) arc = stop;
            }
            for (; arc < stop; ++arc) {
                const offset_t at = (offset_t)indices[arc] * W;
                lanes_t lacking = 0;
                for (int w = 0; w < W; ++w) {
                    got[w] |= frontier[at + w];
                    lacking |= missing[w] & ~got[w];
                }
                if (lacking == 0) break;
            }
            lanes_t news = 0;
            for (int w = 0; w < W; ++w) {
                got[w] &= missing[w];
                news |= got[w];
                if (v < end) found[v * W + w] = got[w];
            }
            if (news) {
                for (int w = 0; w < W; ++w) seen[v * W + w] |= got[w];
            }
            // Each thread counts its own lanes over the nodes of the warp.
            unsigned active = __ballot_sync(ALL_THREADS, news != 0);
            any = any || active;
            while (active) {
                const int owner = __ffs(active) - 1;
                active &= active - 1;
                for (int w = 0; w < W; ++w) {
                    const lanes_t lanes = __shfl_sync(ALL_THREADS, got[w], owner);
                    for (int half = 0; half < 2; ++half) {
                        if ((lanes >> (WARP * half + t)) & 1) {
                            ++n_found[2 * w + half];
                            const int lane = 64 * w + WARP * half + t;
                            msbfs_record(level, (first + owner) * level_stride + lane, depth);
                        }
                    }
                }
            }
        }
        for (int k = 0; k < 2 * W; ++k) {
            if (n_found[k]) atomicAdd(&counts[slot + WARP * k + t], n_found[k]);
        }
        if (any && t == 0) *deepest = depth;  // every writer writes the same number
    }
}

#define MSBFS_STEP(NAME, W, L)                                                                    \
    extern "C" __global__ void NAME(                                                              \
        const offset_t* indptr, const node_t* indices, const node_t* chunk_begin,                 \
        const node_t* chunk_end, const int* chunk_graph, const int n_chunks,                      \
        const int* slot_ptr, const lanes_t* frontier, lanes_t* found, lanes_t* seen,              \
        lanes_t* last, const int* counts_2, const int* counts_1, int* counts, level_t* deepest,   \
        const level_t depth, L* level, const offset_t level_stride)                               \
    {                                                                                             \
        msbfs_step<W, L>(                                                                         \
            indptr, indices, chunk_begin, chunk_end, chunk_graph, n_chunks, slot_ptr, frontier,   \
            found, seen, last, counts_2, counts_1, counts, deepest, depth, level, level_stride);  \
    }

MSBFS_STEP(msbfs_step_1, 1, NoLevel)
MSBFS_STEP(msbfs_step_1_uint8, 1, unsigned char)
MSBFS_STEP(msbfs_step_1_uint16, 1, unsigned short)
MSBFS_STEP(msbfs_step_1_int32, 1, int)
MSBFS_STEP(msbfs_step_2, 2, NoLevel)
MSBFS_STEP(msbfs_step_2_uint8, 2, unsigned char)
MSBFS_STEP(msbfs_step_2_uint16, 2, unsigned short)
MSBFS_STEP(msbfs_step_2_int32, 2, int)

// Put each slot's source into the frontier. One thread a slot.
extern "C" __global__ void msbfs_seed(
    const node_t* __restrict__ slot_node,  // (n_slots,) the source, in the shard's node ids
    const int* __restrict__ slot_lane,     // (n_slots,)
    const offset_t n_slots,
    const int n_words,                     // W
    lanes_t* frontier,
    lanes_t* seen)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t slot = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; slot < n_slots; slot += stride) {
        const offset_t at = (offset_t)slot_node[slot] * n_words + slot_lane[slot] / 64;
        const lanes_t bit = 1ull << (slot_lane[slot] % 64);
        atomicOr(&frontier[at], bit);  // several sources may be one node
        atomicOr(&seen[at], bit);
    }
}

// How many nodes of each chunk each lane found on its last level.
extern "C" __global__ void msbfs_count_last(
    const node_t* __restrict__ chunk_begin,
    const node_t* __restrict__ chunk_end,
    const int n_chunks,
    const int n_words,
    const lanes_t* __restrict__ last,  // (n_nodes, n_words)
    int* __restrict__ n_last)          // (n_chunks, 64 * n_words) out
{
    const int t = thread_of_warp();
    const int n_warps = gridDim.x * (blockDim.x / WARP);
    for (int chunk = (blockIdx.x * blockDim.x + threadIdx.x) / WARP; chunk < n_chunks;
         chunk += n_warps) {
        for (int w = 0; w < n_words; ++w) {
            int low = 0, high = 0;  // of lanes t and 32 + t
            for (offset_t first = chunk_begin[chunk]; first < chunk_end[chunk]; first += WARP) {
                const lanes_t own =
                    first + t < chunk_end[chunk] ? last[(first + t) * n_words + w] : 0;
                unsigned active = __ballot_sync(ALL_THREADS, own != 0);
                while (active) {
                    const lanes_t lanes = __shfl_sync(ALL_THREADS, own, __ffs(active) - 1);
                    active &= active - 1;
                    low += (lanes >> t) & 1;
                    high += (lanes >> (WARP + t)) & 1;
                }
            }
            const offset_t at = ((offset_t)chunk * n_words + w) * 64 + t;
            n_last[at] = low;
            n_last[at + WARP] = high;
        }
    }
}

// Write the smallest nodes of each lane's last level: the first ones, as chunks are in order.
extern "C" __global__ void msbfs_list_last(
    const node_t* __restrict__ chunk_begin,
    const node_t* __restrict__ chunk_end,
    const int* __restrict__ chunk_graph,
    const int n_chunks,
    const int* __restrict__ slot_ptr,
    const offset_t* __restrict__ node_ptr,  // (n_graphs + 1,)
    const int n_words,
    const lanes_t* __restrict__ last,
    const int* __restrict__ n_before,       // (n_chunks, 64 * n_words) nodes in earlier chunks
    const int n_farthest,
    node_t* __restrict__ farthest)          // (n_slots, n_farthest) out, in the graph's node ids
{
    const int t = thread_of_warp();
    const int n_warps = gridDim.x * (blockDim.x / WARP);
    for (int chunk = (blockIdx.x * blockDim.x + threadIdx.x) / WARP; chunk < n_chunks;
         chunk += n_warps) {
        const int graph = chunk_graph[chunk];
        const offset_t slot = slot_ptr[graph];
        const offset_t base = node_ptr[graph];
        for (int w = 0; w < n_words; ++w) {
            const offset_t at = ((offset_t)chunk * n_words + w) * 64 + t;
            int place[2] = {n_before[at], n_before[at + WARP]};
            for (offset_t first = chunk_begin[chunk]; first < chunk_end[chunk]; first += WARP) {
                const bool is_open = place[0] < n_farthest || place[1] < n_farthest;
                if (!__any_sync(ALL_THREADS, is_open)) break;
                const lanes_t own =
                    first + t < chunk_end[chunk] ? last[(first + t) * n_words + w] : 0;
                unsigned active = __ballot_sync(ALL_THREADS, own != 0);
                while (active) {
                    const int owner = __ffs(active) - 1;
                    active &= active - 1;
                    const lanes_t lanes = __shfl_sync(ALL_THREADS, own, owner);
                    for (int half = 0; half < 2; ++half) {
                        const int lane = 64 * w + WARP * half + t;
                        if (((lanes >> (WARP * half + t)) & 1) == 0) continue;
                        if (place[half] < n_farthest) {
                            const offset_t row = (slot + lane) * n_farthest;
                            farthest[row + place[half]] = (node_t)(first + owner - base);
                        }
                        ++place[half];
                    }
                }
            }
        }
    }
}
