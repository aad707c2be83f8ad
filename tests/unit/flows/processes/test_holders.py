"""A lock file is held by one living process at a time, and says by which."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import pytest

from flows.processes.holders import Holder, Seat

OTHER = """
import sys
from pathlib import Path
from flows.processes.holders import Holder, Seat

assert Seat(Path(sys.argv[1])).take(Holder.me("the other")) is not None
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """A process that holds ``tmp_path / "lock"``."""
    words = [sys.executable, "-c", OTHER, str(tmp_path / "lock")]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_seat_names_its_holder_until_that_is_killed(tmp_path, other):
    seat, me = Seat(tmp_path / "lock"), Holder.me("I")
    assert seat.take(me) is None
    holder = seat.holder()
    assert holder is not None
    assert (holder.what, holder.pid, holder.is_gone()) == ("the other", other.pid, False)
    assert f"the other (process {other.pid} on " in str(holder)
    other.kill()
    taken = seat.take(me, wait=True)
    assert taken is not None
    assert seat.holder() == me
    other.wait()
    assert holder.is_gone()
    os.close(taken)


def test_a_later_process_of_the_same_number_is_another(tmp_path):
    me = Holder.me("I")
    assert not me.is_gone()
    assert dataclasses.replace(me, started=me.started - 3600).is_gone()


def test_nothing_is_known_of_another_machine():
    assert not dataclasses.replace(Holder.me("I"), host="elsewhere", started=0.0).is_gone()


def test_holder_survives_the_way_through_text():
    me = Holder.me("I")
    assert Holder.from_text(me.to_text()) == me
    for text in (None, "", "{}", "[1]", '{"what": 1, "colour": 2}'):
        assert Holder.from_text(text) is None
