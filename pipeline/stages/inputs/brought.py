"""Inputs that are not files on this machine's disks: standard input, and objects at URLs.

They are files for as long as they are read: a format is recognised before it is read, and several
processes may read.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from pipeline.errors import UsageError
from pipeline.places import objects, url_of

STDIN = Path("-")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._=+:-]*(?:/[A-Za-z0-9_][A-Za-z0-9._=+:-]*)*")


@contextlib.contextmanager
def brought(paths: Iterable[Path], stdin: BinaryIO | None = None) -> Iterator[dict[Path, Path]]:
    """Bring what is elsewhere to this disk; removed at the end.

    Parameters
    ----------
    paths : iterable of Path
        ``-``, paths of mirrors, and files, which stay where they are.
    stdin : binary stream
        None: of this process.

    Yields
    ------
    dict of Path to Path
        Where ``-`` is instead. Objects are at the paths of their mirrors.

    Raises
    ------
    UsageError
        If standard input is a terminal.
    StoreError
        If an object is missing, or cannot be reached.
    """
    with contextlib.ExitStack() as stack:
        instead: dict[Path, Path] = {}
        for path in dict.fromkeys(paths):
            if path == STDIN:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hopscope-")))
                instead[path] = folder / "stdin"
                _spool(stdin or sys.stdin.buffer, instead[path])
            elif url := url_of(path):
                stack.callback(_remove, [*_fetch(url, path)])
        yield instead


def _spool(stdin: BinaryIO, path: Path) -> None:
    if stdin.isatty():
        raise UsageError("- is standard input: give it a file, as in `zcat traces.gz | hopscope`")
    with path.open("wb") as file:
        shutil.copyfileobj(stdin, file, 1 << 20)


def _fetch(url: str, path: Path) -> Iterator[Path]:
    """Bring an object, or all below a URL; yields what was not there before."""
    below = {found.removeprefix(f"{url}/"): found for found in objects.below(url)}
    named = {path / name: found for name, found in below.items() if _NAME.fullmatch(name)}
    for target, found in (named or {path: url}).items():
        is_new = not target.exists()
        target.parent.mkdir(parents=True, exist_ok=True)
        objects.fetch(found, target)
        if is_new:
            yield target


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
