"""Flow runs as a Prefect server lists them, by its HTTP API; does not import Prefect."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import datetime
import json
import time
import urllib.error
import urllib.request
from collections.abc import Collection
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from flows.processes.holders import Holder
from pipeline.model.progress import DASHBOARD_LINK
from pipeline.model.words import printable

API_TIMEOUT_S = 5.0
PATIENCE_S, PAUSE_S = 60.0, 0.5  # of calls that are tried again
# Refusals that may pass. A busy server's is 503: another transaction has its SQLite database.
MAY_PASS = (
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
MAX_REASON = 500  # characters of a refusal's reason
UNFINISHED = ["RUNNING", "PENDING", "CANCELLING"]
DEPLOYED = (
    "ingest",
    "analyze",
    "compare",
    "nightly",
    "backfill",
    "notify",
)  # flows of prefect.yaml
PROCESS_LABEL = "hopscope.process"  # label of a flow run: its Holder, as text


@dataclass(frozen=True)
class Api:
    """Address of a Prefect server, and ``user:password`` if it requires them.

    Calls that fail for what may pass are tried again for ``patience_s`` seconds.
    """

    url: str
    auth: str | None = field(default=None, repr=False)
    patience_s: float = 0.0  # who opens a page does not wait

    def patient(self) -> Api:
        """The same server, for calls which have to succeed while it starts and is busy."""
        return dataclasses.replace(self, patience_s=PATIENCE_S)

    def post(self, path: str, body: dict | list, timeout_s: float = API_TIMEOUT_S) -> Any:
        """Parsed answer to a request; OSError or ValueError if there is none."""
        return json.loads(self._send("POST", path, body, timeout_s))

    def get(self, path: str) -> Any:
        """Parsed answer; HTTPError where there is nothing, OSError or ValueError if no answer."""
        return json.loads(self._send("GET", path, None, API_TIMEOUT_S))

    def patch(self, path: str, body: dict, timeout_s: float = API_TIMEOUT_S) -> None:
        """Change what has this path; OSError if there is no answer, or a refusal."""
        self._send("PATCH", path, body, timeout_s)

    def put(self, path: str, body: dict, timeout_s: float = API_TIMEOUT_S) -> None:
        """Replace what has this path; OSError as ``patch``."""
        self._send("PUT", path, body, timeout_s)

    def _send(self, method: str, path: str, body: dict | list | None, timeout_s: float) -> bytes:
        headers = {"Content-Type": "application/json"}
        if self.auth:
            headers["Authorization"] = f"Basic {base64.b64encode(self.auth.encode()).decode()}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        give_up = time.monotonic() + self.patience_s
        while True:
            try:
                with urllib.request.urlopen(request, timeout=timeout_s) as answer:
                    return answer.read()
            except OSError as error:
                if not _may_pass(error) or time.monotonic() + PAUSE_S > give_up:
                    raise
                if isinstance(error, urllib.error.HTTPError):
                    error.close()
            time.sleep(PAUSE_S)


def _may_pass(error: OSError) -> bool:
    """Whether a call that failed may succeed soon."""
    if not isinstance(error, urllib.error.HTTPError):
        return True  # no connection, or no answer in time
    return error.code in MAY_PASS


def why_failed(error: Exception) -> str:
    """Why a call failed, in one line, with the reason that Prefect gave for a refusal."""
    text = " ".join(str(error).split())
    if isinstance(error, urllib.error.HTTPError):
        reason = _reason(error)
        if reason and reason not in text:
            text += f" ({reason})"
    return printable(text)


def _reason(error: urllib.error.HTTPError) -> str:
    """What the body of a refusal says; closes it."""
    said = b""
    with contextlib.suppress(OSError, ValueError), error:  # ValueError: it has been closed
        said = error.read()
    text = said.decode(errors="replace")
    with contextlib.suppress(ValueError, AttributeError):
        answer = json.loads(text)
        text = str(answer.get("exception_message") or answer.get("detail") or text)
    text = " ".join(text.split())
    return text if len(text) <= MAX_REASON else f"{text[:MAX_REASON]} ..."


@dataclass(frozen=True)
class Run:
    """A run in progress; ``dashboard`` is empty until its searches begin.

    ``state`` is Prefect's name for it: Running, or Waiting for another run.
    """

    name: str
    page: str
    dashboard: str
    state: str = "Running"


class RunsUnknown(Exception):
    """A Prefect server did not list the runs in progress; the text says why."""


def runs_in_progress(api: Api, ui_url: str) -> list[Run]:
    """Runs of our deployments that are running according to a Prefect server, without killed ones.

    Raises
    ------
    RunsUnknown
        If it does not answer, or refuses to.
    """
    try:
        runs = [
            run
            for run in _find_runs(api, ["RUNNING"], {"name": {"any_": list(DEPLOYED)}})
            if not _was_killed(run)
        ]
        ids = [run["id"] for run in runs]
        wanted = {"key": {"any_": ["dask-dashboard"]}, "flow_run_id": {"any_": ids}}
        artifacts = api.post("/artifacts/filter", {"artifacts": wanted}) if ids else []
        links = {
            artifact["flow_run_id"]: match.group()
            for artifact in artifacts
            if (match := DASHBOARD_LINK.search(str(artifact.get("data"))))
        }
        return [
            Run(
                run["name"],
                f"{ui_url}/runs/flow-run/{run['id']}",
                links.get(run["id"], ""),
                run["state"]["name"],
            )
            for run in runs
        ]
    except urllib.error.HTTPError as error:
        with error:
            if error.code == HTTPStatus.UNAUTHORIZED:
                raise RunsUnknown(
                    "Prefect requires a password (401): set PREFECT_API_AUTH_STRING for "
                    "`make serve` to that of its server"
                ) from None
            raise RunsUnknown(f"Prefect answers with an error: {why_failed(error)}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunsUnknown(f"Prefect does not answer ({error})") from None


def existing(api: Api, flow: str, name: str) -> dict[str, Any] | None:
    """A deployment of a server, as its API gives it; None: there is none."""
    try:
        return api.get(f"/deployments/name/{flow}/{name}")
    except urllib.error.HTTPError as error:
        if error.code != HTTPStatus.NOT_FOUND:
            raise
        error.close()
        return None


def end_lost_runs(api: Api, *, no_worker: bool = False) -> int | None:
    """Mark unfinished runs whose processes are gone as Crashed; Prefect does not notice them.

    One that was being cancelled becomes Cancelled.

    Parameters
    ----------
    api : Api
    no_worker : bool
        No worker of this server is alive, so no run of a deployment is alive.

    Returns
    -------
    int or None
        How many; None when the server did not answer: there may be more.
    """
    try:
        lost = [
            run
            for run in _find_runs(api, UNFINISHED, None)
            if (no_worker and run.get("deployment_id")) or _was_killed(run)
        ]
        for run in lost:
            was_asked = run["state"]["type"] == "CANCELLING"
            state = {
                "type": "CANCELLED" if was_asked else "CRASHED",
                "message": "its process was killed",
            }
            api.post(f"/flow_runs/{run['id']}/set_state", {"state": state, "force": True})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return len(lost)


def schedule_again(api: Api, since: float, but: Collection[str] = ()) -> list[str]:
    """Schedule runs of deployments again that crashed before they began.

    A process that starts while its server is away ends at once: Prefect's client only waits for a
    server that it has reached before. One that a worker was starting ends with the worker.

    Parameters
    ----------
    api : Api
    since : float
        Only what crashed later, in seconds since 1970 UTC.
    but : ids of runs
        Those that are left as they are.

    Returns
    -------
    list of str
        Ids of the runs; none when the server does not answer.
    """
    again: list[str] = []
    try:
        for run in _find_runs(api, ["CRASHED"], None):
            ended = datetime.datetime.fromisoformat(run["state"]["timestamp"]).timestamp()
            has_begun = run["run_count"] > 0 or not run.get("deployment_id")
            if has_begun or ended < since or run["id"] in but:
                continue
            now = datetime.datetime.now(datetime.UTC).isoformat()
            state = {
                "type": "SCHEDULED",
                "message": "again: server or worker ended when its process started",
                "state_details": {"scheduled_time": now},
            }
            api.post(f"/flow_runs/{run['id']}/set_state", {"state": state, "force": True})
            again.append(run["id"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # the next look is soon
    return again


def _was_killed(run: dict) -> bool:
    """Whether the process of a run started by hand on this machine is gone.

    The worker watches runs of a deployment, which may have moved to another process on a retry.
    """
    if run.get("deployment_id"):
        return False
    process = Holder.from_text((run.get("labels") or {}).get(PROCESS_LABEL))
    return process is not None and process.is_gone()


def _find_runs(api: Api, states: list[str], flows: dict | None) -> list[dict]:
    wanted: dict[str, Any] = {"flow_runs": {"state": {"type": {"any_": states}}}}
    wanted["sort"] = "EXPECTED_START_TIME_DESC"  # if there are many, the last ones are listed
    if flows:
        wanted["flows"] = flows
    return api.post("/flow_runs/filter", wanted)
