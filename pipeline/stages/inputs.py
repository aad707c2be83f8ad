"""Which files the inputs name, and what each one is.

A file that is named itself must be readable, or it is rejected. A folder is searched for files;
what is no measurement there (a README, a prefix table) is left alone and named, unless its
suffix claims a format that its content does not have. What this program wrote itself into a folder
of inputs (a store, the rejects of a report) is none of them. A forced format holds for files that
are named; in a folder it takes those files that are of it, or that claim to be measurements.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import FormatError, UsageError
from pipeline.ingest import FORMATS, detect_format

# A file in a folder that bears one of these claims to be a measurement or a topology.
CLAIMING_SUFFIXES = (".warts", ".jsonl", ".brite")
_COMPRESSED = (".gz", ".bz2", ".xz")


@dataclass(frozen=True)
class InputFile:
    """One file to read: its format, or the reason why there is none."""

    path: Path
    format: str = ""
    error: FormatError | None = None


@dataclass(frozen=True)
class InputFiles:
    """Files to read, in a fixed order, and those of folders that were left alone."""

    files: list[InputFile]
    left_alone: list[Path]


def _claims_a_format(path: Path) -> bool:
    name = path.name.lower()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    return name.endswith(CLAIMING_SUFFIXES)


def _walk(folder: Path, store: Path) -> Iterable[Path]:
    """Files below a folder, by name, links to files too; hidden ones and our own are left out."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file() and not _is_ours(path, store):
            yield path


def _is_ours(path: Path, store: Path) -> bool:
    beside = (path.with_name("manifest.json"), path.with_name("report.json"))
    is_rejects = path.name == "rejects.jsonl" and any(other.exists() for other in beside)
    return is_rejects or path.resolve().is_relative_to(store.resolve())


def _tell_format(path: Path, forced: str | None, in_folder: bool) -> InputFile | None:
    """What a file is; None: it lies in a folder and is no measurement."""
    if forced and not in_folder:
        return InputFile(path, forced)
    try:
        found = detect_format(path)
    except FormatError as error:
        if in_folder and not _claims_a_format(path):
            return None
        return InputFile(path, forced) if forced else InputFile(path, error=error)
    return InputFile(path, found) if forced in (None, found) else None


def find_inputs(inputs: Iterable[Path], format: str | None, store: Path) -> InputFiles:
    """Expand folders and tell the format of each file by its content.

    Parameters
    ----------
    inputs : iterable of Path
        Files and folders.
    format : str or None
        The format that the user forces.
    store : Path
        Nothing below it is an input.

    Raises
    ------
    UsageError
        If the format is unknown, or there is no file at all.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"unknown format {format!r}; --format takes one of: {', '.join(FORMATS)}")
    files: dict[Path, InputFile] = {}
    left_alone: list[Path] = []
    for given in inputs:
        if not given.exists():
            missing = FormatError(given, "", "no such file or folder; give one that exists")
            files[given.absolute()] = InputFile(given, error=missing)
            continue
        in_folder = given.is_dir()
        for path in _walk(given, store) if in_folder else [given]:
            key = path.resolve()
            if key in files:
                continue
            file = _tell_format(path, format, in_folder)
            if file is None:
                left_alone.append(path)
            else:
                files[key] = file
    if not files:
        named = ", ".join(str(path) for path in inputs) or "nothing was given"
        raise UsageError(f"no measurement and no topology in {named}; give files or folders")
    return InputFiles(list(files.values()), left_alone)
