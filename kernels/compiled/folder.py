"""Where compiled code is kept: a folder of the user, one in it for each state of a module.

numba's index is a pickle, which runs whatever is in it. So nothing is read from a folder in which
others may write: such a folder is left alone, and this process uses one of its own, which it
removes when it ends.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path

from kernels.compiled import shipped
from kernels.compiled.sources import sources
from kernels.compiled.target import target

log = logging.getLogger(__name__)

# The file that marks a folder which has all that importing its module compiles.
COMPLETE = "complete"
_KEEP_S = 14 * 86400  # what is unused for two weeks is removed
_TOUCH_S = 86400
# A Python or an architecture, and a module with the digest of its state, or a cubin's.
_OURS = re.compile(r"(?:[a-z]+-\d+[a-z]*-numba-[\w.-]+|cubins-sm_\d+)/[\w.-]+-[0-9a-f]{16,64}")


def folder_of(path: Path) -> Path | None:
    """The folder for the compiled code of a source in its present state; None for one of others.

    It need not exist: then nothing came along, and nothing was compiled yet.
    """
    module = sources().module_of(path)
    if module is None:
        return None
    return _used(base() / f"{module}-{sources().digest(path)}")


@functools.cache
def _used(folder: Path) -> Path:
    """The folder, without what a machine left empty when it lost power."""
    with contextlib.suppress(OSError):
        if any(not file.stat().st_size for file in folder.glob("*.nb?")):
            log.warning("%s holds empty files: it is removed, and its module compiled", folder)
            shutil.rmtree(folder, ignore_errors=True)
        if time.time() - folder.stat().st_mtime > _TOUCH_S:
            os.utime(folder)  # for _forget_old
    return folder


def has_compiled(package: str = "") -> bool:
    """Whether there is compiled code of these sources, from an earlier run or from a release.

    Parameters
    ----------
    package : str
        Anything of this package or module, ``pipeline.ingest.atlas``; empty: of any.
    """
    folders = (folder_of(path) for path in sources().compiling(package))
    return any(folder is not None and folder.is_dir() for folder in folders)


def base(name: str | None = None) -> Path:
    """The folder that holds the folders of modules, with what came along.

    Parameters
    ----------
    name : str or None
        None: for this Python, numba and processor, as ``target`` says.
    """
    given, home = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    return _base(given, home, name or target())


@functools.cache
def _base(given: str | None, cache_home: str | None, name: str) -> Path:
    try:
        top = Path(given) if given else Path(cache_home or Path.home() / ".cache") / "hopscope"
        top.mkdir(parents=True, exist_ok=True, mode=0o700)
        top = top.resolve()
        found = top / "compiled" / name
        for one in (found.parent, found):  # the mode is that of the last folder alone
            one.mkdir(exist_ok=True, mode=0o700)
        found = found.resolve()  # what is behind links must be trusted, too
        tempfile.TemporaryFile(dir=found).close()
        refusal = why_not_trusted(found)
    except (OSError, RuntimeError) as error:  # no home directory, or not writable
        refusal = str(error)
    if refusal:
        log.warning("compiled code is kept for this process alone: %s", refusal)
        found = Path(_private().name) / name
        found.mkdir(exist_ok=True)
    else:
        _forget_old(top / "compiled")
    shipped.unpack(name, found)
    return found


def why_not_trusted(folder: Path) -> str:
    """Why others could have written what is in a folder; empty if they could not.

    It and all folders around it belong to this user or to root, and no one else may write there;
    not so the folders around it that are sticky, as /tmp is, and those of the user's own group.
    """
    if not hasattr(os, "getuid"):
        return ""
    user = os.getuid()
    for place in (folder, *folder.parents):
        status = place.stat()
        if status.st_uid not in (user, 0) or (place == folder and status.st_uid != user):
            return f"{place} belongs to another user"
        if place != folder and status.st_mode & stat.S_ISVTX:
            continue
        is_own_group = place != folder and status.st_gid == user == os.getgid()
        if status.st_mode & (stat.S_IWOTH | (0 if is_own_group else stat.S_IWGRP)):
            return f"others may write in {place}: chmod go-w {place}"
    return ""


@functools.cache
def _private() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="hopscope-compiled-", ignore_cleanup_errors=True)


def _forget_old(kept: Path) -> None:
    """Remove what other states of the sources, and earlier releases, left unused.

    Only folders that have names as we give them: ``NUMBA_CACHE_DIR`` may hold what others keep.
    What came along is unpacked again where it is still of use.
    """
    stamp = kept / ".looked"
    with contextlib.suppress(OSError):
        if stamp.exists() and time.time() - stamp.stat().st_mtime < _TOUCH_S:
            return
        stamp.touch()
        for other in kept.glob("*/*"):
            is_ours = _OURS.fullmatch(f"{other.parent.name}/{other.name}") and other.is_dir()
            if is_ours and time.time() - other.stat().st_mtime > _KEEP_S:
                shutil.rmtree(other, ignore_errors=True)
                for mark in other.parent.glob(".unpacked-*"):
                    mark.unlink(missing_ok=True)
