"""Errors that the pipeline raises; each message says what, where, and what to do."""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable

# Bytes of address space below which small runs have failed: libraries, threads and the code that is
# compiled at the first run map far more than they use (2.5 GiB with one worker on two cores). How
# much a run maps depends on its cores and on what is compiled already.
ENOUGH_SPACE = 3 << 30
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_THREAD = "can't start new thread"  # CPython's words


def is_no_room(error: OSError) -> bool:
    """Whether a disk, quota or file size limit is reached: trying again would not help."""
    return error.errno in _NO_ROOM


def remedy_for(error: OSError, remedy: str) -> str:
    """``remedy`` against a disk that is full, unless a file was too large for any disk."""
    if error.errno != errno.EFBIG:
        return remedy
    return "raise the limit of file sizes (ulimit -f), or use a file system with larger files"


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the known one that is most like it, if any is."""
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def first_line(error: BaseException) -> str:
    """What an error of a library says in its first line; its kind if it says nothing."""
    lines = (line.strip() for line in str(error).splitlines())
    return next(filter(None, lines), type(error).__name__)


def address_space_fault() -> str:
    """What to say if a process may map less than it may need, which shows in many ways; else empty.

    Libraries are then not found, threads and workers do not start, arrays cannot be made.
    """
    if not (limited := _limited_space()):
        return ""
    return (
        f"the address space of a process is limited to {limited} (ulimit -v), and even small runs "
        f"may fail below {ENOUGH_SPACE >> 30} GiB: if this one does, raise that limit first"
    )


def fault_of_limits(error: BaseException) -> str:
    """One line about an error that a limit of this process explains; empty: it may be anything."""
    said, limited = first_line(error), _limited_space()
    is_memory = isinstance(error, MemoryError)
    is_thread = isinstance(error, RuntimeError) and _NO_THREAD in said
    if limited and (is_memory or is_thread or _is_library_fault(error)):
        return f"too little address space, of {limited} (raise ulimit -v): {said}"
    if is_memory:
        return "too little memory" if said == type(error).__name__ else said
    return f"{said}: raise the limit of processes (ulimit -u)" if is_thread else ""


def _limited_space() -> str:
    """The limit of this process's address space, if it is low; empty: it is not."""
    try:
        import resource  # not on every system
    except ImportError:
        return ""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    is_enough = limit == resource.RLIM_INFINITY or limit >= ENOUGH_SPACE
    return "" if is_enough else f"{limit / 2**30:.1f} GiB"


def _is_library_fault(error: BaseException) -> bool:
    """Whether a library could not be mapped; such errors of the loader have no number."""
    return isinstance(error, ImportError) or (isinstance(error, OSError) and error.errno is None)


def said_by_system(error: OSError) -> str:
    """Why the system refused, in its own words: libraries add theirs to ``strerror``."""
    if error.errno and type(error).__module__ == "builtins":
        return os.strerror(error.errno)
    return error.strerror or first_line(error)  # kinds of libraries have numbers of their own


class PipelineError(Exception):
    """Base of every error raised by ``pipeline``."""


class UsageError(PipelineError, ValueError):
    """The request cannot be fulfilled; one line says what to give instead (exit status 2)."""


class WrongPartError(ValueError):
    """One part of a value that holds several is wrong: what is taken instead, and that part."""

    def __init__(self, takes: str, part: object):
        super().__init__(takes)
        self.part = part


class FormatError(PipelineError, ValueError):
    """An input file does not follow its format, is cut short, or is empty.

    Parameters
    ----------
    path : str
        The file as the user named it.
    where : str
        Line, byte offset or section, in words: ``line 17``, ``byte 4096``.
    reason : str
        What was found, and what was expected.
    """

    def __init__(self, path: object, where: str, reason: str):
        super().__init__(f"{path}: {where}: {reason}" if where else f"{path}: {reason}")
        self.path, self.where, self.reason = str(path), where, reason

    def __reduce__(self):  # must survive the trip from a worker to the client
        return type(self), (self.path, self.where, self.reason)


class UnreadableError(FormatError):
    """An input file cannot be opened or read, whatever it holds."""


class StoreError(PipelineError):
    """A store, snapshot or file of it is missing, altered, cut short or of an unknown version."""


class UnreachableError(StoreError):
    """A store at a URL cannot be reached or mirrored, just now or by this machine."""


class NothingMeasuredError(PipelineError):
    """Every AS that had something to measure failed: there is nothing to report."""


class ClusterLostError(PipelineError):
    """The scheduler or all workers are gone; on another cluster the run may succeed."""


class RetryableError(PipelineError):
    """The same task may succeed on another attempt or another worker."""


class DeviceLostError(RetryableError):
    """A device failed and cannot be used by this process any longer; others may still work."""


class OutOfMemoryError(RetryableError):
    """A device had too little free memory for a task; a smaller one may fit."""
