"""Flow runs as a Prefect server sees them, by its HTTP API; imports no Prefect."""

from __future__ import annotations

import json
import re
import urllib.request
from dataclasses import dataclass
from typing import Any

# The page of a Dask dashboard, as distributed words it, in a line of text.
DASHBOARD_LINK = re.compile(r"https?://[0-9A-Za-z.\[\]:-]+:\d+/status")
API_TIMEOUT_S = 5.0
UNFINISHED = ["RUNNING", "PENDING", "CANCELLING"]


@dataclass(frozen=True)
class Run:
    """A nightly run in progress; ``dashboard`` is empty until its searches begin."""

    name: str
    page: str
    dashboard: str


def runs_in_progress(api_url: str, ui_url: str) -> list[Run]:
    """Nightly runs that a Prefect server says are running; none when it does not answer."""
    try:
        runs = _find_runs(api_url, ["RUNNING"], {"name": {"any_": ["nightly"]}})
        ids = [run["id"] for run in runs]
        wanted = {"key": {"any_": ["dask-dashboard"]}, "flow_run_id": {"any_": ids}}
        artifacts = _post(f"{api_url}/artifacts/filter", {"artifacts": wanted}) if ids else []
    except (OSError, ValueError, KeyError, TypeError):
        return []
    links = {
        artifact["flow_run_id"]: match.group()
        for artifact in artifacts
        if (match := DASHBOARD_LINK.search(str(artifact.get("data"))))
    }
    return [
        Run(run["name"], f"{ui_url}/runs/flow-run/{run['id']}", links.get(run["id"], ""))
        for run in runs
    ]


def end_lost_runs(api_url: str) -> int:
    """Mark the unfinished runs of deployments Crashed; only for who knows that no worker runs.

    A run that was killed together with its worker stays Running for ever, and holds the one place
    that its deployment has.

    Returns
    -------
    int
        How many; 0 when the server does not answer.
    """
    try:
        lost = [run for run in _find_runs(api_url, UNFINISHED, None) if run.get("deployment_id")]
        for run in lost:
            state = {"type": "CRASHED", "message": "its worker was stopped"}
            _post(f"{api_url}/flow_runs/{run['id']}/set_state", {"state": state, "force": True})
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return len(lost)


def _find_runs(api_url: str, states: list[str], flows: dict | None) -> list[dict]:
    wanted: dict[str, Any] = {"flow_runs": {"state": {"type": {"any_": states}}}}
    if flows:
        wanted["flows"] = flows
    return _post(f"{api_url}/flow_runs/filter", wanted)


def _post(url: str, body: dict) -> Any:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=API_TIMEOUT_S) as answer:
        return json.load(answer)
