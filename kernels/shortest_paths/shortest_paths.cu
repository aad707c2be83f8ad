// Shortest paths by weight from the nearest of some sources: near-far, all steps in one launch;
// and the tree of one source.
//
// Input    CSR arcs of a symmetric graph, arcs of a node in ascending order, weights >= 0.
// Output   distance[v], least rounded sum of weights from a source; parent[v] on that tree.
// Order    Lists are in no fixed order; no output depends on it (see sssp in __init__.py).
// Launch   Both kernels: cooperative, 1-D, all blocks resident.
// Atomics  atomicMin on the bits of a distance: of numbers >= 0 they compare as the numbers do.
//          atomicOr on a bitmap lets a node into a list once; atomicAdd reserves places there,
//          once for all nodes that a warp lets in together.
//
// The steps are those of near_far.cuh [1].
//
// [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-efficient parallel GPU methods for
//     single-source shortest paths", IPDPS 2014.

#include "near_far.cuh"

// After how many rises they grow; with a target, a search may end before.
constexpr int PATIENCE = 4;
constexpr int TARGET_PATIENCE = 16;

extern "C" __global__ void __launch_bounds__(COOPERATIVE_BLOCK) sssp_search(
    const offset_t* indptr,  // (n_nodes + 1,)
    const node_t* indices,   // (n_arcs,)
    const float* weights,    // (n_arcs,)
    const offset_t n_nodes,
    const offset_t n_arcs,
    const node_t* sources,   // (n_sources,), distinct
    const offset_t n_sources,
    const node_t target,     // -1: none; else nodes farther than it get INFINITE
    const double rise,       // of the threshold, in mean weights divided by the mean degree
    length_t* distance,      // (n_nodes,) out
    node_t* near,            // (2, n_nodes) scratch, as the following
    node_t* far,             // (2, n_nodes)
    unsigned* maps,          // (3, n_map)
    int* segments,           // (4, 2 * (n_arcs / SEGMENT))
    Control* control)
{
    __shared__ Search s;
    if (threadIdx.x == 0) {
        const offset_t n_map = (n_nodes + 31) / 32;
        const offset_t max_segments = 2 * (n_arcs / SEGMENT);
        s = {indptr, indices, weights, n_nodes, n_map, max_segments, distance, near, far, maps,
             maps + 2 * n_map, segments, segments + 2 * max_segments, control, nullptr, nullptr};
    }
    __syncthreads();
    const int t = thread_of_warp();
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    prepare(s, maps, n_arcs, true);
    grid_barrier(&control->arrivals);
    if (control->is_invalid) return;  // all threads do: it no longer changes
    for (offset_t first = (offset_t)warp_of_grid() * WARP; first < n_sources;
         first += (offset_t)warps_of_grid() * WARP) {
        const bool is_source = first + t < n_sources;
        const node_t source = is_source ? sources[first + t] : 0;
        if (is_source) distance[source] = 0;
        push(s, source, is_source, false, 0, 0);
    }
    grid_barrier(&control->arrivals);

    double delta = rise_of(rise, control->weight_sum, n_nodes, n_arcs);
    length_t threshold = bits_of(delta) > 1 ? bits_of(delta) : 1;
    int step = 0, pile = 0;
    bool was_split = false;
    // Every thread of the grid takes the same branches: what they depend on was written before the
    // last barrier and changes only after the next one.
    while (true) {
        const bool has_near = control->n_near[step & 3] || control->n_segments[step & 3];
        if (!has_near && control->n_far[pile & 3] == 0) break;
        // Without near nodes no distance changes in this step, so all threads read the same.
        if (!has_near && target >= 0 && __ldcg(&distance[target]) < threshold) break;
        if (thread == 0) {
            control->n_near[(step + 2) & 3] = 0;
            control->n_segments[(step + 2) & 3] = 0;
        }
        if (has_near) {
            relax_near(s, threshold, step, pile);
        } else {
            if (thread == 0) {
                control->n_far[(pile + 2) & 3] = 0;
                control->least_far[(pile + 2) & 3] = INFINITE;
            }
            // Two splits in a row: no far node was below the threshold, so go to the nearest.
            const length_t passed = threshold;
            const length_t from = was_split ? control->least_far[pile & 3] : threshold;
            threshold = raised(from, delta);
            split_far(s, passed, threshold, step, pile);
            ++pile;
            delta = grown(delta, pile, target < 0 ? PATIENCE : TARGET_PATIENCE);
        }
        was_split = !has_near;
        grid_barrier(&control->arrivals);
        ++step;
    }

    const length_t limit = target < 0 ? INFINITE : __ldcg(&distance[target]);
    length_t farthest = 0;
    offset_t n_reached = 0;
    for (offset_t v = thread; v < n_nodes; v += n_threads) {
        const length_t length = distance[v];
        if (length > limit) distance[v] = INFINITE;
        if (length > limit || length == INFINITE) continue;
        ++n_reached;
        if (length > farthest) farthest = length;
    }
    n_reached = warp_sum(n_reached);
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const length_t other = __shfl_xor_sync(ALL_THREADS, farthest, offset);
        if (other > farthest) farthest = other;
    }
    if (t == 0 && n_reached) {
        atomicAdd(&control->n_reached, (int)n_reached);
        atomicMax(&control->farthest, farthest);
    }
}

#include "parents.cuh"
