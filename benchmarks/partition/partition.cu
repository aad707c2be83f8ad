// Links of a graph and the arcs of some of its nodes, drawn again wherever they are needed.
//
// Launch   1-D, any grid.
// Order    Arcs are kept in no fixed order; the caller sorts them.

__device__ __forceinline__ unsigned long long mixed(unsigned long long x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

__device__ __forceinline__ unsigned long long word_at(
    const unsigned long long start, const unsigned long long number)
{
    return mixed(start + (number + 1) * 0x9E3779B97F4A7C15ull);
}

// Of an RMAT graph, as lib.graphs draws it: a word of 64 bits is two steps.
__device__ __forceinline__ void draw_rmat(
    const unsigned long long start, const int scale, const offset_t i, unsigned& a, unsigned& b)
{
    const offset_t words = (scale + 1) / 2;
    unsigned long long word = 0;
    a = b = 0;
    for (int k = 0; k < scale; ++k) {
        if (k % 2 == 0) word = word_at(start, i * words + k / 2);
        const unsigned chance = (unsigned)(word >> (32 * (k % 2)));
        a = 2 * a + (chance >= SECOND);
        b = 2 * b + ((chance >= FIRST && chance < SECOND) || chance >= THIRD);
    }
}

// Of preferential attachment: link i joins node i / m + 1 to an end of an earlier link, any of them
// equally likely (Sanders, Schulz, Information Processing Letters 116, 2016); the first m links go
// to node 0. Nodes get other numbers, or hubs would lie side by side.
__device__ __forceinline__ void draw_attachment(
    const unsigned long long start,
    const int m,
    const offset_t n_nodes,
    const offset_t i,
    unsigned& a,
    unsigned& b)
{
    offset_t link = i, end = 0;
    bool is_near = false;
    while (link >= m) {
        const unsigned long long word = word_at(start, link);
        end = (offset_t)__umul64hi(word, 2 * (unsigned long long)link);
        link = end / 2;
        is_near = end % 2 == 0;
        if (is_near) break;
    }
    const unsigned long long near = i / m + 1, far = is_near ? link / m + 1 : 0;
    constexpr unsigned long long SPREAD = 1779033703;  // a prime
    a = (unsigned)(near * SPREAD % n_nodes);
    b = (unsigned)(far * SPREAD % n_nodes);
}

// Of a grid: node i / 2 to the next one in its row or its column; a loop: none.
__device__ __forceinline__ void draw_grid(
    const unsigned long long start,
    const int n_columns,
    const offset_t n_nodes,
    const offset_t i,
    unsigned& a,
    unsigned& b)
{
    const offset_t v = i / 2;
    a = b = (unsigned)v;
    if ((unsigned)(word_at(start, i) >> 32) < CUT) return;
    if (i % 2 == 0) {
        if ((v + 1) % n_columns) b = (unsigned)(v + 1);
    } else if (v + n_columns < n_nodes) {
        b = (unsigned)(v + n_columns);
    }
}

// Both ends of link i; shape is the scale, the links of a node or the columns.
__device__ __forceinline__ void draw(
    const int kind,
    const unsigned long long start,
    const int shape,
    const offset_t n_nodes,
    const offset_t i,
    unsigned& a,
    unsigned& b)
{
    if (kind == RMAT) draw_rmat(start, shape, i, a, b);
    if (kind == ATTACHMENT) draw_attachment(start, shape, n_nodes, i, a, b);
    if (kind == GRID) draw_grid(start, shape, n_nodes, i, a, b);
}

extern "C" __global__ void count_arcs(
    const int kind,
    const unsigned long long start,
    const int shape,
    const offset_t n_nodes,
    const offset_t n_links,
    const int block,
    unsigned long long* counts)  // (n_blocks,) 0 on entry
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; i < n_links; i += stride) {
        unsigned a, b;
        draw(kind, start, shape, n_nodes, i, a, b);
        if (a == b) continue;
        atomicAdd(&counts[a / block], 1ull);
        atomicAdd(&counts[b / block], 1ull);
    }
}

// Arcs whose tails have new numbers low .. high - 1, as tail * 2^32 + head.
extern "C" __global__ void keep_arcs(
    const int kind,
    const unsigned long long start,
    const int shape,
    const offset_t n_nodes,
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
        draw(kind, start, shape, n_nodes, i, a, b);
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
