"""What must be the same on every worker: versions, and the sources of the kernels."""

from __future__ import annotations

import functools
import hashlib
import platform
from importlib import metadata
from pathlib import Path

import kernels
import pipeline

# These must agree: tasks are pickled by one and unpickled by the other.
MUST_AGREE = ("hopscope", "python", "kernels", "distributed")
PACKAGES = ("distributed", "numpy", "numba", "pyarrow")


@functools.cache
def fingerprint() -> dict[str, str]:
    """Versions and digests of this process; the same dict on a matching machine."""
    return {
        "hopscope": pipeline.__version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        "kernels": _digest(Path(kernels.__file__).parent, ("*.py", "*.cu", "*.cuh")),
        **{name: metadata.version(name) for name in PACKAGES},
    }


def _digest(folder: Path, patterns: tuple[str, ...]) -> str:
    """Twelve hex digits of the names and bytes of some files below a folder."""
    sha = hashlib.sha256()
    for path in sorted(path for pattern in patterns for path in folder.rglob(pattern)):
        sha.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return sha.hexdigest()[:12]
