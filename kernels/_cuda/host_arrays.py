"""Arrays that stay in host memory and that kernels read from there, over the link of the GPU."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from kernels._cuda.launch import to_gpu
from kernels.errors import HostMemoryError

_MAPPED, _READ_ONLY = 2, 8  # cudaHostRegisterMapped, cudaHostRegisterReadOnly


class _Registered:
    """Keeps the memory of an array in place for as long as a GPU may read it."""

    def __init__(self, array: np.ndarray):
        from cupy.cuda import runtime

        self._array, self._runtime = array, runtime
        flags = _MAPPED | (0 if array.flags.writeable else _READ_ONLY)
        runtime.hostRegister(array.ctypes.data, array.nbytes, flags)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # not registered, or the process ends
            self._runtime.deviceSynchronize()  # a kernel may still read it
            self._runtime.hostUnregister(self._array.ctypes.data)


def readable_by_gpu(array: np.ndarray) -> Any:
    """The array as CuPy's, for kernels of the current GPU; its memory stays that of the host.

    It is not copied, unless it cannot be kept in place (a file that is mapped, for example).

    Raises
    ------
    DeviceError
        If no GPU can be used.
    HostMemoryError
        If it must be copied and there is too little memory that can be kept in place.
    """
    to_gpu(np.empty(0, array.dtype))  # says why, if there is none
    import cupy

    if not array.size:
        return cupy.empty(array.shape, array.dtype)
    owner: Any
    try:
        owner, at = _Registered(array), array.ctypes.data
    except cupy.cuda.runtime.CUDARuntimeError:
        try:
            owner = cupy.cuda.alloc_pinned_memory(array.nbytes)
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise HostMemoryError(
                f"{array.nbytes:,} bytes of arcs cannot be kept where a GPU can read them: {error}"
            ) from error
        at = owner.ptr
        np.frombuffer(owner, array.dtype, array.size)[:] = array
    memory = cupy.cuda.UnownedMemory(at, array.nbytes, owner, cupy.cuda.Device().id)
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0))
