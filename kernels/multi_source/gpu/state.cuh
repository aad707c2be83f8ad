// Arguments and state of a sweep.

// What is known where level depth begins, of one graph: top-down levels need lists and cleared
// frontiers, bottom-up levels leave none.
#define LISTED 1     // the frontier of depth - 1 has its list
#define PURE 2       // ... and its words are 0 at all other nodes
#define OLD_PURE 4   // the frontier of depth - 2 has its list, and is 0 at all other nodes
#define CLEAR 8      // the words that level depth writes are all 0

// All zero before the first launch of a sweep.
struct Control {
    unsigned arrivals;         // of grid_barrier
    int n_hubs;
    int n_segments;
    int depth;                 // AT_DEPTH; out: levels up to this one are done
    int is_ended;              // AT_IS_ENDED; out: at depth no node was found
    int flags;                 // state: see LISTED
    int n_listed[4];           // nodes in the list of level d: n_listed[d % 4]
    int n_found[4];            // nodes found at level d
    int n_taken[4];            // chunks taken beyond the first of each warp, at level d
    int pad[2];
    offset_t found_arcs[4];    // their arcs
};
static_assert(sizeof(Control) <= 4 * CONTROL);

// Arguments of a sweep, and where its state lies.
template <int W, bool SHARD>
struct Sweep {
    const offset_t* indptr;
    const node_t* indices;
    offset_t n_nodes;
    offset_t n_arcs;
    // Chunks: runs of at most chunk_size nodes of one graph, a warp's piece of work.
    int n_chunks, chunk_size;
    int n_graphs;
    const offset_t* node_ptr;                // (n_graphs + 1,); shards only, as all of:
    const int* chunk_ptr;                    // (n_graphs + 1,)
    const int* slot_ptr;                     // (n_graphs + 1,)
    const int* slot_graph;                   // (n_slots,)
    const node_t* slot_node;                 // (n_slots,) the sources
    int n_slots;
    int* counts;                             // (n_rows, n_slots)
    int n_rows;
    int first_depth;                         // row 0 is level first_depth - 2
    node_t* farthest;                        // (n_slots, N_FARTHEST) in the graph's node ids
    lanes_t* planes;                         // (n_planes, n_nodes, W) or null
    offset_t top_down_factor;
    int unit_shift;                          // a unit is 2^unit_shift nodes
    Control* control;
    // State.
    lanes_t* seen;        // (n_nodes, W)
    lanes_t* words;       // (3, n_nodes, W): frontier of level d at d % 3
    lanes_t* coarse;      // (4, n_units, W): or of the frontier words of a unit's nodes; d % 4
    unsigned* maps;       // (4, n_map): bitmap of the frontier of level d at d % 4
    node_t* lists;        // (3, n_nodes): frontier nodes of level d at d % 3; one graph only
    int* chunk_graph;     // (n_chunks,) or -1 once every node has every lane; shards only
    int* graph_last;      // (n_graphs,) last level that found a node; shards only
    lanes_t* hub_got;     // (most_hubs, W) what the segments of a hub have found so far
    node_t* hub_node;     // (most_hubs,)
    int* hub_graph;       // (most_hubs,)
    int* hub_left;        // (most_hubs,) segments that have not ended yet on this level
    int* segment_hub;     // (most_segments,)
    int* segment_index;   // (most_segments,) which of its hub's segments
    offset_t n_map, n_units;

    __device__ lanes_t* frontier(const int depth) const
    {
        return words + (offset_t)((depth + 3) % 3) * n_nodes * W;
    }
    __device__ unsigned* map(const int depth) const { return maps + ((depth + 4) & 3) * n_map; }
    __device__ lanes_t* units(const int depth) const
    {
        return coarse + ((depth + 4) & 3) * n_units * W;
    }
    __device__ node_t* list(const int depth) const
    {
        return lists + (offset_t)((depth + 3) % 3) * n_nodes;
    }
    __device__ int* row(const int depth) const
    {
        return counts + (offset_t)(depth - first_depth + 2) * n_slots;
    }
    __device__ offset_t arcs_of(const offset_t v) const { return indptr[v + 1] - indptr[v]; }

