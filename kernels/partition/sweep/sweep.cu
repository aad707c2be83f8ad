// Steps of one rank of searches from up to 64 nodes over the parts of a graph; see steps.py.
//
// Input    The rank's own rows: indptr by place among its nodes, indices by number in the graph.
// Output   Words with a bit for each search, one per node of the graph.
// Launch   1-D, any grid.
// Atomics  atomicOr on the words of nodes; no output depends on the order.
// Siblings list_bits, take_words and take_nodes of partition.cu do to bits what is done to words here.

#include "../rows.cuh"

#define LIST_EACH 32  // words of each thread: one reservation in the list for 1,024 nodes

// The number of own nodes whose words are not 0, then their places.
extern "C" __global__ void list_words(
    const lanes_t* __restrict__ words,
    const offset_t n_own,
    int* list)  // (1 + n_own,), list[0]: 0 on entry
{
    const int t = thread_of_warp();
    constexpr offset_t EACH = (offset_t)WARP * LIST_EACH;
    for (offset_t at = warp_of_grid() * EACH; at < n_own; at += warps_of_grid() * EACH) {
        unsigned bits = 0;
        for (int k = 0; k < LIST_EACH; ++k) {
            const offset_t v = at + k * WARP + t;
            if (v < n_own && words[v]) bits |= 1u << k;
        }
        if (!__any_sync(ALL_THREADS, bits != 0)) continue;
        int before = __popc(bits);
        for (int offset = 1; offset < WARP; offset *= 2) {
            const int other = __shfl_up_sync(ALL_THREADS, before, offset);
            if (t >= offset) before += other;
        }
        int place = 0;
        if (t == WARP - 1) place = atomicAdd(list, before);
        place = __shfl_sync(ALL_THREADS, place, WARP - 1) + before - __popc(bits);
        for (; bits; bits &= bits - 1) {
            list[1 + place++] = (node_t)(at + (__ffs(bits) - 1) * WARP + t);
        }
    }
}

// Entries of a message: the number of nodes whose words are not 0, then of each its number and the
// lower and upper half of its word.
extern "C" __global__ void list_entries(
    const lanes_t* __restrict__ words,
    const offset_t n_nodes,
    const node_t first_node,
    int* list)  // list[0]: 0 on entry
{
    const int t = thread_of_warp();
    constexpr offset_t EACH = (offset_t)WARP * LIST_EACH;
    for (offset_t at = warp_of_grid() * EACH; at < n_nodes; at += warps_of_grid() * EACH) {
        unsigned bits = 0;
        for (int k = 0; k < LIST_EACH; ++k) {
            const offset_t v = at + k * WARP + t;
            if (v < n_nodes && words[v]) bits |= 1u << k;
        }
        if (!__any_sync(ALL_THREADS, bits != 0)) continue;
        const int all = warp_sum_of_ints(__popc(bits));
        int place = 0;
        if (t == 0) place = atomicAdd(list, all);
        place = __shfl_sync(ALL_THREADS, place, 0);
        for (int k = 0; k < LIST_EACH; ++k) {  // threads side by side write side by side
            const unsigned some = __ballot_sync(ALL_THREADS, (bits >> k) & 1);
            if ((bits >> k) & 1) {
                const offset_t v = at + k * WARP + t;
                const lanes_t word = words[v];
                int* entry = list + 1 + 3 * (offset_t)(place + __popc(some & ((1u << t) - 1)));
                entry[0] = first_node + (node_t)v;
                entry[1] = (int)(unsigned)word;
                entry[2] = (int)(unsigned)(word >> 32);
            }
            place += __popc(some);
        }
    }
}

// What a node of the frontier passes on to a neighbour; returns what the latter lacked.
__device__ __forceinline__ lanes_t hand(
    const lanes_t word, const node_t v, lanes_t* seen, lanes_t* found)
{
    // Plain read first: most are seen already. A stale read costs one atomicOr.
    if ((word & ~seen[v]) == 0) return 0;
    const lanes_t news = word & ~atomicOr(&seen[v], word);
    if (news) atomicOr(&found[v], news);
    return news;
}

