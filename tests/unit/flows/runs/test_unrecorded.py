"""Ends of runs that no server records, and signals behind an error of recording."""

import signal

import pytest
from prefect.exceptions import TerminationSignal
from prefect.states import Completed, Failed

from flows.runs.unrecorded import note_end, noted_ends, stop_if_asked
from pipeline.processes.stopping import Stopped, stop_on_signals


def error_after(first):
    """What is raised while ``first`` is handled."""
    error = RuntimeError("the end is not recorded")
    error.__context__ = first
    return error


def test_ends_inside_the_block_are_noted():
    note_end(Failed())
    with noted_ends() as ends:
        note_end(Completed())
    note_end(Failed())
    assert [state.name for state in ends] == ["Completed"]


def test_a_signal_that_prefect_took_stops_the_run():
    with stop_on_signals() as stopping, pytest.raises(Stopped):
        stop_if_asked(error_after(TerminationSignal(signal=signal.SIGTERM)))
    assert stopping.exit_status == 128 + signal.SIGTERM


def test_an_interruption_is_raised_again():
    stopped = Stopped()
    with pytest.raises(Stopped) as raised:
        stop_if_asked(error_after(stopped))
    assert raised.value is stopped


def test_other_errors_stop_nothing():
    beside = error_after(ValueError())
    beside.__cause__ = OSError("the server is gone")
    with stop_on_signals() as stopping:
        for error in (error_after(ValueError()), beside, RuntimeError()):
            stop_if_asked(error)
        assert not stopping.is_asked
