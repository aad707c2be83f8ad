// Steps of one rank of a breadth-first search over the parts of a graph; see search.py.
//
// Input    The rank's own rows: indptr by place among its nodes, indices by number in the graph.
// Output   level[v] of its own nodes; bitmaps with a bit for each node of the graph.
// Lists    begin with how many nodes they hold, in no fixed order; no output depends on that.
// Launch   1-D, any grid.
// Atomics  atomicOr on a bitmap claims a node; atomicAdd reserves places in a list.

#include "../connected/union_find.cuh"
#include "rows.cuh"

constexpr int ARCS_AT_ONCE = 4;  // of a thread, from the frontier to its neighbours

// Whether this thread is the first to reach v. Plain read first: most are seen already. A stale read
// costs one atomicOr.
__device__ __forceinline__ bool claim(const node_t v, unsigned* seen)
{
    const unsigned bit = 1u << (v & 31);
    return !(seen[v >> 5] & bit) && !(atomicOr(&seen[v >> 5], bit) & bit);
}

// Segments of the hubs among a rank's own nodes: their places, and which segment; where there is no
// room for them, only how many.
extern "C" __global__ void list_segments(
    const offset_t* __restrict__ indptr,
    const offset_t n_own,
    node_t* __restrict__ segment_node,
    int* __restrict__ segment_index,
    int* n_segments)  // 0 on entry
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; v < n_own; v += stride) {
        const offset_t degree = indptr[v + 1] - indptr[v];
        if (degree < SEGMENT) continue;
        const int n = (int)((degree + SEGMENT - 1) / SEGMENT);
        const int first = atomicAdd(n_segments, n);
        if (segment_node == nullptr) continue;
        for (int i = 0; i < n; ++i) {
            segment_node[first + i] = (node_t)v;
            segment_index[first + i] = i;
        }
    }
}

// From the frontier, a list of own nodes, to their neighbours; hubs by segments.
extern "C" __global__ void expand(
    const offset_t* indptr,
    const node_t* indices,
    const node_t first_own,
    const int* list,                    // of the frontier's own nodes
    const unsigned* __restrict__ front,
    const node_t* segment_node,
    const int* segment_index,
    const int n_segments,
    unsigned* seen,
    unsigned* found)
{
    const Rows rows = {indptr, indices, segment_node, segment_index, n_segments};
    visit_rows_many<ARCS_AT_ONCE>(
        rows, list, first_own, [&](const node_t u) { return is_in(front, first_own + u); },
        [&](const offset_t(&arc)[ARCS_AT_ONCE]) {
            node_t head[ARCS_AT_ONCE];
            unsigned word[ARCS_AT_ONCE];
            // No branches: all are read before the first is awaited.
#pragma unroll
            for (int i = 0; i < ARCS_AT_ONCE; ++i) head[i] = __ldg(&indices[arc[i] < 0 ? 0 : arc[i]]);
#pragma unroll
            for (int i = 0; i < ARCS_AT_ONCE; ++i) word[i] = seen[head[i] >> 5];
#pragma unroll
            for (int i = 0; i < ARCS_AT_ONCE; ++i) {
                const unsigned bit = 1u << (head[i] & 31);
                if (arc[i] < 0 || (word[i] & bit)) continue;
                if (!(atomicOr(&seen[head[i] >> 5], bit) & bit)) atomicOr(&found[head[i] >> 5], bit);
            }
        });
}

// Where an expanded small frontier puts what it finds: own nodes, and those of others. How many are
// counted in shared memory or on the device.
struct Finds
{
    node_t first_own, end_own;
    unsigned* seen;
    node_t* own;
    int* n_own;
    node_t* others;
    int* n_others;

    __device__ void add(const node_t v) const
    {
        if (!claim(v, seen)) return;
        if (v >= first_own && v < end_own) own[atomicAdd(n_own, 1)] = v;
        else others[atomicAdd(n_others, 1)] = v;
    }
};