// From the frontier, a list of own places, to their neighbours; hubs by segments.
extern "C" __global__ void push(
    const offset_t* indptr,
    const node_t* indices,
    const node_t first_own,
    const int* list,
    const node_t* segment_node,
    const int* segment_index,
    const int n_segments,
    const lanes_t* __restrict__ front,
    lanes_t* seen,
    lanes_t* found)
{
    const Rows rows = {indptr, indices, segment_node, segment_index, n_segments};
    visit_rows(
        rows, list, 0,
        [&](const node_t u) -> lanes_t { return u < 0 ? 0 : front[first_own + u]; },
        [&](const offset_t arc, const int owner, const lanes_t own) {
            const lanes_t word = __shfl_sync(ALL_THREADS, own, owner);
            if (arc >= 0) hand(word, __ldg(&indices[arc]), seen, found);
        });
}

// The same if the rank's part of the frontier has few arcs, without a list of it; what other ranks'
// nodes get is listed in the message too: number, lower and upper half of the word.
extern "C" __global__ void push_small(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const node_t first_own,
    const offset_t n_own,
    const offset_t n_small,             // most arcs
    const lanes_t* __restrict__ front,  // of own nodes
    lanes_t* seen,
    lanes_t* found,
    unsigned long long* message)
{
    if (message[ARCS_AT] == 0 || message[ARCS_AT] > (unsigned long long)n_small) return;
    const int t = thread_of_warp();
    int* list = (int*)(message + HEAD);
    const offset_t stride = (offset_t)warps_of_grid() * WARP;
    for (offset_t at = (offset_t)warp_of_grid() * WARP; at < n_own; at += stride) {
        const lanes_t own = at + t < n_own ? front[at + t] : 0;
        if (!__any_sync(ALL_THREADS, own != 0)) continue;
        offset_t first = 0;
        int degree = 0;
        if (own) {
            first = indptr[at + t];
            degree = (int)(indptr[at + t + 1] - first);
        }
        visit_arcs(first, degree, [&](const offset_t arc, const int owner) {
            const lanes_t word = __shfl_sync(ALL_THREADS, own, owner);
            if (arc < 0) return;
            const node_t v = indices[arc];
            const lanes_t news = hand(word, v, seen, found);
            if (!news || (v >= first_own && v < first_own + n_own)) return;
            int* entry = list + 3 * atomicAdd(&message[LISTED_AT], 1ull);
            entry[0] = v;
            entry[1] = (int)(unsigned)news;
            entry[2] = (int)(unsigned)(news >> 32);
        });
    }
}

// Take own nodes from the messages of other ranks; forget what this rank listed.
extern "C" __global__ void take_small(
    const offset_t* __restrict__ messages,  // (n_ranks, length)
    const int n_ranks,
    const offset_t length,
    const int own,
    const node_t first_own,
    const offset_t n_own,
    lanes_t* seen,
    lanes_t* found)
{
    for (int rank = 0; rank < n_ranks; ++rank) {
        const offset_t* message = messages + rank * length;
        const int* list = (const int*)(message + HEAD);
        const int n = (int)message[LISTED_AT];
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
            const node_t v = list[3 * i];
            if (rank == own) {
                found[v] = 0;
            } else if (v >= first_own && v < first_own + n_own) {
                const unsigned low = list[3 * i + 1], high = list[3 * i + 2];
                hand((lanes_t)high << 32 | low, v, seen, found);
            }
        }
    }
}

__device__ __forceinline__ lanes_t word_of(const int* entry)
{
    return (lanes_t)(unsigned)entry[2] << 32 | (unsigned)entry[1];
}

// What another rank found of this one's nodes, as entries.
extern "C" __global__ void take_entries(
    const int* __restrict__ list, lanes_t* seen, lanes_t* found)
{
    const offset_t n = list[0], stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        hand(word_of(list + 1 + 3 * i), list[1 + 3 * i], seen, found);
    }
}

// The same as words.
extern "C" __global__ void take_words(
    const lanes_t* __restrict__ received,
    const offset_t n_own,
    lanes_t* __restrict__ seen,   // of own nodes, as found
    lanes_t* __restrict__ found)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; v < n_own; v += stride) {
        lanes_t news = received[v];
        if (news) news &= ~seen[v];
        if (news == 0) continue;
        seen[v] |= news;
        found[v] |= news;
    }
}

