"""Load the .cu files next to their launchers, once a device; compiled here, or for a release."""

from __future__ import annotations

import functools
import importlib
import logging
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from kernels._cuda import constants
from kernels._cuda.cubins import cubin_for
from kernels.errors import DeviceError

log = logging.getLogger(__name__)

_COMMON = Path(__file__).with_name("common.cuh")
_ROOT = Path(__file__).parents[2]
# Of the kernels between ``#if !ONLY_SOME || WITH_<name>`` and ``#endif`` a module has the requested
# one; without these definitions a file has all of them.
_APART = re.compile(r"^#if !ONLY_SOME \|\| WITH_(\w+)$", re.MULTILINE)
_INCLUDE = re.compile(r'#include "((?:\.\./(?:\w+/)?)?\w+\.cuh)"')


def defined_by(module: ModuleType) -> tuple[str, ...]:
    """Options that define a module's whole numbers whose names are in capitals."""
    numbers = {name: value for name, value in vars(module).items() if name.isupper()}
    return tuple(
        f"-D{name}={value}{'ull' if value >= 2**63 else ''}"
        for name, value in numbers.items()
        if type(value) is int
    )


OPTIONS = ("-std=c++17", *defined_by(constants))


def source_of(cu_file: Path) -> str:
    """Text handed to the compiler: the shared header, then the file, each under its own name.

    ``#include "NAME.cuh"`` of a file in its folder, ``"../NAME.cuh"`` or ``"../ROOM/NAME.cuh"``, is
    replaced by that file's text.
    """
    return f'#line 1 "{_COMMON.name}"\n{_COMMON.read_text()}\n{_with_includes(cu_file)}'


def _with_includes(file: Path) -> str:
    lines = [f'#line 1 "{file.name}"']
    for number, line in enumerate(file.read_text().split("\n"), start=1):
        included = _INCLUDE.fullmatch(line)
        if included:
            lines.append(_with_includes(file.parent / included[1]))
            lines.append(f'#line {number + 1} "{file.name}"')
        else:
            lines.append(line)
    return "\n".join(lines)


def load_kernel(launcher_file: str, name: str, cooperative: bool = False) -> Any:
    """Kernel ``name`` of the .cu file next to ``launcher_file``, for the current GPU.

    ``breadth_first/gpu.py`` gets ``breadth_first/breadth_first.cu``, any launcher in
    ``multi_source/gpu/`` gets ``multi_source/gpu/multi_source.cu``. CuPy keeps the binary on
    disk; loaded modules are kept here, one for each device, since a module belongs to one.
    Kernels that take seconds to compile have modules of their own (``options_for``).
    Kernels with a barrier of the whole grid are launched ``cooperative``: the driver then refuses
    a grid that is not resident at once, where a plain launch would hang.

    Raises
    ------
    DeviceError
        With the compiler's log, if the file cannot be built or loaded.
    """
    import cupy

    return _kernel(launcher_file, name, cupy.cuda.Device().id, cooperative)


@functools.cache
def _kernel(launcher_file: str, name: str, device_id: int, cooperative: bool) -> Any:
    folder = Path(launcher_file).parent
    algorithm = folder.parent if folder.name == "gpu" else folder
    cu_file = folder / f"{algorithm.name}.cu"
    try:
        options = options_for(cu_file, name)
        return _module(cu_file, device_id, cooperative, options).get_function(name)
    except DeviceError:
        raise
    except Exception as error:
        raise DeviceError(f"{cu_file.name} has no kernel {name}: {error}") from error


def options_for(cu_file: Path, name: str | None = None) -> tuple[str, ...]:
    """Options with which a file has kernel ``name``, and no other of the expensive ones.

    They define what Python and device code both know: what is in ``constants.py`` here and, if
    there is one, next to the file. Without a name a file has all its kernels.
    """
    options = OPTIONS
    if cu_file.with_name("constants.py").exists():
        package = ".".join(cu_file.parent.relative_to(_ROOT).parts)
        options += defined_by(importlib.import_module(f"{package}.constants"))
    apart = _APART.findall(source_of(cu_file)) if name else []
    if not apart:
        return options
    return (*options, "-DONLY_SOME=1", *([f"-DWITH_{name}=1"] if name in apart else []))


@functools.cache
def _module(cu_file: Path, device_id: int, cooperative: bool, options: tuple[str, ...]) -> Any:
    import cupy

    source = source_of(cu_file)
    capability = int(cupy.cuda.Device(device_id).compute_capability)
    came_along = cubin_for(source, options, capability)
    if came_along is not None:
        try:
            module = cupy.RawModule(path=str(came_along), enable_cooperative_groups=cooperative)
            module.compile()  # loads it
        except Exception as error:  # a driver older than the compiler of the release
            log.warning("%s is compiled: what came along cannot be loaded: %s", cu_file.name, error)
        else:
            return module
    try:
        module = cupy.RawModule(code=source, options=options, enable_cooperative_groups=cooperative)
        module.compile()
    except cupy.cuda.compiler.CompileException as error:
        raise DeviceError(
            f"{cu_file.name} cannot be built for GPU {device_id}; the compiler says:\n{error}"
        ) from error
    except Exception as error:  # no driver, no NVRTC, a binary that does not load
        raise DeviceError(f"{cu_file.name} cannot be loaded on GPU {device_id}: {error}") from error
    return module


def variants(cu_file: Path) -> tuple[tuple[str, ...], ...]:
    """Options of each module that is made of a file: of all cheap kernels, of each other one."""
    apart = _APART.findall(source_of(cu_file))
    return (options_for(cu_file, "another"), *(options_for(cu_file, name) for name in apart))
