"""Counts of a run on a real cluster: ASes left go to none, workers say what they keep."""

from __future__ import annotations

import contextlib
import time
import urllib.request

import pytest

from pipeline.schedule.cluster import open as open_
from pipeline.schedule.cluster.open import open_cluster
from pipeline.schedule.cluster.run_events import TOPIC
from pipeline.schedule.counts import RunCounts
from pipeline.schedule.run import measure
from pipeline.schedule.work.resident import kept, resident_graph
from tests.integration.measured import config_for, make_snapshot

HEARTBEATS_S = 120.0

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("store"))


def test_ases_left_go_down_to_none_and_all_searches_are_counted(snapshot, tmp_path):
    seen = []
    metrics = ("hops", "diameter", "effective_diameter", "weighted_radius")
    config = config_for(snapshot, tmp_path, workers=1, device="cpu", metrics=metrics)
    measurement = measure(snapshot, config, lambda progress: seen.append(progress.counts))
    counts = [each for each in seen if each]
    left = [each["ases_left"] for each in counts]
    assert left == sorted(left, reverse=True)
    assert left[0] == len(snapshot.asn)
    assert left[-1] == 0
    done = counts[-1]
    assert done["ases"] == len(snapshot.asn)
    assert done["searches"] == sum(measurement.tasks["n_sources"])
    assert (done["retries"], done["lost_workers"]) == (0, 0)


def keep_one(path):
    resident_graph(path, 2, "cpu")
    return kept()


def test_a_worker_says_with_its_heartbeats_what_it_keeps(snapshot, tmp_path):
    config = config_for(snapshot, tmp_path, workers=1, device="cpu")
    with open_cluster(config, snapshot.path) as cluster:
        counts = RunCounts(cluster, len(snapshot.asn), snapshot.rows_of(()))
        there = cluster.client.submit(keep_one, str(snapshot.path)).result(timeout=180)
        assert there["graphs"] == 1
        assert there["cpu_bytes"] > 0
        end = time.monotonic() + HEARTBEATS_S
        while not (now := counts.now())["resident_graphs"] and time.monotonic() < end:
            time.sleep(0.1)
    assert now["resident_graphs"] == 1
    assert now["resident_cpu_bytes"] == there["cpu_bytes"]


def told(dask_scheduler):
    return [counts for _, counts in dask_scheduler.get_events(TOPIC)]


def test_the_dashboard_has_a_page_with_what_the_run_has_told(snapshot, tmp_path, monkeypatch):
    seen = {}

    @contextlib.contextmanager
    def opened(*arguments):
        with open_cluster(*arguments) as seen["cluster"]:
            yield seen["cluster"]

    monkeypatch.setattr(open_, "open_cluster", opened)
    monkeypatch.setattr(
        RunCounts, "end", lambda counts, end=RunCounts.end: (end(counts), ask(seen["cluster"]))
    )

    def ask(cluster):
        page = urllib.request.urlopen(cluster.dashboard.replace("/status", "/hopscope"), timeout=60)
        seen["page"] = page.read().decode()
        deadline = time.monotonic() + HEARTBEATS_S
        while time.monotonic() < deadline:
            seen["told"] = cluster.client.run_on_scheduler(told)
            if seen["told"] and seen["told"][-1]["ases_left"] == 0:
                return
            time.sleep(0.1)

    measure(snapshot, config_for(snapshot, tmp_path, workers=1, device="cpu"))
    assert seen["told"][-1]["ases_left"] == 0
    assert seen["told"][-1]["tasks_left"] == 0
    assert seen["told"][-1]["ases"] == len(snapshot.asn)
    assert "data-root-id=" in seen["page"]  # of the figures
    assert '<a href="hopscope">Hopscope</a>' in seen["page"]
