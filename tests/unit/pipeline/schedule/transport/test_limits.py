"""How long tasks may take, as tables: no clock, no cluster."""

from dataclasses import replace

import pytest

from pipeline.schedule.transport.limits import Deadlines, Limits

LIMITS = Limits(
    task_s=3600, least_s=20, first_s=100, factor=20, patience=5, paused_s=60, silent_s=120
)


@pytest.mark.parametrize(
    ("cost_s", "tries", "is_first", "seconds"),
    [
        (0.05, 1, False, 20),
        (0.05, 1, True, 120),
        (0.05, 2, False, 100),
        (0.05, 3, False, 500),
        (1, 1, False, 20),
        (10, 1, False, 200),
        (10, 1, True, 300),
        (10, 3, False, 3600),  # never more
        (1000, 1, False, 3600),
        (None, 1, False, 3600),
    ],
)
def test_a_deadline_follows_the_estimate(cost_s, tries, is_first, seconds):
    assert Deadlines(LIMITS).task(cost_s, tries, is_first) == seconds


@pytest.mark.parametrize(
    ("cost_s", "paused_s", "silent_s"),
    [(0.05, 20, 20), (2, 40, 40), (10, 60, 120), (100, 300, 120), (None, 60, 120)],
)
def test_pauses_and_silence_may_last_as_the_task_may(cost_s, paused_s, silent_s):
    deadlines = Deadlines(LIMITS)
    assert deadlines.pause(cost_s) == paused_s
    assert deadlines.silence(cost_s) == silent_s


@pytest.mark.parametrize(
    ("cost_s", "took_s", "is_first", "slowdown"),
    [
        (0.05, 0.9, False, 1),  # too short to say anything
        (0.05, 4, False, 4),
        (2, 1, False, 1),  # fast ones change nothing
        (2, 30, False, 15),
        (2, 19, True, 1),  # compiling
        (2, 49, True, 15),
        (None, 1000, False, 1),
    ],
)
def test_the_slowest_task_of_a_run_counts(cost_s, took_s, is_first, slowdown):
    deadlines = Deadlines(LIMITS)
    deadlines.note(cost_s, took_s, is_first)
    deadlines.note(cost_s, 0.01, is_first=False)
    assert deadlines.slowdown == slowdown
    assert deadlines.task(0.05) == 20 * slowdown


@pytest.mark.parametrize("cost_s", [0.001, 0.9, 1.0, 7.0])
@pytest.mark.parametrize("took_s", [1, 19, 20, 21, 100, 900])
@pytest.mark.parametrize("factor", [2, 20, 200])
def test_what_takes_as_long_as_one_before_is_never_overdue(cost_s, took_s, factor):
    """However slow the machine and wrong the estimates."""
    deadlines = Deadlines(replace(LIMITS, factor=factor))
    deadlines.note(cost_s, took_s, is_first=True)
    assert deadlines.task(cost_s) >= min(took_s, LIMITS.task_s) * (1 - 1e-9)
