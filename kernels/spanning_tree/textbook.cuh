// Kruskal's and Prim's algorithms, for comparison: one step of either depends on the one before.
// Included at the end of spanning_tree.cu.

// Kruskal. edges: all edges, each named by the arc from its smaller end, in their order. One block
// looks up the ends of as many edges as it has threads; those between different trees are united by
// one thread, in their order.
extern "C" __global__ void __launch_bounds__(COOPERATIVE_BLOCK) spanning_tree_kruskal(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    const lanes_t* __restrict__ edges,
    const offset_t n_edges,
    node_t* label,  // (n_nodes,) each its own
    unsigned char* __restrict__ chosen)
{
    __shared__ unsigned kept[COOPERATIVE_BLOCK / WARP];
    __shared__ node_t tails[COOPERATIVE_BLOCK], heads[COOPERATIVE_BLOCK];
    __shared__ unsigned arcs[COOPERATIVE_BLOCK];
    const int t = thread_of_warp(), warp = threadIdx.x / WARP;
    for (offset_t first = 0; first < n_edges; first += COOPERATIVE_BLOCK) {
        const offset_t i = first + threadIdx.x;
        node_t u = 0, v = 0;
        unsigned arc = 0;
        bool keep = false;
        if (i < n_edges) {
            arc = (unsigned)edges[i];
            u = tail_of(indptr, 0, (node_t)n_nodes - 1, arc);
            v = indices[arc];
            keep = root_of(u, label) != root_of(v, label);
        }
        const unsigned kept_here = __ballot_sync(ALL_THREADS, keep);
        if (t == 0) kept[warp] = __popc(kept_here);
        __syncthreads();
        int place = __popc(kept_here & ((1u << t) - 1));
        for (int w = 0; w < warp; ++w) place += kept[w];
        if (keep) {
            tails[place] = u;
            heads[place] = v;
            arcs[place] = arc;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            int n = 0;
            for (int w = 0; w < COOPERATIVE_BLOCK / WARP; ++w) n += kept[w];
            for (int k = 0; k < n; ++k) {
                const node_t a = root_of(tails[k], label), b = root_of(heads[k], label);
                if (a == b) continue;
                label[a > b ? a : b] = a > b ? b : a;
                chosen[arcs[k]] = 1;
            }
        }
        __syncthreads();
    }
}

// Prim. lightest[v], NO_KEY before: the key of the lightest edge from the tree to v outside it.
// Each step finds the least of all by the whole grid, and adds its node. least (3,) NO_KEY.
extern "C" __global__ void __launch_bounds__(COOPERATIVE_BLOCK) spanning_tree_prim(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const float* __restrict__ weights,
    const offset_t n_nodes,
    lanes_t* lightest,
    unsigned char* is_inside,  // (n_nodes,) zeros
    lanes_t* least,
    unsigned char* __restrict__ chosen,
    unsigned* arrivals)
{
    const offset_t thread = (offset_t)blockIdx.x * blockDim.x + threadIdx.x;
    const offset_t n_threads = (offset_t)gridDim.x * blockDim.x;
    volatile unsigned char* inside = is_inside;
    offset_t root = 0;
    node_t u = 0;
    int turn = 0;
    for (;;) {  // u is added
        if (thread == 0) {
            inside[u] = 1;
            lightest[u] = NO_KEY;
            least[after_turn(turn)] = NO_KEY;
        }
        for (offset_t arc = indptr[u] + thread; arc < indptr[u + 1]; arc += n_threads) {
            const node_t v = indices[arc];
            if (inside[v]) continue;
            const unsigned bits = __float_as_uint(weights[arc]);
            const lanes_t weight = bits > MOST_BITS ? 0 : bits;  // -0
            const lanes_t before = __ldcg(&lightest[v]);
            if (weight > before >> 32) continue;
            lanes_t name = arc;
            if (v < u) {  // the arc back
                offset_t low = indptr[v], high = indptr[v + 1];
                while (low < high) {
                    const offset_t middle = (low + high) / 2;
                    if (indices[middle] < u) {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                name = low;
            }
            const lanes_t key = (weight << 32) | name;
            if (key < before) lightest[v] = key;
        }
        grid_barrier(arrivals);
        lanes_t own = NO_KEY;
        for (offset_t v = thread; v < n_nodes; v += n_threads) {
            const lanes_t key = __ldcg(&lightest[v]);
            if (key < own) own = key;
        }
        for (int offset = WARP / 2; offset > 0; offset /= 2) {
            const lanes_t other = __shfl_xor_sync(ALL_THREADS, own, offset);
            if (other < own) own = other;
        }
        if (thread_of_warp() == 0 && own != NO_KEY) atomicMin(&least[turn], own);
        grid_barrier(arrivals);
        const lanes_t key = *(volatile lanes_t*)&least[turn];
        turn = after_turn(turn);
        if (key != NO_KEY) {
            const unsigned arc = (unsigned)key;
            const node_t head = indices[arc];
            u = inside[head] ? tail_of(indptr, 0, (node_t)n_nodes - 1, arc) : head;
            if (thread == 0) chosen[arc] = 1;
        } else {  // the next tree
            while (root < n_nodes && inside[root]) ++root;
            if (root == n_nodes) return;
            u = (node_t)root;
        }
        grid_barrier(arrivals);  // all threads have read which nodes are inside
    }
}
