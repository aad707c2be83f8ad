import threading
import time
from collections import defaultdict
from dataclasses import dataclass

import pytest
from distributed import Client, LocalCluster, get_worker

from pipeline.errors import ClusterLostError, FormatError, OutOfMemoryError, RetryableError
from pipeline.schedule.transport.drive import SCHEDULES, drive, drive_barrier, drive_striding
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.remote.attempt import MAX_POSTED_BYTES
from pipeline.schedule.transport.remote.carrier import SPAN
from pipeline.schedule.transport.remote.connection import Connection
from pipeline.schedule.transport.window import FEW

# A cluster in this process: tasks share these with the tests.
CALLS: dict[int, int] = defaultdict(int)
LOCK = threading.Lock()
LATE_TASK_RAN = threading.Event()
STARTED: list[int] = []
BOTH_RUN = threading.Event()
PLACE: dict[int, str] = {}

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def _fresh():
    CALLS.clear()
    STARTED.clear()
    PLACE.clear()
    LATE_TASK_RAN.clear()
    BOTH_RUN.clear()


def feed(tasks):
    tasks = iter(tasks)
    return lambda: next(tasks, None)


def run_with_faults(task):
    with LOCK:
        CALLS[task] += 1
        call = CALLS[task]
    if task == 30:
        LATE_TASK_RAN.set()
    if task == 0 and not LATE_TASK_RAN.wait(timeout=180):
        raise RuntimeError("task 30 did not run while task 0 was running: there is a barrier")
    if task % 10 == 3 and call < 3:
        raise RetryableError(f"task {task}: no memory now")
    if task == 17:
        raise FormatError("x", "line 1", "bad")
    if task == 18:
        raise ZeroDivisionError("a bug")
    if task == 19:
        raise RetryableError("never")
    if task == 20:
        raise OutOfMemoryError("20 do not fit")
    return task * task


def test_a_slow_task_does_not_delay_others_and_errors_become_outcomes(client):
    tasks = feed(range(40))
    options = {"window": 4, "smaller": lambda task: [task + 80, task + 81] if task == 20 else []}
    outcomes = {o.task: o for o in drive(client, run_with_faults, tasks, name="a", **options)}
    assert sorted(outcomes) == [*(task for task in range(40) if task != 20), 100, 101]
    (too_large,) = outcomes[100].failed + outcomes[101].failed
    assert isinstance(too_large.error, OutOfMemoryError)
    assert outcomes[101].result == 101 * 101
    assert outcomes[0].error is None
    assert outcomes[23].result == 529
    assert outcomes[23].attempts == 3
    assert [attempt.number for attempt in outcomes[23].failed] == [1, 2]
    assert isinstance(outcomes[17].error, FormatError)
    assert outcomes[17].attempts == CALLS[17] == 1
    assert "ZeroDivisionError: a bug" in str(outcomes[18].error)
    assert isinstance(outcomes[19].error, RetryableError)
    assert outcomes[19].attempts == CALLS[19] == 3
    assert outcomes[5].run.worker in client.scheduler_info()["workers"]
    assert outcomes[5].submitted <= outcomes[5].run.started <= outcomes[5].run.ended


def test_tasks_that_appear_late_are_run(client):
    todo, seen = [1], []
    next_task = lambda: todo.pop() if todo else None  # noqa: E731
    for outcome in drive(client, abs, next_task, name="b", window=2):
        seen.append(outcome.task)
        if outcome.task < 8:
            todo.append(outcome.task * 2)
    assert seen == [1, 2, 4, 8]


def run_and_note(task):
    with LOCK:
        STARTED.append(task)
        PLACE[task] = get_worker().address
    return task


def test_striding_gives_each_worker_its_share(client):
    tasks = feed(range(20))
    outcomes = list(drive_striding(client, run_and_note, tasks, name=lambda task: f"bfs_AS{task}"))
    assert sorted(outcome.task for outcome in outcomes) == list(range(20))
    workers = sorted(client.scheduler_info()["workers"])
    assert PLACE == {task: workers[task % 2] for task in range(20)}
    on_the_dashboard = client.run_on_scheduler(_prefixes)
    assert {f"bfs_AS{task}" for task in range(20)} <= on_the_dashboard


def _prefixes(dask_scheduler):
    return set(dask_scheduler.task_prefixes)


def run_two_at_once(task):
    run_and_note(task)
    if task == 0:
        LATE_TASK_RAN.wait(timeout=1)
    if task == 2:
        LATE_TASK_RAN.set()
    return LATE_TASK_RAN.is_set()


