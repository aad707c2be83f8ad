"""What several tests of tables need set up and taken down."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def piped():
    """Make the path of a pipe that holds some text, as a shell's ``<(command)`` does."""
    if not Path("/dev/fd").exists():
        pytest.skip("no /dev/fd")
    ends = []

    def make(text):
        read_end, write_end = os.pipe()
        os.write(write_end, text.encode())
        os.close(write_end)
        ends.append(read_end)
        return Path(f"/dev/fd/{read_end}")

    yield make
    for end in ends:
        os.close(end)
