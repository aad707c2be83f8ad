"""The first signal stops a run; asked again, it ends at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import pipeline.processes.stopping
from pipeline.processes.stopping import is_stopping, signals_later, stop_on_signals

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture
def none_ignored():
    """Under nohup, and in the background of a shell, some are ignored from the start."""
    before = [signal.signal(number, signal.default_int_handler) for number in NUMBERS]
    yield
    for number, handler in zip(NUMBERS, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.usefixtures("none_ignored")
@pytest.mark.parametrize("number", NUMBERS)
def test_first_signal_interrupts_and_what_comes_with_it_does_nothing(number, monkeypatch):
    monkeypatch.setattr(pipeline.processes.stopping, "monotonic", lambda: 5.0)
    before = signal.getsignal(number)
    with stop_on_signals() as stopping:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopping.is_asked
        assert stopping.exit_status == 128 + number
    assert signal.getsignal(number) is before


# It has a process that multiprocessing started, which holds stdout, too; the clock is ours.
ASKED_AGAIN = """
import multiprocessing, os, signal, time
import pipeline.processes.stopping
from pipeline.processes.stopping import signals_later, stop_on_signals
now = 5.0
pipeline.processes.stopping.monotonic = lambda: now
def ask(number):
    global now
    os.kill(os.getpid(), number)
    now += 1.0
with stop_on_signals():
    multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,)).start()
"""
IN_CLEAN_UP = """
    try:
        ask({first})
    finally:
        now += 1.0
        with signals_later():
            for number in {further}:
                ask(number)
            time.sleep(600)
"""
HALF_STARTED = """
    with signals_later():
        for number in ({first}, *{further}):
            ask(number)
        time.sleep(600)
"""


@pytest.mark.parametrize("meanwhile", [IN_CLEAN_UP, HALF_STARTED], ids=["clean-up", "start"])
@pytest.mark.parametrize(
    "numbers",
    [
        (signal.SIGINT, signal.SIGINT),
        (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM),  # its terminal is closed, that is all
    ],
)
def test_asked_again_it_ends_at_once_and_so_does_what_it_started(numbers, meanwhile):
    first, *further = map(int, numbers)
    done = subprocess.run(
        [sys.executable, "-c", ASKED_AGAIN + meanwhile.format(first=first, further=further)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=lambda: [signal.signal(n, signal.default_int_handler) for n in NUMBERS],
        capture_output=True,  # until the last process that holds them has ended
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 128 + first, done.stderr
    assert done.stderr == pipeline.processes.stopping.AT_ONCE.decode()


def test_run_under_nohup_outlives_its_terminal():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_on_signals() as stopping:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stopping.is_asked
    finally:
        signal.signal(signal.SIGHUP, before)


# CPython remembers a plain KeyboardInterrupt that left an ``exec``, as of a dataclass being made.
WHILE_A_MODULE_IS_IMPORTED = """
import os, signal
from pipeline.processes.stopping import stop_on_signals
with stop_on_signals():
    try:
        exec("os.kill(os.getpid(), signal.SIGTERM)")
    except KeyboardInterrupt:
        raise SystemExit(7)
"""


def test_signal_while_a_module_is_imported_leaves_the_exit_status(tmp_path):
    (tmp_path / "program.py").write_text(WHILE_A_MODULE_IS_IMPORTED)
    words = [sys.executable, "-m", "program"]  # a script alone would end as it asks
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(words, env=os.environ | {"PYTHONPATH": path}, check=False)
    assert done.returncode == 7


def test_a_signal_waits_for_what_is_half_started():
    done = []

    def start() -> None:
        with signals_later():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("started")

    with stop_on_signals() as stopping:
        with pytest.raises(KeyboardInterrupt):
            start()
        assert done == ["started"]
        assert stopping.exit_status == 128 + signal.SIGTERM


def test_signals_are_answered_as_before_once_nothing_is_half_started():
    with stop_on_signals():
        before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        with signals_later():
            pass
        assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before


@pytest.mark.usefixtures("none_ignored")
def test_other_threads_can_ask_whether_this_process_is_ending():
    with stop_on_signals():
        assert not is_stopping()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        assert is_stopping()
    assert not is_stopping()
