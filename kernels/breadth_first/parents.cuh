// Parents, from levels: of each node its smallest neighbour one level up.
//
// Arcs are sorted, so the first such neighbour is the smallest. Levels of neighbours differ by at
// most one: two bits of each, which fit in the cache, say which it is. A hub is the work of many
// warps, or the one that is next to the source would be walked to its end by one thread.

#define ASK_PARENTS 4    // arcs that a node asks alone, before its warp helps
#define SHARED_PARENTS 8 // of more arcs left than these its warp asks together

__device__ __forceinline__ int third_of(const unsigned char* thirds, const node_t v)
{
    return (thirds[v >> 2] >> (2 * (v & 3))) & 3;
}

// The first of the next arcs that lead one level up; -1: none does. Four heads at once.
__device__ __forceinline__ node_t first_up(
    const unsigned char* thirds, const node_t* __restrict__ heads, int n, const int up)
{
    constexpr int AT_ONCE = 4;
    for (; n > 0; n -= AT_ONCE, heads += AT_ONCE) {
        node_t head[AT_ONCE];
        bool is_up[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) head[i] = i < n ? __ldg(heads + i) : -1;
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) is_up[i] = head[i] >= 0 && third_of(thirds, head[i]) == up;
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (is_up[i]) return head[i];
        }
    }
    return -1;
}

// The same by all threads of a warp.
__device__ __forceinline__ node_t first_up_of_warp(
    const unsigned char* thirds, const node_t* __restrict__ heads, const int n, const int up)
{
    const int t = thread_of_warp();
    for (int at = 0; at < n; at += WARP) {
        const node_t head = at + t < n ? __ldg(heads + at + t) : -1;
        const unsigned hits = __ballot_sync(ALL_THREADS, head >= 0 && third_of(thirds, head) == up);
        if (hits) return __shfl_sync(ALL_THREADS, head, __ffs(hits) - 1);
    }
    return -1;
}

// Level modulo 3 of four nodes each byte; 3: unreached.
extern "C" __global__ void bfs_thirds(
    const offset_t n_nodes,
    const level_t* __restrict__ level,
    unsigned char* __restrict__ thirds)  // ((n_nodes + 3) / 4,) out
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; 4 * i < n_nodes; i += stride) {
        int depth[4];
        if (4 * i + 4 <= n_nodes) {
            *(int4*)depth = __ldg((const int4*)(level + 4 * i));
        } else {
            for (int k = 0; k < 4; ++k) depth[k] = 4 * i + k < n_nodes ? level[4 * i + k] : UNREACHED;
        }
        unsigned byte = 0;
        for (int k = 0; k < 4; ++k) byte |= (depth[k] < 0 ? 3u : depth[k] % 3u) << (2 * k);
        thirds[i] = (unsigned char)byte;
    }
}

// Parents of all nodes but hubs, whose segments are listed.
extern "C" __global__ void bfs_parents(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    const node_t source,
    const level_t* __restrict__ level,
    const unsigned char* __restrict__ thirds,
    node_t* __restrict__ parent,    // (n_nodes,) out; of a hub from its second level on: the largest number
    node_t* segment_node,
    int* segment_index,
    int* n_segments)                // 0 on entry
{
    const int t = thread_of_warp();
    for (offset_t base = (offset_t)warp_of_grid() * WARP; base < n_nodes;
         base += (offset_t)warps_of_grid() * WARP) {
        const offset_t v = base + t;
        const level_t depth = v < n_nodes ? level[v] : UNREACHED;
        node_t found = depth == 0 ? (node_t)v : depth == 1 ? source : UNREACHED;
        const node_t* heads = indices;
        int n = 0, segments = 0, up = 0;
        if (depth > 1) {
            const offset_t first = indptr[v];
            const offset_t degree = indptr[v + 1] - first;
            up = (depth - 1) % 3;
            if (degree >= SEGMENT) {
                segments = (int)((degree + SEGMENT - 1) / SEGMENT);
                found = 0x7fffffff;
            } else {
                heads += first;
                const int alone = degree <= ASK_PARENTS + SHARED_PARENTS ? (int)degree : ASK_PARENTS;
                found = first_up(thirds, heads, alone, up);
                n = found < 0 ? (int)degree - alone : 0;
                heads += alone;
            }
        }
        unsigned open = __ballot_sync(ALL_THREADS, n > 0);
        while (open) {
            const int owner = __ffs(open) - 1;
            open &= open - 1;
            const node_t* theirs =
                (const node_t*)__shfl_sync(ALL_THREADS, (unsigned long long)heads, owner);
            const int n_theirs = __shfl_sync(ALL_THREADS, n, owner);
            const int of_them = __shfl_sync(ALL_THREADS, up, owner);
            const node_t head = first_up_of_warp(thirds, theirs, n_theirs, of_them);
            if (t == owner) found = head;
        }
        if (v < n_nodes) parent[v] = found;
        unsigned hubs = __ballot_sync(ALL_THREADS, segments > 0);
        while (hubs) {
            const int owner = __ffs(hubs) - 1;
            hubs &= hubs - 1;
            const int n_theirs = __shfl_sync(ALL_THREADS, segments, owner);
            int place = 0;
            if (t == 0) place = atomicAdd(n_segments, n_theirs);
            place = __shfl_sync(ALL_THREADS, place, 0);
            for (int i = t; i < n_theirs; i += WARP) {
                segment_node[place + i] = (node_t)(base + owner);
                segment_index[place + i] = i;
            }
        }
    }
}

// Parents of hubs: a warp for each segment, unless an earlier one has found a parent.
extern "C" __global__ void bfs_hub_parents(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const level_t* __restrict__ level,
    const unsigned char* __restrict__ thirds,
    node_t* parent,
    const node_t* __restrict__ segment_node,
    const int* __restrict__ segment_index,
    const int* __restrict__ n_segments)
{
    const int t = thread_of_warp();
    for (int i = warp_of_grid(); i < *n_segments; i += warps_of_grid()) {
        const node_t v = segment_node[i];
        const offset_t first = indptr[v] + (offset_t)segment_index[i] * SEGMENT;
        const offset_t left = indptr[v + 1] - first;
        const int n = (int)(left < SEGMENT ? left : SEGMENT);
        // Whether another warp lowers it meanwhile does not matter: the least remains.
        if (*(volatile node_t*)(parent + v) < indices[first]) continue;
        const node_t head = first_up_of_warp(thirds, indices + first, n, (level[v] + 2) % 3);
        if (t == 0 && head >= 0) atomicMin(parent + v, head);
    }
}
