"""What one explorer does: one job at a time in a process of its own, and what came of each."""

from __future__ import annotations

import multiprocessing
import os
import queue
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pipeline.errors import UsageError
from pipeline.explore.worker import work

MAX_HISTORY = 50


class Session:
    """Runs jobs of the page one after another; safe for several threads of a server.

    Use it as a context manager: its process ends with it.

    Parameters
    ----------
    store : Path or None
    """

    def __init__(self, store: Path | None):
        self.store = store
        self._lock = threading.Lock()
        self._jobs: queue.Queue[Mapping[str, Any] | None] = queue.Queue()
        self._process: Any = None
        self._connection: Connection | None = None
        self._graph_request: Mapping[str, Any] | None = None
        self._cancelled = False
        self._state: dict[str, Any] = {"graph": None, "job": None, "result": None, "error": ""}
        self._history: list[dict[str, Any]] = []
        self._number = 0
        # One thread starts the process, and lives as long as it: Linux ends a child that asks for
        # it with the thread that started it.
        self._runner = threading.Thread(target=self._run, name="explorer", daemon=True)

    def __enter__(self) -> Session:
        self._runner.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._jobs.put(None)
        self.cancel()
        self._runner.join(timeout=5)
        self._end_process()

    def state(self) -> dict[str, Any]:
        """What the page shows; ``number`` changes with each outcome, and with a result to check."""
        with self._lock:
            job = self._state["job"]
            if job is not None:
                job = {"text": job["text"], "seconds": time.monotonic() - job["started"]}
            return self._state | {
                "job": job,
                "history": list(reversed(self._history)),
                "number": self._number,
            }

    def begin(self, request: Mapping[str, Any]) -> None:
        """Start a job.

        Raises
        ------
        UsageError
            If one is in progress.
        """
        with self._lock:
            if self._state["job"] is not None:
                raise UsageError("something is in progress: wait for it, or cancel it")
            self._cancelled = False
            self._state["job"] = {"text": "Starting", "started": time.monotonic()}
            self._state["error"] = ""
        self._jobs.put(request)

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Rows of the result, once it is there; waits for them.

        Raises
        ------
        UsageError
            If a job is in progress, or the process that had the result is gone.
        """
        reply: queue.Queue[dict[str, Any]] = queue.Queue()
        with self._lock:
            if self._state["job"] is not None:
                raise UsageError("something is in progress: wait for it, or cancel it")
        self._jobs.put({**request, "reply": reply})  # a job that begins meanwhile comes after it
        message = reply.get()
        if message["kind"] == "error":
            raise UsageError(message["message"])
        return message["rows"]

    def cancel(self) -> None:
        """End the job in progress; the graph is read again when it is needed."""
        with self._lock:
            if self._state["job"] is None:
                return
            self._cancelled = True
            process = self._process
        if process is not None:
            process.kill()  # the runner then reads the end of its answers

    def _run(self) -> None:
        while (request := self._jobs.get()) is not None:
            reply = request.get("reply")
            try:
                if reply is None:
                    self._do(request)
                else:
                    self._reply(request, reply)
            except (EOFError, OSError):  # the process is gone: cancelled, or killed
                self._end_process()
                with self._lock:
                    lost = "it ended unexpectedly, perhaps for lack of memory; see the terminal"
                    error = "cancelled" if self._cancelled else lost
                    if reply is None:
                        self._outcome(error=error)
                    else:
                        reply.put({"kind": "error", "message": error})

    def _reply(self, request: Mapping[str, Any], reply: queue.Queue[dict[str, Any]]) -> None:
        """Pass on what the process says to a question, which changes nothing that is shown."""
        if self._connection is None:
            reply.put({"kind": "error", "message": "search again"})
            return
        self._connection.send({key: value for key, value in request.items() if key != "reply"})
        reply.put(self._connection.recv())

    def _do(self, request: Mapping[str, Any]) -> None:
        fresh = self._process is None
        connection = self._started()
        if self._cancelled:  # before there was a process to end
            raise EOFError
        if fresh and request["do"] == "search" and self._graph_request is not None:
            again = self._exchange(connection, self._graph_request)
            if again["kind"] == "error":
                self._end_process()  # so that the next search reads it again
                with self._lock:
                    self._outcome(error=f"the graph is no longer there: {again['message']}")
                return
            with self._lock:
                self._state["graph"] = again["graph"]  # its file may have changed
        message = self._exchange(connection, request)
        with self._lock:
            if self._cancelled:  # at the last moment: its process is being ended all the same
                raise EOFError
            if message["kind"] == "error":
                self._outcome(error=message["message"])
            elif message["kind"] == "graph":
                self._graph_request = request
                self._outcome(graph=message["graph"], result=None)
            else:
                result = message["result"]
                shown = ("algorithm", "graph", "size", "source", "target", "text", "seconds")
                self._history.append({key: result[key] for key in shown})
                del self._history[:-MAX_HISTORY]
                self._outcome(result=result)

    def _exchange(self, connection: Connection, request: Mapping[str, Any]) -> dict[str, Any]:
        connection.send(request)
        while (message := connection.recv())["kind"] in ("progress", "unchecked"):
            with self._lock:
                if self._state["job"] is not None and not self._cancelled:
                    self._told(message)
        return message

    def _told(self, message: Mapping[str, Any]) -> None:
        if message["kind"] == "progress":
            self._state["job"]["text"] = message["text"]
        else:
            self._state["result"] = message["result"]
            self._number += 1

    def _outcome(self, **changed: Any) -> None:
        if (self._state["result"] or {}).get("checking"):  # and never was checked
            self._state["result"] = None
        self._state |= {"job": None, **changed}
        self._number += 1

    def _started(self) -> Connection:
        if self._connection is None:
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            arguments = (theirs, os.getpid(), self.store)
            process = context.Process(target=work, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._process, self._connection = process, ours
        return self._connection

    def _end_process(self) -> None:
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        if process is not None:
            process.kill()
            process.join(timeout=5)
        if connection is not None:
            connection.close()
