"""The dashboard's own page: rates from what a run sent, one run at a time; as a preload."""

from __future__ import annotations

import urllib.request
from types import SimpleNamespace

import pytest
from distributed import LocalCluster

from pipeline.schedule.cluster import dashboard_page
from pipeline.schedule.cluster.dashboard_page import COLUMNS, RunFigures, columns_of
from pipeline.schedule.cluster.run_events import TOPIC


def counts(searches, ases_left=5, tasks_left=3, graphs=0, n_bytes=0):
    return {
        "searches": searches,
        "ases_left": ases_left,
        "tasks_left": tasks_left,
        "resident_graphs": graphs,
        "resident_cpu_bytes": n_bytes,
        "resident_gpu_bytes": 2 * n_bytes,
    }


@pytest.fixture
def scheduler():
    events = []
    return SimpleNamespace(
        events=events,
        workers={"w": SimpleNamespace(processing={"a": 1, "b": 2})},
        get_events=lambda topic: tuple(events) if topic == TOPIC else (),
    )


def test_searches_a_second_are_those_since_the_event_before():
    found = columns_of([(10.0, counts(0)), (12.0, counts(100)), (12.5, counts(150, 1))])
    assert found["searches_s"] == [0.0, 50.0, 100.0]
    assert found["ases_left"] == [5, 5, 1]
    assert found["time"] == [10_000, 12_000, 12_500]


def test_a_run_after_another_is_shown_alone():
    found = columns_of([(10.0, counts(900)), (11.0, counts(0)), (12.0, counts(7))])
    assert found["time"] == [11_000, 12_000]
    assert found["searches_s"] == [0.0, 7.0]


def test_two_events_at_one_moment_have_no_rate():
    assert columns_of([(10.0, counts(0)), (10.0, counts(5))])["searches_s"] == [0.0, 0.0]


def test_before_a_run_the_page_says_that_there_is_none(scheduler):
    shown = RunFigures(scheduler)
    assert shown.searches.title.text == "0 searches per second (no run yet)"
    assert set(shown.source.data) == set(COLUMNS)


def test_titles_and_scales_follow_the_newest_counts(scheduler):
    shown = RunFigures(scheduler)
    scheduler.events += [(10.0, counts(0, 1000)), (11.0, counts(2500, 7, 4, 3, 10**6))]
    shown.update()
    assert shown.searches.title.text == "2,500 searches per second"
    assert shown.ases.title.text == "7 ASes left"
    assert shown.tasks.title.text == "4 tasks left, 2 at workers"
    assert shown.graphs.title.text == "3 graphs kept by workers, 2.9 MiB"
    assert shown.ases.y_range.end == pytest.approx(1100)
    assert shown.source.data["ases_left"] == [1000, 7]
    scheduler.events.append((12.0, counts(2500, 1, 1, 1, 10**6)))
    shown.update()
    titles = [each.title.text for each in (shown.ases, shown.tasks, shown.graphs)]
    assert titles == ["1 AS left", "1 task left, 2 at workers", "1 graph kept by workers, 2.9 MiB"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_scheduler_that_has_it_as_a_preload_shows_the_page():
    scheduler = {"preload": [dashboard_page.__name__]}  # as of ``dask scheduler``
    with LocalCluster(
        n_workers=0,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs=scheduler,
    ) as cluster:
        status = cluster.dashboard_link
        pages = [status, status.replace("/status", "/hopscope")]
        found = [urllib.request.urlopen(page, timeout=60).read().decode() for page in pages]
    assert all('<a href="hopscope">Hopscope</a>' in page for page in found)
    assert "data-root-id=" in found[1]  # of the figures
