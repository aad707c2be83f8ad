"""Send notices: to notification blocks of Prefect, and to a program.

Nothing that goes wrong here may cost a night, so no error leaves ``send``. Logs name a block or a
program and a kind of error, never its words: these may hold URLs with secrets.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import json
import logging
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from prefect.blocks.abstract import NotificationBlock
from prefect.blocks.core import Block
from prefect.logging import get_run_logger

from flows.notices import apprise_url  # noqa: F401  its block type can be loaded from now on
from flows.notices.notice import Notice
from flows.processes.server import stop_process
from pipeline.config import NotifyConfig
from pipeline.errors import said_by_system
from pipeline.terminal.lines import warn

LIMIT_S = 60.0  # for each block and for the program
VARIABLE = "HOPSCOPE_NOTICE"  # of the program: where the file is


class _NotSentError(Exception):
    """Why a notice was not sent, in words that hold no secret."""


def send(notice: Notice, config: NotifyConfig) -> list[str]:
    """Send a notice to all that a config names; what failed, a line each, which is logged too."""
    work: dict[str, Callable[[], None]] = {
        f"the block {name}": functools.partial(_to_block, name, notice) for name in config.notify
    }
    if (program := config.notify_command) is not None:
        work[str(program)] = functools.partial(_to_program, program, notice)
    tried = {name: _reason(each) for name, each in work.items()}
    failed = [f"no notice went to {name}: {reason}" for name, reason in tried.items() if reason]
    for line in failed:
        warn(line)
        with contextlib.suppress(Exception):  # outside a run
            get_run_logger().warning("%s", line)
    return failed


def _reason(work: Callable[[], None]) -> str:
    """Why something did not succeed within the limit; empty: it did.

    It works in a thread of its own, since a block may hang; the thread is then left behind.
    """
    found = [f"it took more than {LIMIT_S:.0f} s"]

    def attempt() -> None:
        try:
            work()
            found[0] = ""
        except _NotSentError as error:
            found[0] = str(error)
        except BaseException as error:
            found[0] = type(error).__name__

    context = contextvars.copy_context()  # Prefect's settings and run
    thread = threading.Thread(target=context.run, args=(attempt,), name="notice", daemon=True)
    thread.start()
    thread.join(LIMIT_S)
    return found[0]


def _to_block(name: str, notice: Notice) -> None:
    with _silent("apprise"), _silent("httpx"):
        try:
            block: Any = Block.load(name)
        except ValueError as error:  # Prefect's words name the block, or its fields with values
            missing = "Unable to find block document" in str(error)
            why = "no such block" if missing else "it cannot be loaded"
            raise _NotSentError(f"{why}: `prefect block ls` lists them") from None
        if not isinstance(block, NotificationBlock):
            raise _NotSentError("it is not a block for notifications")
        with block.raise_on_failure():
            tell: Any = block.notify  # async by its type, but not outside a loop
            tell(notice.body, notice.subject)


def _to_program(program: Path, notice: Notice) -> None:
    """Run a program, without a shell, with the path of a JSON file, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="hopscope-notice-") as folder:  # for this user only
        path = Path(folder) / "notice.json"
        path.write_text(json.dumps(notice.facts, indent=2))
        try:
            process = subprocess.Popen(
                [str(program.absolute()), str(path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | {VARIABLE: str(path)},
                start_new_session=True,
            )
        except OSError as error:
            raise _NotSentError(said_by_system(error)) from None
        try:
            status = process.wait(LIMIT_S * 0.9)
        except subprocess.TimeoutExpired:
            raise _NotSentError(f"stopped after {LIMIT_S * 0.9:.0f} s") from None
        finally:
            stop_process(process, 1.0)
        if status:
            raise _NotSentError(f"exit status {status}")


@contextlib.contextmanager
def _silent(name: str) -> Iterator[None]:
    """Keep what a library logs about its requests out of all logs: URLs may hold secrets."""
    logger = logging.getLogger(name)
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
