// Union-find by labels: a label is a node of the same tree, at most the node itself; a root is its
// own label. Included by device code of other rooms too.
//
// Labels are read from the cache of the multiprocessor: the root of a large tree would otherwise be
// one place that the whole GPU waits for. A stale label is an ancestor all the same, since trees only
// grow together; a stale root loses its atomicCAS, which gives the label that it has.

// The root of v, or a former one. Shortens the path on its way: another thread may write the same
// label at the same time, but each of them writes a node of the same tree nearer to the root.
__device__ __forceinline__ node_t root_of(const node_t v, node_t* label)
{
    node_t at = label[v];
    if (at == v) return at;
    node_t before = v;
    for (node_t next = label[at]; at > next; next = label[at]) {
        label[before] = next;
        before = at;
        at = next;
    }
    return at;
}

__device__ __forceinline__ void unite(const node_t u, const node_t v, node_t* label)
{
    node_t a = root_of(u, label), b = root_of(v, label);
    while (a != b) {
        const node_t high = a > b ? a : b, low = a > b ? b : a;
        const node_t seen = atomicCAS(&label[high], high, low);
        if (seen == high) return;
        a = seen;  // high is no longer a root: continue from its parent
        b = low;
    }
}
