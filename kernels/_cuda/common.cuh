// Types and helpers shared by every .cu file. Pasted in by loader.py, not #included:
// CuPy's cache key does not see headers found through -I. Numbers that Python knows too are defined
// by -D, out of constants.py here and, for the numbers of one file, beside it.

typedef int node_t;                  // kernels.types.NODE
typedef long long offset_t;          // kernels.types.OFFSET; arcs may exceed 2^31
typedef int level_t;                 // kernels.types.LEVEL
typedef unsigned long long lanes_t;  // one bit per lane

#define ALL_THREADS 0xffffffffu

// From this degree on the threads of a warp share the arcs of one node; below it each thread
// walks the arcs of its own.
#define SHARED_DEGREE 32

// Neighbours that a node asks by itself before its warp helps: most find there what they miss.
#define ASK_ALONE 4

__device__ __forceinline__ int thread_of_warp() { return threadIdx.x & (WARP - 1); }

// Number of this warp in the grid; neighbouring numbers lie in different blocks, so that a short
// run of work is spread over the multiprocessors.
__device__ __forceinline__ int warp_of_grid()
{
    return (threadIdx.x / WARP) * gridDim.x + blockIdx.x;
}

__device__ __forceinline__ int warps_of_grid() { return gridDim.x * (blockDim.x / WARP); }

// Bitwise or of x over the warp, in every thread.
__device__ __forceinline__ unsigned warp_or(unsigned x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL_THREADS, x);
#else
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        x |= __shfl_xor_sync(ALL_THREADS, x, offset);
    }
    return x;
#endif
}

__device__ __forceinline__ lanes_t warp_or(const lanes_t x)
{
    return ((lanes_t)warp_or((unsigned)(x >> 32)) << 32) | warp_or((unsigned)x);
}

__device__ __forceinline__ offset_t warp_sum(offset_t x)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        x += __shfl_xor_sync(ALL_THREADS, x, offset);
    }
    return x;
}

// The same of ints whose sum is one.
__device__ __forceinline__ int warp_sum_of_ints(int x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL_THREADS, x);
#else
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        x += __shfl_xor_sync(ALL_THREADS, x, offset);
    }
    return x;
#endif
}

// Thread t gets the t-th bits of all threads: row t of x becomes column t.
__device__ __forceinline__ unsigned warp_transpose(unsigned x)
{
    const int t = thread_of_warp();
    unsigned low = 0x0000ffffu;
    for (int j = WARP / 2; j > 0; j /= 2, low ^= low << j) {
        const unsigned other = __shfl_xor_sync(ALL_THREADS, x, j);
        x = t & j ? (x & ~low) | ((other & ~low) >> j) : (x & low) | ((other & low) << j);
    }
    return x;
}

// Call visit(arc, owner) for the n arcs of each thread from arc on, 32 arcs at a time whoever owns
// them; arc -1: none. All threads of a warp together. The sum of their n fits in an int.
template <typename Visit>
__device__ __forceinline__ void visit_arcs(const offset_t arc, const int n, Visit visit)
{
    const int t = thread_of_warp();
    int before = n;
    for (int offset = 1; offset < WARP; offset *= 2) {
        const int other = __shfl_up_sync(ALL_THREADS, before, offset);
        if (t >= offset) before += other;
    }
    const int total = __shfl_sync(ALL_THREADS, before, WARP - 1);
    before -= n;
    for (int base = 0; base < total; base += WARP) {
        const int at = base + t;
        int owner = 0;  // the last thread that begins at or before this arc
        for (int step = WARP / 2; step > 0; step /= 2) {
            if (__shfl_sync(ALL_THREADS, before, owner + step) <= at) owner += step;
        }
        const offset_t first = __shfl_sync(ALL_THREADS, arc, owner);
        const int skipped = __shfl_sync(ALL_THREADS, before, owner);
        visit(at < total ? first + (at - skipped) : -1, owner);
    }
}

// The same with AT_ONCE arcs a thread, for visitors that wait for memory once for all of them.
template <int AT_ONCE, typename Visit>
__device__ __forceinline__ void visit_many_arcs(const offset_t arc, const int n, Visit visit)
{
    const int t = thread_of_warp();
    int before = n;
    for (int offset = 1; offset < WARP; offset *= 2) {
        const int other = __shfl_up_sync(ALL_THREADS, before, offset);
        if (t >= offset) before += other;
    }
    const int total = __shfl_sync(ALL_THREADS, before, WARP - 1);
    before -= n;
    for (int base = t; base - t < total; base += AT_ONCE * WARP) {
        offset_t arcs[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const int at = base + i * WARP;
            int owner = 0;  // the last thread that begins at or before this arc
            for (int step = WARP / 2; step > 0; step /= 2) {
                if (__shfl_sync(ALL_THREADS, before, owner + step) <= at) owner += step;
            }
            const offset_t first = __shfl_sync(ALL_THREADS, arc, owner);
            const int skipped = __shfl_sync(ALL_THREADS, before, owner);
            arcs[i] = at < total ? first + (at - skipped) : -1;
        }
        visit(arcs);
    }
}

// Items of a list that each warp takes at once, so that a short list is spread over all warps.
__device__ __forceinline__ int items_each(const int n)
{
    const int each = (n + warps_of_grid() - 1) / warps_of_grid();
    return each < 1 ? 1 : each > WARP ? WARP : each;
}

// Wait until every thread of the grid is here; what they wrote before is then seen by all.
// Needs a cooperative launch: all blocks resident at once, or they wait for one another forever.
//
// arrivals: 0 before the first barrier ever; afterwards it may be kept for later launches, with
// another grid too. In one barrier the blocks add 2^31 in all, each adding 1 and block 0 the rest:
// so the top bit flips when the last block comes, never before, and the lower bits are 0 again. A
// count of all arrivals would instead overflow after 2^32 of them (16 million barriers of 264
// blocks), perhaps in the middle of a barrier, and hang. No block misses a flip: the next one needs
// its own arrival.
//
// is_patient: the wait is long, and must not take what the other blocks of a multiprocessor need.
__device__ __forceinline__ void grid_barrier(unsigned* arrivals, const bool is_patient = false)
{
    constexpr unsigned TOP = 0x80000000u;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned before = atomicAdd(arrivals, blockIdx.x == 0 ? TOP - (gridDim.x - 1) : 1);
        unsigned now;
        // Relaxed, and a fence at the end: each acquire would empty the multiprocessor's cache.
        while (true) {
            asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(now) : "l"(arrivals) : "memory");
            if ((now ^ before) & TOP) break;
            if (is_patient) __nanosleep(64);
        }
        __threadfence();
    }
    __syncthreads();
}
