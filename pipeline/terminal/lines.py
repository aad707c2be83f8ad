"""Lines for a terminal: results on stdout, warnings on stderr.

Every command imports this first, so code that uses rich is in other modules.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
from collections.abc import Callable, Iterator

from pipeline.errors import address_space_fault, fault_of_limits
from pipeline.model.words import UNPRINTABLE, printable
from pipeline.places import in_one_line, with_urls
from pipeline.terminal import log

STANDARD_OUTPUT = "standard output"
_MODULES = "pipeline"  # logger of all our modules
_STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}  # by their descriptors


def open_closed_streams() -> None:
    """Have standard streams that are closed (``>&-``) lead to ``/dev/null``; call it first.

    Who closes stdout or stderr wants nothing of it: the rest is done, with its usual status. A file
    that is opened later must not get the descriptor that libraries and programs write to.
    """
    for descriptor, (name, mode) in enumerate(_STREAMS.items()):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, nowhere == descriptor)  # programs are to find it open, too
            setattr(sys, name, open(nowhere, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def warn_of_limits() -> None:
    """Name a limit under which much fails, before it does: some of it ends the process at once."""
    if fault := address_space_fault():
        warn(fault)


@contextlib.contextmanager
def to_stdout() -> Iterator[None]:
    """Have errors of writing to stdout say so, as those of files name the file."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or STANDARD_OUTPUT
        raise


def flush() -> None:
    """Write what waits for stdout; what cannot be written is given up."""
    try:
        with to_stdout():
            sys.stdout.flush()
    except OSError:
        # Or the interpreter tries again as it ends, and says so in its own words.
        with contextlib.suppress(OSError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise


def escaped_json(text: str) -> str:
    """JSON with such characters in its strings as escapes: the same values, and inert."""
    return UNPRINTABLE.sub(
        lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text
    )


def print_line(text: str) -> None:
    """One line of the result, on stdout."""
    with to_stdout():
        sys.stdout.write(printable(with_urls(text)) + "\n")


def to_stderr(text: str) -> None:
    """Text on stderr, if that can be written: work does not fail for what is said about it."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def warn(text: str) -> None:
    """One line on stderr."""
    _say(logging.WARNING, text)


def warnings_of_modules() -> contextlib.AbstractContextManager[None]:
    """Print what our modules log as warnings while the block lasts, as ``warn`` does."""
    return modules_handled_by(_AsLines(logging.WARNING))


@contextlib.contextmanager
def modules_handled_by(handler: logging.Handler) -> Iterator[None]:
    """Give a handler what our modules log, from any thread, while the block lasts."""
    logger = logging.getLogger(_MODULES)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _AsLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if not log.is_json():  # whose own handler has the record
            warn(" ".join(record.getMessage().split()))


def fail(text: str) -> None:
    """One line on stderr: why nothing was done."""
    _say(logging.ERROR, text)


def fail_by_system(error: Exception) -> int:
    """One line on stderr, unless who reads stdout has seen enough; the exit status.

    Raises
    ------
    Exception
        The error, if neither the system nor a limit of this process explains it.
    """
    if limits := fault_of_limits(error):
        fail(limits)
        return 2
    if not isinstance(error, OSError):  # a full disk, a folder that is a file, no permission
        raise error
    with contextlib.suppress(OSError):
        flush()
    if error.errno == errno.EPIPE and error.filename == STANDARD_OUTPUT:
        return 1
    fail(in_one_line(error))
    return 2


def status_of(program: Callable[[list[str]], int]) -> int:
    """The exit status of a program with the words of this command line.

    Its output may have no reader any longer, or no room: that is not an error of the program.
    """
    open_closed_streams()
    try:
        status = program(sys.argv[1:])
        flush()
    except Exception as error:
        return fail_by_system(error)
    return status


def _say(level: int, text: str) -> None:
    text = with_urls(text)
    if log.is_json():
        logging.getLogger(log.OWN).log(level, "%s", text)
    else:
        to_stderr(f"hopscope: {printable(text)}\n")
