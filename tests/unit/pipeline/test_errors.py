"""What is said where the system refused."""

from __future__ import annotations

import errno
import resource
import socket
import subprocess
import sys

import pytest

from pipeline.errors import fault_of_limits, first_line, remedy_for, said_by_system
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

    line = "the address space of a process is limited to 2.0 GiB (ulimit -v), and even small runs"
    assert said_at(2 << 30).startswith(f"hopscope: {line} may fail below 3 GiB")
    assert "ulimit" not in said_at(4 << 30)
    assert "ulimit" not in said_at(resource.RLIM_INFINITY)


NO_THREAD = RuntimeError("can't start new thread")
NO_LIBRARY = OSError("Could not find/load shared object file 'libllvmlite.so'")  # of llvmlite
NOT_MAPPED = ImportError("libarrow.so: failed to map segment from shared object")


@pytest.mark.parametrize("error", [NO_THREAD, NO_LIBRARY, NOT_MAPPED, MemoryError("of 4 MiB")])
def test_whatever_too_little_address_space_breaks_is_named_as_that(error, monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (900 << 20, -1))
    said = fault_of_limits(error)
    assert said == f"too little address space, of 0.9 GiB (raise ulimit -v): {error}"


def test_other_errors_are_not_said_to_be_of_a_limit(monkeypatch):
    others = [
        RuntimeError("dictionary changed size"),
        OSError(errno.ENOENT, "no", "x"),
        KeyError(1),
    ]
    for limit in (900 << 20, resource.RLIM_INFINITY):
        monkeypatch.setattr(resource, "getrlimit", lambda _which, limit=limit: (limit, limit))
        assert [fault_of_limits(each) for each in others] == ["", "", ""]
    assert [fault_of_limits(each) for each in (NO_LIBRARY, NOT_MAPPED)] == ["", ""]  # unlimited
    assert fault_of_limits(NO_THREAD) == f"{NO_THREAD}: raise the limit of processes (ulimit -u)"
    assert fault_of_limits(MemoryError()) == "too little memory"


def test_a_thread_that_cannot_start_ends_a_command_in_one_line(tmp_path):
    """The first thread of each command is the one that says after a moment what it waits for."""
    program = """
import resource, sys, threading
from pipeline.cli import main
import pipeline.terminal.progress_display
threading.stack_size(1 << 30)
mapped = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + (64 << 20), resource.RLIM_INFINITY))
main(sys.argv[1:])
"""
    words = ["generate", "ba", "--routers", "10", "--out", str(tmp_path / "made.brite")]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    warning, error = done.stderr.splitlines()
    assert "(ulimit -v)" in warning
    assert error.startswith("hopscope: too little address space, of ")
    assert error.endswith(": can't start new thread")
