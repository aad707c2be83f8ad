"""Threads that share the work of a call: how many, and what becomes of their errors."""

from __future__ import annotations

import pytest

from kernels._cpu import threads


def test_threads_are_set_by_number_or_environment(monkeypatch):
    monkeypatch.delenv("HOPSCOPE_THREADS", raising=False)
    assert threads.n_threads() == threads.n_cores() >= 1
    monkeypatch.setenv("HOPSCOPE_THREADS", "3")
    assert threads.n_threads() == 3
    threads.use_threads(2)
    try:
        assert threads.n_threads() == 2
    finally:
        threads.use_threads(None)
    with pytest.raises(ValueError, match="0 threads: give 1 or more"):
        threads.use_threads(0)


def test_an_error_of_any_thread_is_raised():
    def fail(item):
        raise KeyError(item)

    for size in (1, 3):
        with threads.Team(size) as team, pytest.raises(KeyError):
            team.run(fail, range(10))


def test_results_come_in_the_order_of_the_items():
    for size in (1, 4):
        with threads.Team(size) as team:
            assert team.map(lambda item: item * item, range(50)) == [i * i for i in range(50)]
            assert team.map(str, []) == []