// From the frontier, if the rank's part of it has few arcs; what is found is listed.
extern "C" __global__ void expand_small(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const node_t first_own,
    const offset_t n_words,              // of own nodes
    const offset_t n_small,              // most arcs
    const unsigned* __restrict__ front,  // of own nodes
    unsigned* seen,
    int* mine,                           // own nodes found: how many, 0 on entry, and which
    unsigned long long* message)         // nodes and arcs of the frontier, nodes listed: 0 on entry
{
    if (message[ARCS_AT] == 0 || message[ARCS_AT] > (unsigned long long)n_small) return;
    const int t = thread_of_warp();
    // The upper half of a count stays 0.
    const Finds finds = {first_own, (node_t)(first_own + n_words * 32), seen, mine + 1, mine,
                         (node_t*)(message + HEAD), (int*)(message + LISTED_AT)};
    for (offset_t at = (offset_t)warp_of_grid() * WARP; at < n_words;
         at += (offset_t)warps_of_grid() * WARP) {
        unsigned bits = at + t < n_words ? front[at + t] : 0;
        while (__any_sync(ALL_THREADS, bits != 0)) {
            offset_t first = 0;
            int degree = 0;
            if (bits) {
                const offset_t u = (at + t) * 32 + __ffs(bits) - 1;
                bits &= bits - 1;
                first = indptr[u];
                degree = (int)(indptr[u + 1] - first);
            }
            visit_arcs(first, degree, [&](const offset_t arc, int) {
                if (arc >= 0) finds.add(indices[arc]);
            });
        }
    }
}

// A level after a small one, by one block: what was found of own nodes, by this rank or another, is
// the frontier, and expanded if it is small too. No map is walked.
extern "C" __global__ void __launch_bounds__(SMALL_BLOCK) small_level(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const node_t first_own,
    const offset_t n_words,      // of own nodes
    const offset_t n_small,
    const offset_t* messages,    // (n_ranks, length), those of the last level
    const int n_ranks,
    const offset_t length,
    const int own,
    const level_t depth,
    unsigned* seen,
    level_t* __restrict__ level,
    int* mine,                   // own nodes found on the last level, and then on this one
    int* front,                  // (1 + n_ranks * n_small,) out: the frontier, a list
    unsigned long long* message) // out
{
    __shared__ int n_front, n_own, n_others;
    __shared__ unsigned long long all_arcs;
    if (threadIdx.x == 0) {
        n_front = n_own = n_others = 0;
        all_arcs = 0;
    }
    __syncthreads();
    const node_t end_own = (node_t)(first_own + n_words * 32);
    const int t = thread_of_warp();
    offset_t arcs = 0;
    for (int rank = 0; rank < n_ranks; ++rank) {
        const offset_t* theirs = messages + rank * length;
        const bool is_own = rank == own;
        const node_t* list = is_own ? mine + 1 : (const node_t*)(theirs + HEAD);
        const int n = is_own ? mine[0] : (int)theirs[LISTED_AT];
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            const node_t v = list[i];
            if (!is_own && (v < first_own || v >= end_own || !claim(v, seen))) continue;
            front[1 + atomicAdd(&n_front, 1)] = v;
            const offset_t u = v - first_own;
            level[u] = depth;
            arcs += indptr[u + 1] - indptr[u];
        }
    }
    arcs = warp_sum(arcs);
    if (t == 0 && arcs) atomicAdd(&all_arcs, (unsigned long long)arcs);
    __syncthreads();
    if (all_arcs <= (unsigned long long)n_small) {
        const Finds finds = {first_own, end_own, seen, mine + 1, &n_own, (node_t*)(message + HEAD),
                             &n_others};
        const int n_warps = blockDim.x / WARP;
        const int each = (n_front + n_warps - 1) / n_warps;  // nodes of a warp at once
        const int step = each < WARP ? each : WARP;
        for (int at = threadIdx.x / WARP * step; at < n_front; at += n_warps * step) {
            offset_t first = 0;
            int degree = 0;
            if (t < step && at + t < n_front) {
                const offset_t u = front[1 + at + t] - first_own;
                first = indptr[u];
                degree = (int)(indptr[u + 1] - first);
            }
            visit_arcs(first, degree, [&](const offset_t arc, int) {
                if (arc >= 0) finds.add(indices[arc]);
            });
        }
    }
    __syncthreads();
    if (threadIdx.x) return;
    front[0] = n_front;
    mine[0] = n_own;
    message[NODES_AT] = n_front;
    message[ARCS_AT] = all_arcs;
    message[LISTED_AT] = n_others;
}

