// Steps of one rank of searches from up to 64 nodes over the parts of a graph; see steps.py.
//
// Input    The rank's own rows: indptr by place among its nodes, indices by number in the graph.
// Output   Words with a bit for each search, one per node of the graph.
// Launch   1-D, any grid.
// Atomics  atomicOr on the words of nodes; no output depends on the order.

#include "../rows.cuh"

#define LIST_EACH 32  // words of each thread: one reservation in the list for 1,024 nodes

// Own nodes whose words are not 0, by place, after how many they are.
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
            if (arc < 0) return;
            const node_t v = __ldg(&indices[arc]);
            // Plain read first: most are seen already. A stale read costs one atomicOr.
            if ((word & ~seen[v]) == 0) return;
            const lanes_t news = word & ~atomicOr(&seen[v], word);
            if (news) atomicOr(&found[v], news);
        });
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
            if (got) found[first_own + first + t] = got;
        });
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
    unsigned long long* counts)         // nodes, their arcs, nodes of each lane; 0 on entry
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
    if (low) atomicAdd(&counts[2 + t], (unsigned long long)low);
    if (high) atomicAdd(&counts[2 + WARP + t], (unsigned long long)high);
    nodes = warp_sum(nodes);
    arcs = warp_sum(arcs);
    if (t == 0 && nodes) {
        atomicAdd(&counts[0], (unsigned long long)nodes);
        atomicAdd(&counts[1], (unsigned long long)arcs);
    }
}
