import pytest

from pipeline.errors import RetryableError
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.watch import Fault, Watch, Watched

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
        # Moving to another worker restarts its clock.
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


DEADLINES = Limits(task_s=3600, least_s=20, first_s=100, factor=20, patience=5)


@pytest.mark.parametrize(
    ("costs", "tries", "has_ended", "held_s", "is_final"),
    [
        ((0.05,), 1, True, 20, False),
        ((0.05,), 2, True, 100, False),
        ((0.05,), 1, False, 120, False),  # its first: it may compile
        ((0.05, 10), 1, True, 200, False),  # which of them it has begun is not known
        ((0.05, None), 1, True, 3600, True),
        ((900,), 1, True, 3600, True),
    ],
)
def test_a_worker_is_overdue_by_the_largest_task_that_it_holds(
    costs, tries, has_ended, held_s, is_final
):
    watch = Watch(DEADLINES)
    if has_ended:
        watch.ended(A, 0, 0.05, 0.01)
    tasks = {f"t{i}": Watched(f"t{i}", cost_s=c, tries=tries) for i, c in enumerate(costs)}
    look = lambda now: watch.look(tasks, {A: "running", B: "running"}, {A: [*tasks]}, now)  # noqa: E731
    assert look(1) == look(held_s) == {}
    verdicts = look(1 + held_s)
    assert {fault.kind for fault in verdicts.values()} == {"overdue"}
    error = verdicts["t0"].error("t0")
    assert isinstance(error, RetryableError) is not is_final
    assert f"no answer from worker {A} for {held_s} s" in str(error)


def test_workers_of_a_slow_machine_are_kept():
    """Every task takes 300 times what was expected."""
    watch, both = Watch(DEADLINES), {A: "running", B: "running"}
    for i in range(10):
        task = Watched(f"t{i}", cost_s=0.3)
        for now in range(90 * i, 90 * i + 90):
            assert watch.look({"k": task}, both, WITH_A, now + 1) == {}
        watch.ended(A, 90 * i + 90, 0.3, 90.0)
    assert watch.deadlines.slowdown == 90.0


def test_a_stopped_worker_that_holds_small_tasks_is_given_up_soon():
    watch, task = Watch(DEADLINES), Watched("t", cost_s=0.05)
    both = {A: "running", B: "running"}
    assert watch.look({"k": task}, both, WITH_A, 1, {A: 0.0, B: 0.5}) == {}
    assert watch.look({"k": task}, both, WITH_A, 20, {A: 19.0, B: 0.5}) == {}
    fault = watch.look({"k": task}, both, WITH_A, 21, {A: 20.0, B: 0.5})["k"]
    assert (fault.kind, fault.ends, fault.answers) == ("silent", True, False)
    assert isinstance(fault.error("t"), RetryableError)
    # It stays given up until it is heard again.
    assert watch.look({}, both, NOWHERE, 23, {A: 22.0, B: 0.5}) == {}
    assert list(watch.given_up) == [A]
    watch.look({}, both, NOWHERE, 25, {A: 0.5, B: 0.5})
    assert watch.given_up == {}


def test_a_worker_with_large_tasks_or_none_may_be_quiet_for_longer():
    watch, task = Watch(DEADLINES), Watched("t", cost_s=10)
    both = {A: "running", B: "running"}
    for now in range(1, 119, 2):
        assert watch.look({"k": task}, both, WITH_A, now, {A: now, B: now}) == {}
    assert watch.given_up == {}
    assert watch.look({"k": task}, both, WITH_A, 121, {A: 121, B: 121})["k"].kind == "silent"
    assert list(watch.given_up) == [A]  # B holds nothing


def test_a_worker_that_was_overdue_is_used_again_once_it_has_ended_its_task():
    watch, both = Watch(DEADLINES), {A: "running", B: "running"}
    watch.ended(A, 0, 0.05, 0.01)
    task = Watched("t", cost_s=0.05)
    watch.look({"k": task}, both, WITH_A, 1)
    assert watch.look({"k": task}, both, WITH_A, 21, free=[B])["k"].kind == "overdue"
    watch.look({}, both, NOWHERE, 22, free=[B])
    assert list(watch.given_up) == [A]
    watch.look({}, both, NOWHERE, 23, free=[A, B])
    assert watch.given_up == {}


def test_a_worker_that_begins_nothing_is_given_up_for_good():
    watch, both = Watch(DEADLINES), {A: "running", B: "running"}
    watch.ended(A, 0, 0.05, 0.01)
    task = Watched("t", cost_s=0.05)
    for now in (1, 21, 22, 23):
        watch.look({"k": task} if now < 22 else {}, both, WITH_A, now, free=[A, B])
    assert watch.given_up[A].kind == "overdue"
