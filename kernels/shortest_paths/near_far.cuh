// The steps of near-far, for kernels whose blocks are all resident: one search from one or more
// sources, or one of two that run towards each other. Included by device code of other rooms too.
//
// Nodes nearer than a threshold whose distance has fallen are near, others far. Each step relaxes
// the arcs of all near nodes; once none is left the threshold rises and the far ones are split by
// it again. A node is in the near list of a step at most once, and in the far list at most once.
//
// No fall of a distance is lost: whoever lowers distance[v] puts v into a list that is read after
// the next barrier, unless it is there already. A step that reads its own distance near list while
// it falls may see either value; v is then near in the next step again.
//
// In a step with few near nodes, barriers cost more than arcs: each warp then continues with the near
// nodes that it finds, before the barrier. The warp that lowered distance[v] last has v, so v is not
// lost.

typedef unsigned long long length_t;  // the bits of a float64 >= 0

#define INFINITE 0x7ff0000000000000ull

// How often a warp continues with near nodes of its own before the barrier of a step, and how many
// arcs such a node has at most: it has few threads for them.
constexpr int OWN_ROUNDS = 6;
constexpr int OWN_DEGREE = 8;

// All zero before the launch.
struct Control {
    length_t least_far[4];  // least distance that stays in the far list p: least_far[p % 4]
    length_t farthest;      // AT_FARTHEST; out: largest finite distance
    double weight_sum;
    unsigned arrivals;      // of grid_barrier
    int is_invalid;         // AT_IS_INVALID; out: a weight is negative or not finite, nothing was searched
    int n_reached;          // AT_N_REACHED; out
    int pad;
    int n_near[4];          // nodes in the near list of step i: n_near[i % 4]; hubs apart:
    int n_segments[4];      // segments of its hubs
    int n_far[4];           // nodes in the far list p
};
static_assert(sizeof(Control) <= 4 * CONTROL);

struct Search {
    const offset_t* indptr;
    const node_t* indices;
    const float* weights;
    offset_t n_nodes;
    offset_t n_map;        // words of a bitmap
    offset_t max_segments;
    length_t* distance;    // (n_nodes,) out
    node_t* near;          // (2, n_nodes): the list of step i at i % 2
    node_t* far;           // (2, n_nodes)
    unsigned* near_maps;   // (2, n_map): nodes let into the near list of step i at i % 2
    unsigned* far_map;     // (n_map,): nodes that have ever been let into the far list: once one
                           // leaves it, it is nearer than the threshold forever
    node_t* segment_node;  // (2, max_segments)
    int* segment_index;    // (2, max_segments)
    Control* control;
    const length_t* other; // distances from the other end, or null
    length_t* shortest;    // then the least sum of both of a node

    __device__ node_t* near_list(const int step) const { return near + (step & 1) * n_nodes; }
    __device__ node_t* far_list(const int pile) const { return far + (pile & 1) * n_nodes; }
    __device__ unsigned* near_map(const int step) const { return near_maps + (step & 1) * n_map; }
    __device__ offset_t segments(const int step) const { return (step & 1) * max_segments; }
};

__device__ __forceinline__ length_t bits_of(const double x)
{
    return (length_t)__double_as_longlong(x);
}

__device__ __forceinline__ double number_of(const length_t bits)
{
    return __longlong_as_double((long long)bits);
}

// A weight as a float64. Written out, since CuPy has the compiler flush float32 numbers below 2^-126
// to zero, in conversions too: such weights would be lost, and negative ones would not be noticed.
__device__ __forceinline__ double exactly(const float weight)
{
    double x;
    asm("cvt.f64.f32 %0, %1;" : "=d"(x) : "f"(weight));
    return x;
}

// Put v into a bitmap; whether it was not there. A stale plain read costs one atomicOr.
__device__ __forceinline__ bool enters(unsigned* map, const node_t v)
{
    const unsigned bit = 1u << (v & 31);
    return !(map[v >> 5] & bit) && !(atomicOr(&map[v >> 5], bit) & bit);
}

// Append v of each thread that is_in. Called by all threads of a warp together.
__device__ __forceinline__ void append(node_t* list, int* count, const node_t v, const bool is_in)
{
    const unsigned members = __ballot_sync(ALL_THREADS, is_in);
    if (members == 0) return;
    const int t = thread_of_warp();
    int first = 0;
    if (t == 0) first = atomicAdd(count, __popc(members));
    first = __shfl_sync(ALL_THREADS, first, 0);
    if (is_in) list[first + __popc(members & ((1u << t) - 1))] = v;
}

