// A path of the fewest hops between two nodes: levels from both ends until one meets the other.
//
// Input    CSR arcs of a symmetric graph; source != target.
// Output   state[HOPS]: hops, 0 if no path leads there; path[0 .. hops]: its nodes.
// Launch   Cooperative, COOPERATIVE_BLOCK threads a block; arrivals as for grid_barrier.
// Scratch  found (2, n_words) zeros; queue, hubs, before (2, n_nodes); state and arrivals zeros.
// Atomics  atomicOr finds a node once; a compare-and-swap keeps the first arc that joins both.
//
// Each row of the scratch belongs to one end. A level is a range of its queue and, for nodes of
// SEGMENT arcs or more, a range of its hubs, whose arcs all warps share. The end with fewer arcs
// ahead of it continues. Any node by which both meet makes a shortest path: until then the path is
// longer than both depths together, and now it is one hop longer.

#define N_FOUND 0  // places in state, a pair each: nodes queued, hubs queued, arcs ahead
#define N_HUBS 2
#define N_ARCS 4
#define JOINED 6
#define NOT_JOINED 0ull

__device__ __forceinline__ void visit(
    const offset_t* __restrict__ indptr,
    const node_t u,
    const node_t v,
    const int side,
    const offset_t n_nodes,
    const offset_t n_words,
    unsigned* found,
    node_t* queue,
    node_t* hubs,
    node_t* before,
    lanes_t* state)
{
    const unsigned bit = 1u << (v & 31);
    const offset_t word = v >> 5;
    if (*(volatile unsigned*)&found[(1 - side) * n_words + word] & bit) {
        const lanes_t ends = side == 0 ? ((lanes_t)u << 32) | v : ((lanes_t)v << 32) | u;
        atomicCAS(&state[JOINED], NOT_JOINED, ends + 1);
        return;
    }
    unsigned* own = &found[side * n_words + word];
    if (*(volatile unsigned*)own & bit || atomicOr(own, bit) & bit) return;
    before[side * n_nodes + v] = u;
    const offset_t degree = indptr[v + 1] - indptr[v];
    const bool is_hub = degree >= SEGMENT;
    node_t* list = is_hub ? hubs : queue;
    const lanes_t place = atomicAdd(&state[(is_hub ? N_HUBS : N_FOUND) + side], 1ull);
    list[side * n_nodes + place] = v;
    atomicAdd(&state[N_ARCS + side], (lanes_t)degree);
}

extern "C" __global__ void bidirectional_path(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    const node_t source,
    const node_t target,
    const offset_t n_words,
    unsigned* found,
    node_t* queue,
    node_t* hubs,
    node_t* before,
    lanes_t* state,
    node_t* path,
    unsigned* arrivals)
{
    const int t = thread_of_warp();
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread == 0) {
        for (int side = 0; side < 2; ++side) {
            const node_t start = side == 0 ? source : target;
            const offset_t degree = indptr[start + 1] - indptr[start];
            found[side * n_words + (start >> 5)] |= 1u << (start & 31);
            before[side * n_nodes + start] = start;
            (degree >= SEGMENT ? hubs : queue)[side * n_nodes] = start;
            state[(degree >= SEGMENT ? N_HUBS : N_FOUND) + side] = 1;
            state[N_ARCS + side] = degree;
        }
    }
    grid_barrier(arrivals);
    lanes_t begin[2] = {0, 0}, begin_hubs[2] = {0, 0}, passed[2] = {0, 0};
    for (;;) {
        volatile lanes_t* seen = state;
        const lanes_t ahead[2] = {seen[N_ARCS] - passed[0], seen[N_ARCS + 1] - passed[1]};
        if (seen[JOINED] != NOT_JOINED || ahead[0] == 0 || ahead[1] == 0) break;
        const int side = ahead[0] <= ahead[1] ? 0 : 1;
        const lanes_t end = seen[N_FOUND + side], end_hubs = seen[N_HUBS + side];
        passed[side] += ahead[side];
        grid_barrier(arrivals);  // all threads have read the counts that now grow
        for (lanes_t i = begin[side] + warp_of_grid(); i < end; i += warps_of_grid()) {
            const node_t u = queue[side * n_nodes + i];
            const offset_t last = indptr[u + 1];
            for (offset_t arc = indptr[u] + t; arc < last; arc += WARP) {
                visit(
                    indptr, u, indices[arc], side, n_nodes, n_words, found, queue, hubs, before,
                    state);
            }
        }
        for (lanes_t i = begin_hubs[side]; i < end_hubs; ++i) {
            const node_t u = hubs[side * n_nodes + i];
            const offset_t last = indptr[u + 1];
            offset_t arc = indptr[u] + (offset_t)warp_of_grid() * WARP + t;
            for (; arc < last; arc += (offset_t)warps_of_grid() * WARP) {
                visit(
                    indptr, u, indices[arc], side, n_nodes, n_words, found, queue, hubs, before,
                    state);
            }
        }
        begin[side] = end;
        begin_hubs[side] = end_hubs;
        grid_barrier(arrivals);
    }
    if (thread != 0 || state[JOINED] == NOT_JOINED) return;
    const lanes_t joined = state[JOINED] - 1;
    const node_t u = (node_t)(joined >> 32), v = (node_t)joined;
    offset_t n_first = 1;
    for (node_t at = u; at != source; at = before[at]) ++n_first;
    offset_t i = n_first;
    for (node_t at = u; i > 0; at = before[at]) path[--i] = at;
    offset_t n = n_first;
    for (node_t at = v;; at = before[n_nodes + at]) {
        path[n++] = at;
        if (at == target) break;
    }
    state[HOPS] = n - 1;
}

