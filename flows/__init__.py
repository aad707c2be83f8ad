"""Prefect flows: a thin layer around ``pipeline.stages``.

Prefect reads its settings when it is first imported, so the settings for a quiet, offline Prefect
are set here, before any module of this package imports it. The environment takes precedence.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pipeline.terminal import log

# A worker of `hopscope serve` has a folder of temporary files of its own, its runs have the usual
# one, which this variable names.
TMPDIR_OF_RUNS = "HOPSCOPE_SERVE_TMPDIR"
if "PREFECT__FLOW_RUN_ID" in os.environ and TMPDIR_OF_RUNS in os.environ:
    os.environ["TMPDIR"] = os.environ.pop(TMPDIR_OF_RUNS)
    tempfile.tempdir = None  # it may have been looked up

# Where `hopscope serve` was started: relative paths in parameters of its runs begin there.
STARTED_IN = "HOPSCOPE_SERVE_FOLDER"

_DEFAULTS = {
    "PREFECT_HOME": str(Path.cwd() / ".prefect"),
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    # A run survives a server outage: requests are retried after 2, 4, ... 256 s.
    "PREFECT_CLIENT_MAX_RETRIES": "8",
    # The worker looks for requested runs this often, every 10 by default; seconds.
    "PREFECT_WORKER_QUERY_SECONDS": "2",
    # Starting takes 6 to 20 s on an idle machine; seconds.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
}
for _name, _value in _DEFAULTS.items():
    os.environ.setdefault(_name, _value)


def log_as_json() -> None:
    """JSON on stderr, of this process and of those that it starts, and of Prefect in them."""
    os.environ[log.FORMAT_VARIABLE] = "json"
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_CLASS", log.HANDLER)
    log.start("json")


if os.environ.get(log.FORMAT_VARIABLE) == "json":
    log_as_json()  # in a run of a deployment Prefect has begun to write, and changes here
