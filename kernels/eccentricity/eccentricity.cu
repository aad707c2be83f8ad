// Bounds of eccentricities on the device: what finished searches prove, and which nodes to search
// next.
//
// Input    Levels of one search a component, or bit planes of a sweep (multi_source.cu).
// Output   lower and upper bounds of every node, the extremes of each component, lists of nodes.
// Order    Bounds are combined by max and min, and of equal candidates the smallest node is taken,
//          so nothing but the order of lists depends on the order of threads.
// Launch   1-D, any grid.
//
// Nodes of a component stand together; component is null where there is only one. A search from s
// with eccentricity e at distance d of v proves max(d, e - d) <= ecc(v) <= e + d [1].
//
// [1] F. W. Takes, W. A. Kosters, "Determining the diameter of small world networks", CIKM 2011.

typedef unsigned long long key_t;  // the larger, the sooner a node is searched; 0: none

// bounds.QUESTIONS by number.
#define DIAMETER 0
#define RADIUS 1
#define CENTER 2
#define PERIPHERY 3
#define ECCENTRICITIES 4
#define ENDS 5  // of longest paths, among nodes outside the balls; see matters

// State of a node: a search from it gave bounds to all nodes, or to itself alone, or none was made.
#define FREE 0
#define SEARCHED 1
#define SEARCHED_ALONE 2