#include "../shortest_paths/near_far.cuh"

constexpr int PATIENCE = 16;  // rises after which they grow

// A path of least weight between two nodes: near-far from both ends.
//
// Input    As above, and weights >= 0.
// Output   meeting; the nodes before the one where both searches meet, backwards, in near[0 ..),
//          those after it in near[2 * n_nodes ..).
// Launch   Cooperative, COOPERATIVE_BLOCK threads a block.
// Scratch  distance (2, n_nodes); near, far (2, 2, n_nodes); maps (2, 3, n_map); segments
//          (2, 4, 2 * (n_arcs / SEGMENT)); control (2,) and meeting zeros. A row for each end.
//
// Only one end takes a step at a time, so each step sees what the other end knows. Once no node of
// an end is near, all that are nearer to it than its threshold have their distance. So a path that
// was not seen is at least as long as both thresholds together.

struct Meeting {
    length_t shortest;  // sum of both distances of a node; INFINITE if no path leads there
    double length;      // of the path, added from the source on
    int node;           // the smallest with that sum
    int n_before;
    int n_after;
    int fault;          // INVALID_WEIGHT, or LOST: see walk_back
};

#define NO_NODE 0x7fffffff

// From v back to where a search began, by one block: the smallest neighbour that is nearer and on a
// shortest path, in turn. Where weights are 0, or lost to rounding, there may be none: LOST.
// Returns the number of nodes; *length grows by the weights passed.
__device__ int walk_back(const Search& s, node_t v, const node_t start, double* length, int* fault)
{
    __shared__ node_t found;
    __shared__ double weight;
    int n = 0;
    while (v != start) {
        __syncthreads();
        if (threadIdx.x == 0) found = NO_NODE;
        __syncthreads();
        const length_t from = __ldcg(&s.distance[v]);
        node_t own = NO_NODE;
        double of_own = 0;
        for (offset_t arc = s.indptr[v] + threadIdx.x; arc < s.indptr[v + 1]; arc += blockDim.x) {
            const node_t u = s.indices[arc];
            const length_t nearer = __ldcg(&s.distance[u]);
            const double w = exactly(s.weights[arc]);
            if (nearer < from && u < own && bits_of(number_of(nearer) + w) == from) {
                own = u;
                of_own = w;
            }
        }
        if (own != NO_NODE) atomicMin(&found, own);
        __syncthreads();
        if (own == found && own != NO_NODE) weight = of_own;
        __syncthreads();
        if (found == NO_NODE) {
            if (threadIdx.x == 0) *fault = LOST;
            return n;
        }
        v = found;
        if (threadIdx.x == 0) {
            s.near[n] = v;
            *length += weight;
        }
        ++n;
    }
    return n;
}

