"""Allocations of calls on a GPU, and calls with little memory left; need CuPy once entered."""

from __future__ import annotations

import gc


class Counting:
    """Bytes that CuPy hands out at once, at most, while it is open."""

    def __enter__(self):
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
        self.now = self.peak = 0
        counting = self

        class Hook(cupy.cuda.MemoryHook):
            name = "counting"

            def malloc_postprocess(self, **facts):
                counting.now += facts["mem_size"]
                counting.peak = max(counting.peak, counting.now)

            def free_postprocess(self, **facts):
                counting.now -= facts["mem_size"]

        self.hook = Hook()
        self.hook.__enter__()
        return self

    def __exit__(self, *error):
        self.hook.__exit__(*error)


class LittleMemory:
    """CuPy's pool gives only a given amount more than is in use now.

    The pool's limit applies to memory that it takes from the driver. Memory that it holds already
    it gives without a limit: blocks that were cut in two when an array took a part of them, and
    that ``free_all_blocks`` must leave while that array lives. After other tests these are
    gigabytes. So they are all taken first, and held as long as this is open.
    """

    LEAST = 512  # bytes; blocks of the pool are multiples of it

    def __init__(self, n_bytes):
        self.n_bytes = n_bytes
        self.held = []

    def __enter__(self):
        import cupy

        gc.collect()  # or it may free arrays while this is open
        self.pool = cupy.get_default_memory_pool()
        self.pool.free_all_blocks()
        self._hold_rest(cupy.cuda.memory.OutOfMemoryError)
        self.pool.set_limit(size=self.pool.total_bytes() + self.n_bytes)

    def _hold_rest(self, out_of_memory):
        """Take what the pool holds unused, in powers of two."""
        rest = self.pool.free_bytes()
        if not rest:
            return
        self.pool.set_limit(size=self.pool.total_bytes())  # nothing new from the driver
        size = 1 << (rest.bit_length() - 1)
        while size >= self.LEAST:
            try:
                self.held.append(self.pool.malloc(size))
            except out_of_memory:
                size //= 2

    def __exit__(self, *error):
        self.pool.set_limit(size=0)
        self.held.clear()
