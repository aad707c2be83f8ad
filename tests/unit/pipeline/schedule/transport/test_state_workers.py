"""What becomes of tasks whose workers are lost, paused, silent or overdue, as tables."""

import pytest

from pipeline.errors import DeviceLostError, OutOfMemoryError, RetryableError
from pipeline.model.search.tasks import TaskRun
from pipeline.schedule.transport.events import (
    Ask,
    Begun,
    Cut,
    Failed,
    Finished,
    Looked,
    Silent,
    Submitted,
    Warn,
    WorkerLost,
)
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.state import URGENT
from tests.unit.pipeline.schedule.transport.flights import (
    LIMITS,
    A,
    B,
    Played,
    flight,
    in_state,
    said,
    words,
)

ALL = ("a", "b", "c")
BEGUN = "cancel a 1 b 1 c 1"
STATUS = {
    "overdue": ("running", 601),
    "paused": ("paused", 61),
    "silent": ("silent", 2),
    "mute": ("mute", 2),
}
# A worker that holds three tasks is given up: it says that it has begun b, says nothing, or is not
# even asked.
GIVEN_UP = [
    ("overdue", {"b"}, f"{BEGUN}; restart {A}; send a 1 @; yield b 1: b: !; send c 1 @"),
    ("overdue", set(), f"{BEGUN}; restart {A}; send a 1 @; send b 1 @; send c 1 @"),
    ("overdue", None, f"{BEGUN}; restart {A}; yield a 1: a: !; send b 1 @; send c 1 @"),
    ("paused", {"b"}, f"{BEGUN}; restart {A}; send a 1 @; send b 2 @; send c 1 @"),
    ("paused", None, f"{BEGUN}; restart {A}; send a 2 @; send b 1 @; send c 1 @"),
    ("silent", None, f"{BEGUN}; restart {A}; send a 2 @; send b 1 @; send c 1 @"),
    ("mute", None, f"{BEGUN}; send a 2 @; send b 1 @; send c 1 @"),
]


@pytest.mark.parametrize(("kind", "begun", "reported"), GIVEN_UP)
def test_a_worker_is_given_up(kind, begun, reported):
    played = Played().submit(*ALL)
    keys = tuple(played.key(task) for task in ALL)
    status, later = STATUS[kind]
    now = {A: status, B: "running"}
    played.look(1, {A: "running", B: "running"} if status in ("silent", "mute") else now, {A: ALL})
    if status in ("silent", "mute"):
        played.handle(Silent(frozenset({A})))
    asked = played.look(later, now, {A: ALL})
    if kind in ("overdue", "paused"):
        assert asked == [Ask(A, keys)]
        known = None if begun is None else frozenset(key for key in keys if key[0][0] in begun)
        asked = played.handle(Begun(A, keys, known))
    said_so = "; ".join(words(i) for i in asked if not isinstance(i, Warn))
    reported = reported.replace(" @", f" not to {A}")
    assert said_so == reported.replace("!", f"no answer from worker {A} for 600 s; gave up")
    assert played.state.n_in_flight == 3 - len(played.outcomes)
    # Nothing is given to it as long as that lasts.
    assert said(played.handle(Submitted("d", 2.0))) == f"send d 1 not to {A}"
    assert said(played.handle(Submitted("e", 2.0, pin=A))) == f"send e 1 not to {A}"


def test_a_worker_of_many_threads_that_does_not_answer_had_begun_as_many_and_urgent_ones_first():
    played = Played().submit("a", "b").submit("c", queue=URGENT)
    played.look(1, None, {A: ALL}, {A: 2, B: 1})
    reported = said(played.look(2, {A: "silent", B: "running"}, {A: ALL}, {A: 2, B: 1}))
    assert [line for line in reported.split("; ") if line.startswith("send")] == [
        f"send c 2 not to {A} first",
        f"send a 2 not to {A}",
        f"send b 1 not to {A}",
    ]


