"""The log of a Prefect server, record by record, to see whether it had a fault."""

from __future__ import annotations

import re
from dataclasses import dataclass

# As Prefect writes, and as uvicorn does: "12:34:56.789 | ERROR   | name - text", "ERROR:    text".
_HEAD = re.compile(
    r"^(?:\d\d:\d\d:\d\d\.\d+ \| (\w+) *\| (\S+) - (.*)"
    r"|(CRITICAL|ERROR|WARNING|INFO|DEBUG): +(.*))$"
)
_EXCEPTION = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception)\b.*$", re.MULTILINE)

# What Prefect does again by itself where SQLite said that another one was writing, as it does on a
# slow machine: logger, words.
_DONE_AGAIN = {
    # It answers 503 then, and clients ask again; so do services that mark late runs.
    "prefect.server": "Encountered error during state validation",
    "prefect.server.api.workers": "transient",
    "prefect.server.events.triggers": "Error running periodic evaluation",
    "prefect.server.models.deployments": "Error marking deployments as not ready",
    "prefect.server.services.scheduler": "Error scheduling deployment",
    "prefect.server.services.task_run_recorder": ", 0 dropped)",
    "prefect.server.utilities.messaging.memory": "Failed in consume_loop",
    "prefect.server.utilities.worker_channel": "heartbeat persistence failed",  # it is sent again
    "docket.worker": "",  # services that run every few seconds
}
_LOCKED = "database is locked"


@dataclass(frozen=True)
class Record:
    """One record: level, logger, first line, and the lines that follow, as of a traceback."""

    level: str
    logger: str
    text: str
    rest: str

    @property
    def is_done_again(self) -> bool:
        """Whether Prefect met a locked database and tries once more."""
        exceptions = _EXCEPTION.findall(self.rest)
        return (
            self.logger in _DONE_AGAIN
            and _DONE_AGAIN[self.logger] in self.text
            and bool(exceptions)
            and exceptions[-1].endswith(_LOCKED)
        )


def records(log: str) -> list[Record]:
    """Records of a log; lines before the first one belong to none."""
    found: list[tuple[str, str, str, list[str]]] = []
    for line in log.splitlines():
        if match := _HEAD.match(line):
            level, logger, text, plain_level, plain = match.groups()
            found.append((level or plain_level, logger or "uvicorn", text or plain or "", []))
        elif found:
            found[-1][-1].append(line)
    return [Record(level, logger, text, "\n".join(rest)) for level, logger, text, rest in found]


def faults(log: str) -> list[Record]:
    """Errors in a log, but for those after which Prefect does the same again."""
    return [
        record
        for record in records(log)
        if record.level in ("ERROR", "CRITICAL") and not record.is_done_again
    ]
