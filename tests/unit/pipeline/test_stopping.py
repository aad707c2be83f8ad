"""The first signal stops, the next ones do not cut the clearing up."""

from __future__ import annotations

import os
import signal

import pytest

from pipeline.stopping import stop_on_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_first_signal_interrupts_and_a_second_does_nothing(number):
    before = signal.getsignal(number)
    with stop_on_signals() as stopping:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopping.asked.is_set()
        assert stopping.exit_status == 128 + number
    assert signal.getsignal(number) is before


def test_run_under_nohup_outlives_its_terminal():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_on_signals() as stopping:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stopping.asked.is_set()
    finally:
        signal.signal(signal.SIGHUP, before)