def test_tasks_sent_to_a_worker_after_it_was_given_up_only_go_elsewhere():
    played = Played().submit("a", "b", "c")
    played.look(1, None, {A: ["a"], B: ["b", "c"]})
    played.look(2, {A: "silent", B: "running"}, {A: ["a"], B: ["b", "c"]})
    played.sent()
    reported = said(played.look(3, {A: "silent", B: "running"}, {A: ["b", "c"], B: ["a"]}))
    assert reported == f"cancel b 1 c 1; send b 1 not to {A}; send c 1 not to {A}"


def test_a_suspect_that_waited_at_a_worker_that_is_given_up_stays_under_suspicion():
    played = in_state("suspect")
    played.look(1, None, {A: ["a"]})
    played.look(602, None, {A: ["a"]})
    key = played.key("a")
    reported = said(played.handle(Begun(A, (key,), frozenset())))
    assert reported == f"warn; cancel a 2; restart {A}; send a 2 not to {A}"
    played.sent()
    played.handle(WorkerLost(played.key("a"), "died"))
    played.sent()
    played.handle(WorkerLost(played.key("a"), "died"))
    assert played.lines[-1] == "yield a 3: died"


@pytest.mark.parametrize("kind", ["paused", "silent", "mute"])
def test_a_worker_that_works_again_is_used_again(kind):
    played = Played().submit("a")
    played.look(1, {A: kind if kind == "paused" else "running", B: "running"}, {A: ["a"]})
    played.look(62, {A: kind, B: "running"}, {A: ["a"]})
    if kind == "paused":
        played.handle(Begun(A, (played.key("a"),), frozenset()))
    assert said(played.handle(Submitted("b", 2.0))) == f"send b 1 not to {A}"
    played.sent()
    played.look(63)
    assert said(played.handle(Submitted("c", 2.0))) == "send c 1"


def test_a_worker_is_avoided_while_it_is_silent():
    played = Played().submit("a")
    played.handle(Silent(frozenset({A})))
    key = played.key("a")
    text = f"its result could not be fetched from worker {A}"
    assert (
        said(played.handle(Failed(key, RetryableError(text), 3.0))) == f"warn; send a 2 not to {A}"
    )
    played.handle(Silent(frozenset()))
    assert said(played.handle(Submitted("b", 2.0))) == "send b 1"


def end(played, task, worker, run_s):
    run = TaskRun(worker, "cpu", 0.0, run_s)
    played.handle(Finished(played.key(task), "found", run, 0.0))


def test_a_hung_task_of_50_ms_is_tried_on_two_more_workers_and_then_costs_only_itself():
    """Each attempt may take five times as long as the one before; the default limits."""
    played = Played(flight(limits=Limits()))
    played.submit("warm", "a", "b", cost_s=0.05)
    played.look(0.5, None, {A: ["warm", "a", "b"]})
    for task in ("warm", "b"):
        end(played, task, A, 0.05)
    now, waited = 1.0, []
    for number in (1, 2, 3):
        began = now
        holder = f"tcp://w{number}:1"
        played.look(began, {holder: "running", B: "running"}, {holder: ["a"]})
        while number == len(waited) + 1:
            now += 1
            asked = played.look(now, {holder: "running", B: "running"}, {holder: ["a"]})
            if asked:
                played.handle(Begun(holder, (played.key("a"),), frozenset([played.key("a")])))
                played.sent()
                waited.append(now - began)
        assert f"restart {holder}" in played.lines
    # The workers are new each time: 60 s more for the first task of each.
    assert waited == [20 + 60, 100 + 60, 500 + 60]
    (failed,) = [outcome for outcome in played.outcomes if outcome.error is not None]
    assert (failed.task, failed.attempts, len(failed.failed)) == ("a", 3, 2)
    assert "a: no answer from worker tcp://w3:1 for 560 s; gave up" in str(failed.error)
    assert played.state.n_in_flight == 0


