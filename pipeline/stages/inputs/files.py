"""Files of the inputs, and the format of each.

A file that is named itself must be readable, or it is rejected. A folder is searched for files: one
that cannot be read is rejected too, whatever it is; a file there that is not a measurement (a
README, a prefix table, settings in JSON) is skipped and named, unless its name claims a format that
its content does not have, or it has lost its content. Files that this program wrote into a folder
of inputs (a store, the rejects of a report) are not inputs. A forced format is used for files that
are named; in a folder it selects files of that format and files that claim to be measurements. A
kind (traces, topology) forces no format: it selects the files of a folder that have one of its
formats, and rejects named files that do not.
"""

from __future__ import annotations

import contextlib
import stat
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.errors import FormatError, UnreadableError, UsageError
from pipeline.ingest import FORMATS, claims_a_format, detect_format, formats_of, hash_file
from pipeline.ingest.opening import COMPRESSED_SUFFIXES
from pipeline.model.choices import TRUTH
from pipeline.model.measured.reading import ReadReport
from pipeline.model.words import number
from pipeline.stages.inputs.folders import unreadable, walk
from pipeline.stages.inputs.misplaced import where_it_belongs


@dataclass(frozen=True)
class InputFile:
    """One file to read: its format, or the reason why there is none."""

    path: Path
    format: str = ""
    error: FormatError | None = None


@dataclass(frozen=True)
class InputFiles:
    """Files to read, in a fixed order, and those of folders that were left alone.

    ``copies``: files with the bytes of an earlier one, by which file; they are not read.
    """

    files: list[InputFile]
    left_alone: list[Path]
    copies: dict[Path, Path] = field(default_factory=dict)

    def of_kind(self, kind: str) -> list[InputFile]:
        """Files whose format yields ``"traces"`` or a ``"topology"``."""
        return [f for f in self.files if f.format and FORMATS[f.format].kind == kind]


class _Ours:
    """Whether a file or folder below an input is one that this program wrote there.

    Only links met on the way down, and the store itself, can lead into the store, so nothing
    else is resolved: that takes long where folders are deep.
    """

    def __init__(self, given: Path, store: Path):
        self._store = store.resolve()
        self._all = given.resolve().is_relative_to(self._store)

    def __call__(self, path: Path) -> bool:
        if path.name == "rejects.jsonl":
            beside = (path.with_name("manifest.json"), path.with_name("report.json"))
            if any(other.exists() for other in beside):
                return True
        if self._all:
            return True
        if path.is_symlink():
            return path.resolve().is_relative_to(self._store)
        # A file system may ignore case.
        return path.name.casefold() == self._store.name.casefold() and _is_same(path, self._store)


def _is_same(path: Path, store: Path) -> bool:
    try:
        return path.samefile(store)
    except OSError:  # there is no store yet
        return False


def _recognise(path: Path, choice: str | None, in_folder: bool) -> InputFile | None:
    """Format of a file; None: it is in a folder and not a measurement of ``choice``."""
    forced = choice if choice in FORMATS else None
    if forced and not in_folder:
        return InputFile(path, forced)
    try:
        found = detect_format(path)
    except UnreadableError as error:
        return InputFile(path, error=error)
    except FormatError as error:
        option = where_it_belongs(path)
        claims = (claims_a_format(path) and not option) or _lost_its_content(path)
        if in_folder and not claims:
            return None
        if forced:
            return InputFile(path, forced)
        return InputFile(path, error=FormatError(path, "", option) if option else error)
    if found in formats_of(choice) and not (in_folder and FORMATS[found].alone and not choice):
        return InputFile(path, found)
    if in_folder:
        return None
    held = {"traces": "traces", "topology": "a topology"}[FORMATS[found].kind]
    why = f"holds {held} ({found}), and --format {choice} was given; leave this file out"
    return InputFile(path, error=FormatError(path, "", why))


def _unless_table(file: InputFile) -> InputFile:
    """A file beside traces: what looks like a topology, but is a table for them, is refused."""
    if not file.format or not FORMATS[file.format].alone:
        return file
    option = where_it_belongs(file.path)
    return InputFile(file.path, error=FormatError(file.path, "", option)) if option else file


def _lost_its_content(path: Path) -> bool:
    """Whether a file holds nothing, not even what a compressed file at least holds."""
    return path.suffix.lower() in COMPRESSED_SUFFIXES and path.stat().st_size == 0


