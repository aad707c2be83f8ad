"""What becomes of one task, as tables: no cluster, no clock."""

import pytest

from pipeline.errors import OutOfMemoryError, PipelineError, RetryableError
from pipeline.schedule.transport.events import (
    ClusterLost,
    Cut,
    Failed,
    Finished,
    Ready,
    Sent,
    Submitted,
    WorkerLost,
)
from tests.unit.pipeline.schedule.transport.flights import (
    RUN,
    A,
    Played,
    in_state,
    said,
)

EVENTS = {
    "finished": lambda key: Finished(key, "found", RUN, 3.0),
    "ready": Ready,
    "retryable": lambda key: Failed(key, RetryableError("not now"), 3.0, RUN),
    "broken": lambda key: Failed(key, PipelineError("a bug"), 3.0, RUN),
    "out of memory": lambda key: Failed(key, OutOfMemoryError("too large"), 3.0, RUN),
    "worker lost": lambda key: WorkerLost(key, "died"),
    "cut": lambda key: Cut(key, ("b", "c")),
    "not cut": lambda key: Cut(key, ()),
    "sent": lambda key: Sent((key,), 2.0),
    "cluster lost": lambda key: ClusterLost("it is gone"),
}
AGAIN = "warn; send a 2"
LOST = "cancel a 1; yield a 1: it is gone"
# State of the task, and what happens: its state then, and what is to be done. What is not listed
# changes nothing and asks for nothing.
MATRIX = {
    ("waiting", "sent"): ("submitted", ""),
    ("waiting", "cluster lost"): ("done", LOST),
    ("submitted", "finished"): ("done", "yield a 1: found"),
    ("submitted", "ready"): ("fetching", "fetch a 1"),
    ("submitted", "retryable"): ("waiting", AGAIN),
    ("submitted", "broken"): ("done", "yield a 1: a bug"),
    ("submitted", "out of memory"): ("splitting", "split a 1"),
    ("submitted", "worker lost"): ("waiting", AGAIN),  # nobody else is in quarantine
    ("submitted", "cluster lost"): ("done", LOST),
    ("fetching", "finished"): ("done", "yield a 1: found"),
    ("fetching", "retryable"): ("waiting", AGAIN),
    ("fetching", "broken"): ("done", "yield a 1: a bug"),
    ("fetching", "out of memory"): ("splitting", "split a 1"),
    ("fetching", "worker lost"): ("waiting", AGAIN),
    ("fetching", "cluster lost"): ("done", LOST),
    ("splitting", "cut"): ("done", "warn; send b 2; send c 2"),
    ("splitting", "not cut"): ("waiting", AGAIN),
    ("splitting", "cluster lost"): ("done", LOST),
    ("quarantined", "cluster lost"): (
        "done",
        "cancel other 2; yield other 2: it is gone; yield a 2: it is gone",
    ),
    # The one of the quarantine that is in flight.
    ("suspect", "finished"): ("done", "yield a 2: found"),
    ("suspect", "ready"): ("fetching", "fetch a 2"),
    ("suspect", "retryable"): ("waiting", "warn; send a 3"),
    ("suspect", "broken"): ("done", "yield a 2: a bug"),
    ("suspect", "out of memory"): ("splitting", "split a 2"),
    ("suspect", "worker lost"): ("waiting", "warn; send a 3"),
    ("suspect", "cluster lost"): ("done", "cancel a 2; yield a 2: it is gone"),
}
# The cluster cannot say these of what it does not have; only ``splitting`` is answered by Cut.
IMPOSSIBLE = {
    "waiting": {"finished", "retryable", "broken", "out of memory", "worker lost"},
    "splitting": {"finished", "retryable", "broken", "out of memory", "worker lost"},
}
STATES = list(dict.fromkeys(state for state, _ in MATRIX))
CASES = [
    (state, event, *MATRIX.get((state, event), (state, "")))
    for state in STATES
    for event in EVENTS
    if event not in IMPOSSIBLE.get(state, ())
]


@pytest.mark.parametrize(("state", "event", "then", "reported"), CASES)
def test_matrix(state, event, then, reported):
    played = in_state(state)
    (task,) = [
        task
        for task in [*played.state.tasks.values(), *played.state.quarantine]
        if task.task == "a"
    ]
    instructions = played.handle(EVENTS[event](task.key))
    assert said(instructions) == reported
    assert task.state == ("submitted" if then == "suspect" else then)
    n_left = sum(len(parts) for parts in (played.state.tasks, played.state.quarantine))
    assert played.state.n_in_flight == n_left == played.state.n_of_queue.total()


@pytest.mark.parametrize("event", [name for name in EVENTS if name != "cluster lost"])
@pytest.mark.parametrize("state", ["submitted", "fetching"])
def test_events_for_an_attempt_that_is_over_are_ignored(state, event):
    played = in_state(state)
    key = played.key("a")
    played.handle(Finished(key, "found", RUN, 3.0))
    assert played.handle(EVENTS[event](key)) == []
    assert played.state.n_in_flight == 0


