// Minimum spanning forest by Boruvka's rounds, all in one launch.
//
// Input    CSR arcs of a symmetric graph with weights. An edge is named by the arc from its smaller
//          end; its key is the weight's bits above that arc's number, so no two are equal.
// Output   chosen[arc] = 1 for the forest's edges; *is_invalid = 1 if a weight is negative or not
//          finite.
// Launch   Cooperative, COOPERATIVE_BLOCK threads per block; arrivals as for grid_barrier.
// Scratch  label (n_nodes,), lightest (2, n_nodes), lists (2, n_edges), counts (3,) zeros.
// Atomics  atomicMin finds the lightest key of each tree; atomicCAS unites two trees, of which one
//          root becomes the other's child (union_find.cuh).
//
// Each edge between different trees is listed, named by their roots, and offers its key to both.
// Then a round has two steps. (1) An edge whose key is the lightest of a tree is chosen, and unites
// its trees: as keys differ, chosen edges close no cycle. (2) Each listed edge looks up the roots of
// its ends; one between different trees is listed again, and offers its key again. A tree's
// lightest key is kept in one of two places in turn, and the other is cleared by the edges that
// wrote to it, so no step clears them alone. Edges up to ``light`` come first; then most others are
// inside a tree and never listed.
//
// [1] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A high-performance MST implementation for
//     GPUs", SC 2023.

#include "../connected/union_find.cuh"

struct __align__(16) Edge {
    node_t u, v;
    unsigned weight;  // its bits, which ascend with weights that are not negative
    unsigned arc;
};

__device__ __forceinline__ lanes_t key_of(const Edge edge)
{
    return ((lanes_t)edge.weight << 32) | edge.arc;
}

// Append the edges of the threads of a warp that keep theirs; all threads of the warp together.
__device__ __forceinline__ void append(
    const bool keep, const Edge edge, Edge* __restrict__ list, unsigned* count)
{
    const unsigned kept = __ballot_sync(ALL_THREADS, keep);
    if (kept == 0) return;
    const int t = thread_of_warp(), first = __ffs(kept) - 1;
    unsigned place = 0;
    if (t == first) place = atomicAdd(count, __popc(kept));
    place = __shfl_sync(ALL_THREADS, place, first);
    if (keep) list[place + __popc(kept & ((1u << t) - 1))] = edge;
}

__device__ __forceinline__ void offer(const lanes_t key, lanes_t* place)
{
    if (*(volatile lanes_t*)place > key) atomicMin(place, key);
}

// The node among first .. last that an arc leaves; the work of a hub is shared by arcs.
__device__ __forceinline__ node_t tail_of(
    const offset_t* __restrict__ indptr, node_t first, node_t last, const offset_t arc)
{
    while (first < last) {
        const node_t middle = first + (last - first + 1) / 2;
        if (indptr[middle] <= arc) {
            first = middle;
        } else {
            last = middle - 1;
        }
    }
    return first;
}

// Three counts take turns: that of this list, that of the next, and one that is set to 0.
__device__ __forceinline__ int after_turn(const int turn) { return turn == 2 ? 0 : turn + 1; }

// List the edges among SEGMENT arcs, those up to ``light`` or the others between different trees.
__device__ __forceinline__ void list_edges(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const float* __restrict__ weights,
    const offset_t n_nodes,
    const offset_t begin,
    const bool is_light_pass,
    const float light,
    node_t* label,
    lanes_t* offered,
    Edge* __restrict__ list,
    unsigned* count,
    int* is_invalid)
{
    const int t = thread_of_warp();
    const offset_t n_arcs = indptr[n_nodes];
    const offset_t end = begin + SEGMENT < n_arcs ? begin + SEGMENT : n_arcs;
    const node_t first = tail_of(indptr, 0, (node_t)n_nodes - 1, begin);
    const node_t last = tail_of(indptr, first, (node_t)n_nodes - 1, end - 1);
    for (offset_t base = begin; base < end; base += WARP) {
        const offset_t arc = base + t;
        bool keep = false;
        Edge edge;
        if (arc < end) {
            edge.u = tail_of(indptr, first, last, arc);
            edge.v = indices[arc];
            if (edge.v > edge.u) {
                const float weight = weights[arc] + 0.0f;  // -0 becomes 0
                if (is_light_pass && !(weight >= 0.0f && weight < __int_as_float(0x7f800000))) {
                    *is_invalid = 1;
                }
                keep = is_light_pass == (weight <= light);
                edge.weight = __float_as_uint(weight);
                edge.arc = (unsigned)arc;
                if (keep && !is_light_pass) {
                    edge.u = root_of(edge.u, label);
                    edge.v = root_of(edge.v, label);
                    keep = edge.u != edge.v;
                }
                if (keep) {
                    offer(key_of(edge), &offered[edge.u]);
                    offer(key_of(edge), &offered[edge.v]);
                }
            }
        }
        append(keep, edge, list, count);
    }
}

