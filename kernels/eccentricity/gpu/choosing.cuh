// Which nodes still matter to a question, the balls around centres, and the next nodes to search.

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

// The nodes that still matter: all of them, and those outside the balls (pending).
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
    node_t* __restrict__ pending,           // (n,); not written where ball is null
    int* __restrict__ n_listed,             // kept, pending; 0 on entry
    int* __restrict__ count)                // (n_components,) pending nodes of each; 0 on entry
{
    const offset_t rounded = (n + WARP - 1) / WARP * WARP;
    for (offset_t i = first_item(); i < rounded; i += items_apart()) {
        node_t v = 0;
        bool is_open = false, is_pending = false;
        int c = 0;
        if (i < n) {
            v = nodes ? nodes[i] : (node_t)i;
            c = component ? component[v] : 0;
            is_open = matters(question, lower[v], upper[v], most[c], least[c], state[v]);
            const int within = question == ENDS ? most[c] - 1 : most[c];
            is_pending = is_open && (ball == nullptr || 2ll * ball[v] > within);
        }
        append(is_open, v, kept, &n_listed[0]);
        if (ball) append(is_pending, v, pending, &n_listed[1]);
        const int leader = __shfl_sync(ALL_THREADS, c, 0);
        if (__all_sync(ALL_THREADS, c == leader)) {
            const int n_here = __popc(__ballot_sync(ALL_THREADS, is_pending));
            if (thread_of_warp() == 0 && n_here) atomicAdd(&count[c], n_here);
        } else if (is_pending) {
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

// 63 bits; numbers too large for their field count as equal. By upper bounds: the highest one, then
// the highest lower bound, then the smallest degree: such nodes lie far out. By lower bounds: the
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