# How often each failure is tolerated: tasks, what happens to each attempt, and how it ends.
TRIES = [
    (["retryable"] * 3, "yield a 3: not now", 2),
    (["retryable"] * 2 + ["finished"], "yield a 3: found", 2),
    (["broken"], "yield a 1: a bug", 0),
    (["worker lost"] * 3, "yield a 3: died", 2),  # the first loss may be another's fault
    (["worker lost"] * 2 + ["finished"], "yield a 3: found", 2),
    # A task that fails by itself is no longer a suspect, and losses do not count as attempts.
    (["worker lost", "worker lost", "retryable", "worker lost", "finished"], "yield a 5: found", 4),
    (
        ["retryable", "worker lost", "worker lost", "retryable", "retryable"],
        "yield a 5: not now",
        4,
    ),
]


@pytest.mark.parametrize(("events", "end", "n_failed"), TRIES)
def test_retries_are_bounded(events, end, n_failed):
    played = Played().submit("a")
    for event in events:
        played.handle(EVENTS[event](played.key("a")))
        played.sent()
    assert played.lines[-1] == end
    assert len(played.outcomes[0].failed) == n_failed
    assert [a.number for a in played.outcomes[0].failed] == list(range(1, n_failed + 1))
    assert played.state.n_in_flight == 0


def test_out_of_memory_with_nothing_smaller_is_tried_again():
    played = Played().submit("a")
    for _ in range(3):
        key = played.key("a")
        played.handle(Failed(key, OutOfMemoryError("too large"), 3.0, RUN))
        played.handle(Cut(key, ()))
        played.sent()
    assert played.lines[-1] == "yield a 3: too large"
    assert len(played.outcomes[0].failed) == 2


def test_out_of_memory_is_cut_until_it_fits_and_each_failure_is_reported_once():
    played = Played().submit(7, pin=A, queue=4)
    while played.state.tasks:
        for key, flying in list(played.state.tasks.items()):
            task = flying.task
            if task > 2:
                played.handle(Failed(key, OutOfMemoryError(f"{task} do not fit"), 3.0, RUN))
                assert played.state.n_of_queue[4] == played.state.n_in_flight
                played.handle(Cut(key, (task // 2, task - task // 2)))
            else:
                played.handle(Finished(key, task, RUN, 3.0))
            assert played.state.n_of_queue[4] == played.state.n_in_flight
        played.sent()
    assert sum(outcome.result for outcome in played.outcomes) == 7
    assert sorted(str(f.error) for outcome in played.outcomes for f in outcome.failed) == [
        "3 do not fit",
        "4 do not fit",
        "7 do not fit",
    ]
    sends = [line for line in played.lines if line.startswith("send")]
    assert all(line.endswith(f"to {A}") for line in sends)  # parts stay where the whole was bound
    assert {outcome.attempts for outcome in played.outcomes} == {3}


def test_a_poisoned_task_costs_only_itself():
    """Its worker dies, with all tasks that wait there; each is then tried alone."""
    played = Played().submit(*"abcd")
    for task in "abcd":
        played.handle(WorkerLost(played.key(task), "died"))
    alone = []
    while played.state.n_in_flight:
        (key,) = played.state.tasks  # one at a time
        played.sent()
        task = played.state.tasks[key].task
        alone.append(task)
        event = "worker lost" if task == "c" else "finished"
        played.handle(EVENTS[event](key))
    assert alone == [*"abcd", "c"]
    assert {outcome.task: outcome.error is None for outcome in played.outcomes} == {
        "a": True,
        "b": True,
        "c": False,
        "d": True,
    }
    assert [outcome.attempts for outcome in played.outcomes] == [2, 2, 2, 3]


def test_the_next_suspect_follows_whatever_becomes_of_the_one_before():
    for end in ["finished", "retryable", "broken"]:
        played = Played().submit("a", "b")
        played.handle(WorkerLost(played.key("a"), "died"))
        played.handle(WorkerLost(played.key("b"), "died"))
        played.sent()
        key = played.key("a")
        played.handle(EVENTS[end](key))
        assert played.lines[-1] == "send b 2"


def test_a_task_being_fetched_is_with_no_worker_and_not_sent_again():
    played = Played().submit("a", "b")
    for task in "ab":
        played.handle(Ready(played.key(task)))
    assert played.look(1) == played.look(500) == []


def test_after_the_cluster_is_lost_nothing_is_sent():
    played = Played().submit("a", "b", queue=2)
    played.handle(WorkerLost(played.key("a"), "died"))
    played.handle(ClusterLost("it is gone"))
    assert played.state.n_of_queue[2] == 0
    (reported,) = played.handle(Submitted("c", 5.0, queue=2))
    assert reported.outcome.submitted == 5.0
    assert str(reported.outcome.error) == "c: it is gone"
    assert played.state.n_in_flight == played.state.n_of_queue[2] == 0


def test_an_outcome_knows_when_its_attempt_was_sent():
    played = Played()
    played.handle(Submitted("a", 0.5))
    played.handle(Sent((played.key("a"),), 1.5))
    played.handle(EVENTS["retryable"](played.key("a")))
    played.handle(Sent((played.key("a"),), 4.5))
    played.handle(EVENTS["finished"](played.key("a")))
    (outcome,) = played.outcomes
    assert (outcome.submitted, outcome.run, outcome.attempts) == (4.5, RUN, 2)
    assert [(a.submitted, a.run, str(a.error)) for a in outcome.failed] == [(1.5, RUN, "not now")]
