// Breadth-first search from one source, one launch a level.
//
// Input    CSR arcs of a symmetric graph.
// Output   level[v], hops from the source; parent[v], its smallest neighbour one level up.
// Order    Nodes of a level stand in the queue in no fixed order; no output depends on it.
// Launch   1-D grid of whole warps, any size (grid-stride). No shared memory.
// Atomics  atomicCAS claims a node; atomicAdd on tail reserves places in the queue, once for
//          all nodes that a warp claims together.
//
// [1] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012.
// [2] P. Harish, P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA",
//     HiPC 2007.

// Give depth to the head of one arc a thread (arc < 0: none) and queue the newly reached.
// Called by all threads of a warp together.
__device__ __forceinline__ void bfs_claim(
    const offset_t arc,
    const node_t* __restrict__ indices,
    const level_t depth,
    level_t* level,
    node_t* queue,
    int* tail)
{
    node_t v = 0;
    bool claimed = false;
    if (arc >= 0) {
        v = indices[arc];
        // Plain read first: most neighbours are already seen. A stale read costs one atomicCAS,
        // never a wrong level.
        claimed = level[v] == UNREACHED && atomicCAS(&level[v], UNREACHED, depth) == UNREACHED;
    }
    const unsigned claims = __ballot_sync(ALL_THREADS, claimed);
    if (claims == 0) return;
    const int t = thread_of_warp();
    int first = 0;
    if (t == 0) first = atomicAdd(tail, __popc(claims));
    first = __shfl_sync(ALL_THREADS, first, 0);
    if (claimed) queue[first + __popc(claims & ((1u << t) - 1))] = v;
}

extern "C" __global__ void bfs_expand(
    const offset_t* __restrict__ indptr,  // (n_nodes + 1,)
    const node_t* __restrict__ indices,   // (n_arcs,)
    const offset_t begin,                 // the frontier is queue[begin:end]
    const offset_t end,
    const level_t depth,                  // level to give, 1 on the first launch
    level_t* level,                       // (n_nodes,) in and out
    node_t* queue,                        // (n_nodes,) every reached node once, by level
    int* tail)                            // (1,) nodes in the queue; end on entry
{
    const int t = thread_of_warp();
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t first = begin + (offset_t)blockIdx.x * blockDim.x + threadIdx.x - t;
    for (; first < end; first += stride) {  // the warp takes 32 frontier nodes together
        offset_t arc = 0, stop = 0;
        if (first + t < end) {
            const node_t u = queue[first + t];
            arc = indptr[u];
            stop = indptr[u + 1];
        }
        unsigned shared = __ballot_sync(ALL_THREADS, stop - arc >= SHARED_DEGREE);
        while (shared) {
            const int owner = __ffs(shared) - 1;
            shared &= shared - 1;
            const offset_t from = __shfl_sync(ALL_THREADS, arc, owner);
            const offset_t to = __shfl_sync(ALL_THREADS, stop, owner);
            for (offset_t a = from; a < to; a += WARP) {
                bfs_claim(a + t < to ? a + t : -1, indices, depth, level, queue, tail);
            }
            if (t == owner) arc = stop;
        }
        while (__any_sync(ALL_THREADS, arc < stop)) {
            bfs_claim(arc < stop ? arc : -1, indices, depth, level, queue, tail);
            ++arc;
        }
    }
}

// The plain form that the field started from [2]: every level looks at every node.
extern "C" __global__ void bfs_thread_per_node(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    const level_t depth,  // level to give
    level_t* level,
    level_t* last)        // (1,) out: depth, if any node got it
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t u = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; u < n_nodes; u += stride) {
        if (level[u] != depth - 1) continue;
        for (offset_t arc = indptr[u]; arc < indptr[u + 1]; ++arc) {
            const node_t v = indices[arc];
            // Several threads may write level[v] at once: all write the same number.
            if (level[v] == UNREACHED) {
                level[v] = depth;
                *last = depth;
            }
        }
    }
}

// Arcs are sorted, so the first neighbour one level up is the smallest.
extern "C" __global__ void bfs_parents(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    const level_t* __restrict__ level,
    node_t* __restrict__ parent)  // (n_nodes,) out
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; v < n_nodes; v += stride) {
        const level_t depth = level[v];
        node_t found = depth == 0 ? (node_t)v : UNREACHED;
        if (depth > 0) {
            for (offset_t arc = indptr[v]; arc < indptr[v + 1]; ++arc) {
                if (level[indices[arc]] == depth - 1) {
                    found = indices[arc];
                    break;
                }
            }
        }
        parent[v] = found;
    }
}
