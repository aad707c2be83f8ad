"""What is true, from a folder or a file."""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import FormatError
from pipeline.judge.ground_truth import TRUTH, read_ground_truth
from pipeline.judge.truth import Truth


def load_truth(path: Path) -> Truth:
    """Read ``ground_truth.json``, or the folder that has it.

    Raises
    ------
    FormatError
        If it is not there, cannot be read, or is not a network.
    """
    if path.is_dir():
        if not (path / TRUTH).exists():
            raise FormatError(path, TRUTH, "is not there, so nothing is known to be true")
        path = path / TRUTH
    return read_ground_truth(path)
