"""What an operator changes on Prefect's pages outlives a restart of ``serve``."""

from __future__ import annotations

import os
import stat
import urllib.error
from pathlib import Path

import pytest

from flows.runs.api import Api
from flows.serve import LOCK
from tests.served import START_S, Served, serving

OWN = {"schedule": {"cron": "0 9 * * 1", "timezone": "Europe/Amsterdam"}, "active": True}


def api_of(served: Served) -> Api:
    """A busy server may refuse at first."""
    return Api(f"{served.ui_url}/api").patient()


def schedules(served: Served) -> dict[str | None, dict]:
    return {each["slug"]: each for each in served.deployment()["schedules"]}


def change(served: Served) -> dict[str | None, dict]:
    """Pause the deployment, give it a parameter and a schedule of its own; the schedules then."""
    path = f"/deployments/{served.deployment()['id']}"
    api_of(served).post(f"{path}/schedules", [OWN | {"slug": "mondays"}], START_S)
    changes = {"paused": True, "parameters": {"snapshot": "kept"}}
    api_of(served).patch(path, changes, START_S)
    return schedules(served)


def modes_of_others(home: Path) -> dict[str, str]:
    """Files and folders that others could open; a lock, without secrets, only in ``home``."""
    found = [home, *(path for path in home.iterdir() if path.name != LOCK)]
    return {
        str(path): stat.filemode(path.stat().st_mode)
        for path in found
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    }


def test_a_restart_keeps_what_the_operator_changed_and_secrets_are_for_their_user_alone(tmp_path):
    home = tmp_path / "prefect"
    home.mkdir(mode=0o755)  # as earlier versions and Prefect itself make it
    before = os.umask(0o022)
    try:
        with serving(tmp_path) as served:
            assert "Runs every night at 02:15 UTC." in served.log.read_text()
            changed = change(served)
            assert set(changed) == {"nightly", "mondays"}
            assert modes_of_others(home) == {}
            refuses_unknown_parameters(served)
        with serving(tmp_path) as served:
            assert served.deployment()["paused"] is True
            assert served.deployment()["parameters"] == {"snapshot": "kept"}
            assert schedules(served) == changed  # the very same, with their ids
            assert "nightly/nightly is paused" in served.log.read_text()
            pool = f"/work_pools/{served.deployment()['work_pool_name']}"
            api_of(served).patch(pool, {"is_paused": True}, START_S)
        variables = {"HOPSCOPE_SERVE_CRON": "30 4 * * *", "HOPSCOPE_SERVE_TIMEZONE": "Asia/Tokyo"}
        with serving(tmp_path, **variables) as served:
            at = schedules(served)
            assert at["nightly"]["schedule"]["cron"] == "30 4 * * *"
            assert at["nightly"]["schedule"]["timezone"] == "Asia/Tokyo"
            assert at["mondays"]["schedule"] == changed["mondays"]["schedule"]
            assert served.deployment()["paused"] is True
            said = served.log.read_text()
            assert "No run starts: the work pool is paused" in said
            assert "every night at 04:30 Asia/Tokyo" in said
    finally:
        os.umask(before)


def refuses_unknown_parameters(served: Served) -> None:
    for parameters in ({"inptus": ["/data"]}, {"options": {"wrokers": 1}}):
        with pytest.raises(urllib.error.HTTPError) as refused:
            served.start(**parameters)
        assert refused.value.code == 409
        assert next(iter(parameters)) in refused.value.read().decode()
