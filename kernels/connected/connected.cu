// Connected components by hooking: every tree of labels is rooted at its smallest node.
//
// Input    CSR arcs of a symmetric graph, arcs of a node in ascending order.
// Output   label[v]: the smallest node of v's component.
// Launch   Three launches in this order, each 1-D, any size (grid-stride).
// Atomics  atomicCAS hooks a root under a smaller one; a lost race is tried again from the root
//          that won. A label is never larger than its node, so no cycle can form.
//
// [1] J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation for
//     GPUs", HPDC 2018.

#include "union_find.cuh"

extern "C" __global__ void connected_start(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    node_t* __restrict__ label)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; v < n_nodes; v += stride) {
        const offset_t arc = indptr[v];
        node_t smallest = (node_t)v;
        if (arc < indptr[v + 1] && indices[arc] < smallest) smallest = indices[arc];
        label[v] = smallest;
    }
}

extern "C" __global__ void connected_hook(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    node_t* label)
{
    const int t = thread_of_warp();
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t first = (offset_t)blockIdx.x * blockDim.x + threadIdx.x - t;
    for (; first < n_nodes; first += stride) {  // the warp takes 32 nodes together
        offset_t arc = 0, stop = 0;
        if (first + t < n_nodes) {
            arc = indptr[first + t];
            stop = indptr[first + t + 1];
        }
        unsigned shared = __ballot_sync(ALL_THREADS, stop - arc >= SHARED_DEGREE);
        while (shared) {
            const int owner = __ffs(shared) - 1;
            shared &= shared - 1;
            const offset_t from = __shfl_sync(ALL_THREADS, arc, owner);
            const offset_t to = __shfl_sync(ALL_THREADS, stop, owner);
            for (offset_t a = from + t; a < to; a += WARP) {
                const node_t v = indices[a];
                if (v < first + owner) unite((node_t)(first + owner), v, label);
            }
            if (t == owner) arc = stop;
        }
        // Each edge once, from its larger end: arcs ascend, so the first larger head ends it.
        for (; arc < stop && indices[arc] < first + t; ++arc) {
            unite((node_t)(first + t), indices[arc], label);
        }
        __syncwarp();
    }
}

extern "C" __global__ void connected_flatten(const offset_t n_nodes, volatile node_t* label)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; v < n_nodes; v += stride) {
        // Roots do not change in this launch; a label read while another thread flattens it is
        // an ancestor either way.
        node_t at = label[v];
        while (label[at] != at) at = label[at];
        label[v] = at;
    }
}
