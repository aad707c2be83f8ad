"""Reports of a long run before its first task has ended."""

from types import SimpleNamespace

import numpy as np
import pytest

from pipeline.model.progress import MOST_SHARE
from pipeline.model.words import rough_duration
from pipeline.schedule import progress as telling_module
from pipeline.schedule.plan import stream as stream_module
from pipeline.schedule.plan.stream import Stream
from pipeline.schedule.progress import RunProgress


def plan_of(kind, *cost_s):
    return SimpleNamespace(
        device=np.zeros(len(cost_s), np.int8),
        cost_s=np.array(cost_s, float),
        n_units=len(cost_s),
        unit="ASes",
        task=lambda i: SimpleNamespace(name=f"{kind}_AS{i}", kind=kind),
    )


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1000.0)
    time = SimpleNamespace(monotonic=lambda: clock.now)
    monkeypatch.setattr(stream_module, "time", time)
    monkeypatch.setattr(telling_module, "time", time)
    return clock


def test_work_that_is_expected_is_reported_before_anything_has_ended(clock, caplog):
    reported = []
    stream = Stream([plan_of("widths", 17_640, 900, 60), plan_of("effective", 700, 40)])
    run_progress = RunProgress(
        reported.append, stream, 2, "on 2 workers, http://127.0.0.1:8787/status"
    )
    run_progress.begin()
    assert reported[0].detail.endswith("/status, expected to take about 4.9 h")
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith(
        "widths_AS0 is one task of about 4.9 h; to shorten it: --max-searches"
    )
    assert lines[1].startswith("widths_AS1 is one task of about 15 min")
    assert "effective_AS0" in lines[2]
    assert "effective_diameter" in lines[2]
    assert len(lines) == 3
    tasks = iter(stream)
    first, second = next(tasks), next(tasks)
    assert (stream.cost_of(first), stream.cost_of(second)) == (17_640, 900)
    clock.now += 450
    run_progress.beat()
    # 450 s of each of the two that run, of 19,340.
    assert reported[-1].done == 0
    assert reported[-1].share == pytest.approx(900 / 19_340)
    assert reported[-1].detail == "0 of 5 tasks; 5 % of about 4.9 h expected"
    clock.now += 10_000
    run_progress.ended(second, 1, is_exact=False)
    assert stream.cost_of(second) is None
    assert reported[-1].share == pytest.approx((900 + 10_450) / 19_340)
    before = reported[-1].share
    clock.now += 10_000
    run_progress.ended(first, 2, is_exact=False)
    assert reported[-1].detail.startswith("widths_AS0, 2 of 5 tasks; 96 % of")
    assert reported[-1].share == pytest.approx((900 + 17_640) / 19_340)
    assert reported[-1].share > before


def test_a_task_that_takes_longer_than_expected_is_not_done(clock):
    reported = []
    stream = Stream([plan_of("widths", 1, 1)], 1)
    run_progress = RunProgress(reported.append, stream, 2, "on 2 workers")
    first, second = stream
    clock.now += 100
    run_progress.ended(first, 0, is_exact=False)
    assert reported[-1].share == MOST_SHARE
    run_progress.ended(second, stream.n_units, is_exact=False)
    clock.now += 100
    run_progress.beat()
    assert reported[-1].share == 1


def test_exact_searches_and_parts_are_not_counted_as_tasks_that_were_planned(clock):
    reported = []
    stream = Stream([plan_of("widths", 1, 1)], 1)
    run_progress = RunProgress(reported.append, stream, 2, "on 2 workers")
    run_progress.begin()
    assert reported[0].detail == "2 workers"
    clock.now += 1
    run_progress.beat()  # a short run reports only what has ended
    assert len(reported) == 1
    exact = SimpleNamespace(name="ecc_AS7")
    for _ in range(20):
        clock.now += 1
        run_progress.ended(exact, 0, is_exact=True)
    assert reported[-1].detail == "ecc_AS7, 0 of 2 tasks, 20 exact searches"
    for _ in range(3):  # one was split for lack of memory
        clock.now += 1
        run_progress.ended(SimpleNamespace(name="widths_AS1"), 3, is_exact=False)
    assert reported[-1].detail == "widths_AS1, 3 of 3 tasks, 20 exact searches"
    run_progress.end()
    assert reported[-1].detail == "23 tasks on 2 workers"


def test_while_exact_searches_are_open_no_share_says_how_long_the_rest_takes(clock):
    reported, open_ones = [], [7, 8]
    stream = Stream([plan_of("widths", 90, 1)], 2)
    run_progress = RunProgress(reported.append, stream, 1, "in threads", n_open=open_ones.__len__)
    run_progress.begin()
    assert reported[-1].detail == "in threads, expected to take about 2 min without exact searches"
    for is_timed in (False, True):
        clock.now += 1
        open_ones.pop()
        run_progress.ended(SimpleNamespace(name="ecc_AS7"), 1, is_exact=True)
        assert reported[-1].is_timed == is_timed


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (89, "89 s"),
        (2460, "41 min"),
        (5399, "90 min"),
        (17_640, "4.9 h"),
        (673_200, "7.8 days"),
    ],
)
def test_durations(seconds, text):
    assert rough_duration(seconds) == text
