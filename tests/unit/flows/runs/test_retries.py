"""Which errors of stages may pass by themselves."""

from __future__ import annotations

import errno
import os

import pytest

from flows.runs.retries import UNAVAILABLE, failed, may_pass
from pipeline.errors import StoreError, UsageError


def of(number: int) -> OSError:
    return OSError(number, os.strerror(number), "/store/current")


def after(error: OSError) -> StoreError:
    """As a stage says it, in words of its own."""
    try:
        try:
            raise error
        except OSError:
            raise StoreError("the store cannot be read") from None
    except StoreError as told:
        return told


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (of(errno.ESTALE), True),
        (of(errno.EIO), True),
        (of(errno.ETIMEDOUT), True),
        (ConnectionResetError("gone"), True),
        (after(of(errno.EIO)), True),
        (of(errno.ENOSPC), False),
        (of(errno.EACCES), False),
        (of(errno.ENOENT), False),
        (after(of(errno.ENOSPC)), False),
        (UsageError("no input"), False),
    ],
)
def test_only_file_systems_and_connections_that_are_away_are_tried_again(error, passes):
    state = failed(error)
    assert state.is_failed()
    assert (state.name == UNAVAILABLE) == passes
    assert may_pass(None, None, state) == passes


def test_the_state_says_the_error_in_one_line():
    state = failed(of(errno.ESTALE), "; the measurements are kept")
    assert state.message == "/store/current: Stale file handle; the measurements are kept"
