"""What a process says on stderr as JSON, one object per line, for programs that collect logs.

Each line has ``time`` (RFC 3339, UTC), ``level``, ``logger`` and ``message``; where they are known
also ``run``, ``step``, ``asn``, ``progress`` and ``exception``. One process has one run at a time,
whose threads share ``run`` and ``step``.
"""

from __future__ import annotations

import datetime
import json
import logging
import os
import re
import sys
from types import TracebackType
from typing import Any

from pipeline.errors import UsageError

OWN = "hopscope"  # logger of what commands say themselves
FORMAT_VARIABLE = "HOPSCOPE_LOG_FORMAT"
FORMATS = ("text", "json")
HANDLER = "pipeline.terminal.log.JsonHandler"  # for settings that name a class
_SAID_AT_INFO = (OWN, "pipeline")
# AS3356, also in the name of a task: bfs_AS3356.
_ASN = re.compile(r"(?<![0-9A-Za-z])AS(\d{1,10})(?![0-9A-Za-z])")

_context: dict[str, str] = {}


class JsonHandler(logging.Handler):
    """Writes records as JSON on stderr, whatever arguments it is made with.

    It stands in for console handlers of libraries, whose settings name a class and its arguments.
    """

    def __init__(self, **_: object):
        super().__init__()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(line_of(record) + "\n")
            sys.stderr.flush()
        except Exception:  # as every handler of logging: a line must not end a run
            self.handleError(record)


def line_of(record: logging.LogRecord) -> str:
    """One line of JSON, in ASCII: control characters are escaped."""
    message = record.getMessage()
    when = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
    line: dict[str, Any] = {
        "time": when.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": _valid(message),
        **_context,
    }
    if (run := getattr(record, "flow_run_id", None)) is not None:  # set by Prefect's loggers
        line["run"] = str(run)
    if (asn := _asn_of(record, message)) is not None:
        line["asn"] = asn
    if (progress := getattr(record, "progress", None)) is not None:
        line["progress"] = progress
    if record.exc_info and record.exc_info[0] is not None:
        line["exception"] = _valid(logging.Formatter().formatException(record.exc_info))
    return json.dumps(line)


def _asn_of(record: logging.LogRecord, message: str) -> int | None:
    """The AS that a record is about: what it was given, else the only one that its text names.

    Sums for people, which name one AS of many, are by ``OWN``.
    """
    if (asn := getattr(record, "asn", None)) is not None:
        return int(asn)
    if record.name == OWN:
        return None
    named = {int(digits) for digits in _ASN.findall(message)}
    return named.pop() if len(named) == 1 else None


def _valid(text: str) -> str:
    """Without lone surrogates, which strict readers of JSON refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")


def is_json() -> bool:
    """Whether this process writes JSON."""
    return any(isinstance(handler, JsonHandler) for handler in logging.getLogger().handlers)


def about(**known: str | None) -> None:
    """Set ``run`` or ``step`` of the lines from here on; None: no longer known."""
    for name, value in known.items():
        if value is None:
            _context.pop(name, None)
        else:
            _context[name] = value


def start(log_format: str) -> None:
    """Write in a format: ``text`` as it is without this, ``json`` as above."""
    if log_format != "json":
        return
    root = logging.getLogger()
    for handler in list(root.handlers):
        on_terminal = getattr(handler, "stream", None) in (sys.stderr, sys.stdout)
        if isinstance(handler, logging.StreamHandler) and on_terminal:
            root.removeHandler(handler)
    if not is_json():
        root.addHandler(JsonHandler())
    for name in _SAID_AT_INFO:
        logging.getLogger(name).setLevel(logging.INFO)
    logging.captureWarnings(True)
    sys.excepthook = _log_uncaught


def check_variable() -> None:
    """Check the format that a command without an option for it has been started with.

    Raises
    ------
    UsageError
        If there is no such format.
    """
    given = os.environ.get(FORMAT_VARIABLE)
    if given and given not in FORMATS:
        raise UsageError(f"{FORMAT_VARIABLE} takes {', '.join(FORMATS)}, not {given!r}")


def _log_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    log = logging.getLogger(OWN)
    log.critical("%s: %s", kind.__name__, error, exc_info=(kind, error, trace))
