// Nodes whose lower bound no unsearched node can exceed; the rule and its proof are in
// reductions/references.py.

// Counts of each reference, by upper bound and level of nodes that were not searched, and by lower
// bound and level of nodes that still matter. Upper bounds above most count as most + 1. No level
// and no lower bound is above most, which is below MOST_HOPS.
#define MOST_CELLS ((MOST_HOPS + 1) * MOST_HOPS)

extern "C" __global__ void eccentricity_territories(
    const int question,
    const unsigned char* __restrict__ levels,  // (n_references, n_nodes)
    const int n_references,
    const offset_t n_nodes,
    const int* __restrict__ lower,
    const int* __restrict__ upper,
    const int* __restrict__ most,              // (1,)
    const int* __restrict__ least,             // (1,)
    const unsigned char* __restrict__ state,
    const int n_hops,                          // most[0] + 1
    int* __restrict__ beyond,                  // (n_references, n_hops + 1, n_hops) 0 on entry
    int* __restrict__ within)                  // (n_references, n_hops, n_hops) 0 on entry
{
    __shared__ int own_beyond[MOST_CELLS], own_within[MOST_CELLS];
    const int n_beyond = (n_hops + 1) * n_hops, n_within = n_hops * n_hops;
    for (int z = 0; z < n_references; ++z) {
        for (int i = threadIdx.x; i < n_beyond; i += blockDim.x) own_beyond[i] = 0;
        for (int i = threadIdx.x; i < n_within; i += blockDim.x) own_within[i] = 0;
        __syncthreads();
        for (offset_t v = first_item(); v < n_nodes; v += items_apart()) {
            const int low = lower[v], high = upper[v], d = levels[z * n_nodes + v];
            if (state[v] != SEARCHED) atomicAdd(&own_beyond[min(high, n_hops) * n_hops + d], 1);
            if (matters(question, low, high, *most, *least, state[v])) {
                atomicAdd(&own_within[low * n_hops + d], 1);
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n_beyond; i += blockDim.x) {
            if (own_beyond[i]) atomicAdd(&beyond[z * n_beyond + i], own_beyond[i]);
        }
        for (int i = threadIdx.x; i < n_within; i += blockDim.x) {
            if (own_within[i]) atomicAdd(&within[z * n_within + i], own_within[i]);
        }
        __syncthreads();
    }
}

// Lower upper bounds by every reference.
extern "C" __global__ void eccentricity_close(
    const unsigned char* __restrict__ levels,  // (n_references, n_nodes)
    const int n_references,
    const offset_t n_nodes,
    const int* __restrict__ above,  // (n_references, n_hops) largest distance of a node that counts
    const int n_hops,
    const int* __restrict__ lower,
    int* __restrict__ upper)
{
    for (offset_t v = first_item(); v < n_nodes; v += items_apart()) {
        const int low = lower[v], high = upper[v];
        if (low == high) continue;
        int bound = high;
        for (int z = 0; z < n_references; ++z) {
            const int far = above[z * n_hops + low];
            bound = min(bound, far < 0 ? low : max(low, levels[z * n_nodes + v] + far));
        }
        upper[v] = bound;
    }
}