// What the rank found and listed, as bits.
extern "C" __global__ void set_listed(
    const int* __restrict__ mine, const offset_t* __restrict__ message, unsigned* found)
{
    const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    const node_t* others = (const node_t*)(message + HEAD);
    for (int i = first; i < mine[0]; i += stride) {
        atomicOr(&found[mine[1 + i] >> 5], 1u << (mine[1 + i] & 31));
    }
    for (int i = first; i < (int)message[LISTED_AT]; i += stride) {
        atomicOr(&found[others[i] >> 5], 1u << (others[i] & 31));
    }
}

// Own nodes that were found and listed are not, since they will be found again.
extern "C" __global__ void unclaim(const int* __restrict__ mine, unsigned* seen)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < mine[0]; i += stride) {
        atomicAnd(&seen[mine[1 + i] >> 5], ~(1u << (mine[1 + i] & 31)));
    }
}

// The number of nodes whose bits are set, then their ids.
extern "C" __global__ void list_bits(
    const unsigned* __restrict__ words,
    const offset_t n_words,
    const node_t first,
    int* list)  // (1 + room,), list[0]: 0 on entry
{
    node_t* nodes = list + 1;
    const int t = thread_of_warp();
    for (offset_t at = (offset_t)warp_of_grid() * WARP; at < n_words;
         at += (offset_t)warps_of_grid() * WARP) {
        unsigned bits = at + t < n_words ? words[at + t] : 0;
        if (!__any_sync(ALL_THREADS, bits != 0)) continue;
        int before = __popc(bits);
        for (int offset = 1; offset < WARP; offset *= 2) {
            const int other = __shfl_up_sync(ALL_THREADS, before, offset);
            if (t >= offset) before += other;
        }
        int place = 0;
        if (t == WARP - 1) place = atomicAdd(list, before);
        place = __shfl_sync(ALL_THREADS, place, WARP - 1) + before - __popc(bits);
        for (; bits; bits &= bits - 1) {
            nodes[place++] = first + (node_t)((at + t) * 32 + __ffs(bits) - 1);
        }
    }
}

// What another rank found of this one's nodes, as a bitmap.
extern "C" __global__ void take_words(
    const unsigned* __restrict__ received,
    const offset_t n_words,
    unsigned* __restrict__ seen,   // of own nodes, as found
    unsigned* __restrict__ found)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; i < n_words; i += stride) {
        const unsigned bits = received[i] & ~seen[i];
        if (bits == 0) continue;
        seen[i] |= bits;
        found[i] |= bits;
    }
}

// The same as a list.
extern "C" __global__ void take_nodes(
    const int* __restrict__ list, unsigned* seen, unsigned* found)
{
    const int n = list[0];
    const node_t* nodes = list + 1;
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const node_t v = nodes[i];
        const unsigned bit = 1u << (v & 31);
        if (atomicOr(&seen[v >> 5], bit) & bit) continue;
        atomicOr(&found[v >> 5], bit);
    }
}

// Bits of a list of nodes.
extern "C" __global__ void set_bits(const int* __restrict__ list, unsigned* map)
{
    const int n = list[0];
    const node_t* nodes = list + 1;
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        atomicOr(&map[nodes[i] >> 5], 1u << (nodes[i] & 31));
    }
}

extern "C" __global__ void add_words(
    const unsigned* __restrict__ from, const offset_t n_words, unsigned* __restrict__ to)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; i < n_words; i += stride) {
        if (from[i] & ~to[i]) to[i] |= from[i];
    }
}

