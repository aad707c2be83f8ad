// A path of the fewest hops between two nodes: levels from both ends until one meets the other.
//
// Input    CSR arcs of a symmetric graph; source != target.
// Output   state[HOPS]: hops, 0 if no path leads there; path[0 .. hops]: its nodes.
// Launch   Cooperative, COOPERATIVE_BLOCK threads a block; arrivals as for grid_barrier.
// Scratch  found (2, n_words) zeros; queue, hubs, before (2, n_nodes); state and arrivals zeros.
// Atomics  atomicOr finds a node once; a compare-and-swap keeps the first arc that joins both.
//
// Each row of the scratch belongs to one end. A level is a range of its queue and, for nodes of
// SEGMENT arcs or more, a range of its hubs, whose arcs all warps share. The end with fewer arcs
// ahead of it goes on. Any node by which both meet makes a shortest path: until then the path is
// longer than both depths together, and now it is one hop longer.

#define N_FOUND 0  // places in state, a pair each: nodes queued, hubs queued, arcs ahead
#define N_HUBS 2
#define N_ARCS 4
#define JOINED 6
#define HOPS 7
#define NOT_JOINED 0ull

__device__ __forceinline__ void visit(
    const offset_t* __restrict__ indptr,
    const node_t u,
    const node_t v,
    const int side,
    const offset_t n_nodes,
    const offset_t n_words,
    unsigned* found,
    node_t* queue,
    node_t* hubs,
    node_t* before,
    lanes_t* state)
{
    const unsigned bit = 1u << (v & 31);
    const offset_t word = v >> 5;
    if (*(volatile unsigned*)&found[(1 - side) * n_words + word] & bit) {
        const lanes_t ends = side == 0 ? ((lanes_t)u << 32) | v : ((lanes_t)v << 32) | u;
        atomicCAS(&state[JOINED], NOT_JOINED, ends + 1);
        return;
    }
    unsigned* own = &found[side * n_words + word];
    if (*(volatile unsigned*)own & bit || atomicOr(own, bit) & bit) return;
    before[side * n_nodes + v] = u;
    const offset_t degree = indptr[v + 1] - indptr[v];
    const bool is_hub = degree >= SEGMENT;
    node_t* list = is_hub ? hubs : queue;
    const lanes_t place = atomicAdd(&state[(is_hub ? N_HUBS : N_FOUND) + side], 1ull);
    list[side * n_nodes + place] = v;
    atomicAdd(&state[N_ARCS + side], (lanes_t)degree);
}

extern "C" __global__ void bidirectional_path(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    const node_t source,
    const node_t target,
    const offset_t n_words,
    unsigned* found,
    node_t* queue,
    node_t* hubs,
    node_t* before,
    lanes_t* state,
    node_t* path,
    unsigned* arrivals)
{
    const int t = thread_of_warp();
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread == 0) {
        for (int side = 0; side < 2; ++side) {
            const node_t start = side == 0 ? source : target;
            const offset_t degree = indptr[start + 1] - indptr[start];
            found[side * n_words + (start >> 5)] |= 1u << (start & 31);
            before[side * n_nodes + start] = start;
            (degree >= SEGMENT ? hubs : queue)[side * n_nodes] = start;
            state[(degree >= SEGMENT ? N_HUBS : N_FOUND) + side] = 1;
            state[N_ARCS + side] = degree;
        }
    }
    grid_barrier(arrivals);
    lanes_t begin[2] = {0, 0}, begin_hubs[2] = {0, 0}, passed[2] = {0, 0};
    for (;;) {
        volatile lanes_t* seen = state;
        const lanes_t ahead[2] = {seen[N_ARCS] - passed[0], seen[N_ARCS + 1] - passed[1]};
        if (seen[JOINED] != NOT_JOINED || ahead[0] == 0 || ahead[1] == 0) break;
        const int side = ahead[0] <= ahead[1] ? 0 : 1;
        const lanes_t end = seen[N_FOUND + side], end_hubs = seen[N_HUBS + side];
        passed[side] += ahead[side];
        grid_barrier(arrivals);  // everyone has read the counts that now grow
        for (lanes_t i = begin[side] + warp_of_grid(); i < end; i += warps_of_grid()) {
            const node_t u = queue[side * n_nodes + i];
            const offset_t last = indptr[u + 1];
            for (offset_t arc = indptr[u] + t; arc < last; arc += WARP) {
                visit(
                    indptr, u, indices[arc], side, n_nodes, n_words, found, queue, hubs, before,
                    state);
            }
        }
        for (lanes_t i = begin_hubs[side]; i < end_hubs; ++i) {
            const node_t u = hubs[side * n_nodes + i];
            const offset_t last = indptr[u + 1];
            offset_t arc = indptr[u] + (offset_t)warp_of_grid() * WARP + t;
            for (; arc < last; arc += (offset_t)warps_of_grid() * WARP) {
                visit(
                    indptr, u, indices[arc], side, n_nodes, n_words, found, queue, hubs, before,
                    state);
            }
        }
        begin[side] = end;
        begin_hubs[side] = end_hubs;
        grid_barrier(arrivals);
    }
    if (thread != 0 || state[JOINED] == NOT_JOINED) return;
    const lanes_t joined = state[JOINED] - 1;
    const node_t u = (node_t)(joined >> 32), v = (node_t)joined;
    offset_t n_first = 1;
    for (node_t at = u; at != source; at = before[at]) ++n_first;
    offset_t i = n_first;
    for (node_t at = u; i > 0; at = before[at]) path[--i] = at;
    offset_t n = n_first;
    for (node_t at = v;; at = before[n_nodes + at]) {
        path[n++] = at;
        if (at == target) break;
    }
    state[HOPS] = n - 1;
}
