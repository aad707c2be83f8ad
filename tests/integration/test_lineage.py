"""Events of what nightly runs make, on a real Prefect server, and work that they start."""

from __future__ import annotations

import pytest
from prefect.events.worker import EventsWorker

from flows.compare import compare
from flows.deploy import deploy
from flows.runs.api import Api, existing
from flows.runs.assets import CHANGES, SNAPSHOTS, asset_of
from tests.integration.test_nightly_comparisons import FIRST, SECOND, by_flow, options
from tests.served import STOP_S, wait_until

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

MADE = "prefect.asset.materialization.succeeded"


def made(api: Api) -> list[dict]:
    """Materializations, the oldest first."""
    wanted = {"filter": {"event": {"name": [MADE]}, "order": "ASC"}, "limit": 50}
    return api.post("/events/filter", wanted)["events"]


def key_of(event: dict) -> str:
    return event["resource"]["prefect.resource.id"]


def test_what_runs_make_is_told_by_its_uri_and_starts_other_work(server, tmp_path):
    api = Api(server.api_url).patient()
    store, out, _ = options(tmp_path)
    snapshots, reports, changes = asset_of(store, SNAPSHOTS), asset_of(out), asset_of(out, CHANGES)
    api.post("/work_pools/", {"name": "local", "type": "process", "base_job_template": {}})
    deploy(api)
    started = existing(api, "compare", "compare")["id"]
    automation = {
        "name": "a comparison more",
        "trigger": {
            "type": "event",
            "posture": "Reactive",
            "expect": [MADE],
            "match": {"prefect.resource.id": changes.key},
            "threshold": 1,
            "within": 0,
        },
        "actions": [
            {
                "type": "run-deployment",
                "source": "selected",
                "deployment_id": started,
                "parameters": {"old": FIRST, "new": SECOND},
            }
        ],
    }
    api.post("/automations/", automation)
    by_flow(tmp_path, FIRST)
    by_flow(tmp_path, SECOND)
    EventsWorker.drain_all(timeout=STOP_S)
    wait_until(lambda: len(made(api)) >= 5)
    found = [(key_of(each), each["payload"]) for each in made(api)]
    keys = [key for key, _ in found]
    assert sorted(keys) == sorted([snapshots.key] * 2 + [reports.key] * 2 + [changes.key])
    assert snapshots.key == f"file://{store}/snapshots"
    nights = [facts["snapshot"] for key, facts in found if key == snapshots.key]
    assert nights == [FIRST, SECOND]
    (facts,) = (facts for key, facts in found if key == changes.key)
    assert (facts["old"], facts["new"], facts["n_events"]) == (FIRST, SECOND, 0)
    (event,) = (
        each for each in made(api) if each["resource"]["prefect.resource.id"] == changes.key
    )
    related = {each["prefect.resource.id"] for each in event["related"]}
    assert {snapshots.key, reports.key} <= related
    waiting = {"flow_runs": {"deployment_id": {"any_": [started]}}}
    wait_until(lambda: api.post("/flow_runs/filter", waiting))
    (run,) = api.post("/flow_runs/filter", waiting)
    assert run["parameters"] == {"old": FIRST, "new": SECOND}


def test_a_comparison_that_failed_is_no_materialization(server, tmp_path):
    out = tmp_path / "out"
    state = compare(old="a", new="b", store=str(tmp_path), out=str(out), return_state=True)
    assert state.is_failed()
    EventsWorker.drain_all(timeout=STOP_S)
    key = asset_of(out, CHANGES).key
    assert key not in map(key_of, made(Api(server.api_url)))


def test_keys_hold_only_what_prefect_takes(tmp_path):
    assert asset_of(tmp_path / "a b" / "ü%", SNAPSHOTS).key == f"file://{tmp_path}/a_b/__/snapshots"
    assert len(asset_of(tmp_path / ("x" * 250) / ("y" * 250) / "z").key) <= 512