    // Lanes that the sources of a graph use.
    __device__ Lanes<W> used(const int n_lanes) const
    {
        Lanes<W> x;
        for (int w = 0; w < W; ++w) {
            const int n = n_lanes - 64 * w;
            x.word[w] = n <= 0 ? 0 : n >= 64 ? ~0ull : (1ull << n) - 1;
        }
        return x;
    }
    __device__ int first_slot(const int graph) const { return SHARD ? slot_ptr[graph] : 0; }
    __device__ int lanes_in(const int graph) const
    {
        return SHARD ? slot_ptr[graph + 1] - slot_ptr[graph] : n_slots;
    }
    __device__ offset_t begin_of(const int chunk, const int graph) const
    {
        return SHARD ? node_ptr[graph] + (offset_t)(chunk - chunk_ptr[graph]) * chunk_size
                     : (offset_t)chunk * chunk_size;
    }
    __device__ offset_t end_of(const offset_t begin, const int graph) const
    {
        const offset_t end = SHARD ? node_ptr[graph + 1] : n_nodes;
        return begin + chunk_size < end ? begin + chunk_size : end;
    }
};

// Where the state lies in one allocation: 64-bit parts first, each part 16 bytes aligned.
// kernels/multi_source/gpu/footprint.py counts the same bytes.
struct Layout {
    char* at;

    template <typename T>
    __device__ T* take(const offset_t n)
    {
        T* part = (T*)at;
        at += (n * (offset_t)sizeof(T) + 15) / 16 * 16;
        return part;
    }
};

template <int W, bool SHARD>
__device__ __forceinline__ void place_state(Sweep<W, SHARD>& s, char* state)
{
    s.n_map = (s.n_nodes + 31) / 32 + 1;  // one more: nodes of a chunk may reach into it
    s.n_units = ((s.n_nodes - 1) >> s.unit_shift) + 1;
    const offset_t most_hubs = s.n_arcs / SEGMENT;
    const offset_t most_segments = 2 * most_hubs;
    Layout layout = {state};
    s.seen = layout.take<lanes_t>(s.n_nodes * W);
    s.words = layout.take<lanes_t>(3 * s.n_nodes * W);
    s.coarse = layout.take<lanes_t>(4 * s.n_units * W);
    s.hub_got = layout.take<lanes_t>(most_hubs * W);
    s.maps = layout.take<unsigned>(4 * s.n_map);
    s.hub_node = layout.take<node_t>(most_hubs);
    s.hub_left = layout.take<int>(most_hubs);
    s.segment_hub = layout.take<int>(most_segments);
    s.segment_index = layout.take<int>(most_segments);
    if (SHARD) {
        s.hub_graph = layout.take<int>(most_hubs);
        s.chunk_graph = layout.take<int>(s.n_chunks);
        s.graph_last = layout.take<int>(s.n_graphs);
    } else {
        s.lists = layout.take<node_t>(3 * s.n_nodes);
    }
}

// Note depth as the level of the lanes that found node v.
template <int W, bool SHARD>
__device__ __forceinline__ void note_level(
    const Sweep<W, SHARD>& s, const offset_t v, const Lanes<W>& got, const int depth)
{
    if (s.planes == nullptr) return;
    for (int k = 0; depth >> k; ++k) {
        if (((depth >> k) & 1) == 0) continue;
        lanes_t* plane = s.planes + (offset_t)k * s.n_nodes * W;
        Lanes<W> x = read_lanes<W>(plane, v);
        for (int w = 0; w < W; ++w) x.word[w] |= got.word[w];
        write_lanes<W>(plane, v, x);
    }
}

// Counts of a block on a level, before they are added to those of all.
template <int W>
struct BlockCounts {
    int lanes[64 * W];
    int n_found;
    unsigned long long found_arcs;
};

template <int W, bool SHARD>
__device__ __forceinline__ void end_of_level(
    const Sweep<W, SHARD>& s, BlockCounts<W>& block, const int depth, int (&n_found)[2 * W],
    const int nodes, const offset_t arcs)
{
    // One graph: a block's warps first add up in shared memory, or thousands of warps would wait
    // for the same 128 numbers.
    if (!SHARD) add_counts<W>(block.lanes, 64 * W, n_found);
    const offset_t all_arcs = warp_sum(arcs);
    if (thread_of_warp() == 0 && nodes) {
        atomicAdd(&block.n_found, nodes);
        atomicAdd(&block.found_arcs, (unsigned long long)all_arcs);
    }
    __syncthreads();
    if (!SHARD) {
        for (int lane = threadIdx.x; lane < 64 * W; lane += blockDim.x) {
            if (block.lanes[lane]) atomicAdd(&s.row(depth)[lane], block.lanes[lane]);
            block.lanes[lane] = 0;
        }
    }
    if (threadIdx.x == 0) {
        const int all_found = block.n_found;
        const unsigned long long their_arcs = block.found_arcs;
        block.n_found = 0;
        block.found_arcs = 0;
        if (all_found) {
            atomicAdd(&s.control->n_found[depth & 3], all_found);
            atomicAdd((unsigned long long*)&s.control->found_arcs[depth & 3], their_arcs);
        }
    }
}
