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

// The numbers of nodes scrambled, one to one, so that they say nothing of degrees.
__device__ __forceinline__ unsigned scrambled(unsigned long long v, const int scale)
{
    const unsigned long long most = (1ull << scale) - 1;
    const int half = (scale + 1) / 2;
    v = v * 0x9E3779B97F4A7C15ull & most;
    v ^= v >> half;
    v = v * 0xBF58476D1CE4E5B9ull & most;
    v ^= v >> half;
    return (unsigned)(v * 0x94D049BB133111EBull & most);
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
    if (kind == RMAT || kind == SCRAMBLED) draw_rmat(start, shape, i, a, b);
    if (kind == SCRAMBLED) {
        a = scrambled(a, shape);
        b = scrambled(b, shape);
    }
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

// One step from parents to levels: nodes whose parent has a level get the next one.
extern "C" __global__ void next_levels(
    const offset_t n_nodes,
    const int* __restrict__ parent,
    int* level,              // (n_nodes,) -1: none yet
    const int depth,
    unsigned long long* n_found)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    unsigned long long n = 0;
    for (offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; v < n_nodes; v += stride) {
        if (parent[v] < 0 || level[v] >= 0 || level[parent[v]] != depth - 1) continue;
        level[v] = depth;
        ++n;
    }
    if (n) atomicAdd(n_found, n);
}

// Links from .. to - 1 of the list, duplicates and loops too, against a tree and its levels.
extern "C" __global__ void check_links(
    const int kind,
    const unsigned long long start,
    const int shape,
    const offset_t n_nodes,
    const offset_t from,
    const offset_t to,
    const int block,
    const int* __restrict__ place,
    const int* __restrict__ parent,
    const int* __restrict__ level,
    unsigned* is_link,             // bit per node, 0 on entry: its link to the parent was seen
    unsigned long long* n_wrong,   // links between reached and unreached nodes, or across two levels
    unsigned long long* n_inside)  // links of the component
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    unsigned long long wrong = 0, inside = 0;
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (offset_t i = from + thread; i < to; i += stride) {
        unsigned a, b;
        draw(kind, start, shape, n_nodes, i, a, b);
        const offset_t u = (offset_t)place[a / block] * block + a % block;
        const offset_t v = (offset_t)place[b / block] * block + b % block;
        const int of_u = level[u], of_v = level[v];
        inside += of_u >= 0;
        wrong += (of_u < 0) != (of_v < 0) || of_u - of_v > 1 || of_v - of_u > 1;
        if (of_u == of_v + 1 && parent[u] == v) atomicOr(&is_link[u >> 5], 1u << (u & 31));
        if (of_v == of_u + 1 && parent[v] == u) atomicOr(&is_link[v >> 5], 1u << (v & 31));
    }
    for (int other = 16; other > 0; other /= 2) {
        wrong += __shfl_down_sync(0xffffffffu, wrong, other);
        inside += __shfl_down_sync(0xffffffffu, inside, other);
    }
    if (threadIdx.x % 32 == 0) {
        if (wrong) atomicAdd(n_wrong, wrong);
        atomicAdd(n_inside, inside);
    }
}