// Append v of each thread to the near list of a step (hubs by their segments) or to a far list,
// or to neither. Called by all threads of a warp together.
__device__ __forceinline__ void push(
    const Search& s, const node_t v, const bool is_near, const bool is_far, const int step,
    const int pile)
{
    if (!__any_sync(ALL_THREADS, is_near || is_far)) return;
    const int t = thread_of_warp();
    const offset_t degree = is_near ? s.indptr[v + 1] - s.indptr[v] : 0;
    append(s.near_list(step), &s.control->n_near[step & 3], v, is_near && degree < SEGMENT);
    append(s.far_list(pile), &s.control->n_far[pile & 3], v, is_far);
    unsigned hubs = __ballot_sync(ALL_THREADS, degree >= SEGMENT);
    while (hubs) {
        const int owner = __ffs(hubs) - 1;
        hubs &= hubs - 1;
        const node_t hub = __shfl_sync(ALL_THREADS, v, owner);
        const offset_t n_arcs = __shfl_sync(ALL_THREADS, degree, owner);
        const int n_segments = (int)((n_arcs + SEGMENT - 1) / SEGMENT);
        int first = 0;
        if (t == 0) first = atomicAdd(&s.control->n_segments[step & 3], n_segments);
        first = __shfl_sync(ALL_THREADS, first, 0);
        for (int i = t; i < n_segments; i += WARP) {
            s.segment_node[s.segments(step) + first + i] = hub;
            s.segment_index[s.segments(step) + first + i] = i;
        }
    }
}

// Lower the head of an arc whose tail is as far as ``from``; its length then, or INFINITE.
__device__ __forceinline__ length_t lowered(
    const Search& s, const offset_t arc, const node_t v, const length_t from)
{
    const length_t length = bits_of(number_of(from) + exactly(__ldg(&s.weights[arc])));
    // Plain read first: most arcs lower nothing. Distances only fall, so a stale one costs an
    // atomicMin, never a distance.
    if (length >= __ldcg(&s.distance[v])) return INFINITE;
    if (length >= atomicMin(&s.distance[v], length)) return INFINITE;
    if (s.other && __ldcg(&s.other[v]) != INFINITE) {
        atomicMin(s.shortest, bits_of(number_of(length) + number_of(s.other[v])));
    }
    return length;
}

// Lower the heads of arcs, one arc per thread (arc < 0: none), whose tail is as far as ``from``.
// Called by all threads of a warp together.
__device__ __forceinline__ void relax(
    const Search& s, const offset_t arc, const length_t from, const length_t threshold,
    const int step, const int pile)
{
    node_t v = 0;
    bool is_near = false, is_far = false;
    if (arc >= 0) {
        v = __ldg(&s.indices[arc]);
        const length_t length = lowered(s, arc, v, from);
        is_near = length < threshold && enters(s.near_map(step + 1), v);
        is_far = length >= threshold && length < INFINITE && enters(s.far_map, v);
    }
    push(s, v, is_near, is_far, step + 1, pile);
}

// Near nodes that warps found in a step and continue with themselves.
struct Own {
    node_t node[COOPERATIVE_BLOCK / WARP][WARP];
    length_t from[COOPERATIVE_BLOCK / WARP][WARP];
};

// Relax the arcs of one node of each thread (degree 0: none), then those of the near nodes found,
// OWN_ROUNDS times; what is near then, or has no room, goes to the near list of the next step.
// Called by all threads of a warp together.
__device__ __noinline__ void relax_own(
    const Search& s, Own& all, offset_t arc, int degree, length_t from, const length_t threshold,
    const int step, const int pile)
{
    const int t = thread_of_warp();
    node_t* node = all.node[threadIdx.x / WARP];
    length_t* length_of = all.from[threadIdx.x / WARP];
    for (int round = 0;; ++round) {
        int n = 0;
        visit_arcs(arc, degree, [&](const offset_t a, const int owner) {
            const length_t tail = __shfl_sync(ALL_THREADS, from, owner);
            node_t v = 0;
            length_t length = INFINITE;
            if (a >= 0) {
                v = __ldg(&s.indices[a]);
                length = lowered(s, a, v, tail);
            }
            bool is_near = length < threshold;
            const bool is_own = is_near && s.indptr[v + 1] - s.indptr[v] <= OWN_DEGREE;
            const unsigned owned = __ballot_sync(ALL_THREADS, is_own);
            const int place = n + __popc(owned & ((1u << t) - 1));
            n += __popc(owned);
            if (is_own && place < WARP) {
                node[place] = v;
                length_of[place] = length;
                is_near = false;
            }
            const bool is_far = length >= threshold && length < INFINITE;
            push(s, v, is_near && enters(s.near_map(step + 1), v),
                 is_far && enters(s.far_map, v), step + 1, pile);
        });
        if (n == 0) return;
        if (n > WARP) n = WARP;
        __syncwarp();
        const bool has_one = t < n;
        const node_t u = has_one ? node[t] : 0;
        from = has_one ? length_of[t] : INFINITE;
        __syncwarp();
        if (round == OWN_ROUNDS) {
            push(s, u, has_one && enters(s.near_map(step + 1), u), false, step + 1, pile);
            return;
        }
        // The warp that lowered it further in the meantime continues with it.
        const bool is_mine = has_one && from == __ldcg(&s.distance[u]);
        arc = is_mine ? s.indptr[u] : 0;
        degree = is_mine ? (int)(s.indptr[u + 1] - arc) : 0;
    }
}

