// Rows of 64-bit words, one bit per lane, and bitmaps of nodes.

template <int W>
struct Lanes {
    lanes_t word[W];
};

template <int W>
__device__ __forceinline__ Lanes<W> read_lanes(const lanes_t* from, const offset_t node)
{
    Lanes<W> x;
    if (W == 1) {
        x.word[0] = from[node];
    } else {
        const ulonglong2* pairs = (const ulonglong2*)(from + node * W);
        for (int w = 0; w < W / 2; ++w) {
            const ulonglong2 pair = pairs[w];
            x.word[2 * w] = pair.x;
            x.word[2 * w + 1] = pair.y;
        }
    }
    return x;
}

template <int W>
__device__ __forceinline__ void write_lanes(lanes_t* to, const offset_t node, const Lanes<W>& x)
{
    if (W == 1) {
        to[node] = x.word[0];
    } else {
        ulonglong2* pairs = (ulonglong2*)(to + node * W);
        for (int w = 0; w < W / 2; ++w) {
            pairs[w] = make_ulonglong2(x.word[2 * w], x.word[2 * w + 1]);
        }
    }
}

template <int W>
__device__ __forceinline__ lanes_t any_lane(const Lanes<W>& x)
{
    lanes_t any = 0;
    for (int w = 0; w < W; ++w) any |= x.word[w];
    return any;
}

// Lanes of a that b lacks.
template <int W>
__device__ __forceinline__ Lanes<W> without(Lanes<W> a, const Lanes<W>& b)
{
    for (int w = 0; w < W; ++w) a.word[w] &= ~b.word[w];
    return a;
}

__device__ __forceinline__ bool is_in(const unsigned* map, const node_t v)
{
    return (map[v >> 5] >> (v & 31)) & 1;
}

// Bits of 32 nodes from first on, which need not be a multiple of 32. One thread.
__device__ __forceinline__ void add_to_map(unsigned* map, const offset_t first, const unsigned bits)
{
    const int shift = first & 31;
    atomicOr(&map[first >> 5], bits << shift);
    if (shift && bits >> (32 - shift)) atomicOr(&map[(first >> 5) + 1], bits >> (32 - shift));
}

template <int W>
__device__ __forceinline__ void add_to_unit(lanes_t* unit, const Lanes<W>& x)
{
    for (int w = 0; w < W; ++w) {
        if (x.word[w] & ~unit[w]) atomicOr(&unit[w], x.word[w]);
    }
}

// Add the nodes of 32 threads to the counts of lanes t, 32 + t, ...: a bit matrix, transposed.
template <int W>
__device__ __forceinline__ void count_lanes(int (&n_found)[2 * W], const Lanes<W>& got)
{
    for (int w = 0; w < W; ++w) {
        n_found[2 * w] += __popc(warp_transpose((unsigned)got.word[w]));
        n_found[2 * w + 1] += __popc(warp_transpose((unsigned)(got.word[w] >> 32)));
    }
}

template <int W>
__device__ __forceinline__ void add_counts(
    int* counts, const int n_lanes, int (&n_found)[2 * W])
{
    const int t = thread_of_warp();
    for (int k = 0; k < 2 * W; ++k) {
        if (n_found[k] && WARP * k + t < n_lanes) atomicAdd(&counts[WARP * k + t], n_found[k]);
        n_found[k] = 0;
    }
}
