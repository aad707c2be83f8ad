"""Free memory of a GPU, checked before anything large is allocated."""

from __future__ import annotations

from kernels.errors import DeviceMemoryError


def fits(n_bytes: int) -> bool:
    """Whether that much is free on the current GPU."""
    import cupy

    # The pool's unused memory comes first: asking the driver takes longer than a search.
    return n_bytes <= cupy.get_default_memory_pool().free_bytes() or n_bytes <= free_bytes()


def free_bytes() -> int:
    """Bytes that the driver and CuPy's pool together can still give on the current GPU."""
    import cupy

    pool = cupy.get_default_memory_pool()
    free = cupy.cuda.runtime.memGetInfo()[0] + pool.free_bytes()
    limit = pool.get_limit()
    return free if limit == 0 else max(0, min(free, limit - pool.used_bytes()))


def check_fits(n_bytes: int, what: str) -> None:
    """Raise DeviceMemoryError with the numbers unless that much is free."""
    import cupy

    if not fits(n_bytes):
        raise DeviceMemoryError(
            f"{what} needs {n_bytes:,} bytes; GPU {cupy.cuda.Device().id} has {free_bytes():,} free"
        )
