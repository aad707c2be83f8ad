"""Trace files that an ingest had read when it was killed: the next one does not read them again.

Each trace file has a folder of its own among the scratch files, named by what identifies the file
and the code that reads it. When it has been read to its end, a record is put there, last and at
once; what is on disk by then is complete. The next ingest of the same file takes the folder over
(``pipeline.store.versions.held``). Files with a fault are read again, so that it is reported as
before.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import pipeline
from pipeline.infer import Observation
from pipeline.infer.traces.spool import Block, scratch_faults
from pipeline.model.digests import digest_of_sources
from pipeline.model.measured.reading import ReadReport, Reject, printable_path

RECORD = "read.json"
_PARTS = ("spool", "addrs", "roles", "early", "vantages")  # files of an Observation
_COUNTERS = ("skipped", "rejected", "notes")


def folder_name(path: Path, format: str, vantage: tuple[int, int] | None = None) -> str:
    """Name of the folder of a trace file: another one if the file or our code changes.

    Or if the source of traces that name none does.

    A file is another one if its place, size, inode, or any of its times but the last access is:
    its bytes cannot change without its time of last change.
    """
    try:
        found = path.stat()
        identity = [str(path.resolve()), found.st_dev, found.st_ino, found.st_size]
        identity += [found.st_mtime_ns, found.st_ctime_ns]
    except OSError:  # its reader reports why it cannot be read
        identity = [str(path.absolute())]
    text = json.dumps([*identity, format, vantage, _code()])
    return f"read-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


@functools.cache
def _code() -> str:
    """Digest of what reads and cleans traces."""
    root = Path(pipeline.__file__).parent
    return digest_of_sources([root / "ingest", root / "infer" / "traces", root / "model"])


def keep(folder: Path, report: ReadReport, observation: Observation) -> None:
    """Record that a file has been read, once all that was made of it is on disk.

    Raises
    ------
    StoreError
        If scratch files cannot be written.
    """
    if report.status != "ok":
        return
    described = asdict(observation)
    for part in _PARTS:
        described[part] = getattr(observation, part).name
    described["folder"] = observation.spool.parent.name
    with scratch_faults(folder):
        for part in _PARTS:
            _to_disk(getattr(observation, part))
        written = folder / f".{RECORD}"
        samples = [asdict(sample) for sample in report.samples]
        record = {"report": vars(report) | {"samples": samples}, "observation": described}
        written.write_text(json.dumps(record, default=np.generic.item))
        _to_disk(written)
        written.replace(folder / RECORD)


def _to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def kept(folder: Path, path: Path) -> tuple[ReadReport, Observation] | None:
    """What an earlier ingest made of a file; None: nothing that is complete.

    Parameters
    ----------
    folder : Path
        That of ``folder_name``; what cannot be used is left in it.
    path : Path
        The file, as the user names it now.
    """
    try:
        record = json.loads((folder / RECORD).read_text())
        observation = _observation(folder, record["observation"])
        report = _report(record["report"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    report.path = printable_path(path)
    for left in observation.spool.parent.glob("numbering-*"):
        with contextlib.suppress(OSError):
            left.unlink()
    return report, observation


def _observation(folder: Path, described: dict[str, Any]) -> Observation:
    names = [described.pop("folder"), *(described[part] for part in _PARTS)]
    if any(name in ("", ".", "..") or Path(name).name != name for name in names):
        raise ValueError(f"{folder}: not names of files: {names}")
    described |= {part: folder / names[0] / described[part] for part in _PARTS}
    if not all(described[part].is_file() for part in _PARTS):
        raise ValueError(f"{folder}: a file is missing")
    described["blocks"] = tuple(Block(**block) for block in described["blocks"])
    return Observation(**described)


def _report(described: dict[str, Any]) -> ReadReport:
    described |= {name: Counter(described[name]) for name in _COUNTERS}
    described["samples"] = [Reject(**sample) for sample in described["samples"]]
    return ReadReport(**described)