def test_barrier_starts_the_next_batch_after_the_whole_batch(client):
    outcomes = list(drive_barrier(client, run_two_at_once, feed(range(6)), name="d"))
    results = {outcome.task: outcome.result for outcome in outcomes}
    # Task 2 cannot start while task 0 waits for it.
    assert results[0] is False
    assert results[1] is False
    assert all(results[task] for task in (2, 4, 5))
    batches = [set(STARTED[i : i + 2]) for i in range(0, 6, 2)]
    assert batches == [{0, 1}, {2, 3}, {4, 5}]


def test_runs_at_once_on_one_scheduler_do_not_share_results(client):
    found = {}

    def drive_one(schedule, offset):
        outcomes = SCHEDULES[schedule](
            client, (offset).__add__, feed(range(30)), name="bfs_AS1", window=2
        )
        found[offset] = {outcome.task: outcome.result for outcome in outcomes}

    runs = [(schedule, 100 * i) for i, schedule in enumerate([*SCHEDULES, "free"])]
    threads = [threading.Thread(target=drive_one, args=run) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=240)
    assert found == {offset: {task: task + offset for task in range(30)} for _, offset in runs}


def run_slowly(task):
    if task and not LATE_TASK_RAN.wait(timeout=180):
        raise RuntimeError("nobody stopped us")
    with LOCK:
        CALLS[task] += 1
    return task


def test_stopping_early_cancels_what_is_in_flight(client):
    outcomes = drive(client, run_slowly, feed(range(10)), name="e", window=6)
    assert next(outcomes).task == 0
    # A task that were still on its way would come after the look at what waits on the workers.
    until_none(lambda: client.run_on_scheduler(_sent) - _held(client.run(_tasks_there)))
    assert any(client.run(_n_waiting).values())
    outcomes.close()
    until_none(lambda: client.run_on_scheduler(_n_known))
    until_none(lambda: sum(client.run(_n_waiting).values()))
    LATE_TASK_RAN.set()
    assert list(drive(client, abs, feed([-7]), name="f")) != []
    assert sum(CALLS.values()) <= 3  # tasks that already ran cannot be stopped; nothing else starts


def until_none(count):
    """Releases and cancellations travel in the background."""
    for _ in range(200):
        if not count():
            return
        time.sleep(0.05)
    raise AssertionError(f"{count()} are left after 10 s")


def _sent(dask_scheduler):
    workers = dask_scheduler.workers.values()
    return {task.key for worker in workers for task in worker.processing}


def _tasks_there(dask_worker):
    return set(dask_worker.state.tasks)


def _held(tasks_by_worker):
    return set().union(*tasks_by_worker.values())


def _n_waiting(dask_worker):
    return sum(task.state in ("ready", "waiting") for task in dask_worker.state.tasks.values())


def _n_subscribed(dask_scheduler, topic):
    return len(dask_scheduler._broker._topics[topic].subscribers)


def test_small_results_are_posted_large_ones_fetched_and_none_is_kept(client, monkeypatch):
    fetched = []  # keys: a future that is held keeps its result

    def fetch(self, futures):
        fetched.extend(future.key for future in futures)
        fetch_results(self, futures)

    fetch_results = Connection.fetch
    monkeypatch.setattr(Connection, "fetch", fetch)
    sizes = [10, 3 * MAX_POSTED_BYTES, 20, 4 * MAX_POSTED_BYTES] * 5
    outcomes = list(drive(client, bytes, feed(sizes), name="h"))
    assert sorted(len(outcome.result) for outcome in outcomes) == sorted(sizes)
    assert len(fetched) == 10
    until_none(lambda: client.run_on_scheduler(_n_known))
    until_none(lambda: client.run_on_scheduler(_n_subscribed, topic=client.id))


def _n_known(dask_scheduler):
    return len(dask_scheduler.tasks)


def test_a_queue_for_other_workers_does_not_hold_up_tasks(client):
    """Long tasks for one worker fill their own window; the other worker's tasks all run."""
    first, other = sorted(client.scheduler_info()["workers"])
    long = feed([("long", i) for i in range(20)])
    short = feed([("short", i) for i in range(40)])
    outcomes = drive(
        client,
        nap,
        long,
        name="mixed",
        beside=[short],
        window=2,
        allowed=lambda task, workers: [first if task[0] == "long" else other],
    )
    order = [(outcome.task, outcome.run.worker) for outcome in outcomes]
    assert {(task[0], worker) for task, worker in order} == {("long", first), ("short", other)}
    assert len(order) == 60
    ends = [i for i, (task, _) in enumerate(order) if task == ("short", 39)]
    n_long_before = sum(task[0] == "long" for task, _ in order[: ends[0]])
    assert n_long_before < 15


