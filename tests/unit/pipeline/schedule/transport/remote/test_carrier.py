"""What comes from a cluster, as events."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from distributed.protocol.pickle import dumps
from distributed.scheduler import KilledWorker

from pipeline.errors import ClusterLostError, FormatError, PipelineError, RetryableError
from pipeline.model.search.tasks import TaskRun
from pipeline.schedule.transport.attempted import Attempted
from pipeline.schedule.transport.events import Failed, Finished, Ready, WorkerLost
from pipeline.schedule.transport.remote.attempt import POSTED
from pipeline.schedule.transport.remote.carrier import event_of

KEY = ("bfs_AS1-0abc", 7, 1)
RUN = TaskRun("tcp://a:1", "cpu", 2.0, 3.0)
THERE = SimpleNamespace(lost=False, gone="")
GONE = SimpleNamespace(lost=True, gone="the scheduler is gone")


@dataclass
class Future:
    status: str
    error: BaseException | None = None

    def exception(self, timeout):
        if isinstance(self.error, TimeoutError):
            raise self.error
        return self.error


RUNS, ENDED = Future("pending"), Future("finished")
KILLED = KilledWorker("k", SimpleNamespace(address="tcp://b:1"), 0)


@pytest.mark.parametrize(
    ("answer", "future", "kind", "reported"),
    [
        (dumps(Attempted(RUN, 5)), RUNS, Finished, 5),  # posted before Dask knows that it ended
        (Attempted(RUN, 5), ENDED, Finished, 5),  # fetched
        (Attempted(RUN, error=FormatError("x", "line 1", "bad")), ENDED, Failed, "x: line 1: bad"),
        (b"no pickle", RUNS, Failed, "bfs_AS1: "),
        (POSTED, ENDED, Failed, "bfs_AS1: its result was lost in transit"),
        (RetryableError("not fetched"), ENDED, Failed, "not fetched"),
        (None, ENDED, Ready, ""),
        (None, Future("cancelled"), Failed, "bfs_AS1: cancelled by another client"),
        (None, Future("lost"), Failed, "bfs_AS1: its result was lost with its worker"),
        (None, Future("error", KILLED), WorkerLost, "bfs_AS1: the workers that ran it died, tcp"),
        (None, Future("error", ValueError("no")), Failed, "bfs_AS1: ValueError: no"),
        (None, Future("error", TimeoutError("late")), Failed, "bfs_AS1: TimeoutError: late"),
    ],
)
def test_answers_become_events(answer, future, kind, reported):
    event = event_of(KEY, answer, future, THERE, 0.0)
    assert (type(event), event.key) == (kind, KEY)
    match event:
        case Finished():
            assert (event.result, event.run) == (reported, RUN)
        case Failed():
            assert str(event.error).startswith(reported)
        case WorkerLost():
            assert event.reason.startswith(reported)


@pytest.mark.parametrize(
    ("answer", "future", "again"),
    [
        (POSTED, ENDED, True),
        (None, Future("cancelled"), True),
        (None, Future("lost"), True),
        (None, Future("error", ValueError("no")), False),
        (b"no pickle", RUNS, False),
    ],
)
def test_errors_that_another_attempt_may_cure_are_retryable(answer, future, again):
    error = event_of(KEY, answer, future, THERE, 0.0).error
    assert isinstance(error, PipelineError)
    assert isinstance(error, RetryableError) is again


def test_after_the_scheduler_has_gone_nothing_is_retryable():
    error = event_of(KEY, None, Future("cancelled"), GONE, 0.0).error
    assert isinstance(error, ClusterLostError)
    assert str(error) == "bfs_AS1: the scheduler is gone"
