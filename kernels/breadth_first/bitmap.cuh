// Bitmaps with a bit for each node, which searches level by level share.

__device__ __forceinline__ bool is_in(const unsigned* map, const node_t v)
{
    return (map[v >> 5] >> (v & 31)) & 1;
}

// Whether one of heads[0], heads[stride], ... below n is in the frontier.
__device__ __forceinline__ bool has_frontier(
    const unsigned* map, const node_t* __restrict__ heads, int n, const int stride)
{
    constexpr int AT_ONCE = 4;
    for (; n > 0; n -= AT_ONCE * stride, heads += AT_ONCE * stride) {
        node_t head[AT_ONCE];
        bool is_hit = false;
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) head[i] = i * stride < n ? __ldg(heads + i * stride) : -1;
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) is_hit |= head[i] >= 0 && is_in(map, head[i]);
        if (is_hit) return true;
    }
    return false;
}
