// Walks over the rows of one rank, which searches from one node and from many at once share.
//
// A hub, a node of SEGMENT arcs or more, is cut into segments, each the work of a warp; so no warp
// waits for another that has the whole of a hub. list_segments of partition.cu lists them.

#include "../breadth_first/bitmap.cuh"

struct Rows
{
    const offset_t* __restrict__ indptr;
    const node_t* __restrict__ indices;
    const node_t* __restrict__ segment_node;   // a hub by its place among own nodes
    const int* __restrict__ segment_index;     // which of its segments
    int n_segments;
};

// Call visit(u, first, n) for the n arcs from ``first`` on of each segment of the hubs that are
// wanted, all threads of a warp together. Segments of one hub lie side by side: a warp takes its
// own from afar, so that all warps share a hub.
template <typename Wanted, typename Visit>
__device__ __forceinline__ void visit_segments(const Rows& rows, Wanted is_wanted, Visit visit)
{
    const int t = thread_of_warp();
    const int stride = warps_of_grid();
    for (int base = warp_of_grid(); base < rows.n_segments; base += stride * WARP) {
        const offset_t i = base + (offset_t)stride * t;
        node_t mine = -1;
        if (i < rows.n_segments) {
            mine = rows.segment_node[i];
            if (!is_wanted(mine)) mine = -1;
        }
        unsigned wanted = __ballot_sync(ALL_THREADS, mine >= 0);
        while (wanted) {
            const int owner = __ffs(wanted) - 1;
            wanted &= wanted - 1;
            const node_t u = __shfl_sync(ALL_THREADS, mine, owner);
            const int index = rows.segment_index[base + (offset_t)stride * owner];
            const offset_t first = rows.indptr[u] + (offset_t)index * SEGMENT;
            const offset_t last = rows.indptr[u + 1];
            visit(u, first, (int)((first + SEGMENT < last ? first + SEGMENT : last) - first));
        }
    }
}

// Call visit(arc, owner, word) for the arcs of the listed own nodes; arc -1: none. word is what
// word_of(place) gives the caller's node, if the arc is one of that node (owner is the calling
// thread); else it is fetched from the thread ``owner``. Hubs are visited where word_of gives more
// than 0, listed or not. All threads of a warp call visit together.
template <typename WordOf, typename Visit>
__device__ __forceinline__ void visit_rows(
    const Rows& rows,
    const int* __restrict__ list,  // how many nodes, then their numbers
    const node_t first_own,
    WordOf word_of,
    Visit visit)
{
    const int t = thread_of_warp();
    visit_segments(
        rows, [&](const node_t u) { return word_of(u) != 0; },
        [&](const node_t u, const offset_t first, const int n) {
            const auto word = word_of(u);
            for (int at = t; at - t < n; at += WARP) visit(at < n ? first + at : -1, t, word);
        });
    const int n_listed = list[0];
    const node_t* nodes = list + 1;
    const int each = items_each(n_listed);
    for (int first = warp_of_grid() * each; first < n_listed; first += warps_of_grid() * each) {
        offset_t arc = 0, degree = 0;
        auto word = word_of(-1);
        if (t < each && first + t < n_listed) {
            const node_t u = nodes[first + t] - first_own;
            arc = rows.indptr[u];
            degree = rows.indptr[u + 1] - arc;
            word = word_of(u);
        }
        if (degree >= SEGMENT) degree = 0;
        visit_arcs(arc, (int)degree, [&](const offset_t a, const int owner) {
            visit(a, owner, word);
        });
    }
}

