"""Runs a program that ends together with the process that started it, and all its descendants.

``python -m flows.processes.die_with_parent PARENT PROGRAM [ARGUMENT]...`` runs the program as a
child and exits with its status. When it is asked to stop, or PARENT is gone, even by SIGKILL, the
program is asked to stop, then killed; then everything it started is ended, including processes in
sessions of their own: on Linux orphans are reparented to this process (a subreaper).

Start it from a main thread: Linux signals the end of the thread that started it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

import psutil  # type: ignore[import-untyped]

from pipeline.processes.stopping import end_with_parent

_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
LOOK_EVERY_S = 0.2
PROGRAM_STOP_S = 10.0  # for the program, then for each of the two requests to the processes it left
LEFT_STOP_S = 5.0
# How long to wait for a tied program to stop before killing it.
STOP_TIMEOUT_S = PROGRAM_STOP_S + 2 * LEFT_STOP_S + 5.0

_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def tied(words: list[str]) -> list[str]:
    """Arguments of a command that runs ``words`` as a child that does not outlive this process."""
    return [sys.executable, "-m", "flows.processes.die_with_parent", str(os.getpid()), *words]


def main(arguments: list[str]) -> int:
    """Run the program; returns its exit status, 128 + the signal that ended it."""
    parent, *words = arguments
    asked: list[int] = []
    for number in _STOPS:
        signal.signal(number, lambda number, _frame: asked.append(number))
    if not end_with_parent(int(parent)):
        return 0
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    program = os.fork()
    if program == 0:
        _become(words)
    kill_at = float("inf")
    while (status := _reap(program)) is None:
        if kill_at == float("inf") and (asked or os.getppid() != int(parent)):
            kill_at = time.monotonic() + PROGRAM_STOP_S
            os.kill(program, signal.SIGTERM)
        elif time.monotonic() >= kill_at:
            os.kill(program, signal.SIGKILL)
        time.sleep(LOOK_EVERY_S)  # not cut short by signals: they are seen at the next look
    _end_all_below()
    return status


def _become(words: list[str]) -> None:
    """In the child: the program, in its own session, so that its signals come from here."""
    os.setsid()
    for number in _STOPS:
        signal.signal(number, signal.SIG_DFL)
    end_with_parent(os.getppid(), signal.SIGKILL)
    try:
        os.execvp(words[0], words)
    except OSError as error:
        os.write(2, f"{words[0]}: {error.strerror}\n".encode())
        os._exit(127)


def _reap(program: int) -> int | None:
    """Reap ended children, orphans too; the program's exit status once it has ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if pid == 0:
            return None
        if pid == program:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _end_all_below() -> None:
    """End all remaining descendants of this process: first ask, then kill."""
    for request in (signal.SIGTERM, signal.SIGKILL):
        left = psutil.Process().children(recursive=True)
        for process in left:
            try:
                process.send_signal(request)
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(left, LEFT_STOP_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