// Add a thread's counts to those of a message.
__device__ __forceinline__ void add_counts(
    const offset_t nodes, const offset_t arcs, unsigned long long* message)
{
    const offset_t all_nodes = warp_sum(nodes), all_arcs = warp_sum(arcs);
    if (thread_of_warp() == 0 && all_nodes) {
        atomicAdd(&message[NODES_AT], (unsigned long long)all_nodes);
        atomicAdd(&message[ARCS_AT], (unsigned long long)all_arcs);
    }
}

// Every own node of some words, not yet seen, asks its neighbours; hubs by segments. Those that
// find one in the frontier get a level.
extern "C" __global__ void scan(
    const offset_t* indptr,
    const node_t* indices,
    const node_t first_own,
    const offset_t first_place,
    const offset_t last_place,
    const unsigned* __restrict__ front,
    const node_t* segment_node,
    const int* segment_index,
    const int n_segments,
    const level_t depth,
    unsigned* seen,
    unsigned* found,
    level_t* level,
    unsigned long long* message)  // nodes, their arcs; 0 before the first scan of a level
{
    const Rows rows = {indptr, indices, segment_node, segment_index, n_segments};
    const int t = thread_of_warp();
    offset_t nodes = 0, arcs = 0;
    ask_neighbours(
        rows, first_place, last_place,
        [&](const offset_t v, bool) -> unsigned { return !is_in(seen, first_own + (node_t)v); },
        [&](const node_t* heads, const int n, const int stride, unsigned) -> unsigned {
            return has_frontier(front, heads, n, stride);
        },
        [&](const node_t v, unsigned) {
            if (!claim(first_own + v, seen)) return;  // several segments may hit
            atomicOr(&found[(first_own + v) >> 5], 1u << ((first_own + v) & 31));
            level[v] = depth;
            ++nodes;
            arcs += indptr[v + 1] - indptr[v];
        },
        [&](const offset_t first, const unsigned got) {
            const unsigned news = __ballot_sync(ALL_THREADS, got != 0);
            if (news == 0) return;
            if (got) {
                level[first + t] = depth;
                ++nodes;
                arcs += indptr[first + t + 1] - indptr[first + t];
            }
            if (t == 0) {  // atomic: a hub among these nodes may be claimed at the same time
                atomicOr(&seen[(first_own + first) >> 5], news);
                atomicOr(&found[(first_own + first) >> 5], news);
            }
        });
    add_counts(nodes, arcs, message);
}

// What a scan has found is the frontier now.
extern "C" __global__ void turn(
    const offset_t n_words,
    unsigned* __restrict__ found,  // of own nodes, as the following; 0 on exit
    unsigned* __restrict__ front)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; i < n_words; i += stride) {
        front[i] = found[i];
        found[i] = 0;
    }
}

// Own nodes that were found are the frontier now, and get a level.
extern "C" __global__ void settle(
    const offset_t* __restrict__ indptr,
    const offset_t n_words,
    const level_t depth,
    unsigned* __restrict__ found,        // of own nodes, as the following; 0 on exit
    unsigned* __restrict__ seen,
    unsigned* __restrict__ front,
    level_t* __restrict__ level,
    unsigned long long* message)         // nodes, their arcs; 0 on entry
{
    constexpr int AT_ONCE = 4;
    const int t = thread_of_warp();
    offset_t nodes = 0, arcs = 0;
    for (offset_t first = (offset_t)warp_of_grid() * WARP; first < n_words;
         first += (offset_t)warps_of_grid() * WARP) {
        unsigned bits = 0;
        if (first + t < n_words) {
            bits = found[first + t];
            front[first + t] = bits;
            if (bits) {
                seen[first + t] |= bits;
                found[first + t] = 0;
            }
        }
        nodes += __popc(bits);
        unsigned some = __ballot_sync(ALL_THREADS, bits != 0);
        while (some) {
            offset_t degree[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                const int owner = some ? __ffs(some) - 1 : 0;
                const unsigned word = __shfl_sync(ALL_THREADS, bits, owner);
                const bool is_new = some && ((word >> t) & 1);
                const offset_t v = is_new ? (first + owner) * 32 + t : 0;
                degree[i] = indptr[v + 1] - indptr[v];
                if (is_new) level[v] = depth;
                else degree[i] = 0;
                some &= some - 1;
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) arcs += degree[i];
        }
    }
    add_counts(nodes, arcs, message);
}

