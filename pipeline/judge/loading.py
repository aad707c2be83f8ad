"""What is true, from a folder or a file."""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import FormatError
from pipeline.ingest.opening import COMPRESSED_SUFFIXES, open_bytes
from pipeline.judge.ground_truth import read_ground_truth
from pipeline.judge.known import ADDRESSES, LINKS, read_known
from pipeline.judge.truth import Truth
from pipeline.model.choices import TRUTH
from pipeline.model.measured.reading import ReadReport


def load_truth(path: Path) -> Truth:
    """As ``read_truth``, without what was left out."""
    return read_truth(path)[0]


def read_truth(path: Path) -> tuple[Truth, list[ReadReport]]:
    """Read a truth: ``ground_truth.json``, a table of addresses, or the folder that has either.

    Raises
    ------
    FormatError
        If it is not there, cannot be read, or is neither.
    """
    links = None
    if path.is_dir():
        found = _in_folder(path, TRUTH) or _in_folder(path, ADDRESSES)
        if found is None:
            reason = f"neither {TRUTH} nor {ADDRESSES} is there, so nothing is known to be true"
            raise FormatError(path, "", reason)
        path, links = found, _in_folder(path, LINKS)
    with open_bytes(path) as stream:
        is_json = stream.read(1 << 10).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[", b"")
    return (read_ground_truth(path), []) if is_json else read_known(path, links)


def _in_folder(folder: Path, name: str) -> Path | None:
    """The file of that name, plain or compressed."""
    paths = (folder / (name + suffix) for suffix in ("", *COMPRESSED_SUFFIXES))
    return next((path for path in paths if path.exists()), None)
