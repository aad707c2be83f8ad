// Steps of one rank of a breadth-first search over the parts of a graph; see search.py.
//
// Input    The rank's own rows: indptr by place among its nodes, indices by number in the graph.
// Output   level[v] of its own nodes; bitmaps with a bit for each node of the graph.
// Lists    begin with how many nodes they hold, in no fixed order; no output depends on that.
// Launch   1-D, any grid.
// Atomics  atomicOr on a bitmap claims a node; atomicAdd reserves places in a list.

#include "../breadth_first/bitmap.cuh"
#include "../connected/union_find.cuh"
#include "rows.cuh"

// Mark the head of an arc (-1: none) as found, unless it is known to be reached; returns whether it was.
__device__ __forceinline__ bool find(
    const node_t* __restrict__ indices, const offset_t arc, unsigned* seen, unsigned* found)
{
    if (arc < 0) return false;
    const node_t v = __ldg(&indices[arc]);
    const unsigned bit = 1u << (v & 31);
    // Plain read first: most are seen already. A stale read costs one atomicOr.
    if ((seen[v >> 5] & bit) || (atomicOr(&seen[v >> 5], bit) & bit)) return false;
    atomicOr(&found[v >> 5], bit);
    return true;
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
    visit_rows(
        rows, list, first_own,
        [&](const node_t u) { return u >= 0 && is_in(front, first_own + u); },
        [&](const offset_t arc, int, bool) { find(indices, arc, seen, found); });
}

// The same if the rank's part of the frontier has few arcs, without a list of it; of other ranks'
// nodes those found are listed in the message too.
extern "C" __global__ void expand_small(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const node_t first_own,
    const offset_t n_words,              // of own nodes
    const offset_t n_small,              // most arcs
    const unsigned* __restrict__ front,  // of own nodes
    unsigned* seen,
    unsigned* found,
    unsigned long long* message)         // nodes and arcs of the frontier, nodes listed: 0 on entry
{
    if (message[ARCS_AT] == 0 || message[ARCS_AT] > (unsigned long long)n_small) return;
    const int t = thread_of_warp();
    const offset_t end_own = first_own + n_words * 32;
    node_t* list = (node_t*)(message + HEAD);
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
                if (arc < 0 || !find(indices, arc, seen, found)) return;
                const node_t v = indices[arc];
                if (v >= first_own && v < end_own) return;
                list[atomicAdd(&message[LISTED_AT], 1ull)] = v;
            });
        }
    }
}

// Take own nodes from the messages of other ranks; forget what this rank listed.
extern "C" __global__ void take_small(
    const offset_t* __restrict__ messages,  // (n_ranks, length)
    const int n_ranks,
    const offset_t length,
    const int own,
    const node_t first_own,
    const offset_t n_words,
    unsigned* seen,
    unsigned* found)
{
    const offset_t end_own = first_own + n_words * 32;
    for (int rank = 0; rank < n_ranks; ++rank) {
        const offset_t* message = messages + rank * length;
        const node_t* list = (const node_t*)(message + HEAD);
        const int n = (int)message[LISTED_AT];
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
            const node_t v = list[i];
            const unsigned bit = 1u << (v & 31);
            if (rank == own) {
                atomicAnd(&found[v >> 5], ~bit);
            } else if (v >= first_own && v < end_own) {
                if (atomicOr(&seen[v >> 5], bit) & bit) continue;
                atomicOr(&found[v >> 5], bit);
            }
        }
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

// Every own node of some words, not yet seen, asks its neighbours; hubs by segments.
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
    const unsigned* __restrict__ seen,
    unsigned* found)
{
    const Rows rows = {indptr, indices, segment_node, segment_index, n_segments};
    const int t = thread_of_warp();
    ask_neighbours(
        rows, first_place, last_place,
        [&](const offset_t v, const bool is_hub) -> unsigned {
            const node_t number = first_own + (node_t)v;
            return !is_in(seen, number) && !(is_hub && is_in(found, number));
        },
        [&](const node_t* heads, const int n, const int stride, unsigned) -> unsigned {
            return has_frontier(front, heads, n, stride);
        },
        [&](const node_t v, unsigned) {
            atomicOr(&found[(first_own + v) >> 5], 1u << ((first_own + v) & 31));
        },
        [&](const offset_t first, const unsigned got) {
            const unsigned news = __ballot_sync(ALL_THREADS, got != 0);
            if (news && t == 0) atomicOr(&found[(first_own + first) >> 5], news);
        });
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
    const int t = thread_of_warp();
    offset_t nodes = 0, arcs = 0;
    for (offset_t word = warp_of_grid(); word < n_words; word += warps_of_grid()) {
        const unsigned bits = found[word];
        if (t == 0) {
            front[word] = bits;
            if (bits) {
                seen[word] |= bits;
                found[word] = 0;
            }
        }
        if (!((bits >> t) & 1)) continue;
        const offset_t v = word * 32 + t;
        level[v] = depth;
        ++nodes;
        arcs += indptr[v + 1] - indptr[v];
    }
    nodes = warp_sum(nodes);
    arcs = warp_sum(arcs);
    if (t == 0 && nodes) {
        atomicAdd(&message[NODES_AT], (unsigned long long)nodes);
        atomicAdd(&message[ARCS_AT], (unsigned long long)arcs);
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