// Call visit(arcs), AT_ONCE of each thread (-1: none), for the arcs of the listed own nodes; hubs
// where is_wanted(place), listed or not. All threads of a warp together.
template <int AT_ONCE, typename Wanted, typename Visit>
__device__ __forceinline__ void visit_rows_many(
    const Rows& rows,
    const int* __restrict__ list,  // how many nodes, then their numbers
    const node_t first_own,
    Wanted is_wanted,
    Visit visit)
{
    const int t = thread_of_warp();
    visit_segments(rows, is_wanted, [&](node_t, const offset_t first, const int n) {
        for (int base = t; base - t < n; base += AT_ONCE * WARP) {
            offset_t arcs[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                arcs[i] = base + i * WARP < n ? first + base + i * WARP : -1;
            }
            visit(arcs);
        }
    });
    const int n_listed = list[0];
    const node_t* nodes = list + 1;
    const int each = items_each(n_listed);
    for (int first = warp_of_grid() * each; first < n_listed; first += warps_of_grid() * each) {
        offset_t arc = 0, degree = 0;
        if (t < each && first + t < n_listed) {
            const node_t u = nodes[first + t] - first_own;
            arc = rows.indptr[u];
            degree = rows.indptr[u + 1] - arc;
        }
        if (degree >= SEGMENT) degree = 0;
        visit_many_arcs<AT_ONCE>(arc, (int)degree, visit);
    }
}

// Own nodes ask their neighbours for what they miss.
//
// missing(place) is what a node lacks, 0: nothing; ask(heads, n, stride, missing) what those of
// heads[0], heads[stride], ... below n have, perhaps only as much as is enough. hub(place, got) is
// called by one thread for each segment of a hub that found something; found(first, got) by all
// threads of a warp for 32 places from ``first`` on, those of hubs with 0.
template <typename Missing, typename Ask, typename Hub, typename Found>
__device__ __forceinline__ void ask_neighbours(
    const Rows& rows,
    const offset_t first_place,
    const offset_t last_place,
    Missing missing,
    Ask ask,
    Hub hub,
    Found found)
{
    const int t = thread_of_warp();
    visit_segments(
        rows, [&](const node_t v) { return missing(v, true) != 0; },
        [&](const node_t v, const offset_t first, const int n) {
            const auto lacks = __shfl_sync(ALL_THREADS, missing(v, true), 0);
            if (!lacks) return;
            const auto got = warp_or(ask(rows.indices + first + t, n - t, WARP, lacks)) & lacks;
            if (got && t == 0) hub(v, got);
        });
    const offset_t stride = (offset_t)warps_of_grid() * WARP;
    for (offset_t at = first_place + (offset_t)warp_of_grid() * WARP; at < last_place;
         at += stride) {
        auto lacks = missing(at + t, false);
        if (at + t >= last_place) lacks = 0;
        if (!__any_sync(ALL_THREADS, lacks != 0)) continue;
        const node_t* heads = nullptr;
        int n_heads = 0;
        if (lacks) {
            const offset_t arc = rows.indptr[at + t];
            const offset_t degree = rows.indptr[at + t + 1] - arc;
            heads = rows.indices + arc;
            n_heads = degree < SEGMENT ? (int)degree : 0;
        }
        auto got = lacks ^ lacks;
        if (n_heads) {
            got = ask(heads, n_heads < ASK_ALONE ? n_heads : ASK_ALONE, 1, lacks) & lacks;
            n_heads = got == lacks || n_heads <= ASK_ALONE ? 0 : n_heads - ASK_ALONE;
            heads += ASK_ALONE;
        }
        unsigned shared = __ballot_sync(ALL_THREADS, n_heads >= SHARED_DEGREE);
        while (shared) {
            const int owner = __ffs(shared) - 1;
            shared &= shared - 1;
            const node_t* theirs =
                (const node_t*)__shfl_sync(ALL_THREADS, (unsigned long long)heads, owner);
            const int n = __shfl_sync(ALL_THREADS, n_heads, owner);
            const auto they_lack = __shfl_sync(ALL_THREADS, lacks & ~got, owner);
            const auto they_got = warp_or(ask(theirs + t, n - t, WARP, they_lack));
            if (t == owner) {
                got |= they_got & lacks;
                n_heads = 0;
            }
        }
        if (n_heads) got |= ask(heads, n_heads, 1, lacks & ~got) & lacks;
        found(at, got);
    }
}
