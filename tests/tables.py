"""Tables of files as the stages read them: opened, then read as blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeVar

from pipeline.ingest.opening import table_blocks
from pipeline.model.measured.reading import ReadReport

_Table = TypeVar("_Table")


def table_of_file(
    reader: Callable[[Iterable[bytes], ReadReport], _Table], path: Path, report: ReadReport
) -> _Table:
    """The table of a file."""
    with closing(table_blocks(path, report)) as blocks:
        return reader(blocks, report)


def table_of_files(
    reader: Callable[[Sequence[Iterable[bytes]], Sequence[ReadReport]], _Table],
    paths: Sequence[Path],
    reports: Sequence[ReadReport],
) -> _Table:
    """The table of several files."""
    with ExitStack() as opened:
        files = map(closing, map(table_blocks, paths, reports))
        return reader([opened.enter_context(file) for file in files], reports)
