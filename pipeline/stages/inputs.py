"""Which files the inputs name, and what each one is.

A file that is named itself must be readable, or it is rejected. A folder is searched for files;
what is no measurement there (a README, a prefix table) is left alone and named, unless its
suffix claims a format that its content does not have.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import FormatError, UsageError
from pipeline.ingest import detect_format

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


def _walk(folder: Path) -> Iterable[Path]:
    """Files below a folder, by name; hidden ones and links out of it are left out."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file():
            yield path


def find_inputs(inputs: Iterable[Path], format: str | None) -> InputFiles:
    """Expand folders and tell the format of each file by its content.

    Raises
    ------
    UsageError
        If an input does not exist, or there is no file at all.
    """
    files: dict[Path, InputFile] = {}
    left_alone: list[Path] = []
    for given in inputs:
        if not given.exists():
            raise UsageError(f"{given}: no such file or folder; give files or folders that exist")
        for path in _walk(given) if given.is_dir() else [given]:
            key = path.resolve()
            if key in files:
                continue
            try:
                files[key] = InputFile(path, format or detect_format(path))
            except FormatError as error:
                if given.is_dir() and not _claims_a_format(path):
                    left_alone.append(path)
                else:
                    files[key] = InputFile(path, error=error)
    if not files:
        named = ", ".join(str(path) for path in inputs) or "nothing was given"
        raise UsageError(
            f"no measurement and no topology in {named}; give files or folders of them"
        )
    return InputFiles(list(files.values()), left_alone)
