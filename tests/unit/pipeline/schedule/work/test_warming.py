"""A GPU made ready beside other work: tasks wait for it, and its faults are theirs to report."""

from __future__ import annotations

import threading

import pytest

from pipeline.metrics import WORK_VARIABLE
from pipeline.schedule.work import ready, resident, warming


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(ready, "_thread", None)


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
    ready.wait()
    assert ended.is_set()


def test_without_a_gpu_tasks_go_on_and_say_why_themselves():
    warming.begin(("searches", "widths"))
    ready.wait()
    assert ready._thread is not None


def test_nothing_is_made_ready_for_no_work():
    warming.begin(())
    ready.wait()
    assert ready._thread is None


class Graphs:
    """A graph, a shard and the snapshot of both, which note what is done with them."""

    n_nodes, n_arcs, graph_hash = 1, 0, ("f00",)

    def __init__(self):
        self.done = []

    def graph(self, row, n_threads):
        self.done.append("read")
        return self

    shard = graph

    def to(self, device, arcs_on_host=False):
        self.done.append(device)
        return self


def test_graphs_are_read_while_the_gpu_is_made_ready(monkeypatch):
    graphs = Graphs()
    monkeypatch.setattr(resident, "snapshot_at", lambda path: graphs)
    monkeypatch.setattr(resident, "_gpu_bytes", lambda: 1 << 30)
    monkeypatch.setattr(resident, "resident", lambda device: resident.Resident(lambda: 1 << 20))
    monkeypatch.setattr(ready, "wait", lambda: graphs.done.append("ready"))
    resident.resident_graph("s", 0, "gpu")
    resident.read_shard("s", [0, 1], "gpu")
    assert graphs.done == 2 * ["read", "ready", "gpu"]


def test_a_worker_of_ours_gets_its_gpu_ready_before_it_joins_the_cluster(monkeypatch):
    begun = []
    monkeypatch.setattr(warming, "begin", begun.append)
    for wanted in ("widths searches", ""):
        monkeypatch.setenv(WORK_VARIABLE, wanted)
        warming.dask_setup(None)
    assert begun == [["searches", "widths"], []]
