// Steps of one rank of searches from up to 64 nodes over the parts of a graph; see steps.py.
//
// Input    The rank's own rows: indptr by place among its nodes, indices by number in the graph.
// Output   Words with a bit for each search, one per node of the graph.
// Launch   1-D, any grid.
// Atomics  atomicOr on the words of nodes; no output depends on the order.
// Siblings list_bits and take_small of partition.cu do to bits what list_words and take_small do to
//          words here; visit_rows is shared.

#include "../rows.cuh"

#define LIST_EACH 32  // words of each thread: one reservation in the list for 1,024 nodes

// The number of own nodes whose words are not 0, then their places.
extern "C" __global__ void list_words(
    const lanes_t* __restrict__ words,
    const offset_t n_own,
    int* list)  // (1 + n_own,), list[0]: 0 on entry
{
    const int t = thread_of_warp();
    constexpr offset_t EACH = (offset_t)WARP * LIST_EACH;
    for (offset_t at = warp_of_grid() * EACH; at < n_own; at += warps_of_grid() * EACH) {
        unsigned bits = 0;
        for (int k = 0; k < LIST_EACH; ++k) {
            const offset_t v = at + k * WARP + t;
            if (v < n_own && words[v]) bits |= 1u << k;
        }
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
            list[1 + place++] = (node_t)(at + (__ffs(bits) - 1) * WARP + t);
        }
    }
}

// What a node of the frontier passes on to a neighbour; returns what the latter lacked.
__device__ __forceinline__ lanes_t hand(
    const lanes_t word, const node_t v, lanes_t* seen, lanes_t* found)
{
    // Plain read first: most are seen already. A stale read costs one atomicOr.
    if ((word & ~seen[v]) == 0) return 0;
    const lanes_t news = word & ~atomicOr(&seen[v], word);
    if (news) atomicOr(&found[v], news);
    return news;
}

// From the frontier, a list of own places, to their neighbours; hubs by segments.
extern "C" __global__ void push(
    const offset_t* indptr,
    const node_t* indices,
    const node_t first_own,
    const int* list,
    const node_t* segment_node,
    const int* segment_index,
    const int n_segments,
    const lanes_t* __restrict__ front,
    lanes_t* seen,
    lanes_t* found)
{
    const Rows rows = {indptr, indices, segment_node, segment_index, n_segments};
    visit_rows(
        rows, list, 0,
        [&](const node_t u) -> lanes_t { return u < 0 ? 0 : front[first_own + u]; },
        [&](const offset_t arc, const int owner, const lanes_t own) {
            const lanes_t word = __shfl_sync(ALL_THREADS, own, owner);
            if (arc >= 0) hand(word, __ldg(&indices[arc]), seen, found);
        });
}

// The same if the rank's part of the frontier has few arcs, without a list of it; what other ranks'
// nodes get is listed in the message too: number, lower and upper half of the word.
extern "C" __global__ void push_small(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const node_t first_own,
    const offset_t n_own,
    const offset_t n_small,             // most arcs
    const lanes_t* __restrict__ front,  // of own nodes
    lanes_t* seen,
    lanes_t* found,
    unsigned long long* message)
{
    if (message[ARCS_AT] == 0 || message[ARCS_AT] > (unsigned long long)n_small) return;
    const int t = thread_of_warp();
    int* list = (int*)(message + HEAD);
    const offset_t stride = (offset_t)warps_of_grid() * WARP;
    for (offset_t at = (offset_t)warp_of_grid() * WARP; at < n_own; at += stride) {
        const lanes_t own = at + t < n_own ? front[at + t] : 0;
        if (!__any_sync(ALL_THREADS, own != 0)) continue;
        offset_t first = 0;
        int degree = 0;
        if (own) {
            first = indptr[at + t];
            degree = (int)(indptr[at + t + 1] - first);
        }
        visit_arcs(first, degree, [&](const offset_t arc, const int owner) {
            const lanes_t word = __shfl_sync(ALL_THREADS, own, owner);
            if (arc < 0) return;
            const node_t v = indices[arc];
            const lanes_t news = hand(word, v, seen, found);
            if (!news || (v >= first_own && v < first_own + n_own)) return;
            int* entry = list + 3 * atomicAdd(&message[LISTED_AT], 1ull);
            entry[0] = v;
            entry[1] = (int)(unsigned)news;
            entry[2] = (int)(unsigned)(news >> 32);
        });
    }
}

