"""What is said where the system refused."""

from __future__ import annotations

import errno
import resource
import socket
import subprocess
import sys

import pytest

from pipeline.errors import first_line, remedy_for, said_by_system
from pipeline.places import in_one_line
from tests.real_data import REPOSITORY

OF_ARROW = "Error writing bytes to file. Detail: [errno 28] No space left on device"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(errno.ENOSPC, OF_ARROW), "No space left on device"),
        (OSError(errno.EACCES, "Permission denied", "here"), "Permission denied"),
        (OSError("cut short"), "cut short"),
        (TimeoutError(), "TimeoutError"),
        (
            socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
            "Name or service not known",
        ),
    ],
)
def test_words_of_libraries_are_left_out(error, text):
    assert said_by_system(error) == text


def test_nobody_takes_the_words_of_libraries():
    """Except the program that runs others, and knows nothing of the pipeline."""
    found = {
        str(path.relative_to(REPOSITORY))
        for folder in ("flows", "hopscope", "pipeline")
        for path in (REPOSITORY / folder).rglob("*.py")
        if ".strerror" in path.read_text()
    }
    assert found == {"flows/processes/die_with_parent.py", "pipeline/errors.py"}


def test_an_error_of_the_system_is_the_file_and_the_reason():
    assert in_one_line(OSError(errno.EROFS, OF_ARROW, "x/y")) == "x/y: Read-only file system"
    assert in_one_line(ValueError("x is no y")) == "x is no y"


@pytest.mark.parametrize("text", ["", "\n", " \n\n"])
def test_an_error_that_says_nothing_is_its_kind(text):
    assert first_line(OSError(text)) == "OSError"
    assert first_line(ValueError(f"{text}cut short\nat byte 5")) == "cut short"


def test_a_limit_of_file_sizes_is_not_called_a_full_disk():
    assert remedy_for(OSError(errno.ENOSPC, ""), "free space") == "free space"
    assert "ulimit -f" in remedy_for(OSError(errno.EFBIG, ""), "free space")


def test_too_little_address_space_is_named_before_anything_fails_of_it():
    """At 1.8 GB an array cannot be made; at less a library is "not found"."""
    program = [sys.executable, "-m", "pipeline.cli", "list", "--store", "nowhere"]

    def said_at(n_bytes: int) -> str:
        limit = (n_bytes, resource.RLIM_INFINITY)
        done = subprocess.run(
            program,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stderr

    line = "the address space of a process is limited to 2.0 GiB (ulimit -v), and 3 GiB are needed"
    assert said_at(2 << 30).startswith(f"hopscope: {line}")
    assert "ulimit" not in said_at(4 << 30)
    assert "ulimit" not in said_at(resource.RLIM_INFINITY)
