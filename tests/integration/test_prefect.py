"""The nightly flow on a real Prefect server: deployed, run, watched, looked at, stopped.

One server for this file and test_cancelled_runs.py, since it takes seconds to start:
``python -m flows.serve`` starts it, deploys from prefect.yaml and runs a worker, as ``make serve``
does; the last test stops it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from flows.pages.inert import inert
from flows.processes.holders import Holder, Seat
from flows.processes.server import HOST
from flows.runs.turns import WORKING
from pipeline.config import GenerateConfig
from pipeline.stages.generate import generate_topology
from tests.served import LAB, RUN_S, SERVER, STOP_S, WATCHED, succeeds, wait_until
from tests.server_log import faults

pytest_plugins = ("tests.browser",)

SCHEDULED = {"state": {"type": {"any_": ["SCHEDULED"]}}}
DEPLOYED = {"ingest", "analyze", "compare", "nightly", "backfill", "notify"}
EVIL = "evil.example"
HOSTILE = [
    f"![x](http://{EVIL}/image)",
    f"<img src=http://{EVIL}/tag onerror=alert(1)><script>alert(1)</script>",
    f"[log in](http://{EVIL}/phish) <a href=//{EVIL}>here</a>",
    f"<input type=password> &lt;img src=//{EVIL}/entity&gt;",
    f"http://{EVIL}/auto <http://{EVIL}> www.{EVIL} root@{EVIL}",
    "a | b |\n| - | - |\n\n# head",
    f"[log in][r]\n\n[r]: http://{EVIL}/ref",
    "`code` **bold** ~~gone~~ _slanted_ \\<b>",
    "- [ ] task",
    "Example-Net, Inc. (NL)",
]
CUT = f"`<img src=x onerror=alert(1)>[log in](x) www.{EVIL} cut.warts.gz"


@pytest.fixture(scope="module")
def night(served):
    """A run over a part of the lab with a file among it that is cut short, and hostile names."""
    folder = served.out.parent / "night"
    folder.mkdir()
    for name in ("h0.icmp-paris.warts.gz", "h5.icmp-paris.warts.gz"):
        (folder / name).write_bytes((LAB / name).read_bytes())
    whole = (LAB / "h3.icmp-paris.warts.gz").read_bytes()
    (folder / CUT).write_bytes(whole[: len(whole) // 2])
    names = served.out.parent / "names.json"
    asns = json.loads((LAB / "as_names.json").read_text())
    names.write_text(json.dumps(dict(zip(asns, HOSTILE, strict=False))))
    return served.run(
        inputs=[str(folder)],
        snapshot="last-night",
        options={"allow_special": ["198.18.0.0/15"], "as_names": str(names), "workers": 1},
    )


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=120) as answer:
        return answer.read().decode()


def test_deployment_of_prefect_yaml_runs_every_night(served):
    deployment = served.deployment()
    assert (deployment["name"], deployment["entrypoint"]) == ("nightly", "flows/nightly.py:nightly")
    schedule = deployment["schedules"][0]["schedule"]
    assert (schedule["cron"], schedule["timezone"]) == ("15 2 * * *", "UTC")
    # Its leases end a run when the server is away at the wrong moment.
    assert deployment["global_concurrency_limit"] is None


def test_every_stage_has_a_deployment_that_says_what_it_does(served):
    deployments = served.post("/deployments/filter", {})
    assert {each["name"] for each in deployments} == DEPLOYED
    for each in deployments:
        assert each["description"], each["name"]
        assert each["enforce_parameter_schema"], each["name"]
        assert bool(each["schedules"]) == (each["name"] == "nightly")


def test_the_next_nights_are_scheduled_and_the_server_has_no_fault(served, night):
    log = served.home / "server.log"
    wait_until(lambda: served.post("/flow_runs/filter", {"flow_runs": SCHEDULED}), log=log)
    runs = served.post("/flow_runs/filter", {"flow_runs": SCHEDULED})
    assert {run["auto_scheduled"] for run in runs} == {True}
    assert {run["expected_start_time"][11:16] for run in runs} == {"02:15"}
    assert faults(log.read_text()) == []


def test_watched_run_that_left_a_file_out_ends_partial_and_its_report_is_there(served, night):
    status, run = night
    assert (status, run["state"]["type"]) == (0, "COMPLETED")
    wanted = {"flow_runs": {"state": {"name": {"any_": ["Partial"]}}}}
    assert [found["id"] for found in served.post("/flow_runs/filter", wanted)] == [run["id"]]
    assert (served.out / "last-night" / "index.html").is_file()
    assert (served.out / "last-night" / "ases.parquet").is_file()
    assert not list(served.out.glob(".measured*"))


def test_run_page_has_progress_table_links_and_the_dashboard(served, night):
    artifacts = served.artifacts(night[1])
    assert "events" not in artifacts  # there is no night before it
    table = json.loads(artifacts["ases"]["data"])
    assert len(table) == 10
    assert {row["asn"] for row in table} >= {64496, 65536}
    assert artifacts["ases"]["type"] == "table"
    assert f"{served.reports_url}/reports/last-night/index.html" in artifacts["report"]["data"]
    assert re.search(r"http://127\.0\.0\.1:\d+/status", artifacts["dask-dashboard"]["data"])
    for key in ("ingest-progress", "search-progress", "report-progress"):
        assert artifacts[key]["type"] == "progress"
        assert float(artifacts[key]["data"]) == 100.0


def test_a_run_is_called_after_its_night_and_its_form_shows_what_is_in_force(served, night):
    assert night[1]["name"] == "last-night"
    schema = served.deployment()["parameter_openapi_schema"]["properties"]
    assert schema["store"]["default"] == str(served.out.parent / "store")
    assert schema["ip2as"]["default"] == [str(LAB / "lab.pfx2as")]
    assert schema["metrics"]["default"] == ["hops"]
    assert "notify_first: 3" in schema["options"]["description"]


def test_file_that_is_cut_short_is_a_warning_and_no_failure(served, night):
    _, run = night
    warning = served.artifacts(run)["warnings"]
    assert inert(CUT) in warning["data"]
    assert "Something was left out" in warning["data"]
    assert "something was left out" in run["state"]["message"]


def test_log_of_the_run_holds_the_dashboard_and_the_report(served, night):
    text = served.said(night[1])
    assert "Dask dashboard: http://127.0.0.1:" in text
    assert f"Report: {served.reports_url}/reports/last-night/index.html" in text
    assert "Traceback" not in text


def test_one_prefect_task_a_stage(served, night):
    wanted = {"flow_runs": {"id": {"any_": [night[1]["id"]]}}}
    tasks = served.post("/task_runs/filter", wanted)
    stages = ["compare", "ingest", "measure", "report"]
    assert sorted(task["name"].split("-")[0] for task in tasks) == stages


def test_served_pages_lead_from_start_to_report_and_prefect(served, night):
    start = get(f"{served.reports_url}/")
    assert f'href="{served.ui_url}"' in start
    href = re.search(r'href="(/reports/last-night/index\.html)"', start)
    assert href
    assert "64496" in get(served.reports_url + href.group(1))


def open_artifact(page, path: str, key: str) -> None:
    """Go to a page of an artifact as links do, without loading all of the application again."""
    with page.expect_response(re.compile("/api/artifacts/")):
        page.evaluate(
            "path => { history.pushState(null, '', path); dispatchEvent(new Event('popstate')); }",
            path,
        )
    page.get_by_text(key).locator("visible=true").first.wait_for()
    page.wait_for_timeout(500)  # as long as "networkidle" waits for more requests


@pytest.mark.parametrize("pages", ["", "/v2"])
def test_names_of_others_are_text_on_the_pages_of_prefect(served, night, browser, pages):
    artifacts = served.artifacts(night[1])
    keys = ("ases", "warnings", "report", "search-progress")
    shown = {"warnings": "Something was left out", "report": "Report of last-night"}
    page = browser.new_page()
    asked: list[str] = []
    refused: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda each: refused.append(each.url) if each.failure == "csp" else 0)
    made = f"""() => [...document.querySelectorAll("img, a, input, script")].map(e => e.outerHTML)
        .filter(html => /{EVIL}|password|checkbox|alert|onerror/.test(html))"""
    try:
        page.on("dialog", lambda dialog: asked.append(f"{EVIL}: dialog"))
        page.goto(f"{served.ui_url}{pages}/artifacts")
        page.wait_for_load_state("networkidle")
        assert page.evaluate(made) == []
        for key in keys:
            open_artifact(page, f"{pages}/artifacts/artifact/{artifacts[key]['id']}", key)
            if key in shown:
                page.get_by_text(shown[key]).locator("visible=true").first.wait_for()
            assert page.evaluate(made) == []
            if key == "ases":
                for name in json.loads(artifacts["ases"]["data"]):
                    page.get_by_text(name["name"], exact=True).first.wait_for()
                assert page.evaluate(made) == []
        rows = json.loads(artifacts["ases"]["data"])
        names = {inert(name.replace("\n", "\ufffd")) for name in HOSTILE}  # as ingest reads them
        assert {row["name"] for row in rows} == names
        for key in keys:
            open_artifact(page, f"{pages}/artifacts/key/{key}", key)
            assert page.evaluate(made) == []
    finally:
        page.close()
    assert [url for url in asked if EVIL in url] == []
    # Pages ask no other site; what tries to is stopped before it leaves.
    others = [url for url in asked if urlsplit(url).hostname not in ("127.0.0.1", None)]
    assert set(others) <= set(refused)


def test_run_page_in_a_browser_shows_the_artifacts(served, night, browser):
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    try:
        page.goto(f"{served.ui_url}/runs/flow-run/{night[1]['id']}")
        page.get_by_text("Artifacts", exact=True).last.click()
        page.get_by_text("Report of last-night").last.wait_for(timeout=120_000)
        for key in ("dask-dashboard", "warnings", "search-progress"):
            page.get_by_text(key, exact=True).last.wait_for(timeout=120_000)
    finally:
        page.close()


def test_run_without_inputs_fails_with_one_line_that_says_what_to_give(served):
    run = served.ended()
    assert run["state"]["type"] == "FAILED"
    assert "HOPSCOPE_INPUTS" in run["state"]["message"]
    assert "\n" not in run["state"]["message"]
    said = served.said(run)
    assert said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "parameters",
    [
        {"inputs": "not a list"},
        {"snapshot": "../x"},
        {"metrics": "height"},
        {"options": {"workers": "two"}},
        {"options": {"colour": "red"}},
        {"inptus": ["/data"]},
    ],
)
def test_wrong_parameters_are_refused_before_there_is_a_run(served, parameters):
    before = served.post("/flow_runs/count", {})
    with pytest.raises(urllib.error.HTTPError) as caught:
        served.start(**parameters)
    with caught.value as answer:
        assert answer.code == 409
        assert next(iter(parameters)) in answer.read().decode()
    assert served.post("/flow_runs/count", {}) == before


def test_runs_take_turns_and_outlive_a_restart_of_the_server_and_a_killed_one_is_ended(served):
    """The test works on the store first, so all runs meet one that works."""
    store = served.out.parent / "store"
    store.mkdir(exist_ok=True)
    turn = Seat(store / WORKING).take(Holder.me("the test"), wait=True)
    given = {"inputs": [str(LAB / "h6.icmp-paris.warts.gz")], "snapshot": "turns"}
    given["options"] = {"allow_special": ["198.18.0.0/15"], "workers": 1}
    try:
        words = [sys.executable, "-m", "flows.nightly", *given["inputs"]]
        words += ["--store", store, "--out", served.out]
        with subprocess.Popen(words, env=served.environment, stderr=subprocess.PIPE) as by_hand:
            assert b"waiting for the test (process " in by_hand.stderr.readline()
            start_page = f"{served.reports_url}/"
            wait_until(lambda: ": Waiting</li>" in get(start_page))
            by_hand.kill()
        wait_until(lambda: "No run in progress" in get(start_page))

        second = served.start(**given)
        wait_until(lambda: served.state(second)["name"] == "Waiting")
        assert "waiting for the test (process " in served.state(second)["message"]
        third = served.start(**given)
        wait_until(lambda: served.state(third)["type"] == "CANCELLED")
        assert served.state(third)["name"] == "Overlapping"
        assert re.search(
            rf"the test \(.* is running on .* and run {given['snapshot']} \(.* is waiting",
            served.state(third)["message"],
        )
        wait_until(lambda: "Overlapping" in served.said(third))  # lines come a moment later
        assert "Traceback" not in served.said(third)

        (server,) = served.programs(SERVER)
        server.kill()
        wait_until(lambda: served.programs(SERVER) - {server})
        wait_until(lambda: succeeds(lambda: served.state(second)["name"] == "Waiting"))
        # What serve does now and then: the killed run by hand has ended.
        killed = {"flow_runs": {"state": {"name": {"any_": ["Crashed"]}}}}
        wait_until(lambda: served.post("/flow_runs/filter", killed))
        assert served.state(second)["name"] == "Waiting"
    finally:
        os.close(turn)
    wait_until(lambda: served.state(second)["type"] not in ("RUNNING", "PENDING"))
    assert served.state(second)["type"] == "COMPLETED", served.state(second)
    assert (served.out / "turns" / "index.html").is_file()
    # It is compared with the night before, whose vantage points were others.
    artifacts = served.artifacts(second)
    assert f"{served.reports_url}/reports/turns/changes.html" in artifacts["changes"]["data"]
    events = json.loads(artifacts["events"]["data"])
    assert [row["rank"] for row in events] == list(range(1, len(events) + 1))
    assert any("no longer" in row["event"] for row in events)
    page = get(f"{served.reports_url}/reports/turns/changes.html")
    assert "last-night" in page
    index = get(f"{served.reports_url}/reports/turns/index.html")
    assert 'href="changes.html"' in index


def test_a_run_whose_process_starts_while_the_server_is_away_begins_again(served):
    given = {"inputs": [str(LAB / "h6.icmp-paris.warts.gz")], "snapshot": "again"}
    given["options"] = {"allow_special": ["198.18.0.0/15"], "workers": 1}
    run = served.start(**given)
    # Its process is being started.
    wait_until(lambda: served.state(run)["type"] != "SCHEDULED", every_s=0.1)
    (server,) = served.programs(SERVER)
    server.kill()
    wait_until(lambda: served.programs(SERVER) - {server})
    wait_until(lambda: succeeds(lambda: served.state(run)["type"] == "COMPLETED"))
    assert (served.out / "again" / "index.html").is_file()


def test_two_nights_are_compared_by_a_deployment_of_its_own(served, night):
    """The nights of the tests above, the other way round."""
    given = {"store": str(served.out.parent / "store"), "out": str(served.out)}
    run = served.ended("compare", old="turns", new="last-night", **given)
    assert run["state"]["type"] == "COMPLETED", run["state"]
    assert served.artifacts(run)["events"]["type"] == "table"
    assert "turns" in get(f"{served.reports_url}/reports/last-night/changes.html")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebind.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "https://evil.example", "Content-Type": "text/plain"},
    ],
)
def test_web_site_cannot_start_a_run_through_the_browser(served, headers):
    deployment = served.deployment()["id"]
    url = f"{served.ui_url}/api/deployments/{deployment}/create_flow_run"
    before = served.post("/flow_runs/count", {})
    for method, body in (("POST", b"{}"), ("OPTIONS", None)):
        asked = {"Content-Type": "application/json", "Access-Control-Request-Method": "POST"}
        request = urllib.request.Request(url, body, asked | headers, method=method)
        with pytest.raises(urllib.error.HTTPError) as caught, urllib.request.urlopen(request):
            pass
        with caught.value as answer:
            assert answer.code == 403
            assert "access-control-allow-origin" not in answer.headers
    assert served.post("/flow_runs/count", {}) == before


def test_lines_of_json_name_run_and_step_from_prefect_to_the_last_warning(served, tmp_path):
    words = [str(LAB / "h1.icmp-paris.warts.gz"), "empty.warts", "--store", "store", "--out", "out"]
    words += ["--ip2as", str(LAB / "lab.pfx2as"), "--allow-special", "198.18.0.0/15"]
    (tmp_path / "empty.warts").touch()
    done = subprocess.run(
        [sys.executable, "-m", "flows.nightly", *words, "--log-format", "json"],
        env=served.environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    run = uuid.UUID(next(line["run"] for line in lines if line["logger"] == "prefect.flow_runs"))
    assert {line["run"] for line in lines if "step" in line} == {str(run)}
    steps = {line["step"] for line in lines if "step" in line}
    assert steps >= {"read", "infer", "build", "write", "search", "report"}
    (said,) = [line for line in lines if "empty.warts" in line["message"] and "step" not in line]
    assert said["level"] == "warning"


def test_new_data_start_a_run_and_only_one(served):
    of_new_data = {"flow_runs": {"tags": {"all_": ["new-data"]}}}
    assert served.post("/flow_runs/filter", of_new_data) == []
    folder = served.out.parent / WATCHED
    for name in ("h0", "h5"):
        traces = f"{name}.icmp-paris.warts.gz"
        (folder / traces).write_bytes((LAB / traces).read_bytes())
    wait_until(lambda: served.post("/flow_runs/filter", of_new_data), log=served.log)
    (run,) = served.post("/flow_runs/filter", of_new_data)
    wait_until(lambda: served.state(run)["type"] not in ("SCHEDULED", "PENDING", "RUNNING"))
    assert len(served.post("/flow_runs/filter", of_new_data)) == 1
    assert run["deployment_id"] == served.deployment()["id"]


# Last of all: it stops what the others use.
def test_closed_terminal_in_the_middle_of_a_run_leaves_no_process_and_no_place_held(served):
    topology = served.out.parent / "large.brite"
    generate_topology(GenerateConfig(model="top-down", routers=200_000, out=topology))
    run = served.start(inputs=[str(topology)])
    wait_until(lambda: "ingest-progress" in served.artifacts(run))
    children = psutil.Process(served.process.pid).children(recursive=True)
    commands = "\n".join(" ".join(child.cmdline()) for child in children)
    for part in ("flows.processes.local_server", "worker start", "prefect.engine"):
        assert part in commands

    served.process.send_signal(signal.SIGHUP)
    assert served.process.wait(STOP_S) == 0
    _, alive = psutil.wait_procs(children, timeout=STOP_S)
    assert alive == []
    for url in (served.ui_url, served.reports_url):
        with socket.socket() as probe:
            assert probe.connect_ex((HOST, int(url.rpartition(":")[2]))) != 0
    # Nothing else would ever report that it has ended.
    database = Path(served.environment["PREFECT_HOME"]) / "prefect.db"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        states = dict(connection.execute("select id, state_type from flow_run"))
    assert states[run["id"]] == "CRASHED"
    assert "RUNNING" not in states.values()