@pytest.mark.parametrize("nap_s", [0.0, 0.02])
def test_workers_hold_more_tasks_where_these_are_short(client, nap_s):
    flown = []

    def next_task():
        if len(flown) == 60:
            return None
        flown.append(nap_s)
        return nap_s

    outcomes = drive(client, time.sleep, next_task, name="naps")
    n_flown = []
    for _ in outcomes:
        n_flown.append(len(flown) - len(n_flown) - 1)
    held = client.cluster.scheduler.WORKER_SATURATION
    assert held == FEW if nap_s else held > 2
    # Two worker threads: 16 in flight of long tasks, up to 64 of short ones.
    assert max(n_flown) <= 18 if nap_s else max(n_flown) > 18


def nap(task):
    time.sleep(0.1 if task[0] == "long" else 0.005)
    return task


def wait_for_the_late_task(task):
    with LOCK:
        STARTED.append(task)
        if {0, 1} <= set(STARTED):
            BOTH_RUN.set()
    if task in (0, 1) and not LATE_TASK_RAN.wait(timeout=180):
        raise RuntimeError("nobody let it end")
    return task


def test_urgent_tasks_begin_before_those_that_have_waited_longer(client):
    """Tasks 0 and 1 hold both workers, 39 wait; then comes the urgent one."""
    n_asked = 0

    def urgent():
        nonlocal n_asked
        n_asked += 1
        if n_asked == 2:
            BOTH_RUN.wait(timeout=180)
        if n_asked == 4:  # it has been sent
            LATE_TASK_RAN.set()
        return 100 if n_asked == 2 else None

    options = {"window": 99, "urgent": urgent, "limits": Limits(poll_s=0.2)}
    outcomes = list(drive(client, wait_for_the_late_task, feed(range(41)), name="n", **options))
    assert sorted(outcome.task for outcome in outcomes) == [*range(41), 100]
    assert STARTED.index(100) <= 2 * 2 + 2  # before it: only tasks that workers held


def fail(task):
    raise RetryableError("not now")


def test_a_task_to_be_tried_again_fails_if_the_scheduler_is_gone(client, monkeypatch):
    """Its next attempt has not been sent when the scheduler is seen not to answer."""
    ended = []

    def look(self, force=False):
        if len(ended) > 1:  # after that of the beginning
            self.gone = "the scheduler does not answer"

    monkeypatch.setattr(Connection, "look", look)
    monkeypatch.setattr(Connection, "hold", lambda self, n_tasks: ended.append(n_tasks))
    limits = Limits(poll_s=0)  # it looks each time
    (outcome,) = drive(client, fail, feed([1]), name="o", limits=limits)
    assert isinstance(outcome.error, ClusterLostError)
    assert len(outcome.failed) == 1


def hold_one(task):
    with LOCK:
        CALLS[task] += 1
    if task == 0 and not LATE_TASK_RAN.wait(timeout=180):
        raise RuntimeError("nobody let go of it")
    return task


def test_a_task_over_its_time_fails_alone(client):
    """What waited behind it, bound to its worker, was never begun: it runs elsewhere, uncharged."""
    limits = Limits(poll_s=0.1, task_s=3, no_worker_s=20)
    name = lambda task: f"task_{task}"  # noqa: E731
    tasks = feed(range(40))
    try:
        flown = drive_striding(client, hold_one, tasks, name=name, limits=limits)
        outcomes = {outcome.task: outcome for outcome in flown}
    finally:
        LATE_TASK_RAN.set()
    assert sorted(outcomes) == list(range(40))
    failed = [task for task, outcome in outcomes.items() if outcome.error is not None]
    assert failed == [0]
    assert "task_0: no answer from worker" in str(outcomes[0].error)
    assert all(CALLS[task] == 1 for task in range(40))
    assert all(outcome.attempts == 1 for outcome in outcomes.values())


@dataclass(frozen=True)
class Kind:
    kind: str


def test_kinds_of_work_are_spans_of_the_run(client):
    tasks = [Kind("search"), Kind("widths")] * 5
    assert len(list(drive(client, kind_of, feed(tasks), name=kind_of))) == 10
    spans = client.cluster.scheduler.extensions["spans"].spans.values()
    found = {}
    for one in spans:
        if one.name[0] == SPAN:
            found.setdefault(one.name, []).extend(one.groups)
    assert found.keys() == {(SPAN,), (SPAN, "search"), (SPAN, "widths")}
    assert found[SPAN, "search"]
    assert found[SPAN, "widths"]


def kind_of(task):
    return task.kind
