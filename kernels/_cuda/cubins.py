"""Machine code for GPUs that came along: found by what would be compiled, and by the GPU.

A cubin runs on GPUs of its own major capability, from its minor one on. Those of Jetson boards are
apart. What is not found is compiled on the machine, as is what the driver does not take.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from kernels.compiled import base

ARCHITECTURES = (80, 90, 100, 120)  # what releases bring along
FILE = "module.cubin"
_JETSON = (72, 87, 101, 110)
# CuPy always adds this to the options.
CUPYS_OPTIONS = ("-ftz=true",)


def cubin_for(source: str, options: tuple[str, ...], capability: int) -> Path | None:
    """The file that came along for this source and these options.

    Parameters
    ----------
    source : str
        As it would be handed to the compiler.
    options : tuple of str
        Likewise, without what CuPy adds.
    capability : int
        Of the GPU: 90 for 9.0.

    Returns
    -------
    Path or None
        None where there is none that this GPU can run.
    """
    architecture = fitting(capability)
    if architecture is None:
        return None
    path = base(archive_name(architecture)) / folder_name(source, options) / FILE
    return path if path.is_file() else None


def fitting(capability: int) -> int | None:
    """The newest architecture of ours whose cubins run on a GPU of this capability."""
    fit = [one for one in ARCHITECTURES if one // 10 == capability // 10 and one <= capability]
    return max(fit) if fit and capability not in _JETSON else None


def archive_name(architecture: int) -> str:
    """Name of the archive of cubins, and of the folder in which it is unpacked."""
    return f"cubins-sm_{architecture}"


def folder_name(source: str, options: tuple[str, ...]) -> str:
    """Name of the folder of one cubin, by all that decides about it besides the architecture."""
    text = "\0".join((source, *options, *CUPYS_OPTIONS))
    return f"cubin-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
