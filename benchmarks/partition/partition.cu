// Links of an RMAT graph and the arcs of some of its nodes, drawn anew wherever they are needed.
//
// Launch   1-D, any grid.
// Order    Arcs are kept in no fixed order; the caller sorts them.

__device__ __forceinline__ unsigned long long mixed(unsigned long long x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// Both ends of link i, as lib.graphs draws them: a word of 64 bits is two steps.
__device__ __forceinline__ void draw(
    const unsigned long long start, const int scale, const offset_t i, unsigned& a, unsigned& b)
{
    const offset_t words = (scale + 1) / 2;
    unsigned long long word = 0;
    a = b = 0;
    for (int k = 0; k < scale; ++k) {
        const unsigned long long number = i * words + k / 2 + 1;
        if (k % 2 == 0) word = mixed(start + number * 0x9E3779B97F4A7C15ull);
        const unsigned chance = (unsigned)(word >> (32 * (k % 2)));
        a = 2 * a + (chance >= SECOND);
        b = 2 * b + ((chance >= FIRST && chance < SECOND) || chance >= THIRD);
    }
}

extern "C" __global__ void count_arcs(
    const unsigned long long start,
    const int scale,
    const offset_t n_links,
    const int block,
    unsigned long long* counts)  // (n_blocks,) 0 on entry
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; i < n_links; i += stride) {
        unsigned a, b;
        draw(start, scale, i, a, b);
        if (a == b) continue;
        atomicAdd(&counts[a / block], 1ull);
        atomicAdd(&counts[b / block], 1ull);
    }
}

// Arcs whose tails have new numbers low .. high - 1, as tail * 2^32 + head.
extern "C" __global__ void keep_arcs(
    const unsigned long long start,
    const int scale,
    const offset_t n_links,
    const int block,
    const int* __restrict__ place,
    const offset_t low,
    const offset_t high,
    unsigned long long* kept,
    const offset_t room,
    unsigned long long* n_kept)  // 0 on entry; may exceed room: then arcs are missing
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; i < n_links; i += stride) {
        unsigned a, b;
        draw(start, scale, i, a, b);
        if (a == b) continue;
        const offset_t u = (offset_t)place[a / block] * block + a % block;
        const offset_t v = (offset_t)place[b / block] * block + b % block;
        if (u >= low && u < high) {
            const offset_t at = atomicAdd(n_kept, 1ull);
            if (at < room) kept[at] = (unsigned long long)u << 32 | v;
        }
        if (v >= low && v < high) {
            const offset_t at = atomicAdd(n_kept, 1ull);
            if (at < room) kept[at] = (unsigned long long)v << 32 | u;
        }
    }
}