extern "C" __global__ void spanning_tree_boruvka(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const float* __restrict__ weights,
    const offset_t n_nodes,
    const float light,
    const int has_others,
    node_t* label,
    lanes_t* lightest,
    Edge* lists,
    const offset_t n_edges,
    unsigned* counts,
    unsigned char* __restrict__ chosen,
    int* is_invalid,
    unsigned* arrivals)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (offset_t v = thread; v < n_nodes; v += stride) {
        label[v] = (node_t)v;
        lightest[v] = NO_KEY;
        lightest[n_nodes + v] = NO_KEY;
    }
    grid_barrier(arrivals);
    int turn = 0;  // of counts: 0 .. 2
    for (int pass = 0; pass <= has_others; ++pass) {
        Edge *now = lists, *next = lists + n_edges;
        if (pass > 0) {  // some threads may still be reading that the last count is 0
            turn = after_turn(turn);
            if (thread == 0) counts[after_turn(turn)] = 0;
        }
        lanes_t *offered = lightest, *cleared = lightest + n_nodes;
        offset_t begin = (offset_t)warp_of_grid() * SEGMENT;
        for (; begin < 2 * n_edges; begin += (offset_t)warps_of_grid() * SEGMENT) {
            list_edges(
                indptr, indices, weights, n_nodes, begin, pass == 0, light, label, offered, now,
                &counts[turn], is_invalid);
        }
        grid_barrier(arrivals);
        for (;;) {
            const unsigned n = *(volatile unsigned*)&counts[turn];
            if (n == 0) break;
            for (offset_t i = thread; i < n; i += stride) {
                const Edge edge = now[i];
                const lanes_t key = key_of(edge);
                if (offered[edge.u] == key || offered[edge.v] == key) {
                    chosen[edge.arc] = 1;
                    unite(edge.u, edge.v, label);
                }
            }
            grid_barrier(arrivals);
            const int after = after_turn(turn);
            if (thread == 0) counts[after_turn(after)] = 0;  // to be filled in the next round
            lanes_t* used = offered;
            offered = cleared;
            cleared = used;
            const offset_t whole = ((offset_t)n + WARP - 1) / WARP * WARP;  // warps stay together
            for (offset_t i = thread; i < whole; i += stride) {
                Edge edge;
                bool keep = false;
                if (i < n) {
                    edge = now[i];
                    cleared[edge.u] = NO_KEY;
                    cleared[edge.v] = NO_KEY;
                    edge.u = root_of(edge.u, label);
                    edge.v = root_of(edge.v, label);
                    keep = edge.u != edge.v;
                    if (keep) {
                        offer(key_of(edge), &offered[edge.u]);
                        offer(key_of(edge), &offered[edge.v]);
                    }
                }
                append(keep, edge, next, &counts[after]);
            }
            grid_barrier(arrivals);
            Edge* other = now;
            now = next;
            next = other;
            turn = after;
        }
    }
}

// Tails, heads and weights of arcs; 1-D, any size (grid-stride).
extern "C" __global__ void spanning_tree_ends(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const float* __restrict__ weights,
    const offset_t n_nodes,
    const offset_t* __restrict__ arcs,
    const offset_t n,
    node_t* __restrict__ tail,
    node_t* __restrict__ head,
    float* __restrict__ weight)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const offset_t arc = arcs[i];
        tail[i] = tail_of(indptr, 0, (node_t)n_nodes - 1, arc);
        head[i] = indices[arc];
        weight[i] = weights[arc];
    }
}

#include "textbook.cuh"
