import pytest

from pipeline.errors import RetryableError
from pipeline.schedule.transport.watch import Fault, Limits, Watch, Watched

LIMITS = Limits(no_worker_s=60, paused_s=60, lost_s=30, task_s=600)
A, B = "tcp://a:1", "tcp://b:1"


def looks(task, *seen):
    """Verdict on one task, key "k", of the last of several looks (time, workers, processing)."""
    watch, verdict = Watch(LIMITS), {}
    for now, workers, processing in seen:
        verdict = watch.look({"k": task}, workers, processing, now)
    return verdict.get("k")


RUNNING, PAUSED = {A: "running"}, {A: "paused"}
WITH_A, NOWHERE = {A: ["k"]}, {A: []}


@pytest.mark.parametrize(
    ("seen", "reported", "again"),
    [
        ([(1, RUNNING, WITH_A), (600, RUNNING, WITH_A)], None, None),
        ([(1, RUNNING, WITH_A), (601, RUNNING, WITH_A)], f"no answer from worker {A}", False),
        ([(1, PAUSED, WITH_A), (60, PAUSED, WITH_A)], None, None),
        ([(1, PAUSED, WITH_A), (61, PAUSED, WITH_A)], f"worker {A} has been paused", True),
        # It came back between two looks.
        ([(1, PAUSED, WITH_A), (40, RUNNING, WITH_A), (70, PAUSED, WITH_A)], None, None),
        ([(1, RUNNING, NOWHERE), (31, RUNNING, NOWHERE)], "no worker began it in 30 s", True),
        # Waiting in the scheduler while every worker is busy is not a fault.
        ([(1, RUNNING, {A: ["x"]}), (500, RUNNING, {A: ["x"]})], None, None),
        ([(1, {}, {}), (60, {}, {})], None, None),
        ([(1, {}, {}), (61, {}, {})], "no worker is left", False),
        ([(1, {}, {}), (40, RUNNING, WITH_A), (70, {}, {})], None, None),
        # Moving to another worker starts its clock anew.
        (
            [
                (1, RUNNING, WITH_A),
                (500, {B: "running"}, {B: ["k"]}),
                (900, {B: "running"}, {B: ["k"]}),
            ],
            None,
            None,
        ),
    ],
)
def test_verdicts(seen, reported, again):
    verdict = looks(Watched("bfs_AS1"), *seen)
    if reported is None:
        assert verdict is None
    else:
        error = verdict.error("bfs_AS1") if isinstance(verdict, Fault) else verdict
        assert reported in str(error)
        assert isinstance(error, RetryableError) is again


def test_a_task_bound_to_a_worker_that_is_gone_is_tried_again():
    verdict = looks(Watched("bfs_AS1", pin=B), (1, RUNNING, NOWHERE))
    assert isinstance(verdict, RetryableError)
    assert f"worker {B} is gone" in str(verdict)


def test_waiting_behind_tasks_that_end_is_no_fault():
    watch, task = Watch(LIMITS), Watched("bfs_AS1")
    for now in range(1, 5000, 500):
        assert watch.look({"k": task}, RUNNING, WITH_A, now) == {}
        watch.ended(A, now + 499)


OVERDUE = (1, RUNNING, WITH_A), (601, RUNNING, WITH_A)


def test_tasks_sent_to_a_worker_that_was_given_up_go_elsewhere():
    watch, tasks = Watch(LIMITS), {"k": Watched("bfs_AS1"), "l": Watched("bfs_AS2")}
    both = {A: "running", B: "running"}
    watch.look({"k": tasks["k"]}, both, WITH_A, 1)
    given_up = watch.look(tasks, both, {A: ["k"], B: ["l"]}, 601)
    assert list(given_up) == ["k"]
    later = watch.look({"l": tasks["l"]}, both, {A: ["l"]}, 602)
    assert later == {"l": given_up["k"]}
    assert list(watch.given_up) == [A]
    assert watch.look({"l": tasks["l"]}, {B: "running"}, {B: ["l"]}, 603) == {}
    assert watch.given_up == {}


@pytest.mark.parametrize("status", ["paused", "silent", "mute"])
def test_a_worker_that_works_again_is_used_again(status):
    watch, task = Watch(LIMITS), Watched("bfs_AS1")
    watch.look({"k": task}, PAUSED, WITH_A, 1)
    watch.look({"k": task}, {A: status}, WITH_A, 61)
    assert watch.given_up[A].kind == status
    # It is the only one: tasks that wait for it are left there.
    assert watch.look({"k": task}, {A: status}, WITH_A, 62) == {}
    assert watch.look({"k": task}, RUNNING, WITH_A, 63) == {}
    assert watch.given_up == {}


def test_if_all_workers_are_given_up_the_rest_fails():
    watch, task = Watch(LIMITS), Watched("bfs_AS1")
    for now, workers, processing in OVERDUE:
        watch.look({"k": task}, workers, processing, now)
    waiting = Watched("bfs_AS2")
    assert watch.look({"l": waiting}, RUNNING, {A: ["l"]}, 602) == {}
    verdict = watch.look({"l": waiting}, RUNNING, {A: ["l"]}, 661)["l"]
    assert not isinstance(verdict, RetryableError | Fault)
    assert "no working worker is left" in str(verdict)
    assert f"no answer from worker {A} for 600 s" in str(verdict)
