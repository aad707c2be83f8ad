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

// The root of v. Shortens the path on its way: another thread may write the same label at the
// same time, but each of them writes a node of the same tree nearer to the root.
__device__ __forceinline__ node_t connected_root(const node_t v, volatile node_t* label)
{
    node_t at = label[v];
    if (at == v) return at;
    node_t before = v;
    for (node_t next = label[at]; at > next; next = label[at]) {
        label[before] = next;
        before = at;
        at = next;
    }
    return at;
}

__device__ __forceinline__ void connected_join(const node_t u, const node_t v, node_t* label)
{
    node_t a = connected_root(u, label), b = connected_root(v, label);
    while (a != b) {
        const node_t high = a > b ? a : b, low = a > b ? b : a;
        const node_t seen = atomicCAS(&label[high], high, low);
        if (seen == high) return;
        a = seen;  // high is no longer a root: continue from its parent
        b = low;
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
                if (v < first + owner) connected_join((node_t)(first + owner), v, label);
            }
            if (t == owner) arc = stop;
        }
        // Each edge once, from its larger end: arcs ascend, so the first larger head ends it.
        for (; arc < stop && indices[arc] < first + t; ++arc) {
            connected_join((node_t)(first + t), indices[arc], label);
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
