"""The deployments of flows/prefect.yaml on our own server: ``python -m flows.deploy``.

``prefect deploy`` writes every field of a deployment, and replaces its schedules: a paused
deployment would run at the next start of ``serve``, and schedules of the operator would be gone.
Here a deployment that exists gets what belongs to the program alone (where the flow is, and which
parameters it takes), in one request; one in which that has not changed is not touched.

Its schema allows no parameter but those of the flow: the server refuses a run with another name.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from prefect.flows import load_flow_from_entrypoint

import flows
from flows.options import with_values_in_force
from flows.processes.server import auth_string
from flows.runs.api import Api, existing, why_failed
from pipeline import __version__
from pipeline.terminal.lines import fail

ROOT = Path(flows.__file__).resolve().parents[1]
DEPLOYMENTS = "flows/prefect.yaml"  # below ROOT, the entrypoints too
NIGHTLY = "nightly"  # the deployment with a schedule, and the slug of that schedule
TIMEOUT_S = 60.0
_PULL = "prefect.deployments.steps.set_working_directory"
_OF_A_SCHEDULE = ("schedule", "active", "max_scheduled_runs", "parameters", "slug")
# What is given to a deployment that exists; the rest is its operator's, from the first start on.
_OF_THE_PROGRAM = ("entrypoint", "path", "pull_steps", "parameter_openapi_schema", "version")


def deploy(api: Api, cron: str | None = None, timezone: str | None = None) -> None:
    """Make the deployments, or renew them, keeping what the operator has changed.

    Parameters
    ----------
    api : Api
    cron, timezone : str or None
        When the nightly run starts. None: as it is, or as the file says if it is new.

    Raises
    ------
    OSError, ValueError
        If the server does not take them.
    """
    for defined in yaml.safe_load((ROOT / DEPLOYMENTS).read_text())["deployments"]:
        wanted = _wanted(api, defined)
        at = (cron, timezone) if defined["name"] == NIGHTLY else (None, None)
        known = existing(api, wanted["flow"], wanted["name"])
        body = changed(wanted, known, *at)
        if body is not None:
            made = api.post("/deployments/", body, TIMEOUT_S)
            _limit_runs(api, made, body["schedules"])


def changed(
    wanted: dict[str, Any], known: dict[str, Any] | None, cron: str | None, timezone: str | None
) -> dict[str, Any] | None:
    """What to write for a deployment; None: nothing, all is as it should be.

    Parameters
    ----------
    wanted : dict
        What a new one is like, and ``flow``, the name of its flow.
    known : dict or None
        What the server has.
    cron, timezone : as in ``deploy``
    """
    if known is None:
        body = {name: value for name, value in wanted.items() if name != "flow"}
        return body | {"schedules": _at(body["schedules"], cron, timezone)}
    kept = [{name: each.get(name) for name in _OF_A_SCHEDULE} for each in known["schedules"]]
    schedules = _at(kept, cron, timezone)
    own = {name: wanted[name] for name in _OF_THE_PROGRAM}
    if schedules == kept and all(known.get(name) == value for name, value in own.items()):
        return None
    # What is not named here stays as it is; the API takes these for empty if they are missing.
    theirs = {name: known[name] for name in ("name", "flow_id", "paused", "parameters")}
    return theirs | own | {"schedules": schedules}


def _at(
    schedules: list[dict[str, Any]], cron: str | None, timezone: str | None
) -> list[dict[str, Any]]:
    """Schedules of which ours is at the requested time, if one is."""
    if cron is None and timezone is None:
        return schedules
    ours = next((each for each in schedules if each["slug"] == NIGHTLY), None)
    before = ours["schedule"] if ours else {}
    cron = cron or before.get("cron")
    if cron is None:  # deleted, or no cron: there is nothing that a time zone belongs to
        return schedules
    at = {"cron": cron, "timezone": timezone or before.get("timezone") or "UTC"}
    others = [each for each in schedules if each is not ours]
    is_same = ours is not None and at.items() <= before.items()
    ours = (ours or {"active": True, "slug": NIGHTLY}) | ({} if is_same else {"schedule": at})
    return schedules if is_same else [ours, *others]


def _wanted(api: Api, defined: dict[str, Any]) -> dict[str, Any]:
    """A new deployment, from its entry in the file."""
    flow: Any = load_flow_from_entrypoint(defined["entrypoint"], use_placeholder_flow=False)
    schema = flow.parameters.model_dump(mode="json", exclude_unset=True)
    schema = with_values_in_force(schema, getattr(flow.fn, "options", ()))
    return {
        "flow": flow.name,
        "flow_id": api.post("/flows/", {"name": flow.name}, TIMEOUT_S)["id"],
        "name": defined["name"],
        "description": defined["description"],
        "entrypoint": defined["entrypoint"],
        "path": None,
        "pull_steps": [{_PULL: {"directory": str(ROOT)}}],
        "version": __version__,
        "work_pool_name": defined["work_pool"]["name"],
        "parameters": defined["parameters"],
        "parameter_openapi_schema": schema | {"additionalProperties": False},
        "enforce_parameter_schema": True,
        "schedules": [
            {
                "schedule": {"cron": each["cron"], "timezone": each["timezone"]},
                "active": True,
                "slug": each["slug"],
            }
            for each in defined.get("schedules", [])
        ],
    }


def _limit_runs(api: Api, made: dict[str, Any], schedules: list[dict[str, Any]]) -> None:
    """Set the numbers of runs planned ahead, which the API leaves out when it makes schedules."""
    for each in schedules:
        if not each.get("max_scheduled_runs"):
            continue
        for new in made["schedules"]:
            if (new["slug"], new["schedule"]) == (each["slug"], each["schedule"]):
                path = f"/deployments/{made['id']}/schedules/{new['id']}"
                limit = {name: each[name] for name in ("max_scheduled_runs", "parameters")}
                api.patch(path, limit, TIMEOUT_S)


def main(arguments: list[str]) -> int:
    """``URL CRON TIMEZONE``, the last two empty if they are not given."""
    url, cron, timezone = arguments
    try:
        deploy(Api(url, auth_string()).patient(), cron or None, timezone or None)
    except (OSError, ValueError) as error:
        fail(why_failed(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
