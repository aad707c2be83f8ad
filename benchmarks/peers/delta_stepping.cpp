// Delta-stepping on all cores, our own after the GAP benchmark suite: Meyer, Sanders, J. Algorithms
// 49 (2003); Beamer, Asanovic, Patterson, arXiv:1508.03619; buckets of a thread that stay small are
// emptied by itself (Zhang et al., CGO 2020). Whole numbers as weights and distances, as there.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

constexpr int32_t FAR = INT32_MAX;
constexpr int64_t NO_BUCKET = INT64_MAX;
constexpr std::size_t SMALL = 1000;  // nodes of a bucket that a thread empties by itself

using Buckets = std::vector<std::vector<int32_t>>;

void relax(const int64_t* indptr, const int32_t* indices, const int32_t* weights, int32_t* distance,
           int32_t delta, int32_t u, Buckets& buckets) {
    const int32_t base = __atomic_load_n(&distance[u], __ATOMIC_RELAXED);
    for (int64_t arc = indptr[u]; arc < indptr[u + 1]; ++arc) {
        const int32_t v = indices[arc], found = base + weights[arc];
        int32_t known = __atomic_load_n(&distance[v], __ATOMIC_RELAXED);
        while (found < known) {
            if (__atomic_compare_exchange_n(&distance[v], &known, found, true, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED)) {
                const std::size_t bucket = found / delta;
                if (bucket >= buckets.size()) buckets.resize(bucket + 1);
                buckets[bucket].push_back(v);
                break;
            }
        }
    }
}

}  // namespace

// Fills distance (n_nodes,), INT32_MAX where no path leads. queue: (n_arcs + 1,) of scratch.
extern "C" void delta_stepping(int64_t n_nodes, const int64_t* indptr, const int32_t* indices,
                               const int32_t* weights, int32_t source, int32_t delta, int n_threads,
                               int32_t* distance, int32_t* queue) {
    int64_t bucket_of[2] = {0, NO_BUCKET}, size_of[2] = {1, 0};
    queue[0] = source;
#pragma omp parallel num_threads(n_threads)
    {
#pragma omp for
        for (int64_t v = 0; v < n_nodes; ++v) distance[v] = v == source ? 0 : FAR;
        Buckets buckets;
        std::vector<int32_t> own;
        for (int turn = 0; bucket_of[turn & 1] != NO_BUCKET; ++turn) {
            const int64_t bucket = bucket_of[turn & 1], size = size_of[turn & 1];
            int64_t& next_bucket = bucket_of[(turn + 1) & 1];
            int64_t& next_size = size_of[(turn + 1) & 1];
#pragma omp for nowait schedule(dynamic, 64)
            for (int64_t i = 0; i < size; ++i) {
                if (__atomic_load_n(&distance[queue[i]], __ATOMIC_RELAXED) >= delta * bucket)
                    relax(indptr, indices, weights, distance, delta, queue[i], buckets);
            }
            while (bucket < (int64_t)buckets.size() && !buckets[bucket].empty() &&
                   buckets[bucket].size() < SMALL) {
                own.swap(buckets[bucket]);
                buckets[bucket].clear();
                for (int32_t u : own) relax(indptr, indices, weights, distance, delta, u, buckets);
                own.clear();
            }
            for (int64_t b = bucket; b < (int64_t)buckets.size(); ++b) {
                if (!buckets[b].empty()) {
#pragma omp critical
                    next_bucket = std::min(next_bucket, b);
                    break;
                }
            }
#pragma omp barrier
#pragma omp single nowait
            {
                bucket_of[turn & 1] = NO_BUCKET;
                size_of[turn & 1] = 0;
            }
            const int64_t b = next_bucket;
            if (b < (int64_t)buckets.size()) {
                auto& mine = buckets[b];
                const int64_t at = __atomic_fetch_add(&next_size, mine.size(), __ATOMIC_RELAXED);
                std::copy(mine.begin(), mine.end(), queue + at);
                mine.clear();
            }
#pragma omp barrier
        }
    }
}
