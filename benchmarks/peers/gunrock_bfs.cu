// Gunrock's breadth-first search of a graph in the binary form of ECL programs, from each node given.
// Not its example, which reads text; it prints what that prints, for every search.

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include <gunrock/algorithms/bfs.hxx>
#include <thrust/count.h>
#include <thrust/extrema.h>
#include <thrust/replace.h>

using namespace gunrock;
using namespace memory;

int main(int n_given, char** given) {
    FILE* file = fopen(given[1], "rb");
    int size[2];
    if (file == nullptr || fread(size, sizeof(int), 2, file) != 2) return 1;
    std::vector<int> indptr(size[0] + 1), indices(size[1]);
    if (fread(indptr.data(), sizeof(int), indptr.size(), file) != indptr.size()) return 1;
    if (fread(indices.data(), sizeof(int), indices.size(), file) != indices.size()) return 1;
    fclose(file);
    format::csr_t<memory_space_t::device, int, int, float> csr(size[0], size[0], size[1]);
    thrust::copy(indptr.begin(), indptr.end(), csr.row_offsets.begin());
    thrust::copy(indices.begin(), indices.end(), csr.column_indices.begin());
    graph::graph_properties_t properties;
    auto searched = graph::build<memory_space_t::device>(properties, csr);
    auto context = std::make_shared<gcuda::multi_context_t>(0);
    thrust::device_vector<int> level(size[0]), parent(size[0]);
    const int far = std::numeric_limits<int>::max();
    for (int i = 2; i < n_given; ++i) {
        bfs::param_t<int> param(atoi(given[i]));
        bfs::result_t<int> result(level.data().get(), parent.data().get());
        const float took_ms = bfs::run(searched, param, result, context);
        const long n_far = thrust::count(level.begin(), level.end(), far);
        thrust::replace(level.begin(), level.end(), far, -1);
        const int depth = *thrust::max_element(level.begin(), level.end());
        printf("reached %ld depth %d took %.6f ms\n", size[0] - n_far, depth, took_ms);
    }
}
