// What finished searches prove: bounds of every node, and the extremes of each component.

// Bounds before any search: a node reaches its neighbours in 1 hop, and each further hop reaches at
// least one more node.
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

// Tighten by one search per component; searches that are not there have eccentricity -1.
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

// Levels of a sweep of one lane per component.
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
    int* __restrict__ crossed)  // a node whose bounds cross, -1 on entry
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
