// Levels of few nodes by a cluster of blocks, each on its own multiprocessor: what a level costs is
// then the latency of its accesses, not their number. Lists are in shared memory; a block writes
// what it claims into the lists of the others, which take turns, so that all have as much to do.

#ifndef SEEN_READ
#define SEEN_READ 0
#endif
#ifndef LANES_EACH
#define LANES_EACH 1
#endif
#ifndef BESIDE
#define BESIDE 1
#endif

struct __align__(16) Found {
    node_t node;
    int degree;
    offset_t first;  // arc
};

template <int C, int CAP>
struct Lists {
    Found nodes[2][C][CAP];  // by the block that found them
    int n_found[2][C][C + 1];  // nodes from block to block; at C: whether it was the last level
    int own[2][C + 1];         // what this one writes into those of all at the end of a level
    unsigned long long arcs[2];
    int segments[2];
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
template <int C, int CAP, int N>
__device__ __forceinline__ void claim_for_all(
    const Search& s, Lists<C, CAP>& lists, const offset_t(&arc)[N], const int now, const int to,
    const node_t target)
{
    const int t = thread_of_warp(), rank = rank_of_cluster();
    node_t head[N];
    unsigned claims[N];
    offset_t first[N], last[N];
    read_heads(s, arc, head);
    unsigned word[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
#if SEEN_READ == 2
        word[i] = __ldcg(&s.seen[(head[i] < 0 ? 0 : head[i]) >> 5]);
#elif SEEN_READ == 1
        word[i] = s.seen[(head[i] < 0 ? 0 : head[i]) >> 5];
#else
        word[i] = 0;
#endif
    }
#if BESIDE
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const node_t v = head[i] < 0 || ((word[i] >> (head[i] & 31)) & 1) ? 0 : head[i];
        first[i] = __ldg(&s.indptr[v]);
        last[i] = __ldg(&s.indptr[v + 1]);
    }
#endif
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const unsigned bit = 1u << (head[i] & 31);
        const bool is_off = head[i] < 0 || (word[i] & bit);
        word[i] = set_bit(&s.seen[(head[i] < 0 ? 0 : head[i]) >> 5], bit, is_off, ~0u);
    }
    int n_claims = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        claims[i] = __ballot_sync(ALL_THREADS, !((word[i] >> (head[i] & 31)) & 1));
        n_claims += __popc(claims[i]);
    }
    if (n_claims == 0) return;
    int place = 0;
    if (t == 0) place = atomicAdd(&lists.own[now][to], n_claims);
#if !BESIDE
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const node_t v = (claims[i] >> t) & 1 ? head[i] : 0;
        first[i] = __ldg(&s.indptr[v]);
        last[i] = __ldg(&s.indptr[v + 1]);
    }
#endif
    place = __shfl_sync(ALL_THREADS, place, 0);
    const unsigned list = there(lists.nodes[now ^ 1][rank], to);
#pragma unroll
    for (int i = 0; i < N; ++i) {
        if ((claims[i] >> t) & 1) {
            const int own = place + __popc(claims[i] & ((1u << t) - 1));
            const int degree = (int)(last[i] - first[i]);
            if (own < CAP) {
                put(list + own * (unsigned)sizeof(Found), Found{head[i], degree, first[i]});
            } else {
                s.queue[atomicAdd(&s.control->n_over, 1)] = head[i];
            }
            if (head[i] == target || degree > SHARED_DEGREE) lists.own[now][C] = 1;
        }
        place += __popc(claims[i]);
    }
}

