// What a search keeps, and the segments of its hubs.

// All zero before the launch.
struct Control {
    unsigned arrivals;       // of grid_barrier
    int n_segments;
    int tail;                // nodes in the queue
    int depth;               // AT_DEPTH; out: the last level that has nodes
    int n_reached;           // AT_N_REACHED; out
    int is_left;             // AT_IS_LEFT; out: narrow_search goes on, then the search
    int pad[2];
    int n_found[4];          // nodes found in turn i: n_found[i % 4]
    int found_segments[4];   // of the hubs among them
    offset_t found_arcs[4];  // their arcs
    // Of narrow levels, by turn % 2:
    offset_t narrow_arcs[2];  // arcs of the nodes found, but for the last level
    int narrow_segments[2];   // likewise
    int narrow_depth[2];      // the level after the last
    int narrow_begin[2];      // place in the queue of the last one's nodes
    // Of a search that was left, and goes on in the next launch:
    offset_t frontier_arcs;
    offset_t open_arcs;
    int turn;
    int begin;
    int n_front;
    int next_depth;
    int frontier_segments;
    int open_segments;
    int n_over;               // nodes of narrow_search that its lists have no room for
};
static_assert(sizeof(Control) <= 4 * CONTROL);

struct Search {
    const offset_t* indptr;
    const node_t* indices;
    offset_t n_nodes;
    offset_t n_map;          // words of a bitmap
    level_t* level;          // (n_nodes,) out
    node_t* queue;           // (n_nodes,)
    unsigned* seen;          // (n_map,): reached, or without arcs
    unsigned* maps;          // (3, n_map): bitmap of what was found in turn i at i % 3
    node_t* segment_node;
    int* segment_index;
    Control* control;

    __device__ unsigned* map(const int turn) const { return maps + (turn + 3) % 3 * n_map; }
};

// Counts of a block on a level, before they are added to those of all.
struct BlockCounts {
    int n_found;
    int found_segments;
    unsigned long long found_arcs;
};

// The segments that the arcs of a node are cut into, if it is a hub.
__device__ __forceinline__ int segments_of(const offset_t degree)
{
    return degree < SEGMENT ? 0 : (int)((degree + SEGMENT - 1) / SEGMENT);
}

__device__ __forceinline__ void end_of_level(
    const Search& s, BlockCounts& block, const int turn, const int nodes, const offset_t arcs,
    const int segments)
{
    const offset_t all_arcs = warp_sum(arcs);
    const int all_segments = warp_sum_of_ints(segments);
    if (thread_of_warp() == 0 && nodes) {
        atomicAdd(&block.n_found, nodes);
        atomicAdd(&block.found_arcs, (unsigned long long)all_arcs);
        if (all_segments) atomicAdd(&block.found_segments, all_segments);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const BlockCounts all = block;
        block = {0, 0, 0};
        if (all.n_found) {
            atomicAdd(&s.control->n_found[turn & 3], all.n_found);
            atomicAdd((unsigned long long*)&s.control->found_arcs[turn & 3], all.found_arcs);
        }
        if (all.found_segments) {
            atomicAdd(&s.control->found_segments[turn & 3], all.found_segments);
        }
    }
}

// Call visit(u, first, n) for the n arcs from ``first`` on of each segment of the hubs that are
// wanted. All threads of a warp call it together; each asks for another segment whether it is.
template <typename Wanted, typename Visit>
__device__ __forceinline__ void visit_segments(const Search& s, Wanted is_wanted, Visit visit)
{
    const int t = thread_of_warp();
    const int n_segments = s.control->n_segments;
    const int stride = warps_of_grid();
    // Segments of one hub lie side by side: a warp takes them from afar, so that all share a hub.
    for (int base = warp_of_grid(); base < n_segments; base += stride * WARP) {
        const offset_t i = base + (offset_t)stride * t;
        node_t mine = -1;
        if (i < n_segments) {
            mine = s.segment_node[i];
            if (!is_wanted(mine)) mine = -1;
        }
        unsigned wanted = __ballot_sync(ALL_THREADS, mine >= 0);
        while (wanted) {
            const int owner = __ffs(wanted) - 1;
            wanted &= wanted - 1;
            const node_t u = __shfl_sync(ALL_THREADS, mine, owner);
            const int index = s.segment_index[base + (offset_t)stride * owner];
            const offset_t first = s.indptr[u] + (offset_t)index * SEGMENT;
            const offset_t last = s.indptr[u + 1];
            visit(u, first, (int)((first + SEGMENT < last ? first + SEGMENT : last) - first));
        }
    }
}