__device__ __forceinline__ offset_t first_item()
{
    return (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ offset_t items_apart() { return (offset_t)gridDim.x * blockDim.x; }

// Nodes of component c are searched together; a thread walks through a run of them.
#define RUN 32

// Bounds before any search: a node reaches its neighbours in 1 hop and gains one more a hop.
extern "C" __global__ void eccentricity_start(
    const offset_t* __restrict__ indptr,
    const offset_t n_nodes,
    const int* __restrict__ component,
    const offset_t* __restrict__ node_ptr,  // (n_components + 1,)
    int* __restrict__ lower,
    int* __restrict__ upper)
{
    for (offset_t v = first_item(); v < n_nodes; v += items_apart()) {
        const int c = component ? component[v] : 0;
        const int size = (int)(node_ptr[c + 1] - node_ptr[c]);
        const int degree = (int)(indptr[v + 1] - indptr[v]);
        lower[v] = size == 1 ? 0 : degree == size - 1 ? 1 : 2;
        upper[v] = size == 1 ? 0 : degree == size - 1 ? 1 : size - degree;
    }
}

// Tighten by one search a component; searches that are not there have eccentricity -1.
extern "C" __global__ void eccentricity_after_search(
    const int* __restrict__ level,         // (n_nodes,) -1: unreached
    const offset_t n_nodes,
    const int* __restrict__ component,
    const int* __restrict__ eccentricity,  // (n_components,)
    int* __restrict__ lower,
    int* __restrict__ upper)
{
    for (offset_t v = first_item(); v < n_nodes; v += items_apart()) {
        const int d = level[v];
        const int e = eccentricity[component ? component[v] : 0];
        if (d < 0 || e < 0) continue;
        lower[v] = max(lower[v], max(d, e - d));
        upper[v] = min(upper[v], e + d);
    }
}

// Levels of a sweep of one lane a component.
extern "C" __global__ void eccentricity_lane_levels(
    const lanes_t* __restrict__ seen,    // (n_nodes,)
    const lanes_t* __restrict__ planes,  // (n_planes, n_nodes)
    const int n_planes,
    const offset_t n_nodes,
    int* __restrict__ level)
{
    for (offset_t v = first_item(); v < n_nodes; v += items_apart()) {
        int d = 0;
        for (int k = 0; k < n_planes; ++k) d |= (int)(planes[k * n_nodes + v] & 1) << k;
        level[v] = seen[v] & 1 ? d : UNREACHED;
    }
}

// Bit b of the eccentricities of a component's lanes: bits[component][b][word].
extern "C" __global__ void eccentricity_bits(
    const int* __restrict__ slot_ptr,      // (n_components + 1,)
    const int* __restrict__ eccentricity,  // (n_slots,)
    const offset_t n_components,
    const int n_words,
    const int n_bits,
    lanes_t* __restrict__ bits)
{
    for (offset_t i = first_item(); i < n_components * n_words; i += items_apart()) {
        const offset_t c = i / n_words;
        const int word = (int)(i - c * n_words);
        const int first = slot_ptr[c] + 64 * word;
        const int n = min(slot_ptr[c + 1] - first, 64);
        for (int b = 0; b < n_bits; ++b) {
            lanes_t x = 0;
            for (int lane = 0; lane < n; ++lane) {
                x |= (lanes_t)((eccentricity[first + lane] >> b) & 1) << lane;
            }
            bits[(c * n_bits + b) * n_words + word] = x;
        }
    }
}

// Tighten by a sweep: the lanes of a node are taken distance by distance, and of those at one
// distance the largest eccentricity gives the lower, the smallest the upper bound.
template <int W>
__device__ __forceinline__ void after_sweep(
    const lanes_t* __restrict__ seen,    // (n_nodes, W)
    const lanes_t* __restrict__ planes,  // (n_planes, n_nodes, W)
    const int n_planes,
    const offset_t n_nodes,
    const int* __restrict__ component,
    const lanes_t* __restrict__ bits,
    const int n_bits,
    int* __restrict__ lower,
    int* __restrict__ upper)
{
    for (offset_t v = first_item(); v < n_nodes; v += items_apart()) {
        int low = lower[v], high = upper[v];
        if (low == high) continue;  // nothing to gain
        const lanes_t* own = bits + (component ? (offset_t)component[v] * n_bits * W : 0);
        for (int w = 0; w < W; ++w) {
            lanes_t left = seen[v * W + w];
            while (left) {
                const int lane = __ffsll((long long)left) - 1;
                lanes_t same = left;
                int d = 0;
                for (int k = 0; k < n_planes; ++k) {
                    const lanes_t plane = planes[(k * n_nodes + v) * W + w];
                    const bool is_set = (plane >> lane) & 1;
                    d |= (int)is_set << k;
                    same &= is_set ? plane : ~plane;
                }
                left &= ~same;
                lanes_t most = same, least = same;
                int largest = 0, smallest = 0;
                for (int b = n_bits - 1; b >= 0; --b) {
                    const lanes_t bit = own[b * W + w];
                    if (most & bit) {
                        most &= bit;
                        largest |= 1 << b;
                    }
                    if (least & ~bit) least &= ~bit; else smallest |= 1 << b;
                }
                low = max(low, max(d, largest - d));
                high = min(high, smallest + d);
            }
        }
        lower[v] = low;
        upper[v] = high;
    }
}

#define AFTER_SWEEP(W)                                                                            \
    extern "C" __global__ void eccentricity_after_sweep_##W(                                      \
        const lanes_t* seen, const lanes_t* planes, const int n_planes, const offset_t n_nodes,   \
        const int* component, const lanes_t* bits, const int n_bits, int* lower, int* upper)      \
    {                                                                                             \
        after_sweep<W>(                                                                           \
            seen, planes, n_planes, n_nodes, component, bits, n_bits, lower, upper);              \
    }

AFTER_SWEEP(1)
AFTER_SWEEP(2)
AFTER_SWEEP(4)

// Searched nodes: their bounds are their eccentricities.
extern "C" __global__ void eccentricity_set(
    const node_t* __restrict__ sources,
    const int* __restrict__ eccentricity,
    const offset_t n_sources,
    const int is_alone,
    int* __restrict__ lower,
    int* __restrict__ upper,
    unsigned char* __restrict__ state)
{
    for (offset_t i = first_item(); i < n_sources; i += items_apart()) {
        const node_t v = sources[i];
        lower[v] = upper[v] = eccentricity[i];
        if (state[v] != SEARCHED) state[v] = is_alone ? SEARCHED_ALONE : SEARCHED;
    }
}

// Largest lower and smallest upper bound of each component, and whether any two bounds cross.
extern "C" __global__ void eccentricity_extremes(
    const int* __restrict__ component,
    const int* __restrict__ lower,
    const int* __restrict__ upper,
    const offset_t n_nodes,
    int* __restrict__ most,
    int* __restrict__ least,
    int* __restrict__ crossed)  // a node of which they do, -1 on entry
{
    // A warp takes RUN times 32 neighbouring nodes, mostly of one component.
    const int t = thread_of_warp();
    for (offset_t begin = (offset_t)warp_of_grid() * WARP * RUN; begin < n_nodes;
         begin += (offset_t)warps_of_grid() * WARP * RUN) {
        int at_hand = -1, high = 0, low = 0x7fffffff;
        for (int i = 0; i < RUN; ++i) {
            const offset_t v = begin + i * WARP + t;
            if (v >= n_nodes) break;
            const int c = component ? component[v] : 0;
            if (c != at_hand) {
                if (at_hand >= 0) {
                    atomicMax(&most[at_hand], high);
                    atomicMin(&least[at_hand], low);
                }
                at_hand = c;
                high = 0;
                low = 0x7fffffff;
            }
            high = max(high, lower[v]);
            low = min(low, upper[v]);
            if (lower[v] > upper[v]) *crossed = (int)v;
        }
        // The threads of the warp, where they ended in one component.
        const int first = __shfl_sync(ALL_THREADS, at_hand, 0);
        if (__all_sync(ALL_THREADS, at_hand == first)) {
            for (int offset = WARP / 2; offset > 0; offset /= 2) {
                high = max(high, __shfl_xor_sync(ALL_THREADS, high, offset));
                low = min(low, __shfl_xor_sync(ALL_THREADS, low, offset));
            }
            if (t != 0) at_hand = -1;
        }
        if (at_hand >= 0) {
            if (high > most[at_hand]) atomicMax(&most[at_hand], high);
            if (low < least[at_hand]) atomicMin(&least[at_hand], low);
        }
    }
}

// The periphery is known once no node of it can have loose bounds (PERIPHERY), or by winnowing
// (ENDS): of two nodes that are most hops apart one lies outside the ball of (most - 1) / 2 around
// any centre. Once all such nodes have been searched, the other, too, has most as its lower bound.
// There what counts is whether a node has been searched, not its own bounds.
__device__ __forceinline__ bool matters(
    const int question, const int lower, const int upper, const int most, const int least,
    const unsigned char state)
{
    switch (question) {
    case DIAMETER: return upper > most;
    case RADIUS: return lower < least;
    case CENTER: return lower <= least && lower < upper;
    case PERIPHERY: return upper >= most && lower < upper;
    case ENDS: return upper >= most && state != SEARCHED;
    default: return lower < upper;
    }
}

// Put nodes into a list, at places that a warp reserves together.
__device__ __forceinline__ void append(
    const bool is_kept, const node_t v, node_t* __restrict__ list, int* __restrict__ n_listed)
{
    const unsigned kept = __ballot_sync(ALL_THREADS, is_kept);
    if (kept == 0) return;
    const int t = thread_of_warp();
    int first = 0;
    if (t == 0) first = atomicAdd(n_listed, __popc(kept));
    first = __shfl_sync(ALL_THREADS, first, 0);
    if (is_kept) list[first + __popc(kept & ((1u << t) - 1))] = v;
}

// The nodes that still matter: all of them, and those outside the balls (candidates).
extern "C" __global__ void eccentricity_open(
    const int question,
    const node_t* __restrict__ nodes,       // or null: all nodes
    const offset_t n,
    const int* __restrict__ component,
    const int* __restrict__ lower,
    const int* __restrict__ upper,
    const int* __restrict__ most,
    const int* __restrict__ least,
    const unsigned char* __restrict__ state,
    const int* __restrict__ ball,           // levels from the centres, or null
    node_t* __restrict__ kept,              // (n,)
    node_t* __restrict__ candidates,        // (n,); not written where ball is null
    int* __restrict__ n_listed,             // kept, candidates; 0 on entry
    int* __restrict__ count)                // (n_components,) candidates of each; 0 on entry
{
    const offset_t rounded = (n + WARP - 1) / WARP * WARP;
    for (offset_t i = first_item(); i < rounded; i += items_apart()) {
        node_t v = 0;
        bool is_open = false, is_candidate = false;
        int c = 0;
        if (i < n) {
            v = nodes ? nodes[i] : (node_t)i;
            c = component ? component[v] : 0;
            is_open = matters(question, lower[v], upper[v], most[c], least[c], state[v]);
            const int within = question == ENDS ? most[c] - 1 : most[c];
            is_candidate = is_open && (ball == nullptr || 2ll * ball[v] > within);
        }
        append(is_open, v, kept, &n_listed[0]);
        if (ball) append(is_candidate, v, candidates, &n_listed[1]);
        const int leader = __shfl_sync(ALL_THREADS, c, 0);
        if (__all_sync(ALL_THREADS, c == leader)) {
            const int n_here = __popc(__ballot_sync(ALL_THREADS, is_candidate));
            if (thread_of_warp() == 0 && n_here) atomicAdd(&count[c], n_here);
        } else if (is_candidate) {
            atomicAdd(&count[c], 1);
        }
    }
}

// How many of some nodes lie outside the balls around the old and around new centres.
extern "C" __global__ void eccentricity_outside(
    const node_t* __restrict__ nodes,
    const offset_t n,
    const int* __restrict__ component,
    const int* __restrict__ most,
    const int* __restrict__ ball,
    const int* __restrict__ level,  // from new centres; -1: unreached
    int* __restrict__ before,       // (n_components,) 0 on entry
    int* __restrict__ after)        // (n_components,) 0 on entry
{
    const offset_t rounded = (n + WARP - 1) / WARP * WARP;
    for (offset_t i = first_item(); i < rounded; i += items_apart()) {
        int c = 0;
        bool was_out = false, is_out = false;
        if (i < n) {
            const node_t v = nodes[i];
            c = component ? component[v] : 0;
            was_out = 2ll * ball[v] > most[c];
            is_out = level[v] < 0 || 2ll * level[v] > most[c];
        }
        const int leader = __shfl_sync(ALL_THREADS, c, 0);
        if (__all_sync(ALL_THREADS, c == leader)) {
            const int n_before = __popc(__ballot_sync(ALL_THREADS, was_out));
            const int n_after = __popc(__ballot_sync(ALL_THREADS, is_out));
            if (thread_of_warp() == 0 && n_before) atomicAdd(&before[c], n_before);
            if (thread_of_warp() == 0 && n_after) atomicAdd(&after[c], n_after);
        } else {
            if (was_out) atomicAdd(&before[c], 1);
            if (is_out) atomicAdd(&after[c], 1);
        }
    }
}

// Take the new balls where they leave fewer nodes outside.
extern "C" __global__ void eccentricity_move(
    const offset_t n_nodes,
    const int* __restrict__ component,
    const unsigned char* __restrict__ is_better,  // (n_components,)
    const int* __restrict__ level,
    int* __restrict__ ball)
{
    for (offset_t v = first_item(); v < n_nodes; v += items_apart()) {
        if (is_better[component ? component[v] : 0] && level[v] >= 0) ball[v] = level[v];
    }
}

// 63 bits; numbers too large for theirs count as equal. By upper bounds: the highest one, then the
// highest lower bound, then the smallest degree: such nodes lie far out. By lower bounds: the
// lowest one, then the largest degree. Then the smallest node.
__device__ __forceinline__ key_t key_of(
    const bool by_upper, const int lower, const int upper, const int most, const offset_t degree,
    const node_t v)
{
    const unsigned links = degree < 4095 ? (unsigned)degree : 4095;
    key_t key;
    if (by_upper) {
        key = min(max(upper - most, 0), 4095);
        key = key << 8 | (255 - min(max(most - lower, 0), 255));
        key = key << 12 | (4095 - links);
    } else {
        key = min(max(most - lower, 0), 0xfffff);
        key = key << 12 | links;
    }
    return (key << 31 | (key_t)(0x7fffffff - v)) + 1;
}

extern "C" __global__ void eccentricity_keys(
    const int by_upper,
    const node_t* __restrict__ nodes,
    const offset_t n,
    const int* __restrict__ component,
    const offset_t* __restrict__ indptr,
    const int* __restrict__ lower,
    const int* __restrict__ upper,
    const int* __restrict__ most,
    const unsigned char* __restrict__ state,
    key_t* __restrict__ keys)  // (n,) 0 for nodes that need no search
{
    for (offset_t i = first_item(); i < n; i += items_apart()) {
        const node_t v = nodes[i];
        const int c = component ? component[v] : 0;
        keys[i] = state[v] == SEARCHED ? 0
            : key_of(by_upper, lower[v], upper[v], most[c], indptr[v + 1] - indptr[v], v);
    }
}

// The node of each component to be searched first, by its key.
extern "C" __global__ void eccentricity_best(
    const int by_upper,
    const node_t* __restrict__ nodes,  // or null: all nodes whose bounds differ
    const offset_t n,
    const int* __restrict__ component,
    const offset_t* __restrict__ indptr,
    const int* __restrict__ lower,
    const int* __restrict__ upper,
    const int* __restrict__ most,
    const unsigned char* __restrict__ state,
    const int* __restrict__ count,     // (n_components,) 0: answered
    key_t* __restrict__ best)          // (n_components,) 0 on entry
{
    const int t = thread_of_warp();
    for (offset_t begin = (offset_t)warp_of_grid() * WARP * RUN; begin < n;
         begin += (offset_t)warps_of_grid() * WARP * RUN) {
        int at_hand = -1;
        key_t own = 0;
        for (int i = 0; i < RUN; ++i) {
            const offset_t at = begin + i * WARP + t;
            if (at >= n) break;
            const node_t v = nodes ? nodes[at] : (node_t)at;
            const int c = component ? component[v] : 0;
            if (c != at_hand) {
                if (own) atomicMax(&best[at_hand], own);
                at_hand = c;
                own = 0;
            }
            if (state[v] == SEARCHED || count[c] == 0) continue;
            if (!nodes && lower[v] == upper[v]) continue;
            const key_t key =
                key_of(by_upper, lower[v], upper[v], most[c], indptr[v + 1] - indptr[v], v);
            own = max(own, key);
        }
        const int first = __shfl_sync(ALL_THREADS, at_hand, 0);
        if (__all_sync(ALL_THREADS, at_hand == first)) {
            for (int offset = WARP / 2; offset > 0; offset /= 2) {
                own = max(own, __shfl_xor_sync(ALL_THREADS, own, offset));
            }
            if (t != 0) own = 0;
        }
        if (own && own > best[at_hand]) atomicMax(&best[at_hand], own);
    }
}

// Rows of a CSR in another order: row i is what was row order[i], neighbours under their new names.
extern "C" __global__ void eccentricity_reorder(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    const node_t* __restrict__ order,
    const node_t* __restrict__ place,    // place[order[i]] == i
    const offset_t* __restrict__ new_indptr,
    node_t* __restrict__ new_indices)
{
    const int t = thread_of_warp();
    for (offset_t i = warp_of_grid(); i < n_nodes; i += warps_of_grid()) {
        const offset_t from = indptr[order[i]], to = new_indptr[i];
        const offset_t n = new_indptr[i + 1] - to;
        for (offset_t j = t; j < n; j += WARP) new_indices[to + j] = place[indices[from + j]];
    }
}

// One path for each of some graphs, a warp each: from its end back to where levels are 0.
extern "C" __global__ void eccentricity_paths(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const int* __restrict__ level,
    const node_t* __restrict__ ends,        // (n_paths,)
    const offset_t n_paths,
    const offset_t* __restrict__ path_ptr,  // (n_paths + 1,)
    node_t* __restrict__ path)
{
    const int t = thread_of_warp();
    for (offset_t i = warp_of_grid(); i < n_paths; i += warps_of_grid()) {
        node_t v = ends[i];
        for (int d = level[v]; d >= 0; --d) {
            if (t == 0) path[path_ptr[i] + d] = v;
            node_t next = -1;
            for (offset_t first = indptr[v]; d > 0 && first < indptr[v + 1]; first += WARP) {
                const offset_t arc = first + t;
                const bool is_up = arc < indptr[v + 1] && level[indices[arc]] == d - 1;
                const unsigned found = __ballot_sync(ALL_THREADS, is_up);
                if (found) {
                    next = indices[first + __ffs(found) - 1];
                    break;
                }
            }
            v = next;
        }
    }
}