// Another rank's part of the frontier, as entries; its words of the map are 0 on entry.
extern "C" __global__ void front_entries(
    const int* __restrict__ list, lanes_t* __restrict__ front, lanes_t* __restrict__ seen,
    unsigned* map)
{
    const offset_t n = list[0], stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t i = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const node_t v = list[1 + 3 * i];
        const lanes_t word = word_of(list + 1 + 3 * i);
        front[v] = word;
        seen[v] |= word;
        atomicOr(&map[v >> 5], 1u << (v & 31));
    }
}

// The same of words that have arrived in their places; all arrays are of that rank's nodes.
extern "C" __global__ void front_words(
    const offset_t n_nodes,  // a multiple of 32
    const lanes_t* __restrict__ front, lanes_t* __restrict__ seen, unsigned* __restrict__ map)
{
    const int t = thread_of_warp();
    const offset_t stride = (offset_t)warps_of_grid() * WARP;
    for (offset_t first = (offset_t)warp_of_grid() * WARP; first < n_nodes; first += stride) {
        const lanes_t word = front[first + t];
        if (word) seen[first + t] |= word;
        const unsigned bits = __ballot_sync(ALL_THREADS, word != 0);
        if (t == 0) map[first >> 5] = bits;
    }
}

// Every own node that lacks a lane asks its neighbours, until it has all; hubs by segments.
extern "C" __global__ void pull(
    const offset_t* indptr,
    const node_t* indices,
    const node_t first_own,
    const offset_t n_own,
    const lanes_t alive,
    const node_t* segment_node,
    const int* segment_index,
    const int n_segments,
    const lanes_t* __restrict__ front,
    const lanes_t* __restrict__ seen,
    lanes_t* found,
    const unsigned* __restrict__ map)  // whose words of front are not 0
{
    constexpr int AT_ONCE = 4;
    const Rows rows = {indptr, indices, segment_node, segment_index, n_segments};
    const int t = thread_of_warp();
    ask_neighbours(
        rows, 0, n_own,
        [&](const offset_t v, const bool is_hub) -> lanes_t {
            if (v >= n_own) return 0;
            const lanes_t missing = alive & ~seen[first_own + v];
            return is_hub && missing ? missing & ~found[first_own + v] : missing;
        },
        [&](const node_t* __restrict__ heads, int n, const int stride, const lanes_t missing) {
            lanes_t got = 0;
            for (; n > 0; n -= AT_ONCE * stride, heads += AT_ONCE * stride) {
                node_t head[AT_ONCE];
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i) {
                    head[i] = i * stride < n ? __ldg(heads + i * stride) : -1;
                }
                // A bit, mostly in the cache, before a word, mostly not.
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i) {
                    if (head[i] >= 0 && !is_in(map, head[i])) head[i] = -1;
                }
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i) got |= head[i] >= 0 ? front[head[i]] : 0;
                if ((got & missing) == missing) break;
            }
            return got;
        },
        [&](const node_t v, const lanes_t got) { atomicOr(&found[first_own + v], got); },
        [&](const offset_t first, const lanes_t got) {
            if (got) found[first_own + first + t] |= got;
        });
}

// Of lanes that have ended, the last frontier.
extern "C" __global__ void keep(
    const offset_t n_own, const lanes_t ended, const lanes_t* __restrict__ before,
    lanes_t* __restrict__ last)
{
    const offset_t stride = (offset_t)gridDim.x * blockDim.x;
    for (offset_t v = (offset_t)blockIdx.x * blockDim.x + threadIdx.x; v < n_own; v += stride) {
        const lanes_t word = before[v] & ended;
        if (word) last[v] |= word;
    }
}

