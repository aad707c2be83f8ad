// Bounds of eccentricities on the device: what finished searches prove, and which nodes to search
// next.
//
// Input    Levels of one search per component, or bit planes of a sweep (multi_source.cu).
// Output   lower and upper bounds of every node, the extremes of each component, lists of nodes.
// Order    Bounds are combined by max and min, and the smallest of equal nodes is taken,
//          so nothing but the order of lists depends on the order of threads.
// Launch   1-D, any grid.
//
// Nodes of a component are contiguous; component is null if there is only one. A search from s
// with eccentricity e at distance d of v proves max(d, e - d) <= ecc(v) <= e + d [1].
//
// [1] F. W. Takes, W. A. Kosters, "Determining the diameter of small world networks", CIKM 2011.

typedef unsigned long long key_t;  // priority of a node, larger first; 0: none

__device__ __forceinline__ offset_t first_item()
{
    return (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ offset_t items_apart() { return (offset_t)gridDim.x * blockDim.x; }

#include "tightening.cuh"
#include "choosing.cuh"
#include "territories.cuh"

// Rows of a CSR in another order: row i is what was row order[i], neighbours under their new names.
extern "C" __global__ void eccentricity_reorder(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    const node_t* __restrict__ order,
    const node_t* __restrict__ place,    // place[order[i]] == i
    const offset_t* __restrict__ new_indptr,
    node_t* __restrict__ new_indices)
{
    const int t = thread_of_warp();
    for (offset_t i = warp_of_grid(); i < n_nodes; i += warps_of_grid()) {
        const offset_t from = indptr[order[i]], to = new_indptr[i];
        const offset_t n = new_indptr[i + 1] - to;
        for (offset_t j = t; j < n; j += WARP) new_indices[to + j] = place[indices[from + j]];
    }
}

// One path for each of some graphs, a warp each: from its end back to where levels are 0.
extern "C" __global__ void eccentricity_paths(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const int* __restrict__ level,
    const node_t* __restrict__ ends,        // (n_paths,)
    const offset_t n_paths,
    const offset_t* __restrict__ path_ptr,  // (n_paths + 1,)
    node_t* __restrict__ path)
{
    const int t = thread_of_warp();
    for (offset_t i = warp_of_grid(); i < n_paths; i += warps_of_grid()) {
        node_t v = ends[i];
        for (int d = level[v]; d >= 0; --d) {
            if (t == 0) path[path_ptr[i] + d] = v;
            node_t next = -1;
            for (offset_t first = indptr[v]; d > 0 && first < indptr[v + 1]; first += WARP) {
                const offset_t arc = first + t;
                const bool is_up = arc < indptr[v + 1] && level[indices[arc]] == d - 1;
                const unsigned found = __ballot_sync(ALL_THREADS, is_up);
                if (found) {
                    next = indices[first + __ffs(found) - 1];
                    break;
                }
            }
            v = next;
        }
    }
}
