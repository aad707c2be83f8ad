"""What is written of a deployment that exists: what belongs to the program, and nothing else."""

from __future__ import annotations

from flows.deploy import changed

AT_NIGHT = {"cron": "15 2 * * *", "timezone": "UTC"}
WANTED = {
    "flow": "nightly",
    "name": "nightly",
    "flow_id": "f",
    "entrypoint": "flows/nightly.py:nightly",
    "path": None,
    "pull_steps": [{"there": {"directory": "/opt"}}],
    "version": "2",
    "description": "d",
    "parameters": {},
    "parameter_openapi_schema": {"additionalProperties": False},
    "schedules": [{"schedule": AT_NIGHT, "active": True, "slug": "nightly"}],
}
OWN = {
    "schedule": {"interval": 60.0},
    "active": False,
    "max_scheduled_runs": 2,
    "parameters": {"snapshot": "own"},
    "slug": None,
}


def known(*schedules: dict, **more: object) -> dict:
    return WANTED | {"id": "d", "paused": False, "schedules": list(schedules)} | more


def ours(**more: object) -> dict:
    there = AT_NIGHT | {"day_or": True}  # as the server completes it
    made = {"id": "1", "schedule": there, "active": True, "max_scheduled_runs": None}
    return made | {"parameters": {}, "slug": "nightly"} | more


def test_a_new_one_starts_when_the_file_says_or_as_asked_for():
    body = changed(WANTED, None, None, None)
    assert "flow" not in body
    assert body["schedules"] == WANTED["schedules"]
    (schedule,) = changed(WANTED, None, "5 1 * * *", None)["schedules"]
    assert schedule["schedule"] == {"cron": "5 1 * * *", "timezone": "UTC"}
    (schedule,) = changed(WANTED, None, None, "Asia/Tokyo")["schedules"]
    assert schedule["schedule"] == {"cron": "15 2 * * *", "timezone": "Asia/Tokyo"}


def test_one_that_is_as_it_should_be_is_left_alone_whatever_its_operator_changed():
    mine = ours(schedule={"cron": "0 0 * * *", "timezone": "UTC", "day_or": True}, active=False)
    for schedules in ((ours(),), (mine, OWN), (OWN,), ()):
        there = known(*schedules, paused=True, description="mine", parameters={"snapshot": "x"})
        assert changed(WANTED, there, None, None) is None
    assert changed(WANTED, known(ours()), "15 2 * * *", "UTC") is None


def test_another_version_of_the_program_keeps_what_the_operator_changed():
    there = known(ours(active=False), OWN, paused=True, parameters={"snapshot": "x"}, version="1")
    body = changed(WANTED, there, None, None)
    assert body["version"] == "2"
    assert (body["paused"], body["parameters"]) == (True, {"snapshot": "x"})
    assert [each["active"] for each in body["schedules"]] == [False, False]
    assert body["schedules"][1] == OWN
    # What is not in the request stays.
    assert not {"description", "tags", "job_variables", "work_pool_name"} & set(body)


def test_a_time_that_is_asked_for_moves_our_schedule_alone():
    body = changed(WANTED, known(OWN, ours(active=False)), "5 1 * * *", None)
    moved, other = body["schedules"]
    assert moved["schedule"] == {"cron": "5 1 * * *", "timezone": "UTC"}
    assert (moved["active"], other) == (False, OWN)
    # One that was deleted is made again if its time is given, and only then.
    (_, made) = changed(WANTED, known(OWN), "5 1 * * *", None)["schedules"][::-1]
    assert (made["slug"], made["active"]) == ("nightly", True)
    assert changed(WANTED, known(OWN), None, "Asia/Tokyo") is None
