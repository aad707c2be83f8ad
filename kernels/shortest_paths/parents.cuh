// The tree of shortest paths, from complete distances, by a launch of its own.

// All zero before the launch.
struct TreeControl {
    unsigned arrivals;  // of grid_barrier
    int n_open;
    int n_found[4];     // nodes that got a parent in round r: n_found[r % 4]
};
static_assert(sizeof(TreeControl) <= 4 * TREE_CONTROL);

#define NO_NODE 0x7fffffff  // above all nodes

// Whether the arc u -> v is tight: a shortest path to v may end with it.
__device__ __forceinline__ bool is_tight(const double from, const float weight, const double to)
{
    return from + exactly(weight) == to;
}

// The first arc of a warp's arcs from .. to - 1 whose tail is strictly nearer and tight.
// Called by all threads of a warp together.
__device__ __forceinline__ node_t nearer_neighbour(
    const offset_t from, const offset_t to, const double length,
    const node_t* __restrict__ indices, const float* __restrict__ weights,
    const double* __restrict__ distance)
{
    for (offset_t first = from; first < to; first += WARP) {
        const offset_t arc = first + thread_of_warp();
        node_t u = NO_NODE;
        if (arc < to) {
            u = indices[arc];
            const double theirs = distance[u];
            if (!(theirs < length && is_tight(theirs, weights[arc], length))) u = NO_NODE;
        }
        const unsigned hits = __ballot_sync(ALL_THREADS, u != NO_NODE);
        if (hits) return __shfl_sync(ALL_THREADS, u, __ffs(hits) - 1);
    }
    return NO_NODE;
}

extern "C" __global__ void __launch_bounds__(COOPERATIVE_BLOCK) sssp_parents(
    const offset_t* __restrict__ indptr,   // (n_nodes + 1,)
    const node_t* __restrict__ indices,    // (n_arcs,)
    const float* __restrict__ weights,     // (n_arcs,)
    const offset_t n_nodes,
    const node_t source,
    const double* __restrict__ distance,   // (n_nodes,)
    node_t* parent,                        // (n_nodes,) out
    int* rank,                             // (n_nodes,) scratch, as the following
    node_t* open,                          // (n_nodes,)
    node_t* queue,                         // (n_nodes,)
    TreeControl* control)
{
    const int t = thread_of_warp();
    const double infinite = number_of(INFINITE);
    // Smallest tight neighbours that are strictly nearer; nodes without one are open.
    for (offset_t first = (offset_t)warp_of_grid() * WARP; first < n_nodes;
         first += (offset_t)warps_of_grid() * WARP) {
        const offset_t v = first + t;
        double length = infinite;
        if (v < n_nodes) length = distance[v];
        const bool has_parent = length < infinite && v != source;
        offset_t arc = 0, stop = 0;
        if (has_parent) {
            arc = indptr[v];
            stop = indptr[v + 1];
        }
        node_t found = NO_NODE;
        unsigned shared = __ballot_sync(ALL_THREADS, stop - arc >= SHARED_DEGREE);
        while (shared) {
            const int owner = __ffs(shared) - 1;
            shared &= shared - 1;
            const offset_t from = __shfl_sync(ALL_THREADS, arc, owner);
            const offset_t to = __shfl_sync(ALL_THREADS, stop, owner);
            const double theirs = __shfl_sync(ALL_THREADS, length, owner);
            const node_t u = nearer_neighbour(from, to, theirs, indices, weights, distance);
            if (t == owner) {
                found = u;
                arc = stop;
            }
        }
        for (; arc < stop && found == NO_NODE; ++arc) {
            const node_t u = indices[arc];
            const double theirs = distance[u];
            if (theirs < length && is_tight(theirs, weights[arc], length)) found = u;
        }
        __syncwarp();
        const bool is_open = has_parent && found == NO_NODE;
        if (v < n_nodes) {
            parent[v] = has_parent ? found : v == source ? source : UNREACHED;
            rank[v] = is_open ? -1 : 0;
        }
        append(open, &control->n_open, (node_t)v, is_open);
    }
    grid_barrier(&control->arrivals);
    const int n_open = control->n_open;
    if (n_open == 0) return;  // all threads do

    // All arcs of an open node that are tight lead to nodes of its own distance: a plateau. Round
    // 1: open nodes beside one that is not open. A rank of 0 stays, others never become 0.
    for (offset_t i = warp_of_grid(); i < n_open; i += warps_of_grid()) {
        const node_t v = open[i];
        const double length = distance[v];
        const offset_t stop = indptr[v + 1];
        for (offset_t first = indptr[v]; first < stop; first += WARP) {
            const offset_t arc = first + t;
            node_t u = NO_NODE;
            if (arc < stop) {
                u = indices[arc];
                const bool is_level = distance[u] == length && is_tight(length, weights[arc], length);
                if (!(is_level && __ldcg(&rank[u]) == 0)) u = NO_NODE;
            }
            const unsigned hits = __ballot_sync(ALL_THREADS, u != NO_NODE);
            if (hits == 0) continue;
            const node_t smallest = __shfl_sync(ALL_THREADS, u, __ffs(hits) - 1);
            if (t == 0) {
                parent[v] = smallest;
                rank[v] = 1;
                queue[atomicAdd(&control->n_found[1], 1)] = v;
            }
            break;
        }
    }
    grid_barrier(&control->arrivals);
    // Round r: from the nodes found last to open neighbours; the smallest of them wins.
    offset_t begin = 0, end = control->n_found[1];
    for (int round = 2; begin < end; ++round) {
        if (thread_of_warp() == 0 && warp_of_grid() == 0) control->n_found[(round + 1) & 3] = 0;
        for (offset_t i = begin + warp_of_grid(); i < end; i += warps_of_grid()) {
            const node_t u = queue[i];
            const double length = distance[u];
            const offset_t stop = indptr[u + 1];
            for (offset_t first = indptr[u]; first < stop; first += WARP) {
                const offset_t arc = first + t;
                node_t v = 0;
                bool is_found = false;
                if (arc < stop) {
                    v = indices[arc];
                    if (distance[v] == length && is_tight(length, weights[arc], length)) {
                        int before = __ldcg(&rank[v]);
                        if (before == -1) before = atomicCAS(&rank[v], -1, round);
                        is_found = before == -1;
                        if (before == -1 || before == round) atomicMin(&parent[v], u);
                    }
                }
                append(queue + end, &control->n_found[round & 3], v, is_found);
            }
        }
        grid_barrier(&control->arrivals);
        begin = end;
        end += control->n_found[round & 3];
    }
}
