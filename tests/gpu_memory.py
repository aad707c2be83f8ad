"""What calls allocate on a GPU, and calls with little memory left; need CuPy once entered."""

from __future__ import annotations


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
    """CuPy's pool gives only so much more than is in use now."""

    def __init__(self, n_bytes):
        self.n_bytes = n_bytes

    def __enter__(self):
        import cupy

        self.pool = cupy.get_default_memory_pool()
        self.pool.free_all_blocks()
        self.pool.set_limit(size=self.pool.used_bytes() + self.n_bytes)

    def __exit__(self, *error):
        self.pool.set_limit(size=0)