extern "C" __global__ void __launch_bounds__(COOPERATIVE_BLOCK) bidirectional_by_weight(
    const offset_t* indptr,
    const node_t* indices,
    const float* weights,
    const offset_t n_nodes,
    const offset_t n_arcs,
    const node_t source,
    const node_t target,
    const double rise,  // of a threshold, in mean weights divided by the mean degree
    length_t* distance,
    node_t* near,
    node_t* far,
    unsigned* maps,
    int* segments,
    Control* control,
    Meeting* meeting)
{
    __shared__ Search ends[2];
    const offset_t n_map = (n_nodes + 31) / 32;
    if (threadIdx.x < 2) {
        const int i = threadIdx.x;
        const offset_t max_segments = 2 * (n_arcs / SEGMENT);
        unsigned* own_maps = maps + 3 * n_map * i;
        int* own_segments = segments + 4 * max_segments * i;
        ends[i] = {indptr, indices, weights, n_nodes, n_map, max_segments,
                   distance + n_nodes * i, near + 2 * n_nodes * i, far + 2 * n_nodes * i, own_maps,
                   own_maps + 2 * n_map, own_segments, own_segments + 2 * max_segments, control + i,
                   distance + n_nodes * (1 - i), &meeting->shortest};
    }
    __syncthreads();
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    unsigned* arrivals = &control->arrivals;
    prepare(ends[0], maps, n_arcs, true);
    prepare(ends[1], maps + 3 * n_map, n_arcs, false);
    if (thread == 0) {
        meeting->shortest = INFINITE;
        meeting->node = NO_NODE;
    }
    grid_barrier(arrivals);
    if (control->is_invalid) {
        if (thread == 0) meeting->fault = INVALID_WEIGHT;
        return;
    }
    if (warp_of_grid() == 0) {
        const bool is_first = thread_of_warp() == 0;
        if (is_first) {
            ends[0].distance[source] = 0;
            ends[1].distance[target] = 0;
        }
        push(ends[0], source, is_first, false, 0, 0);
        push(ends[1], target, is_first, false, 0, 0);
    }
    grid_barrier(arrivals);

    const double least_rise = rise_of(rise, control->weight_sum, n_nodes, n_arcs);
    const length_t first = bits_of(least_rise) > 1 ? bits_of(least_rise) : 1;
    double delta[2] = {least_rise, least_rise};
    length_t threshold[2] = {first, first};
    int step[2] = {0, 0}, pile[2] = {0, 0};
    bool was_split[2] = {false, false};
    int i = 0;  // the end that continues
    // Every thread of the grid takes the same branches: far lists and the shortest sum are read
    // only if no end has near nodes, so that nothing changes them in this step.
    while (true) {
        const Control *own = control + i, *other = control + (1 - i);
        bool has_near = own->n_near[step[i] & 3] || own->n_segments[step[i] & 3];
        if (!has_near) {
            has_near = other->n_near[step[1 - i] & 3] || other->n_segments[step[1 - i] & 3];
            if (has_near) {
                i = 1 - i;
            } else {
                const double passed = number_of(threshold[0]) + number_of(threshold[1]);
                if (number_of(__ldcg(&meeting->shortest)) <= passed) break;
                const int n_source = control[0].n_far[pile[0] & 3];
                const int n_target = control[1].n_far[pile[1] & 3];
                if (n_source == 0 || n_target == 0) break;
                i = n_source <= n_target ? 0 : 1;
            }
        }
        const Search& s = ends[i];
        if (thread == 0) {
            s.control->n_near[(step[i] + 2) & 3] = 0;
            s.control->n_segments[(step[i] + 2) & 3] = 0;
        }
        if (has_near) {
            relax_near(s, threshold[i], step[i], pile[i]);
        } else {
            if (thread == 0) {
                s.control->n_far[(pile[i] + 2) & 3] = 0;
                s.control->least_far[(pile[i] + 2) & 3] = INFINITE;
            }
            const length_t passed = threshold[i];
            const length_t from = was_split[i] ? s.control->least_far[pile[i] & 3] : passed;
            threshold[i] = raised(from, delta[i]);
            split_far(s, passed, threshold[i], step[i], pile[i]);
            ++pile[i];
            delta[i] = grown(delta[i], pile[i], PATIENCE);
        }
        was_split[i] = !has_near;
        grid_barrier(arrivals);
        ++step[i];
    }

    const length_t shortest = __ldcg(&meeting->shortest);
    if (shortest == INFINITE) return;  // all threads do
    for (offset_t v = thread; v < n_nodes; v += n_threads) {
        const length_t a = __ldcg(&distance[v]), b = __ldcg(&distance[n_nodes + v]);
        if (a == INFINITE || b == INFINITE) continue;
        if (bits_of(number_of(a) + number_of(b)) == shortest) atomicMin(&meeting->node, (int)v);
    }
    grid_barrier(arrivals);
    if (blockIdx.x != 0) return;
    const node_t v = *(volatile int*)&meeting->node;
    double before = 0, length = number_of(__ldcg(&distance[v]));  // a sum from the source on
    const int n_before = walk_back(ends[0], v, source, &before, &meeting->fault);
    const int n_after = walk_back(ends[1], v, target, &length, &meeting->fault);
    if (threadIdx.x == 0) {
        meeting->n_before = n_before;
        meeting->n_after = n_after;
        meeting->length = length;
    }
}
