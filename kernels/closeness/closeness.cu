// Adds the levels of each node to its sums: a warp for a node, a lane for each 32nd source.

template <typename L>
__device__ __forceinline__ void add(
    const L* __restrict__ level,                      // (n_nodes, stride)
    const offset_t n_nodes,
    const int n_sources,
    const offset_t stride,
    const unsigned long long* __restrict__ inverse,   // (n_levels,) of each number of hops
    const int n_levels,                               // levels from it on mean unreached
    unsigned long long* __restrict__ sums)            // (n_nodes, 3): far, near, sources
{
    const int lane = threadIdx.x % WARP;
    const offset_t n_warps = (offset_t)gridDim.x * blockDim.x / WARP;
    offset_t v = ((offset_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    for (; v < n_nodes; v += n_warps) {
        unsigned long long far = 0, near = 0, hits = 0;
        for (int i = lane; i < n_sources; i += WARP) {
            const L hops = level[v * stride + i];
            if ((unsigned)hops >= (unsigned)n_levels || hops == 0) continue;
            far += hops;
            near += inverse[hops];
            ++hits;
        }
        for (int other = WARP / 2; other > 0; other /= 2) {
            far += __shfl_down_sync(0xffffffffu, far, other);
            near += __shfl_down_sync(0xffffffffu, near, other);
            hits += __shfl_down_sync(0xffffffffu, hits, other);
        }
        if (lane == 0) {
            sums[3 * v] += far;
            sums[3 * v + 1] += near;
            sums[3 * v + 2] += hits;
        }
    }
}

#define ADD(NAME, L)                                                                              \
    extern "C" __global__ void NAME(                                                              \
        const L* level, const offset_t n_nodes, const int n_sources, const offset_t stride,       \
        const unsigned long long* inverse, const int n_levels, unsigned long long* sums)          \
    {                                                                                             \
        add<L>(level, n_nodes, n_sources, stride, inverse, n_levels, sums);                       \
    }

ADD(closeness_add_uint8, unsigned char)
ADD(closeness_add_uint16, unsigned short)
ADD(closeness_add_int32, int)
