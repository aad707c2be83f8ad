from __future__ import annotations

import gc

import pytest

from benchmarks.lib.timing import OtherWork, Timing, time_calls, time_once


def test_as_many_calls_as_the_budget_holds_but_at_least_and_at_most():
    calls: list[int] = []
    assert len(time_calls(lambda: calls.append(1), budget_s=0, at_least=5).times_s) == 5
    assert len(time_calls(lambda: calls.append(1), budget_s=60, at_most=7).times_s) == 7
    assert len(calls) == 12  # none is thrown away


def test_arguments_are_taken_in_turn_and_again():
    seen: list[tuple] = []
    time_calls(lambda *given: seen.append(given), [(1, 2), (3, 4)], budget_s=0, at_least=5)
    assert seen == [(1, 2), (3, 4), (1, 2), (3, 4), (1, 2)]


def test_the_device_is_idle_before_the_clock_starts_and_before_it_stops():
    order: list[str] = []
    time_calls(
        lambda: order.append("call"), wait=lambda: order.append("wait"), budget_s=0, at_least=2
    )
    assert order == ["wait", "call", "wait"] * 2


def test_the_collector_rests_and_then_works_again():
    was_on: list[bool] = []
    assert gc.isenabled()
    time_calls(lambda: was_on.append(gc.isenabled()), budget_s=0)
    assert gc.isenabled()
    assert not any(was_on)
    with pytest.raises(ZeroDivisionError):
        time_calls(lambda: 1 // 0)
    assert gc.isenabled()


def test_columns_are_milliseconds_with_four_digits():
    timing = Timing((0.004, 0.0012345678, 0.002))
    assert timing.columns() == {
        "median_ms": 2.0,
        "min_ms": 1.235,
        "p95_ms": 3.8,
        "repeats": 3,
    }


def test_the_result_of_the_last_call_is_kept():
    numbers = iter(range(10))
    assert time_calls(lambda: next(numbers), budget_s=0, at_least=5).last == 4
    wall_s, result = time_once(divmod, 7, 2)
    assert result == (3, 1)
    assert wall_s > 0


def test_work_of_this_process_is_not_counted_as_other_work(monkeypatch):
    """/proc/stat counts all, os.times what is ours."""
    stat = iter(["cpu  100 0 0 900 0 0 0 0 0 0\n", "cpu  550 0 0 900 0 0 0 0 0 0\n"])
    own = iter([(1.0, 0, 0, 0, 0), (3.5, 0, 0, 0, 0)])
    clock = iter([10.0, 14.0])
    monkeypatch.setattr("benchmarks.lib.timing.Path.read_text", lambda path: next(stat))
    monkeypatch.setattr("os.times", lambda: next(own))
    monkeypatch.setattr("os.sysconf", lambda name: 100)
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    # 4.5 s in all, 2.5 s ours, in 4 s.
    assert OtherWork().n_cores() == 0.5


def test_without_a_proc_file_system_others_are_not_reported(monkeypatch):
    def missing(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr("benchmarks.lib.timing.Path.read_text", missing)
    assert OtherWork().n_cores() is None
