"""Compile the .cu files next to their launchers, once for each device."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from kernels.errors import DeviceError

_COMMON = Path(__file__).with_name("common.cuh")
OPTIONS = ("-std=c++17",)


def source_of(cu_file: Path) -> str:
    """Text handed to the compiler: the shared header, then the file, each under its own name."""
    return (
        f'#line 1 "{_COMMON.name}"\n{_COMMON.read_text()}\n'
        f'#line 1 "{cu_file.name}"\n{cu_file.read_text()}'
    )


def load_kernel(launcher_file: str, name: str) -> Any:
    """Kernel ``name`` of the .cu file beside ``launcher_file``, for the current GPU.

    ``breadth_first/gpu.py`` gets ``breadth_first/breadth_first.cu``. CuPy keeps the binary on
    disk; loaded modules are kept here, one for each device, since a module belongs to one.

    Raises
    ------
    DeviceError
        With the compiler's log, if the file cannot be built or loaded.
    """
    import cupy

    folder = Path(launcher_file).parent
    return _kernel(folder / f"{folder.name}.cu", name, cupy.cuda.Device().id)


@functools.cache
def _kernel(cu_file: Path, name: str, device_id: int) -> Any:
    try:
        return _module(cu_file, device_id).get_function(name)
    except DeviceError:
        raise
    except Exception as error:
        raise DeviceError(f"{cu_file.name} has no kernel {name}: {error}") from error


@functools.cache
def _module(cu_file: Path, device_id: int) -> Any:
    import cupy

    try:
        module = cupy.RawModule(code=source_of(cu_file), options=OPTIONS)
        module.compile()
    except cupy.cuda.compiler.CompileException as error:
        raise DeviceError(
            f"{cu_file.name} cannot be built for GPU {device_id}; the compiler says:\n{error}"
        ) from error
    except Exception as error:  # no driver, no NVRTC, a binary that does not load
        raise DeviceError(f"{cu_file.name} cannot be loaded on GPU {device_id}: {error}") from error
    return module