def test_a_slow_run_has_later_deadlines():
    played = Played(flight(limits=Limits())).submit("a", cost_s=1.0)
    played.look(1, None, {A: ["a"]})
    end(played, "a", A, 100.0)  # 19 s of which may be those of a first task
    played.submit("b", cost_s=1.0)
    assert [played.look(now, None, {A: ["b"]}) for now in (100, 1000, 1700)] == [[], [], []]
    assert played.look(100 + 20 * 81, None, {A: ["b"]}) == [Ask(A, (played.key("b"),))]


BROKEN = DeviceLostError("cudaErrorECCUncorrectable")


def fail(played, task, worker):
    run = TaskRun(worker, "gpu", 0.0, 0.1)
    return said(played.handle(Failed(played.key(task), BROKEN, 0.0, run)))


def test_a_worker_whose_device_fails_is_taken_out_at_once():
    played = Played().submit(*ALL, "d", "e")
    played.look(1, None, {A: ["a", "b", "c"], B: ["d"]})
    assert fail(played, "b", A) == (
        f"warn; cancel a 1 c 1; restart {A}; send a 1 not to {A}; send c 1 not to {A}; "
        f"warn; send b 2 not to {A}"
    )
    # What had not been seen there fails too, without another restart; then nothing goes there.
    assert fail(played, "e", A) == f"warn; send e 2 not to {A}"
    played.sent()
    assert said(played.handle(Submitted("f", 2.0, pin=A))) == f"send f 1 not to {A}"
    played.look(2, None, {B: ["d", "a"]})
    assert list(played.state._watch.given_up) == [A]


def test_only_some_workers_with_a_failed_device_are_replaced():
    """A device that has failed for good fails in every process."""
    played = Played()
    for i in range(4):
        played.submit(f"t{i}")
        fail(played, f"t{i}", f"tcp://w{i}:1")
    restarted = [line for line in played.lines if line.startswith("restart")]
    assert restarted == ["restart tcp://w0:1", "restart tcp://w1:1"]
    assert played.state.n_in_flight == 4


def test_a_task_that_only_workers_given_up_may_run_fails_in_the_end():
    """Its worker has lost its device, and the others have none: it keeps coming back."""
    played = Played().submit("a", "b")
    played.look(1, None, {A: ["a", "b"]})
    fail(played, "a", A)
    now = 2
    while "a" not in {outcome.task for outcome in played.outcomes}:
        assert now < 70
        played.sent()
        played.look(now, None, {A: ["a"], B: ["b"]})
        now += 2
    (failed,) = played.outcomes
    assert f"a: no other worker may run it, and worker {A}: its device" in str(failed.error)
    assert now > LIMITS.no_worker_s


def test_parts_of_a_task_have_its_estimate():
    played = Played(flight(limits=Limits())).submit("a", cost_s=10.0)
    played.handle(Failed(played.key("a"), OutOfMemoryError("too large"), 3.0))
    played.handle(Cut(played.key("a"), ("b", "c")))
    assert {task.task: task.cost_s for task in played.state.tasks.values()} == {"b": 10, "c": 10}


def test_a_task_bound_to_a_worker_that_is_gone_is_tried_on_any():
    played = Played().submit("a", pin=A)
    assert played.state.pinned() == {A: 1}
    reported = said(played.look(1, {B: "running"}))
    assert reported == "cancel a 1; warn; send a 2"
    assert played.state.pinned() == {None: 1}


def test_a_task_that_no_worker_begins_is_sent_again():
    played = Played().submit("a")
    assert played.look(1) == []
    assert said(played.look(31)) == "cancel a 1; warn; send a 2"


def test_if_no_worker_joins_everything_fails_at_once():
    played = Played().submit(*ALL, "d")
    for task in "bcd":
        played.handle(WorkerLost(played.key(task), "died"))
    played.sent()
    for now in (1, 61):
        played.handle(Looked({}, {}, {}, now))
    assert sorted(outcome.task for outcome in played.outcomes) == [*"abcd"]
    assert all("no worker is left" in str(outcome.error) for outcome in played.outcomes)
    assert played.state.n_in_flight == 0
