"""The queue of all exact searches of a run."""

from __future__ import annotations

from types import SimpleNamespace

from pipeline.schedule.exact_search.state import ExactOptions
from pipeline.schedule.exact_search.stream import ExactStream
from pipeline.schedule.plan.costs import DEFAULTS


def test_a_scheduler_that_does_not_answer_is_not_asked_before_each_task(monkeypatch):
    clock, answers, asked = [0.0], [{"a": 2, "b": 2}, {}], []

    def n_threads():
        asked.append(clock[0])
        found = answers.pop(0)
        clock[0] += 0.0 if found else 20.0  # no answer in that time
        return found

    time = SimpleNamespace(monotonic=lambda: clock[0])
    monkeypatch.setattr("pipeline.schedule.exact_search.stream.time", time)
    stream = ExactStream(SimpleNamespace(n_threads=n_threads), [], ExactOptions(DEFAULTS), False)
    assert stream.options.n_threads == 4
    clock[0] = 3.0
    for _ in range(50):
        assert stream.next_task() is None
    assert asked == [0.0, 3.0]
    assert stream.options.n_threads == 4
