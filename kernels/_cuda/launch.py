"""Launch parameters of device code: the current GPU, grid and block."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernels._cuda.constants import COOPERATIVE_BLOCK, WARP
from kernels.errors import DeviceError, DeviceMemoryError

# Threads per block: 8 warps divide every register file, and 8 such blocks fill a multiprocessor.
BLOCK = 256
# Blocks per multiprocessor beyond which grid-stride loops take over: 4 times what is resident.
MAX_BLOCKS_EACH = 32


@contextmanager
def on_device_of(array: Any) -> Iterator[None]:
    """Make the array's GPU the current one; out of memory becomes DeviceMemoryError."""
    import cupy

    try:
        with array.device:
            yield
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise DeviceMemoryError(
            f"GPU {array.device.id} has too little free memory: {error}"
        ) from error


def to_gpu(array: Any) -> Any:
    """Copy a host array to the current GPU."""
    try:
        import cupy
    except ImportError as error:
        raise DeviceError(f"no GPU can be used: CuPy is not installed ({error})") from error
    if not cupy.cuda.is_available():
        raise DeviceError("no GPU can be used: CuPy finds no driver or no device")
    try:
        return cupy.asarray(array)
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise DeviceMemoryError(f"the GPU has too little free memory: {error}") from error


def grid_for(n_threads: int) -> int:
    """Blocks that give every thread an item, or fill the GPU for a grid-stride loop."""
    import cupy

    most = MAX_BLOCKS_EACH * n_multiprocessors(cupy.cuda.Device().id)
    return max(1, min(most, -(-n_threads // BLOCK)))


def cooperative_grid(kernel: Any, n_warps: int, block: int = COOPERATIVE_BLOCK) -> int:
    """Blocks of ``block`` threads for ``n_warps`` pieces of work, all resident at once.

    More than are resident would wait for one another forever; the driver refuses them.
    """
    import cupy

    most = _resident_blocks(kernel, cupy.cuda.Device().id, block)
    return max(1, min(most, -(-n_warps * WARP // block)))


@functools.cache
def _resident_blocks(kernel: Any, device_id: int, block: int) -> int:
    from cupy.cuda import driver

    each = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, block, 0)
    return int(each) * n_multiprocessors(device_id)


@functools.cache
def n_multiprocessors(device_id: int) -> int:
    """Multiprocessors of a GPU."""
    import cupy

    return int(cupy.cuda.Device(device_id).attributes["MultiProcessorCount"])