def _expand(given: Path, store: Path) -> Iterable[tuple[Path, FormatError | None]]:
    """The files that one input names, each with what keeps it from being read."""
    try:
        mode = given.stat().st_mode
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        if not is_missing or given.is_symlink():
            return [(given, unreadable(given, error))]
        missing = FormatError(given, "", "no such file or folder; give one that exists")
        return [(given, missing)]
    if stat.S_ISDIR(mode):
        return walk(given, _Ours(given, store))
    return [(given, None)]


def find_inputs(
    inputs: Iterable[Path], format: str | None, store: Path, tables: Iterable[Path] = ()
) -> InputFiles:
    """Expand folders and recognise the format of each file by its content.

    Parameters
    ----------
    inputs : iterable of Path
        Files and folders.
    format : str or None
        The format that the user forces, or the kind of formats to read.
    store : Path
        Nothing below it is an input.
    tables : iterable of Path
        Files that are read as tables: where they lie in a folder, they were not left alone.

    Raises
    ------
    UsageError
        If the format is unknown, or there is no file at all.
    """
    formats_of(format)
    files: dict[Path, InputFile] = {}
    left_alone: dict[Path, Path] = {}  # by where it is: a folder may be given twice
    for given in inputs:
        in_folder = False
        for path, fault in _expand(given, store):
            in_folder = in_folder or path != given
            key = path.absolute() if fault is not None else path.resolve()
            if key in files:
                continue
            if fault is not None:
                files[key] = InputFile(path, error=fault)
                continue
            file = _recognise(path, format, in_folder)
            if file is None:
                left_alone.setdefault(key, path)
            else:
                files[key] = file
    if any(file.format and FORMATS[file.format].kind == "traces" for file in files.values()):
        files = {key: _unless_table(file) for key, file in files.items()}
    if not files:
        raise UsageError(_why_none(inputs, store, format, left_alone.values()))
    copies = _copies(files.values())
    read_elsewhere = {path.resolve() for path in tables}
    return InputFiles(
        [file for file in files.values() if file.path not in copies],
        [path for key, path in left_alone.items() if not _is_known(key, read_elsewhere)],
        copies,
    )


def _is_known(path: Path, tables: set[Path]) -> bool:
    """Whether a file that is no measurement needs no word: a table, or a laboratory's truth."""
    return path in tables or path.name == TRUTH


def _why_none(
    inputs: Iterable[Path], store: Path, choice: str | None, left_alone: Iterable[Path]
) -> str:
    named = ", ".join(str(path) for path in inputs) or "nothing was given"
    if others := _formats_found(left_alone):
        held = ", ".join(f"{format} ({number(n, 'file')})" for format, n in others.items())
        return (
            f"no file in {named} is {choice} (--format), but there is {held}: leave out --format, "
            "or give other files or folders"
        )
    nothing = f"no measurement and no topology in {named}"
    inside = [path for path in inputs if path.resolve().is_relative_to(store.resolve())]
    if inside:
        return (
            f"{nothing}: nothing is read from {inside[0]}, which is in the store {store}; give "
            "--store another folder"
        )
    return f"{nothing}; give other files or folders"


def _formats_found(paths: Iterable[Path]) -> dict[str, int]:
    """Files by the format that their content has, those without one left out."""
    found: Counter[str] = Counter()
    for path in paths:
        with contextlib.suppress(FormatError):
            found[detect_format(path)] += 1
    return dict(sorted(found.items()))


def _copies(files: Iterable[InputFile]) -> dict[Path, Path]:
    """Files with the same bytes as an earlier one, by which; only equal sizes are compared."""
    by_size: dict[int, list[Path]] = {}
    for file in files:
        with contextlib.suppress(OSError):  # its reader reports why it cannot be read
            if file.error is None:
                by_size.setdefault(file.path.stat().st_size, []).append(file.path)
    copies: dict[Path, Path] = {}
    for paths in by_size.values():
        first: dict[str, Path] = {}
        for path in paths if len(paths) > 1 else ():
            report = ReadReport(str(path))
            hash_file(path, report)
            original = first.setdefault(report.sha256, path)
            if report.sha256 and original != path:
                copies[path] = original
    return copies
