"""Which errors in the log of a Prefect server are faults."""

from __future__ import annotations

import pytest

from tests.server_log import faults, records

TRACEBACK = """\
Traceback (most recent call last):
  File "sqlalchemy/engine/base.py", line 1967, in _exec_single_context
    self.dialect.do_execute(
sqlite3.OperationalError: {error}

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "prefect/server/api/workers.py", line 1180, in subscribe
    await models.workers.update_work_pool(
sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) {error}
[SQL: UPDATE work_pool SET base_job_template=? WHERE work_pool.id = ?]
(Background on this error at: https://sqlalche.me/e/20/e3q8)
"""
LOCKED = TRACEBACK.format(error="database is locked")
SETUP = "Worker channel setup failed due to a transient server error: work_pool=local"
HEARTBEAT = "Worker channel heartbeat persistence failed: work_pool=local worker_name=a"
FLUSH = "Error flushing 3 events ({} to retry, {} dropped)"


def locked(logger: str, text: str) -> str:
    return f"01:13:41.768 | ERROR   | prefect.server.{logger} - {text}\n{LOCKED}"


AGAIN = locked("api.workers", SETUP)
VALIDATION = (
    f"01:13:41.768 | ERROR   | prefect.server - Encountered error during state validation\n{LOCKED}"
)


@pytest.mark.parametrize(
    "again",
    [
        AGAIN,
        locked("utilities.worker_channel", HEARTBEAT),
        locked("services.task_run_recorder", FLUSH.format(3, 0)),
        locked("services.scheduler", "Error scheduling deployment 'a'."),
        locked("models.deployments", "Error marking deployments as not ready: locked"),
        VALIDATION,
    ],
)
def test_what_prefect_does_again_since_the_database_was_locked_is_no_fault(again):
    log = f"starting\n{again}01:13:42.001 | WARNING | prefect.server - slow\n{again}"
    assert [each.level for each in records(log)] == ["ERROR", "WARNING", "ERROR"]
    assert faults(log) == []


@pytest.mark.parametrize(
    "other",
    [
        "01:13:42.001 | ERROR   | prefect.server - broken\n",
        "01:13:42.001 | CRITICAL | docket.worker - broken\n",
        locked("api.server", SETUP),
        locked("utilities.worker_channel", "Worker channel cleanup dispatcher failed"),
        locked("services.task_run_recorder", FLUSH.format(1, 2)),
        AGAIN.replace("transient", "lasting"),
        VALIDATION.replace("state validation", "context"),
        AGAIN.replace("database is locked", "no such table: work_pool"),
        f"{AGAIN}\nDuring handling of the above exception, another exception occurred:\n\n"
        "KeyError: 'database is locked'\n",
        f"01:13:41.768 | ERROR   | prefect.server.api.workers - {SETUP}\n",
        "ERROR:    Exception in ASGI application\n" + LOCKED,
    ],
)
def test_each_other_error_is_a_fault_wherever_it_stands(other):
    for log in (other, AGAIN + other, other + AGAIN):
        assert len(faults(log)) == 1