// Relax the arcs of the near nodes of a step.
__device__ __noinline__ void relax_near(
    const Search& s, const length_t threshold, const int step, const int pile)
{
    const int t = thread_of_warp();
    const int n_segments = s.control->n_segments[step & 3];
    for (offset_t i = warp_of_grid(); i < n_segments; i += warps_of_grid()) {
        const node_t u = s.segment_node[s.segments(step) + i];
        const int index = s.segment_index[s.segments(step) + i];
        // Whole words: all nodes of this map are in this list, and no thread enters it in this step.
        if (t == 0 && index == 0) s.near_map(step)[u >> 5] = 0;
        const length_t from = __ldcg(&s.distance[u]);
        const offset_t first = s.indptr[u] + (offset_t)index * SEGMENT;
        const offset_t last = s.indptr[u + 1];
        const offset_t stop = first + SEGMENT < last ? first + SEGMENT : last;
        for (offset_t arc = first; arc < stop; arc += WARP) {
            relax(s, arc + t < stop ? arc + t : -1, from, threshold, step, pile);
        }
    }
    const int n = s.control->n_near[step & 3];
    const int each = items_each(n);
    __shared__ Own own;
    for (offset_t first = (offset_t)warp_of_grid() * each; first < n;
         first += (offset_t)warps_of_grid() * each) {
        offset_t arc = 0;
        int degree = 0;
        length_t from = 0;
        if (t < each && first + t < n) {
            const node_t u = s.near_list(step)[first + t];
            s.near_map(step)[u >> 5] = 0;
            from = __ldcg(&s.distance[u]);
            arc = s.indptr[u];
            degree = (int)(s.indptr[u + 1] - arc);
        }
        if (each == 1) {  // not all warps have a node
            relax_own(s, own, arc, degree, from, threshold, step, pile);
            continue;
        }
        visit_arcs(arc, degree, [&](const offset_t a, const int owner) {
            relax(s, a, __shfl_sync(ALL_THREADS, from, owner), threshold, step, pile);
        });
    }
}

// Split the far list at a new threshold: near nodes of the next step, and the next far list.
// What is nearer than ``passed`` has been near in the meantime, and is done.
__device__ __noinline__ void split_far(
    const Search& s, const length_t passed, const length_t threshold, const int step,
    const int pile)
{
    const int t = thread_of_warp();
    const int n = s.control->n_far[pile & 3];
    length_t least = INFINITE;
    for (offset_t first = (offset_t)warp_of_grid() * WARP; first < n;
         first += (offset_t)warps_of_grid() * WARP) {
        node_t v = 0;
        bool is_near = false, is_far = false;
        if (first + t < n) {
            v = s.far_list(pile)[first + t];
            const length_t length = __ldcg(&s.distance[v]);
            is_far = length >= threshold;
            is_near = !is_far && length >= passed;
            if (is_far && length < least) least = length;
        }
        push(s, v, is_near, is_far, step + 1, pile + 1);
    }
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const length_t other = __shfl_xor_sync(ALL_THREADS, least, offset);
        if (other < least) least = other;
    }
    if (t == 0 && least < INFINITE) atomicMin(&s.control->least_far[(pile + 1) & 3], least);
}

// Distances and maps before a search, and the sum of all weights; marks invalid ones. Until the next
// barrier only.
__device__ __forceinline__ void prepare(
    const Search& s, unsigned* maps, const offset_t n_arcs, const bool has_weights)
{
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = thread; i < 3 * s.n_map; i += n_threads) maps[i] = 0;
    for (offset_t v = thread; v < s.n_nodes; v += n_threads) s.distance[v] = INFINITE;
    if (thread < 4) s.control->least_far[thread] = INFINITE;
    if (!has_weights) return;
    double weight_sum = 0;
    bool is_invalid = false;
    for (offset_t arc = thread; arc < n_arcs; arc += n_threads) {
        const double weight = exactly(s.weights[arc]);
        weight_sum += weight;
        is_invalid |= !(weight >= 0 && weight < number_of(INFINITE));
    }
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        weight_sum += __shfl_xor_sync(ALL_THREADS, weight_sum, offset);
    }
    if (thread_of_warp() == 0) atomicAdd(&s.control->weight_sum, weight_sum);
    if (is_invalid) s.control->is_invalid = 1;  // every writer writes the same
}

// By how much the threshold rises. Sums of weights in any order differ by rounding, and so does it:
// no distance does.
__device__ __forceinline__ double rise_of(
    const double rise, const double weight_sum, const offset_t n_nodes, const offset_t n_arcs)
{
    return n_arcs ? rise * (weight_sum / n_arcs) * ((double)n_nodes / n_arcs) : 0;
}

// Where a search takes many rises, graphs are long and steps short: then the rise grows, four times
// at most, after every ``patience`` rises.
__device__ __forceinline__ double grown(const double delta, const int n_rises, const int patience)
{
    return n_rises % patience == 0 && n_rises <= 4 * patience ? 2 * delta : delta;
}

// The threshold after one, of which rounding may absorb delta.
__device__ __forceinline__ length_t raised(const length_t from, const double delta)
{
    const length_t threshold = bits_of(number_of(from) + delta);
    return threshold > from ? threshold : from + 1;
}
