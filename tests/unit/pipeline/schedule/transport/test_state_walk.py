"""Anything may happen in any order: each task has one outcome, and nothing is left in flight."""

import random
from collections import Counter

import pytest

from pipeline.errors import DeviceLostError, OutOfMemoryError, PipelineError, RetryableError
from pipeline.model.search.tasks import TaskRun
from pipeline.schedule.transport.events import (
    Ask,
    Begun,
    Cancel,
    ClusterLost,
    Cut,
    Failed,
    Fetch,
    Finished,
    Looked,
    Ready,
    Restart,
    Send,
    Sent,
    Silent,
    Split,
    Submitted,
    WorkerLost,
    Yield,
)
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.state import URGENT, FlightState

MAX_ATTEMPTS = 3
# A try ends by itself, or with the third worker that it loses: at first, then twice in quarantine.
MAX_NUMBER = 3 * MAX_ATTEMPTS
LIMITS = Limits(no_worker_s=40, paused_s=10, lost_s=20, task_s=100, least_s=10, first_s=20)
N_STEPS = 400


class Task:
    """Worth ``size``; compared by identity, as tasks are."""

    def __init__(self, size):
        self.size = size


class Cluster:
    """Workers with random behaviour, and a client that follows instructions.

    It checks as it goes that no task is sent twice at once, is yielded twice, or tried forever.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.flight = FlightState(lambda task: f"{id(task)}-run", MAX_ATTEMPTS, LIMITS)
        self.now = 1.0
        self.status = {f"tcp://w{i}:1": "running" for i in range(4)}
        self.n_workers_ever = 4
        self.live = {}  # tasks that have no outcome, by id
        self.first = {}  # number of their first attempts
        self.outbox, self.keys = [], {}  # attempts not sent; attempts not over: their tasks
        self.place, self.begun, self.fetching = {}, set(), set()
        self.over = []  # attempts that have ended
        self.n_outcomes, self.n_cut = Counter(), 0
        self.n_submitted = 0

    def handle(self, event):
        if (key := getattr(event, "key", None)) and not isinstance(event, Ready | Cut):
            self.forget(key)
        for instruction in self.flight.handle(event):
            self.do(instruction)
        assert self.flight.n_in_flight == len(self.live) == self.flight.n_of_queue.total()
        waiting = len(self.flight.quarantine)
        assert not waiting or self.flight.suspect is not None
        assert waiting + len(self.flight.tasks) == len(self.live)

    def forget(self, key):
        self.keys.pop(key, None)
        self.place.pop(key, None)
        self.fetching.discard(key)
        self.over.append(key)

    def do(self, instruction):
        match instruction:
            case Send(key, task):
                assert id(task) in self.live
                assert key not in self.keys
                assert key not in self.over
                assert all(other is not task for other in self.keys.values()), "sent twice at once"
                first = self.first.setdefault(id(task), key[2])  # parts continue the number
                assert key[2] - first < MAX_NUMBER, "tried forever"
                self.keys[key] = task
                self.outbox.append((key, instruction))
            case Cancel(keys):
                for key in keys:
                    self.forget(key)
                self.outbox = [sent for sent in self.outbox if sent[0] not in keys]
            case Fetch(key):
                assert key in self.keys
                self.fetching.add(key)
            case Split(key, task):
                parts = ()
                if task.size > 1 and self.random.random() < 0.8:
                    parts = (Task(task.size // 2), Task(task.size - task.size // 2))
                    del self.live[id(task)], self.first[id(task)]
                    self.live |= {id(part): part for part in parts}
                self.n_cut += bool(parts)
                self.handle_nested(Cut(key, parts))
            case Ask(worker, keys):
                begun = frozenset(key for key in keys if key in self.begun)
                answer = begun if self.random.random() < 0.8 else None
                self.handle_nested(Begun(worker, keys, answer))
            case Restart(worker):
                self.die(worker)
                self.join()
            case Yield(outcome):
                assert id(outcome.task) in self.live, "yielded twice, or never submitted"
                task = self.live.pop(id(outcome.task))
                self.n_outcomes[task] += 1
                assert (outcome.error is None) == (outcome.result is not None)
                assert outcome.attempts - self.first.pop(id(task), 1) < MAX_NUMBER

    def handle_nested(self, event):
        """The answer to an instruction: the rest of these is still to be done."""
        for instruction in self.flight.handle(event):
            self.do(instruction)

    def join(self):
        self.n_workers_ever += 1
        self.status[f"tcp://w{self.n_workers_ever}:1"] = "running"

    def die(self, worker):
        self.status.pop(worker, None)
        return [key for key, place in self.place.items() if place == worker]

    # What may happen.

    def submit(self):
        task = Task(self.random.randint(1, 8))
        self.live[id(task)] = task
        self.n_submitted += 1
        pin = self.random.choice([None, None, *self.status])
        queue = self.random.choice([URGENT, 0, 1])
        cost_s = self.random.choice([None, 0.05, 3.0, 30.0])
        self.handle(Submitted(task, self.now, queue, pin, cost_s))

    def flush(self):
        outbox, self.outbox = self.outbox, []
        self.handle(Sent(tuple(key for key, _ in outbox), self.now))
        for key, send in outbox:
            able = [send.pin] if send.pin else [w for w in self.status if w not in send.avoid]
            able = [worker for worker in able or self.status if worker in self.status]
            if able:
                self.place[key] = self.random.choice(able)

    def begin(self):
        if ready := list(self.place):
            self.begun.add(self.random.choice(ready))

    def end(self):
        if not (running := [k for k in self.place if k in self.begun and k not in self.fetching]):
            return
        key = self.random.choice(running)
        run = TaskRun(self.place[key], "cpu", self.now, self.now + self.random.random())
        match self.random.choice(
            ["small", "small", "large", "retryable", "memory", "device", "broken"]
        ):
            case "small":
                self.handle(Finished(key, "found", run, self.now))
            case "large":
                del self.place[key]
                self.handle(Ready(key))
            case "retryable":
                self.handle(Failed(key, RetryableError("not now"), self.now, run))
            case "memory":
                self.handle(Failed(key, OutOfMemoryError("too large"), self.now, run))
            case "device":
                self.handle(Failed(key, DeviceLostError("it fell off the bus"), self.now, run))
            case "broken":
                self.handle(Failed(key, PipelineError("a bug"), self.now, run))

    def fetch(self):
        if self.fetching:
            key = self.random.choice(sorted(self.fetching))
            run = TaskRun("tcp://w1:1", "cpu", self.now, self.now)
            if self.random.random() < 0.7:
                self.handle(Finished(key, "found", run, self.now))
            else:
                self.handle(Failed(key, RetryableError("lost with its worker"), self.now))

    def kill(self):
        if self.status and self.random.random() < 0.5:
            for key in self.die(self.random.choice(sorted(self.status))):
                if key in self.keys:
                    self.handle(WorkerLost(key, "died"))
        elif len(self.status) < 5:
            self.join()

    def pause(self):
        if self.status:
            worker = self.random.choice(sorted(self.status))
            self.status[worker] = self.random.choice(
                ["running", "running", "paused", "silent", "mute"]
            )

    def look(self):
        self.now += self.random.choice([1, 5, 15, 50])
        silent = {w for w, status in self.status.items() if status in ("silent", "mute")}
        self.handle(Silent(frozenset(silent)))
        processing = {worker: [] for worker in self.status}
        for key, worker in self.place.items():
            if worker in processing:
                processing[worker].append(key)
        threads = dict.fromkeys(self.status, 1)
        quiet = {w: self.random.choice([0, 0, 0, 10, 30]) for w in self.status}
        free = frozenset(w for w in self.status if self.random.random() < 0.5)
        self.handle(Looked(threads, dict(self.status), processing, self.now, quiet, free))

    def late(self):
        """Something comes for an attempt that is over."""
        if self.over:
            key = self.random.choice(self.over)
            run = TaskRun("tcp://w1:1", "cpu", self.now, self.now)
            events = [
                Finished(key, "late", run, self.now),
                Failed(key, RetryableError("late"), self.now),
                WorkerLost(key, "late"),
                Ready(key),
                Cut(key, ()),
            ]
            assert self.flight.handle(self.random.choice(events)) == []

    def lose(self):
        self.handle(ClusterLost("it is gone"))

    def settle(self):
        """Nothing is submitted any longer, and all workers work."""
        self.status = dict.fromkeys(self.status or ["tcp://w0:1"], "running")
        for _ in range(10_000):
            if not self.live:
                return
            for step in (self.flush, self.begin, self.end, self.fetch):
                step()
            if self.random.random() < 0.1:
                self.look()
        raise AssertionError(f"{len(self.live)} tasks never end")


STEPS = {
    Cluster.submit: 20,
    Cluster.flush: 20,
    Cluster.begin: 25,
    Cluster.end: 15,
    Cluster.fetch: 6,
    Cluster.kill: 2,
    Cluster.pause: 2,
    Cluster.look: 3,
    Cluster.late: 3,
}


@pytest.mark.parametrize("seed", range(60))
def test_each_task_has_one_outcome_whatever_happens(seed):
    cluster = Cluster(seed)
    steps = cluster.random.choices(list(STEPS), list(STEPS.values()), k=N_STEPS)
    for i, step in enumerate(steps):
        if seed % 6 == 5 and i == N_STEPS * 3 // 4:
            cluster.lose()
        step(cluster)
    cluster.settle()
    assert cluster.flight.n_in_flight == cluster.flight.n_of_queue.total() == 0
    assert not cluster.flight.tasks
    assert not cluster.keys, "an attempt is left with the scheduler"
    assert set(cluster.n_outcomes.values()) == {1}
    assert len(cluster.n_outcomes) == cluster.n_submitted + cluster.n_cut
