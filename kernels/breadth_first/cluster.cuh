// Levels of few nodes by a cluster of blocks, each on its own multiprocessor: what a level costs is
// then the latency of its accesses, not their number. Lists are in shared memory; a block writes
// what it claims into the lists of the others, which take turns, so that all have as much to do.

struct __align__(16) Found {
    node_t node;
    int degree;
    offset_t first;  // arc
};

struct Lists {
    Found nodes[2][CLUSTER][CLUSTER_ROOM];  // by the block that found them
    // Nodes from block to block; at [CLUSTER]: whether the level is the last.
    int n_found[2][CLUSTER][CLUSTER + 1];
    int own[2][CLUSTER + 1];  // what this block writes into those of all at the end of a level
};

__device__ __forceinline__ unsigned rank_of_cluster()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_barrier()
{
    asm volatile(
        "barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;"
        :: : "memory");
}

// Address of a shared variable in another block of the cluster.
__device__ __forceinline__ unsigned there(const void* here, const int block)
{
    unsigned address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(address) : "r"((unsigned)__cvta_generic_to_shared(here)), "r"(block));
    return address;
}

__device__ __forceinline__ void put(const unsigned address, const int value)
{
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(address), "r"(value) : "memory");
}

__device__ __forceinline__ void put(const unsigned address, const Found& found)
{
    asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};"
                 :: "r"(address), "r"(found.node), "r"(found.degree), "r"((unsigned)found.first),
                 "r"((unsigned)(found.first >> 32)) : "memory");
}

// Claim the heads of the arcs (-1: none) of all threads; ``to``: the block that gets them.
__device__ __forceinline__ void claim_for_all(
    const Search& s, Lists& lists, const offset_t arc, const int now, const int to,
    const node_t target)
{
    const int t = thread_of_warp();
    const node_t head = arc < 0 ? -1 : __ldg(&s.indices[arc]);
    const node_t v = head < 0 ? 0 : head;
    // Read beside the atomic, also of those that are seen: one wait, not two.
    const offset_t first = __ldg(&s.indptr[v]), last = __ldg(&s.indptr[v + 1]);
    const unsigned word = set_bit(&s.seen[v >> 5], 1u << (v & 31), head < 0, ~0u);
    const bool is_new = !((word >> (v & 31)) & 1);
    const unsigned claims = __ballot_sync(ALL_THREADS, is_new);
    if (claims == 0) return;
    int place = 0;
    if (t == 0) place = atomicAdd(&lists.own[now][to], __popc(claims));
    place = __shfl_sync(ALL_THREADS, place, 0) + __popc(claims & ((1u << t) - 1));
    if (!is_new) return;
    const int degree = (int)(last - first);
    if (place < CLUSTER_ROOM) {
        put(there(&lists.nodes[now ^ 1][rank_of_cluster()][place], to), Found{head, degree, first});
    } else {
        s.queue[atomicAdd(&s.control->n_over, 1)] = head;
    }
    if (head == target || degree > SHARED_DEGREE) lists.own[now][CLUSTER] = 1;
}

// Where the i-th node of block ``rank`` is.
__device__ __forceinline__ const Found& found_at(
    const Lists& lists, const int now, const int rank, int i)
{
    int from = 0;
#pragma unroll
    for (int k = 0; k + 1 < CLUSTER; ++k) {
        const int kept = min(lists.n_found[now][k][rank], CLUSTER_ROOM);
        if (from == k && i >= kept) {
            i -= kept;
            ++from;
        }
    }
    return lists.nodes[now][from][i];
}

