// Steps of one rank of searches from up to 64 nodes over the parts of a graph; see steps.py.
//
// Input    The rank's own rows: indptr by place among its nodes, indices by number in the graph.
// Output   Words with a bit for each search, one per node of the graph.
// Launch   1-D, any grid.
// Atomics  atomicOr on the words of nodes; no output depends on the order.

// From each own node of the frontier, a list of their places, to its neighbours; a warp each.
extern "C" __global__ void push(
    const offset_t* __restrict__ queue,
    const offset_t n_queue,
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t first_own,
    const lanes_t* __restrict__ front,
    lanes_t* seen,
    lanes_t* found)
{
    const int t = thread_of_warp();
    for (offset_t i = warp_of_grid(); i < n_queue; i += warps_of_grid()) {
        const offset_t u = queue[i];
        const lanes_t word = front[first_own + u];
        const offset_t stop = indptr[u + 1];
        for (offset_t arc = indptr[u] + t; arc < stop; arc += WARP) {
            const node_t v = __ldg(&indices[arc]);
            // Plain read first: most are seen already. A stale read costs one atomicOr.
            if ((word & ~seen[v]) == 0) continue;
            const lanes_t news = word & ~atomicOr(&seen[v], word);
            if (news) atomicOr(&found[v], news);
        }
    }
}

// Every own node that lacks a lane asks its neighbours, until it has all; a warp each.
extern "C" __global__ void pull(
    const offset_t n_own,
    const lanes_t alive,
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t first_own,
    const lanes_t* __restrict__ front,
    const lanes_t* __restrict__ seen,
    lanes_t* __restrict__ found)
{
    const int t = thread_of_warp();
    for (offset_t v = warp_of_grid(); v < n_own; v += warps_of_grid()) {
        const lanes_t missing = alive & ~seen[first_own + v];
        if (missing == 0) continue;
        const offset_t stop = indptr[v + 1];
        lanes_t got = 0;
        for (offset_t first = indptr[v]; first < stop; first += WARP) {
            if (first + t < stop) got |= front[__ldg(&indices[first + t])];
            got = warp_or(got);
            if ((got & missing) == missing) break;
        }
        if (t == 0) found[first_own + v] = got & missing;
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
