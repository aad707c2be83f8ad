"""What must be the same on every worker: versions, and the sources of the kernels."""

from __future__ import annotations

import functools
import platform
from importlib import metadata
from pathlib import Path

import kernels
import pipeline
from pipeline.model.digests import digest_of_sources

# These must agree: tasks are pickled by one and unpickled by the other.
MUST_AGREE = ("hopscope", "python", "kernels", "distributed")
PACKAGES = ("distributed", "numpy", "numba", "pyarrow")


@functools.cache
def fingerprint() -> dict[str, str]:
    """Versions and digests of this process; the same dict on a matching machine."""
    return {
        "hopscope": pipeline.__version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        "kernels": digest_of_sources([Path(kernels.__file__).parent]),
        **{name: metadata.version(name) for name in PACKAGES},
    }