// Take own nodes from the messages of other ranks; forget what this rank listed.
extern "C" __global__ void take_small(
    const offset_t* __restrict__ messages,  // (n_ranks, length)
    const int n_ranks,
    const offset_t length,
    const int own,
    const node_t first_own,
    const offset_t n_own,
    lanes_t* seen,
    lanes_t* found)
{
    for (int rank = 0; rank < n_ranks; ++rank) {
        const offset_t* message = messages + rank * length;
        const int* list = (const int*)(message + HEAD);
        const int n = (int)message[LISTED_AT];
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
            const node_t v = list[3 * i];
            if (rank == own) {
                found[v] = 0;
            } else if (v >= first_own && v < first_own + n_own) {
                const unsigned low = list[3 * i + 1], high = list[3 * i + 2];
                hand((lanes_t)high << 32 | low, v, seen, found);
            }
        }
    }
}

// Every own node that lacks a lane asks its neighbours, until it has all; hubs by segments.
extern "C" __global__ void pull(
    const offset_t* indptr,
    const node_t* indices,
    const node_t first_own,
    const offset_t n_own,
    const lanes_t alive,
    const node_t* segment_node,
    const int* segment_index,
    const int n_segments,
    const lanes_t* __restrict__ front,
    const lanes_t* __restrict__ seen,
    lanes_t* found)
{
    constexpr int AT_ONCE = 4;
    const Rows rows = {indptr, indices, segment_node, segment_index, n_segments};
    const int t = thread_of_warp();
    ask_neighbours(
        rows, 0, n_own,
        [&](const offset_t v, const bool is_hub) -> lanes_t {
            if (v >= n_own) return 0;
            const lanes_t missing = alive & ~seen[first_own + v];
            return is_hub && missing ? missing & ~found[first_own + v] : missing;
        },
        [&](const node_t* __restrict__ heads, int n, const int stride, const lanes_t missing) {
            lanes_t got = 0;
            for (; n > 0; n -= AT_ONCE * stride, heads += AT_ONCE * stride) {
                node_t head[AT_ONCE];
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i) {
                    head[i] = i * stride < n ? __ldg(heads + i * stride) : -1;
                }
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i) got |= head[i] >= 0 ? front[head[i]] : 0;
                if ((got & missing) == missing) break;
            }
            return got;
        },
        [&](const node_t v, const lanes_t got) { atomicOr(&found[first_own + v], got); },
        [&](const offset_t first, const lanes_t got) {
            if (got) found[first_own + first + t] |= got;
        });
}

// The last frontier of each lane: some lanes have found this one.
extern "C" __global__ void keep(
    const offset_t n_own, const lanes_t alive, const lanes_t* __restrict__ front, lanes_t* last)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; v < n_own; v += stride) {
        const lanes_t before = last[v], now = (before & ~alive) | (front[v] & alive);
        if (now != before) last[v] = now;
    }
}

// What was found of own nodes is the frontier now.
extern "C" __global__ void settle(
    const offset_t* __restrict__ indptr,
    const offset_t n_own,
    const level_t depth,
    lanes_t* __restrict__ found,        // of own nodes, as the following; 0 on exit
    lanes_t* __restrict__ seen,
    lanes_t* __restrict__ front,
    level_t* __restrict__ deepest,
    unsigned long long* message)        // nodes, their arcs, nodes of each lane; 0 on entry
{
    const int t = thread_of_warp();
    offset_t nodes = 0, arcs = 0;
    unsigned low = 0, high = 0;  // nodes of lanes t and t + 32
    const offset_t stride = (offset_t)warps_of_grid() * WARP;
    for (offset_t first = (offset_t)warp_of_grid() * WARP; first < n_own; first += stride) {
        const offset_t v = first + t;
        const lanes_t word = v < n_own ? found[v] : 0;
        if (v < n_own) front[v] = word;
        if (word) {
            seen[v] |= word;
            found[v] = 0;
            deepest[v] = depth;
            ++nodes;
            arcs += indptr[v + 1] - indptr[v];
        }
        if (!__any_sync(ALL_THREADS, word != 0)) continue;
        low += __popc(warp_transpose((unsigned)word));
        high += __popc(warp_transpose((unsigned)(word >> 32)));
    }
    if (low) atomicAdd(&message[LANES_AT + t], (unsigned long long)low);
    if (high) atomicAdd(&message[LANES_AT + WARP + t], (unsigned long long)high);
    nodes = warp_sum(nodes);
    arcs = warp_sum(arcs);
    if (t == 0 && nodes) {
        atomicAdd(&message[NODES_AT], (unsigned long long)nodes);
        atomicAdd(&message[ARCS_AT], (unsigned long long)arcs);
    }
}
