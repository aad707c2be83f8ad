"""Readers of measurements and topologies. To add a format: one module here, one line in FORMATS.

A reader's module has ``sniff(head) -> bool`` (does a file that begins so belong to it?) and
``read(stream, report) -> Iterator``; readers do not know one another. A format is told by content,
never by a file's name.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Literal

from pipeline.errors import FormatError, PipelineError, UsageError
from pipeline.ingest.opening import InputStream, hash_file, open_bytes
from pipeline.model.reading import ReadReport
from pipeline.model.topology import Topology
from pipeline.model.traces import TraceBatch

__all__ = [
    "FORMATS",
    "HEAD_BYTES",
    "Format",
    "detect_format",
    "hash_file",
    "open_reader",
    "warm_up",
]

HEAD_BYTES = 1 << 16  # decompressed bytes that a format is told by


@dataclass(frozen=True)
class Format:
    """Where the reader of one format lives, and what it yields."""

    module: str
    yields: Literal["traces", "topology"]
    description: str

    def load(self) -> ModuleType:
        """The reader's module, imported at first use: some compile kernels."""
        return importlib.import_module(self.module)


FORMATS: dict[str, Format] = {
    "warts": Format("pipeline.ingest.warts", "traces", "scamper's binary warts"),
    "scamper_json": Format(
        "pipeline.ingest.scamper_json", "traces", "scamper's JSON lines, as sc_warts2json prints"
    ),
    "atlas": Format("pipeline.ingest.atlas", "traces", "RIPE Atlas traceroute results"),
    "brite": Format("pipeline.ingest.brite", "topology", "BRITE topology"),
    "snap": Format("pipeline.ingest.snap", "topology", "edge list, as SNAP publishes them"),
}


def detect_format(path: Path) -> str:
    """Name of the format of a file, told by its first ``HEAD_BYTES`` decompressed bytes.

    Raises
    ------
    FormatError
        If the file cannot be read, is empty, or belongs to no format or to more than one.
    """
    with open_bytes(path) as stream:
        return _match(path, _read_head(stream))


def _match(path: Path, head: bytes) -> str:
    matches = [name for name, format in FORMATS.items() if format.load().sniff(head)]
    known = ", ".join(FORMATS)
    if not matches:
        raise FormatError(path, "", f"of no known format; --format takes one of: {known}")
    if len(matches) > 1:
        could_be = " or ".join(matches)
        raise FormatError(path, "", f"could be {could_be}: say which by --format")
    return matches[0]


def open_reader(
    path: Path, report: ReadReport, format: str | None = None
) -> tuple[Format, Iterator[TraceBatch | Topology]]:
    """Choose the reader of a file and start it.

    Parameters
    ----------
    path : Path
        Plain, gzip, bzip2 or xz.
    report : ReadReport
        Filled while the iterator is consumed; ``sha256``, ``size_bytes``, ``status`` and ``error``
        when it ends, also by an error.
    format : str, optional
        A key of FORMATS; told by content where None.

    Returns
    -------
    (Format, Iterator)
        What the file is, and its batches of traces, or its one topology.

    Raises
    ------
    UsageError
        If ``format`` is not a known name.
    FormatError
        At once: the file cannot be opened, is a pipe or device, is empty or of no known format.
        From the iterator, after everything valid: the file is cut short, damaged, or not what it
        claims.
    """
    if format is not None and format not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"unknown format {format!r}; --format takes one of: {known}")
    try:
        report.format = format if format is not None else _detect(path, report)
    except FormatError as error:
        report.status, report.error = "rejected", str(error)
        raise
    chosen = FORMATS[report.format]
    return chosen, _read(path, report, chosen)


def warm_up(formats: Iterable[str] = tuple(FORMATS)) -> None:
    """Compile the kernels of some readers, or load them from numba's cache.

    To be called once before several processes read: numba's cache has no lock, and each would
    compile anew.
    """
    for name in formats:
        compile_kernels = getattr(FORMATS[name].load(), "compile_kernels", None)
        if compile_kernels is not None:
            compile_kernels()


def _detect(path: Path, report: ReadReport) -> str:
    """As detect_format; a file that is refused is hashed all the same."""
    with open_bytes(path) as stream:
        try:
            return _match(path, _read_head(stream))
        except FormatError:
            stream.finish()
            report.sha256, report.size_bytes = stream.sha256, stream.size_bytes
            raise


def _read(path: Path, report: ReadReport, format: Format) -> Iterator[TraceBatch | Topology]:
    try:
        with open_bytes(path) as stream:
            try:
                yield from format.load().read(stream, report)
            finally:
                stream.finish()
                report.sha256, report.size_bytes = stream.sha256, stream.size_bytes
    except PipelineError as error:
        report.status = "partial" if report.n_records else "rejected"
        report.error = str(error)
        raise


def _read_head(stream: InputStream) -> bytes:
    """The first HEAD_BYTES; fewer where the file ends or is damaged before."""
    head = bytearray()
    try:
        while len(head) < HEAD_BYTES:
            more = stream.read(HEAD_BYTES - len(head))
            if not more:
                break
            head += more
    except FormatError:
        if not head:  # nothing at all could be read: that is the file's fault, so say it
            raise
    return bytes(head)
