// Levels of few nodes, all by one block of BLOCK threads: its barrier takes a tenth of the time of
// the grid's. Each thread has NODES nodes of the frontier.
template <int BLOCK, int NODES>
struct Narrow {
    static constexpr int ROOM = NODES * BLOCK;
    node_t nodes[2][ROOM];
    int n_found[3];
    int segments[2];
    unsigned long long arcs[2];
};

__device__ __forceinline__ bool is_narrow(const int n, const offset_t arcs, const int room)
{
    return n <= room && arcs <= NARROW_DEGREE * (offset_t)n + SEGMENT;
}

// Claim the heads of the arcs (-1: none) of all threads and append them to the list of the block;
// what does not fit goes to the queue.
template <int ROOM, int N>
__device__ __forceinline__ void claim_narrow(
    const Search& s, const offset_t(&arc)[N], node_t* found, int* n_found, const int end)
{
    const int t = thread_of_warp();
    node_t head[N];
    unsigned claims[N];
    read_heads(s, arc, head);
    const int n_claims = claim(s, head, claims);
    if (n_claims == 0) return;
    int place = 0;
    if (t == 0) place = atomicAdd(n_found, n_claims);
    place = __shfl_sync(ALL_THREADS, place, 0);
#pragma unroll
    for (int i = 0; i < N; ++i) {
        if ((claims[i] >> t) & 1) {
            const int own = place + __popc(claims[i] & ((1u << t) - 1));
            if (own < ROOM) {
                found[own] = head[i];
            } else {
                s.queue[end + own] = head[i];
            }
        }
        place += __popc(claims[i]);
    }
}

// From queue[begin:end] as many levels as are narrow, top-down, from one to n_levels.
template <int BLOCK, int NODES>
__device__ __noinline__ void narrow_levels(
    const Search& s, Narrow<BLOCK, NODES>& block, int begin, int end, level_t depth, const node_t target,
    const int turn, const int n_levels)
{
    constexpr int EACH = 4, ROOM = Narrow<BLOCK, NODES>::ROOM;
    const int t = thread_of_warp();
    int n = end - begin;
    for (int i = threadIdx.x; i < n; i += BLOCK) block.nodes[0][i] = s.queue[begin + i];
    if (threadIdx.x < 3) block.n_found[threadIdx.x] = 0;
    if (threadIdx.x < 2) block.segments[threadIdx.x] = block.arcs[threadIdx.x] = 0;
    offset_t all_arcs = 0, arcs = 0;  // of this thread's nodes: of all found, of the last level
    int all_segments = 0, segments = 0;
    __syncthreads();
    for (int at = 0;; ++at) {
        const node_t* nodes = block.nodes[at & 1];
        node_t* found = block.nodes[(at + 1) & 1];
        if (n > ROOM || n == 0 || at == n_levels) {
            for (int i = threadIdx.x; i < n; i += BLOCK) {
                const node_t u = i < ROOM ? nodes[i] : s.queue[begin + i];
                const offset_t degree = s.indptr[u + 1] - s.indptr[u];
                arcs += degree;
                segments += segments_of(degree);
                s.level[u] = depth - 1;
                s.queue[begin + i] = u;
            }
            break;
        }
        offset_t first[NODES];
        int degree[NODES];
        bool is_last = false;
#pragma unroll
        for (int k = 0; k < NODES; ++k) {
            const int i = threadIdx.x + k * BLOCK;
            const node_t u = i < n ? nodes[i] : 0;
            first[k] = s.indptr[u];
            const offset_t last = s.indptr[u + 1];
            degree[k] = i < n ? (int)(last - first[k]) : 0;
            if (i >= n || at == 0) continue;  // what the first level has was counted before
            s.level[u] = depth - 1;
            s.queue[begin + i] = u;
            is_last |= u == target || degree[k] > SHARED_DEGREE;
        }
        if (at > 0) {
#pragma unroll
            for (int k = 0; k < NODES; ++k) {
                arcs += degree[k];
                segments += segments_of(degree[k]);
            }
        }
        if (threadIdx.x == 0) block.n_found[(at + 1) % 3] = 0;
        if (__syncthreads_or(is_last)) break;
        all_arcs += arcs;
        all_segments += segments;
        arcs = segments = 0;
        int* n_found = &block.n_found[at % 3];
        int most = 0;
#pragma unroll
        for (int k = 0; k < NODES; ++k) {
            unsigned shared = __ballot_sync(ALL_THREADS, degree[k] > 2 * NARROW_DEGREE);
            while (shared) {
                const int owner = __ffs(shared) - 1;
                shared &= shared - 1;
                const offset_t theirs = __shfl_sync(ALL_THREADS, first[k], owner);
                const int m = __shfl_sync(ALL_THREADS, degree[k], owner);
                if (t == owner) degree[k] = 0;
                for (int j = t; j - t < m; j += EACH * WARP) {
                    offset_t arc[EACH];
#pragma unroll
                    for (int i = 0; i < EACH; ++i) {
                        arc[i] = j + i * WARP < m ? theirs + j + i * WARP : -1;
                    }
                    claim_narrow<ROOM>(s, arc, found, n_found, end);
                }
            }
            most = degree[k] > most ? degree[k] : most;
        }
        for (int j = 0; __any_sync(ALL_THREADS, j < most); j += EACH) {
            if (n <= BLOCK) {
                offset_t arc[EACH];
#pragma unroll
                for (int i = 0; i < EACH; ++i) arc[i] = j + i < degree[0] ? first[0] + j + i : -1;
                claim_narrow<ROOM>(s, arc, found, n_found, end);
            } else {
                offset_t arc[NODES * EACH];
#pragma unroll
                for (int i = 0; i < NODES * EACH; ++i) {
                    const int of_node = j + i % EACH;
                    arc[i] = of_node < degree[i / EACH] ? first[i / EACH] + of_node : -1;
                }
                claim_narrow<ROOM>(s, arc, found, n_found, end);
            }
        }
        __syncthreads();
        n = *n_found;
        begin = end;
        end += n;
        ++depth;
    }
    all_arcs = warp_sum(all_arcs);
    arcs = warp_sum(arcs);
    all_segments = warp_sum_of_ints(all_segments);
    segments = warp_sum_of_ints(segments);
    if (t == 0) {
        atomicAdd(&block.arcs[0], (unsigned long long)all_arcs);
        atomicAdd(&block.arcs[1], (unsigned long long)arcs);
        atomicAdd(&block.segments[0], all_segments);
        atomicAdd(&block.segments[1], segments);
    }
    __syncthreads();
    if (threadIdx.x) return;
    Control& control = *s.control;
    control.tail = end;
    control.n_found[turn & 3] = n;
    control.found_arcs[turn & 3] = (offset_t)block.arcs[1];
    control.found_segments[turn & 3] = block.segments[1];
    control.narrow_arcs[turn & 1] = (offset_t)block.arcs[0];
    control.narrow_segments[turn & 1] = block.segments[0];
    control.narrow_depth[turn & 1] = depth;
    control.narrow_begin[turn & 1] = begin;
}