// Levels from queue[begin : begin + n_front] on, until one has a hub, the target, no node, or more
// nodes than there is room for.
__device__ __forceinline__ void cluster_levels(const Search& s, Lists& lists, const node_t target)
{
    constexpr int LANES = 4;  // threads of a node
    Control& control = *s.control;
    const int t = thread_of_warp(), rank = rank_of_cluster(), warp = threadIdx.x / WARP;
    const int n_first = control.n_front, begin = control.begin;
    level_t depth = control.next_depth;
    // Of the first frontier every CLUSTER-th node, from the rank-th on.
    for (int i = threadIdx.x; CLUSTER * i + rank < n_first; i += CLUSTER_BLOCK) {
        const node_t u = s.queue[begin + CLUSTER * i + rank];
        const offset_t first = s.indptr[u];
        const int degree = (int)(s.indptr[u + 1] - first);
        lists.nodes[0][i / CLUSTER_ROOM][i % CLUSTER_ROOM] = {u, degree, first};
    }
    for (int i = threadIdx.x; i < CLUSTER * (CLUSTER + 1); i += CLUSTER_BLOCK) {
        const int from = i / (CLUSTER + 1), to = i % (CLUSTER + 1);
        const int theirs = (n_first - to + CLUSTER - 1) / CLUSTER - from * CLUSTER_ROOM;
        lists.n_found[0][from][to] = to == CLUSTER ? 0 : max(0, min(theirs, CLUSTER_ROOM));
    }
    for (int i = threadIdx.x; i <= CLUSTER; i += CLUSTER_BLOCK) lists.own[0][i] = 0;
    offset_t all_arcs = 0, arcs = 0;  // of this thread's nodes: of all found, of the last level
    int n_reached = 0, n_over = 0, before = 0, n_mine = 0, n_all = 0, now = 0;
    cluster_barrier();
    for (bool is_first = true;; is_first = false, now ^= 1) {
        bool is_last = false;
        n_all = n_over = before = n_mine = 0;
        for (int i = t; i < CLUSTER * (CLUSTER + 1); i += WARP) {
            const int to = i % (CLUSTER + 1), n = lists.n_found[now][i / (CLUSTER + 1)][to];
            if (to == CLUSTER) {
                is_last |= n;
            } else {
                const int kept = min(n, CLUSTER_ROOM);
                n_all += n;
                n_over += n - kept;
                before += to < rank ? kept : 0;
                n_mine += to == rank ? kept : 0;
            }
        }
        n_all = warp_sum_of_ints(n_all);
        n_over = warp_sum_of_ints(n_over);
        n_mine = warp_sum_of_ints(n_mine);
        is_last = __any_sync(ALL_THREADS, is_last) || n_over || n_all == 0;
        if (!is_first) n_reached += n_all;
        all_arcs += arcs;
        arcs = 0;
        if (threadIdx.x <= CLUSTER) lists.own[now ^ 1][threadIdx.x] = 0;
        const int to = (rank + warp + depth) % CLUSTER;
        for (int base = warp * WARP; base < n_mine * LANES; base += CLUSTER_BLOCK) {
            const int lane = t % LANES, i = (base + t) / LANES;
            const Found own = i < n_mine ? found_at(lists, now, rank, i) : Found{0, 0, 0};
            int degree = own.degree;
            if (i < n_mine && !is_first && lane == 0) {
                s.level[own.node] = depth - 1;
                arcs += degree;
            }
            if (is_last) continue;
            const bool is_shared = degree > 2 * NARROW_DEGREE;
            unsigned shared = __ballot_sync(ALL_THREADS, is_shared && lane == 0);
            while (shared) {
                const int owner = __ffs(shared) - 1;
                shared &= shared - 1;
                const offset_t theirs = __shfl_sync(ALL_THREADS, own.first, owner);
                const int m = __shfl_sync(ALL_THREADS, degree, owner);
                for (int j = t; j - t < m; j += WARP) {
                    claim_for_all(s, lists, j < m ? theirs + j : -1, now, to, target);
                }
            }
            if (is_shared) degree = 0;
            for (int j = lane; __any_sync(ALL_THREADS, j < degree); j += LANES) {
                claim_for_all(s, lists, j < degree ? own.first + j : -1, now, to, target);
            }
        }
        if (is_last) break;
        __syncthreads();
        for (int i = threadIdx.x; i < CLUSTER * (CLUSTER + 1); i += CLUSTER_BLOCK) {
            const int other = i / (CLUSTER + 1), of = i % (CLUSTER + 1);
            put(there(&lists.n_found[now ^ 1][rank][of], other), lists.own[now][of]);
        }
        cluster_barrier();
        ++depth;
    }
    // The frontier goes to the front of the queue, where those are that had no room. Hubs among
    // them, and how many segments those have, are counted here alone.
    before = warp_sum_of_ints(before);
    int segments = 0;
    for (int i = threadIdx.x; i < n_mine; i += CLUSTER_BLOCK) {
        const Found& own = found_at(lists, now, rank, i);
        segments += segments_of(own.degree);
        s.queue[n_over + before + i] = own.node;
    }
    for (int i = rank * CLUSTER_BLOCK + threadIdx.x; i < n_over; i += CLUSTER * CLUSTER_BLOCK) {
        const node_t u = __ldcg(&s.queue[i]);
        const offset_t degree = s.indptr[u + 1] - s.indptr[u];
        s.level[u] = depth - 1;
        arcs += degree;
        segments += segments_of(degree);
    }
    all_arcs = warp_sum(all_arcs + arcs);
    arcs = warp_sum(arcs);
    segments = warp_sum_of_ints(segments);
    if (t == 0) {
        atomicAdd((unsigned long long*)&control.open_arcs, (unsigned long long)-all_arcs);
        atomicAdd((unsigned long long*)&control.frontier_arcs, (unsigned long long)arcs);
        if (segments) {
            atomicAdd(&control.frontier_segments, segments);
            atomicAdd(&control.open_segments, -segments);
        }
    }
    cluster_barrier();  // all have read next_depth
    if (threadIdx.x || rank) return;
    control.begin = 0;
    control.n_front = n_all;
    control.tail = n_all;
    control.next_depth = depth;
    control.n_reached += n_reached;
    control.n_over = 0;
}

#if !ONLY_SOME || WITH_narrow_search
#if __CUDA_ARCH__ >= 900  // older ones have no clusters
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(CLUSTER_BLOCK)
narrow_search(
    const offset_t* indptr,  // (n_nodes + 1,)
    const node_t* indices,   // (n_arcs,)
    const node_t target,     // -1: none
    level_t* level,          // (n_nodes,) in, out
    node_t* queue,           // (n_nodes,) in, out
    unsigned* seen,          // (n_map,) in, out
    Control* control)
{
    __shared__ Lists lists;
    Search s;
    s.indptr = indptr;
    s.indices = indices;
    s.level = level;
    s.queue = queue;
    s.seen = seen;
    s.control = control;
    cluster_levels(s, lists, target);
}
#endif
#endif
