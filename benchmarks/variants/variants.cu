// Level-synchronous breadth-first searches as papers compare them; benchmarks only. Every level
// looks at every node, and expands those that the level before found. Four choices, any of each:
//
// Mapping   thread: a thread walks a node's list [1]. warp: the 32 threads of a warp share it [2].
//           hybrid: on each level the one or the other, by the mean list of its frontier (the
//           choice by level of [3]); only there nodes are counted, so claimed by atomicCAS.
// Lists     offsets: one array, CSR. pointers: a pointer and a length per node, to lists that lie
//           anywhere. padded: CSR whose lists begin at multiples of 32 and end in -1s, so that a
//           warp reads whole lines of 128 bytes.
// Loads     of the graph: plain, or read-only (ld.global.nc): by the path that textures took.
// Launches  level: one launch per level, the host reads a flag between them [1]. wait: one launch,
//           blocks wait for one another by spinning on a counter in memory [4].
//
// Output    level[v], hops from the source. Several threads may write level[v] at once: all write
//           the same number.
// Launch    1-D. variant_wait_*: cooperative, all blocks resident, or they spin forever.
//
// [1] P. Harish, P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA",
//     HiPC 2007.
// [2] S. Hong, S. K. Kim, T. Oguntebi, K. Olukotun, "Accelerating CUDA graph algorithms at maximum
//     warp", PPoPP 2011.
// [3] S. Hong, T. Oguntebi, K. Olukotun, "Efficient parallel graph exploration on multi-core CPU
//     and GPU", PACT 2011.
// [4] S. Xiao, W. Feng, "Inter-block GPU communication via fast barrier synchronization",
//     IPDPS 2010.

enum Lists { OFFSETS, POINTERS, PADDED };

// All zero before variant_start.
struct Control {
    unsigned arrivals;                   // of grid_barrier
    level_t last;                        // the last level that has nodes
    int n_found[4];                      // hybrid: nodes found at level d: n_found[d % 4]
    unsigned long long found_places[4];  // the places of their lists
};

// A load that is never ld.global.nc, whatever the compiler can prove. Not volatile: the graph does
// not change, so that loads may be moved and joined like those of the other kind.
__device__ __forceinline__ int plain(const int* p)
{
    int x;
    asm("ld.global.s32 %0, [%1];" : "=r"(x) : "l"(__cvta_generic_to_global(p)));
    return x;
}

__device__ __forceinline__ long long plain(const long long* p)
{
    long long x;
    asm("ld.global.s64 %0, [%1];" : "=l"(x) : "l"(__cvta_generic_to_global(p)));
    return x;
}

template <bool READ_ONLY, typename T>
__device__ __forceinline__ T load(const T* p)
{
    return READ_ONLY ? __ldg(p) : plain(p);
}

// The graph as one of three kinds of lists.
struct Graph {
    const void* where;  // (n_nodes + 1,) offset_t; pointers: (n_nodes,) addresses
    const void* what;   // node_t, lists one after another; pointers: (n_nodes,) int, lengths
    offset_t n_nodes;
};

// First place of a node's list, and its places; padded ones count.
template <int LISTS, bool READ_ONLY>
__device__ __forceinline__ const node_t* list_of(const Graph& g, const offset_t u, offset_t& n)
{
    const offset_t* where = (const offset_t*)g.where + u;
    const offset_t first = load<READ_ONLY>(where);
    if (LISTS == POINTERS) {
        n = load<READ_ONLY>((const int*)g.what + u);
        return (const node_t*)first;
    }
    n = load<READ_ONLY>(where + 1) - first;
    return (const node_t*)g.what + first;
}

// Give depth to the neighbours of level depth - 1 that have none. All threads of a warp together.
template <int THREADS, int LISTS, bool READ_ONLY, bool COUNTED>
__device__ __forceinline__ void expand(
    const Graph& g, const level_t depth, level_t* level, Control* control)
{
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t stride = (offset_t)gridDim.x * blockDim.x / THREADS;
    if (COUNTED && thread == 0) {  // nobody reads or adds there on this level
        control->n_found[(depth + 1) & 3] = 0;
        control->found_places[(depth + 1) & 3] = 0;
    }
    bool is_found = false;
    offset_t nodes = 0, places = 0;
    for (offset_t u = thread / THREADS; u < g.n_nodes; u += stride) {
        if (level[u] != depth - 1) continue;
        offset_t n;
        const node_t* list = list_of<LISTS, READ_ONLY>(g, u, n);
        for (offset_t i = threadIdx.x % THREADS; i < n; i += THREADS) {
            const node_t v = load<READ_ONLY>(list + i);
            if (LISTS == PADDED && v < 0) {  // the list has ended
                if (THREADS == 1) break;
                continue;  // in a warp's last line, so that this loop unrolls as the others do
            }
            if (level[v] != UNREACHED) continue;
            if (COUNTED) {
                if (atomicCAS(&level[v], UNREACHED, depth) != UNREACHED) continue;
                offset_t its_places;
                list_of<LISTS, READ_ONLY>(g, v, its_places);
                ++nodes;
                places += its_places;
            } else {
                level[v] = depth;
            }
            is_found = true;
        }
    }
    if (is_found) control->last = depth;
    if (COUNTED) {
        nodes = warp_sum(nodes);
        places = warp_sum(places);
        if (thread_of_warp() == 0 && nodes) {
            atomicAdd(&control->n_found[depth & 3], (int)nodes);
            atomicAdd(&control->found_places[depth & 3], (unsigned long long)places);
        }
    }
}

