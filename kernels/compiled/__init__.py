"""Compiled code for cores: for which processor, where it is kept, what came along.

Nothing here imports numba, which reads what is set here when it is imported. docs/adr/0018 says
why compiled code comes along, and how.
"""

from __future__ import annotations

from pathlib import Path

from kernels.compiled.locator import install
from kernels.compiled.target import choose_target

FIRST_RUN = "compiling once, about a minute"

__all__ = ["FIRST_RUN", "base", "has_compiled", "prepare"]


def prepare() -> None:
    """To be called before anything of ours is compiled; more often does no harm."""
    choose_target()
    install()


def base(name: str | None = None) -> Path:
    """A folder of compiled code: of this name, or for this Python, numba and processor."""
    from kernels.compiled.folder import base  # imports what most commands do without

    return base(name)


def has_compiled(package: str = "") -> bool:
    """Whether there is compiled code of these sources, from an earlier run or a release.

    Parameters
    ----------
    package : str
        Anything of this package or module, ``pipeline.ingest.atlas``; empty: of any.
    """
    from kernels.compiled.folder import has_compiled

    return has_compiled(package)
