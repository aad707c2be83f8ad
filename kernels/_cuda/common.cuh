// Types and helpers shared by every .cu file. Pasted in by loader.py, not #included:
// CuPy's cache key does not see headers found through -I.

typedef int node_t;                  // kernels.types.NODE
typedef long long offset_t;          // kernels.types.OFFSET; arcs may exceed 2^31
typedef int level_t;                 // kernels.types.LEVEL
typedef unsigned long long lanes_t;  // one bit a lane

#define UNREACHED (-1)
#define WARP 32
#define ALL_THREADS 0xffffffffu

// From this degree on the threads of a warp share the arcs of one node; below it each thread
// walks the arcs of its own. Two rounds of a warp: less would leave threads without an arc.
#define SHARED_DEGREE 64

__device__ __forceinline__ int thread_of_warp() { return threadIdx.x & (WARP - 1); }

// Bitwise or of x over the warp, in every thread.
__device__ __forceinline__ lanes_t warp_or(lanes_t x) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        x |= __shfl_xor_sync(ALL_THREADS, x, offset);
    }
    return x;
}
