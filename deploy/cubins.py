"""Packs machine code for GPUs for a release: ``python3 -m deploy.cubins``; needs NVRTC, no GPU.

One archive for each architecture into ``kernels/compiled/archives/``, their SHA-256 into
``hashes.py`` beside it.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path

from deploy.compiled import ARCHIVES, ROOT, write_hashes
from kernels._cuda.cubins import ARCHITECTURES, CUPYS_OPTIONS, FILE, archive_name, folder_name
from kernels._cuda.loader import source_of, variants
from kernels.compiled import shipped


class CubinError(Exception):
    """The compiler refused a file; says what it says."""


def include_options() -> tuple[str, ...]:
    """Where CUDA's own headers are, if their wheel is there."""
    spec = importlib.util.find_spec("nvidia")
    roots = [Path(root) for root in (spec.submodule_search_locations or [])] if spec else []
    folders = [root / "cu13" / "include" / part for root in roots for part in ("", "cccl")]
    return tuple(f"-I{folder}" for folder in folders if folder.is_dir())


def cubin(source: str, name: str, options: tuple[str, ...], architecture: int) -> bytes:
    """Machine code of one source.

    Raises
    ------
    CubinError
        With the compiler's log.
    """
    from cuda.bindings import nvrtc

    _, program = nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], [])
    given = (*options, *CUPYS_OPTIONS, f"-arch=sm_{architecture}", *include_options())
    error, *_ = nvrtc.nvrtcCompileProgram(program, len(given), [one.encode() for one in given])
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = bytes(size + 64)  # NVRTC writes into it, so it must not be shared
        nvrtc.nvrtcGetProgramLog(program, log)
        raise CubinError(f"{name} for sm_{architecture}: {log.decode().strip(chr(0))}")
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    code = bytes(size + 64)
    nvrtc.nvrtcGetCUBIN(program, code)
    nvrtc.nvrtcDestroyProgram(program)
    return code[:size]


def pack(root: Path, architectures: tuple[int, ...] = ARCHITECTURES) -> list[Path]:
    """Compile all files, and write an archive for each architecture; the archives."""
    files = sorted((root / "kernels").rglob("*.cu"))
    hashes, archives = {}, []
    for architecture in architectures:
        with tempfile.TemporaryDirectory(prefix="hopscope-cubins-") as made:
            for file in files:
                source = source_of(file)
                for options in variants(file):
                    folder = Path(made) / folder_name(source, options)
                    folder.mkdir(exist_ok=True)
                    code = cubin(source, file.name, options, architecture)
                    (folder / FILE).write_bytes(code)
            archive = root / ARCHIVES / f"{archive_name(architecture)}{shipped.SUFFIX}"
            hashes[archive.name] = shipped.pack(Path(made), archive)
            archives.append(archive)
    write_hashes(root, hashes)
    return archives


if __name__ == "__main__":
    for path in pack(ROOT):
        sys.stdout.write(f"{path}\n")
