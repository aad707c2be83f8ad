// Connected components by hooking: every tree of labels is rooted at its smallest node.
//
// Input    CSR arcs of a symmetric graph, arcs of a node in ascending order.
// Output   label[v]: the smallest node of v's component; connected_sizes also lists the components
//          and counts their nodes.
// Launch   start, flatten, second, flatten, sample (one block of SAMPLE threads), hook, then
//          flatten or sizes; 1-D, any size (grid-stride) where nothing else is said.
// Atomics  atomicCAS hooks a root under a smaller one; a lost race is tried again from the root
//          that won. A label is never larger than its node, so no cycle can form.
//
// Two arcs of each node connect most nodes of most graphs. The label that most of a sample then have
// is that of a part: nodes in it need no more arcs, since the others take all of theirs [2].
//
// [1] J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation for
//     GPUs", HPDC 2018.
// [2] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via
//     subgraph sampling", IPDPS 2018.

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

// Unite each node with its second neighbour.
extern "C" __global__ void connected_second(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    node_t* label)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; v < n_nodes; v += stride) {
        const offset_t arc = indptr[v] + 1;
        if (arc < indptr[v + 1]) unite((node_t)v, indices[arc], label);
    }
}

// *most: the label that most of SAMPLE nodes have.
extern "C" __global__ void connected_sample(
    const offset_t n_nodes, const node_t* __restrict__ label, node_t* most)
{
    __shared__ node_t found[SAMPLE];
    __shared__ int best;
    const int t = threadIdx.x;
    if (t == 0) best = 0;
    found[t] = label[n_nodes * t / SAMPLE];
    __syncthreads();
    int count = 0;
    for (int i = 0; i < SAMPLE; ++i) count += found[i] == found[t];
    atomicMax(&best, count * SAMPLE + t);
    __syncthreads();
    if (t == 0) *most = found[best % SAMPLE];
}

// Unite every node outside the part of ``*most`` with all its neighbours. Labels of the part may
// change meanwhile; a node that is then taken for one outside does too much, never too little.
extern "C" __global__ void connected_hook(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    node_t* label,
    const node_t* __restrict__ most)
{
    const int t = thread_of_warp();
    const node_t part = *most;
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t first = (offset_t)blockIdx.x * blockDim.x + threadIdx.x - t;
    for (; first < n_nodes; first += stride) {  // the warp takes 32 nodes together
        offset_t arc = 0, stop = 0;
        if (first + t < n_nodes && *(volatile node_t*)&label[first + t] != part) {
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
                unite((node_t)(first + owner), indices[a], label);
            }
            if (t == owner) arc = stop;
        }
        for (; arc < stop; ++arc) unite((node_t)(first + t), indices[arc], label);
        __syncwarp();
    }
}

// Roots do not change in a launch that flattens; a label read while another thread does so is an
// ancestor either way.
__device__ __forceinline__ node_t flatten(const offset_t v, node_t* label)
{
    const node_t before = label[v];
    node_t at = before;
    while (label[at] != at) at = label[at];
    if (at != before) label[v] = at;
    return at;
}

extern "C" __global__ void connected_flatten(const offset_t n_nodes, node_t* label)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; v < n_nodes; v += stride) flatten(v, label);
}

// Flatten; list the roots in any order (*n_roots is 0 before) and count the nodes of each (size is 0
// before). Nodes of the part of ``*most`` are counted by thread, then by warp.
extern "C" __global__ void connected_sizes(
    const offset_t n_nodes,
    node_t* label,
    const node_t* __restrict__ most,
    node_t* __restrict__ roots,
    int* n_roots,
    int* size)
{
    const int t = thread_of_warp();
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    node_t part = *most;
    while (*(volatile node_t*)&label[part] != part) part = *(volatile node_t*)&label[part];
    offset_t n_part = 0;
    offset_t first = (offset_t)blockIdx.x * blockDim.x + threadIdx.x - t;
    for (; first < n_nodes; first += stride) {
        const offset_t v = first + t;
        const node_t root = v < n_nodes ? flatten(v, label) : -1;
        const bool is_root = root == v;
        const unsigned are_roots = __ballot_sync(ALL_THREADS, is_root);
        if (are_roots) {
            int place = 0;
            if (t == 0) place = atomicAdd(n_roots, __popc(are_roots));
            place = __shfl_sync(ALL_THREADS, place, 0);
            if (is_root) roots[place + __popc(are_roots & ((1u << t) - 1))] = root;
        }
        if (root == part) {
            ++n_part;
        } else if (root >= 0) {
            atomicAdd(&size[root], 1);
        }
    }
    n_part = warp_sum(n_part);
    if (t == 0 && n_part) atomicAdd(&size[part], (int)n_part);
}
