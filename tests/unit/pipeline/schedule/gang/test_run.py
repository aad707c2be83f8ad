"""Which workers a gang gets: those that were started again in the run too."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pipeline.schedule.gang import run
from pipeline.schedule.gang.rank import GangTask
from pipeline.schedule.gang.run import GangJob, Gangs


class FakeCluster:
    """Workers that come and go; a stranger is known once it has been met."""

    def __init__(self, gpus, own=True):
        self.own = own
        self.there = set(gpus)
        self.facts = {worker: {"gpu": "H200"} for worker in gpus}
        self.kinds = {}

    def n_threads(self):
        return dict.fromkeys(self.there, 1)

    def meet(self, workers):
        for worker in set(workers) - self.facts.keys():
            self.facts[worker] = {"gpu": self.kinds.get(worker, "H200")}


def job(device):
    given = {field.name: None for field in dataclasses.fields(GangTask)}
    task = GangTask(**given | {"name": "gang", "device": device, "sources": np.arange(2)})
    return GangJob(task, 1, 2, "requested")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(run, "REPLACED_S", 0.2)


def test_a_replaced_gpu_worker_takes_a_rank():
    cluster = FakeCluster(["a", "b"])
    gangs = Gangs(cluster)
    assert gangs._workers(job("gpu"), 2) == ["a", "b"]
    gangs._given_up.add("b")
    cluster.there = {"a", "b", "c"}
    assert gangs._workers(job("gpu"), 2) == ["a", "c"]


def test_a_replaced_worker_without_a_gpu_takes_none():
    cluster = FakeCluster(["a", "b"])
    cluster.there, cluster.kinds = {"a", "c"}, {"c": ""}
    assert Gangs(cluster)._workers(job("gpu"), 2) == ["a"]


def test_a_worker_that_is_being_started_again_is_waited_for():
    cluster = FakeCluster(["a", "b"])
    looks = []

    def n_threads():
        looks.append(1)
        return dict.fromkeys(["a", "d"] if len(looks) > 2 else ["a"], 1)

    cluster.n_threads = n_threads
    assert Gangs(cluster)._workers(job("cpu"), 2) == ["a", "d"]
    assert len(looks) == 3


def test_others_clusters_start_nothing_again_and_are_not_waited_for():
    cluster = FakeCluster(["a", "b"], own=False)
    cluster.there = {"a"}
    assert Gangs(cluster)._workers(job("cpu"), 2) == ["a"]