enum Mapping { HYBRID = 0, THREAD = 1, SHARED = WARP };  // threads per node

template <int MAPPING, int LISTS, bool READ_ONLY>
__device__ __forceinline__ void search_waiting(
    const Graph& g, const offset_t warp_from, level_t* level, Control* control)
{
    for (level_t depth = 1;; ++depth) {
        if (MAPPING != HYBRID) {
            constexpr int THREADS = MAPPING == HYBRID ? THREAD : MAPPING;
            expand<THREADS, LISTS, READ_ONLY, false>(g, depth, level, control);
        } else {
            // Every block reads the same: this level adds elsewhere.
            const offset_t nodes = control->n_found[(depth - 1) & 3];
            if ((offset_t)control->found_places[(depth - 1) & 3] >= warp_from * nodes) {
                expand<SHARED, LISTS, READ_ONLY, true>(g, depth, level, control);
            } else {
                expand<THREAD, LISTS, READ_ONLY, true>(g, depth, level, control);
            }
        }
        grid_barrier(&control->arrivals);
        // Another block may have begun the next level and raised it: that ends nothing.
        if (*(volatile level_t*)&control->last < depth) return;
    }
}

extern "C" __global__ void variant_start(
    const offset_t n_nodes, const node_t source, level_t* level, Control* control)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (offset_t v = thread; v < n_nodes; v += stride) level[v] = v == source ? 0 : UNREACHED;
    if (thread == 0) {
        *control = {};
        control->n_found[0] = 1;
        control->found_places[0] = 1ull << 40;  // as long as can be: a warp takes the source's list
    }
}

// Copy the lists of a CSR graph to where they are to begin. One warp per node.
extern "C" __global__ void variant_place(
    const offset_t* indptr, const node_t* indices, const offset_t n_nodes,
    const offset_t* start,  // (n_nodes,)
    node_t* places)
{
    for (offset_t u = warp_of_grid(); u < n_nodes; u += warps_of_grid()) {
        const offset_t first = indptr[u], n = indptr[u + 1] - first;
        for (offset_t i = thread_of_warp(); i < n; i += WARP) {
            places[start[u] + i] = indices[first + i];
        }
    }
}

#define LEVEL(NAME, THREADS, LISTS, READ_ONLY, COUNTED)                                  \
    extern "C" __global__ void variant_level_##NAME(                                     \
        const void* where, const void* what, const offset_t n_nodes, const level_t depth, \
        level_t* level, Control* control)                                                \
    {                                                                                    \
        expand<THREADS, LISTS, READ_ONLY, COUNTED>({where, what, n_nodes}, depth, level, control); \
    }

#define WAIT(NAME, MAPPING, LISTS, READ_ONLY)                                            \
    extern "C" __global__ void __launch_bounds__(COOPERATIVE_BLOCK) variant_wait_##NAME( \
        const void* where, const void* what, const offset_t n_nodes,                     \
        const offset_t warp_from, level_t* level, Control* control)                      \
    {                                                                                    \
        search_waiting<MAPPING, LISTS, READ_ONLY>(                                       \
            {where, what, n_nodes}, warp_from, level, control);                          \
    }

#define EACH_MAPPING(NAME, LISTS, READ_ONLY)                     \
    LEVEL(thread_##NAME, THREAD, LISTS, READ_ONLY, false)        \
    LEVEL(warp_##NAME, SHARED, LISTS, READ_ONLY, false)          \
    LEVEL(thread_##NAME##_counted, THREAD, LISTS, READ_ONLY, true) \
    LEVEL(warp_##NAME##_counted, SHARED, LISTS, READ_ONLY, true) \
    WAIT(thread_##NAME, THREAD, LISTS, READ_ONLY)                \
    WAIT(warp_##NAME, SHARED, LISTS, READ_ONLY)                  \
    WAIT(hybrid_##NAME, HYBRID, LISTS, READ_ONLY)

EACH_MAPPING(offsets_plain, OFFSETS, false)
EACH_MAPPING(offsets_readonly, OFFSETS, true)
EACH_MAPPING(pointers_plain, POINTERS, false)
EACH_MAPPING(pointers_readonly, POINTERS, true)
EACH_MAPPING(padded_plain, PADDED, false)
EACH_MAPPING(padded_readonly, PADDED, true)
