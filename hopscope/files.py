"""Input files, of any format that ``hopscope ingest`` takes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.model.named_graph import NamedGraph
    from pipeline.stages.input_files import TraceFile


def read(path: str | os.PathLike, format: str | None = None) -> NamedGraph | TraceFile:
    """Read a topology, or open a file of traces.

    Parameters
    ----------
    path : path
        Plain, gzip, bzip2 or xz.
    format : str, optional
        Of a trace file; recognised by content where it is not given.

    Returns
    -------
    NamedGraph
        For a topology: ``.graph`` (all of the file, whatever its ASes), ``.name_of(node)``,
        ``.node_of(text, role)``, ``.warnings``.
    TraceFile
        For traces: ``.table()`` as Arrow, a row per reply; ``.batches()`` for large files.

    Raises
    ------
    pipeline.errors.FormatError
        If the file cannot be read, or is of no known format.
    """
    from pipeline.stages.input_files import read_file

    return read_file(Path(path), format)
