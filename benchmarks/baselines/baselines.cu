// Breadth-first search as the first GPU searches did it: one or two launches per level [1].
//
// Input    CSR arcs of a symmetric graph.
// Output   level[v], hops from the source.
// Order    Several threads may write level[v] at once: all write the same number.
// Launch   bfs_thread_per_node: 1-D, any grid. The others: 1-D, one thread per node.
//
// [1] P. Harish, P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA",
//     HiPC 2007.

// One kernel per level: every thread looks at its nodes, those of the last level relax their arcs.
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

// The two kernels of a level: this one marks the unvisited neighbours of masked nodes as updating,
// bfs_update makes these nodes the mask of the next level.
extern "C" __global__ void bfs_relax(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    bool* mask,              // (n_nodes,) in, cleared
    bool* updating,          // (n_nodes,) out
    const bool* visited,     // (n_nodes,)
    level_t* level)
{
    const offset_t u = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= n_nodes || !mask[u]) return;
    mask[u] = false;
    for (offset_t arc = indptr[u]; arc < indptr[u + 1]; ++arc) {
        const node_t v = indices[arc];
        if (!visited[v]) {
            level[v] = level[u] + 1;  // every writer writes the same number
            updating[v] = true;
        }
    }
}

extern "C" __global__ void bfs_update(
    const offset_t n_nodes,
    bool* mask,
    bool* updating,
    bool* visited,
    int* is_found)           // (1,) out: 1 if a node was found
{
    const offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n_nodes || !updating[v]) return;
    mask[v] = true;
    visited[v] = true;
    updating[v] = false;
    *is_found = 1;
}