template <int C, int BLOCK, int CAP>
__device__ __forceinline__ void cluster_levels(const Search& s, Lists<C, CAP>& lists, const node_t target)
{
    constexpr int EACH = 4, ONE = 4 / LANES_EACH;  // arcs at once: of a shared node, of others
    Control& control = *s.control;
    const int t = thread_of_warp(), rank = rank_of_cluster(), warp = threadIdx.x / WARP;
    const int n_first = control.n_front, begin = control.begin;
    level_t depth = control.next_depth;
    // Of the first frontier every C-th node, from the rank-th on.
    for (int i = threadIdx.x; C * i + rank < n_first; i += BLOCK) {
        const node_t u = s.queue[begin + C * i + rank];
        const offset_t first = s.indptr[u];
        lists.nodes[0][i / CAP][i % CAP] = {u, (int)(s.indptr[u + 1] - first), first};
    }
    for (int i = threadIdx.x; i < C * (C + 1); i += BLOCK) {
        const int from = i / (C + 1), to = i % (C + 1);
        const int theirs = (n_first - to + C - 1) / C - from * CAP;
        lists.n_found[0][from][to] =
            to == C || n_first <= to || theirs < 0 ? 0 : theirs < CAP ? theirs : CAP;
    }
    for (int i = threadIdx.x; i < 2 * (C + 1); i += BLOCK) lists.own[0][i] = 0;
    if (threadIdx.x < 2) lists.segments[threadIdx.x] = lists.arcs[threadIdx.x] = 0;
    offset_t all_arcs = 0, arcs = 0;  // of this thread's nodes: of all found, of the last level
    int n_reached = 0, n_over = 0, before = 0, n_mine = 0, n_all = 0;
    cluster_barrier();
    for (int at = 0;; ++at) {
        const int now = at & 1;
        bool is_last = false;
        n_all = n_over = before = n_mine = 0;
        for (int i = t; i < C * (C + 1); i += WARP) {
            const int from = i / (C + 1), to = i % (C + 1), n = lists.n_found[now][from][to];
            if (to == C) {
                is_last |= n;
            } else {
                const int kept = n < CAP ? n : CAP;
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
        if (at) n_reached += n_all;
        all_arcs += arcs;
        arcs = 0;
        if (threadIdx.x <= C) lists.own[now ^ 1][threadIdx.x] = 0;
        const int to = (rank + warp + at) & (C - 1);
        for (int base = warp * WARP; base < n_mine * LANES_EACH; base += BLOCK) {
            const int lane = t % LANES_EACH;
            int place = (base + t) / LANES_EACH, from = 0;
            const bool is_node = place < n_mine;
#pragma unroll
            for (int k = 0; k + 1 < C; ++k) {
                const int n = lists.n_found[now][k][rank];
                const int kept = n < CAP ? n : CAP;
                if (from == k && place >= kept) {
                    place -= kept;
                    ++from;
                }
            }
            const Found own = is_node ? lists.nodes[now][from][place] : Found{0, 0, 0};
            int degree = own.degree;
            if (is_node && at && lane == 0) {
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
                for (int j = t; j - t < m; j += EACH * WARP) {
                    offset_t arc[EACH];
#pragma unroll
                    for (int i = 0; i < EACH; ++i) {
                        arc[i] = j + i * WARP < m ? theirs + j + i * WARP : -1;
                    }
                    claim_for_all(s, lists, arc, now, to, target);
                }
            }
            if (is_shared) degree = 0;
            for (int j = lane; __any_sync(ALL_THREADS, j < degree); j += ONE * LANES_EACH) {
                offset_t arc[ONE];
#pragma unroll
                for (int i = 0; i < ONE; ++i) {
                    const int k = j + i * LANES_EACH;
                    arc[i] = k < degree ? own.first + k : -1;
                }
                claim_for_all(s, lists, arc, now, to, target);
            }
        }
        if (is_last) break;
        __syncthreads();
        for (int i = threadIdx.x; i < C * (C + 1); i += BLOCK) {
            const int other = i / (C + 1), of = i % (C + 1);
            put(there(&lists.n_found[now ^ 1][rank][of], other), lists.own[now][of]);
        }
        cluster_barrier();
        ++depth;
    }
    // The frontier goes to the front of the queue, where those are that had no room. Hubs among
    // them, and how many segments those have, are counted here alone.
    before = warp_sum_of_ints(before);
    int segments = 0;
    const int now = ((depth - control.next_depth) & 1);
    for (int i = threadIdx.x; i < n_mine; i += BLOCK) {
        int place = i, from = 0;
        for (int k = 0; k + 1 < C; ++k) {
            const int n = lists.n_found[now][k][rank];
            const int kept = n < CAP ? n : CAP;
            if (from == k && place >= kept) {
                place -= kept;
                ++from;
            }
        }
        const Found own = lists.nodes[now][from][place];
        segments += segments_of(own.degree);
        s.queue[n_over + before + i] = own.node;
    }
    for (int i = rank * BLOCK + threadIdx.x; i < n_over; i += C * BLOCK) {
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

#if __CUDA_ARCH__ >= 900
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
    __shared__ Lists<CLUSTER, CLUSTER_ROOM> lists;
    Search s;
    s.indptr = indptr;
    s.indices = indices;
    s.level = level;
    s.queue = queue;
    s.seen = seen;
    s.control = control;
    cluster_levels<CLUSTER, CLUSTER_BLOCK>(s, lists, target);
}
#endif
