"""A GPU made ready beside other work: tasks wait for it, and its faults are theirs to report."""

from __future__ import annotations

import threading

import pytest

from pipeline.schedule.work import warming


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(warming, "_thread", None)


def test_a_task_waits_until_the_gpu_is_ready(monkeypatch):
    began, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def slow(work):
        began.set()
        may_end.wait(10)
        ended.set()

    monkeypatch.setattr(warming, "_warm_up", slow)
    warming.begin(("searches",))
    warming.begin(("searches",))  # once a process
    assert began.wait(10)
    assert not ended.is_set()
    may_end.set()
    warming.wait()
    assert ended.is_set()


def test_without_a_gpu_tasks_go_on_and_say_why_themselves():
    warming.begin(("searches", "widths"))
    warming.wait()
    assert warming._thread is not None


def test_nothing_is_made_ready_for_no_work():
    warming.begin(())
    warming.wait()
    assert warming._thread is None