// Bits of own nodes without arcs: nothing needs to look at them.
extern "C" __global__ void mark_bare(
    const offset_t* __restrict__ indptr, const offset_t n_words, unsigned* __restrict__ bare)
{
    const int t = thread_of_warp();
    for (offset_t word = warp_of_grid(); word < n_words; word += warps_of_grid()) {
        const offset_t v = word * 32 + t;
        const unsigned bits = __ballot_sync(ALL_THREADS, indptr[v] == indptr[v + 1]);
        if (t == 0) bare[word] = bits;
    }
}

// Own nodes whose levels contradict their rows; see check.py.
extern "C" __global__ void count_faults(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_own,
    const node_t first_own,
    const node_t source,
    const level_t* __restrict__ level,  // of all nodes by number
    unsigned long long* n_faults)       // 0 on entry
{
    const int t = thread_of_warp();
    offset_t faults = 0;
    for (offset_t v = warp_of_grid(); v < n_own; v += warps_of_grid()) {
        const level_t own = level[first_own + v];
        bool is_wrong = false, has_parent = false;
        for (offset_t arc = indptr[v] + t; arc < indptr[v + 1]; arc += WARP) {
            const level_t other = level[indices[arc]];
            is_wrong |= own < 0 ? other >= 0 : other < 0 || other > own + 1;
            has_parent |= own > 0 && other == own - 1;
        }
        is_wrong = __any_sync(ALL_THREADS, is_wrong);
        has_parent = __any_sync(ALL_THREADS, has_parent);
        const bool is_source = first_own + v == source;
        if (is_source ? own != 0 : own == 0 || own < UNREACHED || (own > 0 && !has_parent)) {
            is_wrong = true;
        }
        if (is_wrong && t == 0) ++faults;
    }
    faults = warp_sum(faults);
    if (t == 0 && faults) atomicAdd(n_faults, (unsigned long long)faults);
}

// A node by the graph's own number, from its number among the blocks of all ranks.
__device__ __forceinline__ node_t original(
    const offset_t number, const offset_t* __restrict__ order, const offset_t block)
{
    return (node_t)(order[number / block] * block + number % block);
}

// Unite own nodes with their neighbours, a warp each; labels are by the graph's own numbers.
extern "C" __global__ void link_rows(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_own,
    const offset_t first_own,
    const offset_t* __restrict__ order,
    const offset_t block,
    node_t* label)
{
    const int t = thread_of_warp();
    for (offset_t u = warp_of_grid(); u < n_own; u += warps_of_grid()) {
        const node_t own = original(first_own + u, order, block);
        const offset_t stop = indptr[u + 1];
        for (offset_t arc = indptr[u] + t; arc < stop; arc += WARP) {
            unite(own, original(indices[arc], order, block), label);
        }
    }
}

// Unite nodes with the labels that another rank gave them.
extern "C" __global__ void link_labels(
    const node_t* __restrict__ others, const offset_t n_nodes, node_t* label)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; v < n_nodes; v += stride) {
        if (others[v] != v) unite((node_t)v, others[v], label);
    }
}

// Roots do not change in this launch; a label read while another thread writes it is an ancestor
// either way.
extern "C" __global__ void flatten_labels(const offset_t n_nodes, volatile node_t* label)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; v < n_nodes; v += stride) {
        node_t at = label[v];
        while (label[at] != at) at = label[at];
        label[v] = at;
    }
}
