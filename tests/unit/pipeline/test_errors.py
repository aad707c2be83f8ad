"""What is said where the system refused."""

from __future__ import annotations

import errno

import pytest

from pipeline.errors import said_by_system

OF_ARROW = "Error writing bytes to file. Detail: [errno 28] No space left on device"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(errno.ENOSPC, OF_ARROW), "No space left on device"),
        (OSError(errno.EACCES, "Permission denied", "here"), "Permission denied"),
        (OSError("cut short"), "cut short"),
    ],
)
def test_words_of_libraries_are_left_out(error, text):
    assert said_by_system(error) == text
