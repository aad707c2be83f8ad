// Depth-first search in the order of arcs by one warp: for comparison with a core.
//
// Input    CSR arcs of a symmetric graph; source -1: every node, from the smallest one left in turn.
// Output   discovery, finish, parent of reached nodes, order[0 .. *n_found).
// Launch   One block of one warp.
// Scratch  bits (n_nodes / 32 + 1,) zeros: nodes found; stack and at (n_nodes,): open nodes, and
//          the next arc of each.
//
// Each step depends on the one before, so one warp is all that can be used: it looks at 32 arcs of
// a node together, and then waits for memory, as a core does but longer.

extern "C" __global__ void depth_first_warp(
    const offset_t* __restrict__ indptr,
    const node_t* __restrict__ indices,
    const offset_t n_nodes,
    const node_t source,
    unsigned* bits,
    node_t* stack,
    offset_t* at,
    offset_t* __restrict__ discovery,
    offset_t* __restrict__ finish,
    node_t* __restrict__ parent,
    node_t* __restrict__ order,
    int* n_found)
{
    const int t = thread_of_warp();
    const offset_t stop = source < 0 ? n_nodes : (offset_t)source + 1;
    offset_t clock = 0;
    int found = 0;
    for (offset_t root = source < 0 ? 0 : source; root < stop; ++root) {
        if ((bits[root >> 5] >> (root & 31)) & 1) continue;
        node_t u = (node_t)root, next = u;  // next: the node that is found now, -1 for none
        node_t above = u;
        offset_t top = -1, arc = 0, last = 0;
        for (;;) {
            if (next >= 0) {
                if (t == 0) {
                    if (top >= 0) at[top] = arc;
                    stack[top + 1] = next;
                    bits[next >> 5] |= 1u << (next & 31);
                    discovery[next] = clock;
                    parent[next] = above;
                    order[found] = next;
                }
                ++top;
                ++clock;
                ++found;
                u = next;
                arc = indptr[u];
                last = indptr[u + 1];
            } else {
                if (t == 0) finish[u] = clock;
                ++clock;
                if (--top < 0) break;
                u = stack[top];
                arc = at[top];
                last = indptr[u + 1];
            }
            __syncwarp();  // what thread 0 wrote is read by all from here on
            above = u;
            next = -1;
            while (arc < last) {
                const node_t v = arc + t < last ? indices[arc + t] : -1;
                const bool is_new = v >= 0 && !((bits[v >> 5] >> (v & 31)) & 1);
                const unsigned news = __ballot_sync(ALL_THREADS, is_new);
                if (news) {
                    const int owner = __ffs(news) - 1;
                    next = __shfl_sync(ALL_THREADS, v, owner);
                    arc += owner + 1;
                    break;
                }
                arc += WARP;
            }
        }
        __syncwarp();
    }
    if (t == 0) *n_found = found;
}