// What was found of own nodes is the frontier now.
extern "C" __global__ void settle(
    const offset_t* __restrict__ indptr,
    const offset_t n_own,
    const level_t depth,
    lanes_t* __restrict__ found,        // of own nodes, as the following; 0 on exit
    lanes_t* __restrict__ seen,
    lanes_t* __restrict__ front,
    unsigned* __restrict__ map,         // of front
    level_t* __restrict__ deepest,
    unsigned long long* message)        // nodes, their arcs, nodes of each lane; 0 on entry
{
    const int t = thread_of_warp();
    offset_t nodes = 0, arcs = 0;
    unsigned low = 0, high = 0;  // nodes of lanes t and t + 32
    const offset_t stride = (offset_t)warps_of_grid() * WARP;
    for (offset_t first = (offset_t)warp_of_grid() * WARP; first < n_own; first += stride) {
        const offset_t v = first + t;
        const lanes_t word = v < n_own ? found[v] : 0;
        if (v < n_own) front[v] = word;
        if (word) {
            seen[v] |= word;
            found[v] = 0;
            deepest[v] = depth;
            ++nodes;
            arcs += indptr[v + 1] - indptr[v];
        }
        const unsigned bits = __ballot_sync(ALL_THREADS, word != 0);
        if (t == 0) map[first >> 5] = bits;
        if (bits == 0) continue;
        low += __popc(warp_transpose((unsigned)word));
        high += __popc(warp_transpose((unsigned)(word >> 32)));
    }
    if (low) atomicAdd(&message[LANES_AT + t], (unsigned long long)low);
    if (high) atomicAdd(&message[LANES_AT + WARP + t], (unsigned long long)high);
    nodes = warp_sum(nodes);
    arcs = warp_sum(arcs);
    if (t == 0 && nodes) {
        atomicAdd(&message[NODES_AT], (unsigned long long)nodes);
        atomicAdd(&message[ARCS_AT], (unsigned long long)arcs);
    }
}

// Of each UNIT own nodes the lanes that are in one of their words.
extern "C" __global__ void units_of(
    const lanes_t* __restrict__ words, const offset_t n_own, lanes_t* __restrict__ units)
{
    const int t = thread_of_warp();
    for (offset_t unit = warp_of_grid(); unit * UNIT < n_own; unit += warps_of_grid()) {
        lanes_t all = 0;
        for (offset_t v = unit * UNIT + t; v < (unit + 1) * UNIT && v < n_own; v += WARP) {
            all |= words[v];
        }
        all = warp_or(all);
        if (t == 0) units[unit] = all;
    }
}

// Which of words[first], ..., 32 for each i, have a lane, below end.
template <int N>
__device__ __forceinline__ void have_lane(
    const lanes_t* __restrict__ words, const offset_t first, const offset_t end, const int lane,
    unsigned(&hits)[N])
{
    lanes_t word[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const offset_t v = first + i * WARP + thread_of_warp();
        word[i] = v < end ? words[v] : 0;
    }
#pragma unroll
    for (int i = 0; i < N; ++i) hits[i] = __ballot_sync(ALL_THREADS, (word[i] >> lane) & 1);
}

// The first N_FARTHEST own nodes that have each lane, by a block of one warp each.
extern "C" __global__ void list_farthest(
    const lanes_t* __restrict__ words,
    const lanes_t* __restrict__ units,
    const offset_t n_own,
    node_t* places)  // (n_lanes, N_FARTHEST), -1 on entry
{
    constexpr int AT_ONCE = 8;
    const int lane = blockIdx.x, t = thread_of_warp();
    const offset_t n_units = (n_own + UNIT - 1) / UNIT;
    int n = 0;
    for (offset_t base = 0; base < n_units && n < N_FARTHEST; base += AT_ONCE * WARP) {
        unsigned in_units[AT_ONCE];
        have_lane(units, base, n_units, lane, in_units);
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            for (unsigned left = in_units[k]; left && n < N_FARTHEST; left &= left - 1) {
                const offset_t from = (base + k * WARP + __ffs(left) - 1) * UNIT;
                const offset_t end = from + UNIT < n_own ? from + UNIT : n_own;
                for (offset_t at = from; at < end && n < N_FARTHEST; at += AT_ONCE * WARP) {
                    unsigned hits[AT_ONCE];
                    have_lane(words, at, end, lane, hits);
#pragma unroll
                    for (int i = 0; i < AT_ONCE; ++i) {
                        const int place = n + __popc(hits[i] & ((1u << t) - 1));
                        if (((hits[i] >> t) & 1) && place < N_FARTHEST) {
                            places[lane * N_FARTHEST + place] = (node_t)(at + i * WARP + t);
                        }
                        n += __popc(hits[i]);
                    }
                }
            }
        }
    }
}
