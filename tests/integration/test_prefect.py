"""The nightly flow on a real Prefect server: deployed, run, watched, looked at, stopped.

One server for the whole file, since it takes seconds to start: ``python -m flows.serve`` starts
it, deploys from prefect.yaml and runs a worker, as ``make serve`` does.
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
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from flows.server import HOST, free_port, stop_process

pytest_plugins = ("tests.browser",)

ROOT = Path(__file__).parents[2]
LAB = ROOT / "data" / "samples" / "lab"
START_S = 240.0  # on a machine that does much else
RUN_S = 240.0


@dataclass
class Served:
    """What ``flows.serve`` runs."""

    process: subprocess.Popen
    environment: dict[str, str]
    out: Path
    ui_url: str
    reports_url: str

    @property
    def home(self) -> Path:
        return Path(self.environment["PREFECT_HOME"])

    def post(self, path: str, body: dict) -> Any:
        request = urllib.request.Request(
            f"{self.ui_url}/api{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def run(self, **parameters: object) -> tuple[int, dict]:
        """Exit status of ``prefect deployment run --watch``, and the flow run it started."""
        words = ["-m", "prefect", "--no-prompt", "deployment", "run", "nightly/nightly", "--watch"]
        for name, value in parameters.items():
            words += ["-p", f"{name}={json.dumps(value)}"]
        done = subprocess.run(
            [sys.executable, *words],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=False,
        )
        newest = {"sort": "EXPECTED_START_TIME_DESC", "limit": 1}
        newest["flow_runs"] = {"state": {"type": {"not_any_": ["SCHEDULED"]}}}
        return done.returncode, self.post("/flow_runs/filter", newest)[0]

    def artifacts(self, run: dict) -> dict[str, dict]:
        """Artifacts of a flow run by key."""
        wanted = {"flow_run_id": {"any_": [run["id"]]}}
        rows = self.post("/artifacts/filter", {"artifacts": wanted})
        return {row["key"]: row for row in rows if row["key"]}


SCHEDULED = {"state": {"type": {"any_": ["SCHEDULED"]}}}


def clean_environment(home: Path) -> dict[str, str]:
    """Ours, without what a developer has set for Prefect or hopscope."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PREFECT_", "HOPSCOPE_"))
    }
    return kept | {"PREFECT_HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    out = folder / "out"
    reports, prefect = free_port(), free_port()
    environment = clean_environment(folder / "prefect")
    # A relative input, as a user would give it: runs start in another folder.
    environment["HOPSCOPE_IP2AS"] = os.path.relpath(LAB / "lab.pfx2as", folder)
    words = ["-m", "flows.serve", "--out", str(out), "--store", str(folder / "store")]
    words += ["--port", str(reports), "--prefect-port", str(prefect)]
    log = folder / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *words],
            env=environment,
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        end = time.monotonic() + START_S
        while "Stop with Ctrl-C" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.2)
        ui_url = f"http://{HOST}:{prefect}"
        environment["PREFECT_API_URL"] = f"{ui_url}/api"
        yield Served(process, environment, out, ui_url, f"http://{HOST}:{reports}")
    finally:
        stop_process(process, 60)


@pytest.fixture(scope="module")
def night(served):
    """A run over a part of the lab with a file among it that is cut short."""
    folder = served.out.parent / "night"
    folder.mkdir()
    for name in ("h0.icmp-paris.warts.gz", "h5.icmp-paris.warts.gz"):
        (folder / name).write_bytes((LAB / name).read_bytes())
    whole = (LAB / "h3.icmp-paris.warts.gz").read_bytes()
    (folder / "cut.warts.gz").write_bytes(whole[: len(whole) // 2])
    return served.run(
        inputs=[str(folder)],
        snapshot="last-night",
        options={
            "allow_special": ["198.18.0.0/15"],
            "as_names": str(LAB / "as_names.json"),
            "workers": 1,
        },
    )


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def test_deployment_of_prefect_yaml_runs_every_night_once_at_a_time(served):
    deployment = served.post("/deployments/filter", {})[0]
    assert (deployment["name"], deployment["entrypoint"]) == ("nightly", "flows/nightly.py:nightly")
    schedule = deployment["schedules"][0]["schedule"]
    assert (schedule["cron"], schedule["timezone"]) == ("15 2 * * *", "UTC")
    assert deployment["global_concurrency_limit"]["limit"] == 1
    assert deployment["concurrency_options"]["collision_strategy"] == "CANCEL_NEW"


def test_the_next_nights_are_scheduled_and_the_server_has_no_fault(served, night):
    end = time.monotonic() + 90
    while not (runs := served.post("/flow_runs/filter", {"flow_runs": SCHEDULED})):
        assert time.monotonic() < end, (served.home / "server.log").read_text()[-3000:]
        time.sleep(1)
    assert {run["auto_scheduled"] for run in runs} == {True}
    assert {run["expected_start_time"][11:16] for run in runs} == {"02:15"}
    assert "ERROR" not in (served.home / "server.log").read_text()


def test_watched_run_that_left_a_file_out_ends_partial_and_its_report_is_there(served, night):
    status, run = night
    assert (status, run["state"]["type"]) == (0, "COMPLETED")
    wanted = {"flow_runs": {"state": {"name": {"any_": ["Partial"]}}}}
    assert [found["id"] for found in served.post("/flow_runs/filter", wanted)] == [run["id"]]
    assert (served.out / "last-night" / "index.html").is_file()
    assert (served.out / "last-night" / "ases.parquet").is_file()
    assert not (served.out / ".measured").exists()


def test_run_page_has_progress_table_links_and_the_dashboard(served, night):
    artifacts = served.artifacts(night[1])
    table = json.loads(artifacts["ases"]["data"])
    assert len(table) == 10
    assert {row["asn"] for row in table} >= {64496, 65536}
    assert artifacts["ases"]["type"] == "table"
    assert f"{served.reports_url}/reports/last-night/index.html" in artifacts["report"]["data"]
    assert re.search(r"http://127\.0\.0\.1:\d+/status", artifacts["dask-dashboard"]["data"])
    for key in ("ingest-progress", "search-progress", "report-progress"):
        assert artifacts[key]["type"] == "progress"
        assert float(artifacts[key]["data"]) == 100.0


def test_file_that_is_cut_short_is_a_warning_and_no_failure(served, night):
    _, run = night
    warning = served.artifacts(run)["warnings"]
    assert "cut.warts.gz" in warning["data"]
    assert "Something was left out" in warning["data"]
    assert "something was left out" in run["state"]["message"]


def test_log_of_the_run_holds_the_dashboard_and_the_report(served, night):
    logs = served.post("/logs/filter", {"logs": {"flow_run_id": {"any_": [night[1]["id"]]}}})
    text = "\n".join(line["message"] for line in logs)
    assert "Dask dashboard: http://127.0.0.1:" in text
    assert f"Report: {served.reports_url}/reports/last-night/index.html" in text
    assert "Traceback" not in text


def test_one_prefect_task_a_stage(served, night):
    wanted = {"flow_runs": {"id": {"any_": [night[1]["id"]]}}}
    tasks = served.post("/task_runs/filter", wanted)
    assert sorted(task["name"].split("-")[0] for task in tasks) == ["ingest", "measure", "report"]


def test_served_pages_lead_from_start_to_report_and_prefect(served, night):
    start = get(f"{served.reports_url}/")
    assert f'href="{served.ui_url}"' in start
    href = re.search(r'href="(/reports/last-night/index\.html)"', start)
    assert href
    assert "64496" in get(served.reports_url + href.group(1))


def test_run_page_in_a_browser_shows_the_artifacts(served, night, browser):
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    try:
        page.goto(f"{served.ui_url}/runs/flow-run/{night[1]['id']}")
        page.get_by_text("Artifacts", exact=True).last.click()
        page.get_by_text("Report of last-night").last.wait_for(timeout=30_000)
        for key in ("dask-dashboard", "warnings", "search-progress"):
            page.get_by_text(key, exact=True).last.wait_for(timeout=30_000)
    finally:
        page.close()


def test_run_without_inputs_fails_with_one_line_that_says_what_to_give(served):
    status, run = served.run()
    assert (status, run["state"]["type"]) == (1, "FAILED")
    assert "HOPSCOPE_INPUTS" in run["state"]["message"]
    assert "\n" not in run["state"]["message"]
    logs = served.post("/logs/filter", {"logs": {"flow_run_id": {"any_": [run["id"]]}}})
    assert logs
    assert not [log["message"] for log in logs if "Traceback" in log["message"]]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebind.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "https://evil.example", "Content-Type": "text/plain"},
    ],
)
def test_web_site_cannot_start_a_run_through_the_browser(served, headers):
    deployment = served.post("/deployments/filter", {})[0]["id"]
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


def test_taken_port_is_named_and_nothing_is_left_running(tmp_path):
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "flows.serve", "--prefect-port", str(port)],
            env=clean_environment(tmp_path),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert f"port {port}" in done.stderr
    assert "--prefect-port" in done.stderr
    assert "Traceback" not in done.stderr


def test_embedded_run_needs_nothing_started_and_says_what_was_left_out(tmp_path):
    (tmp_path / "empty.warts").touch()
    words = [str(LAB / "h1.icmp-paris.warts.gz"), "empty.warts", "--store", "store", "--out", "out"]
    words += ["--ip2as", str(LAB / "lab.pfx2as"), "--allow-special", "198.18.0.0/15"]
    done = subprocess.run(
        [sys.executable, "-m", "flows.nightly", *words, "--snapshot", "now", "--workers", "1"],
        env=clean_environment(tmp_path / "prefect"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "Report: out/now/index.html" in done.stdout
    assert (tmp_path / "out" / "now" / "index.html").is_file()
    assert "empty.warts" in done.stderr
    for noise in ("Traceback", "INFO", "ERROR", "prefect", "distributed"):
        assert noise not in done.stderr


@pytest.mark.parametrize("module", ["flows.nightly", "flows.serve"])
def test_sigterm_leaves_no_process(tmp_path, module):
    words = ["--port", str(free_port()), "--prefect-port", str(free_port())]
    if module == "flows.nightly":
        topology = tmp_path / "large.brite"
        generate = ["-m", "pipeline.cli", "generate", "top-down", "--routers", "100000"]
        subprocess.run([sys.executable, *generate, "--out", topology], check=True, cwd=ROOT)
        words = [str(topology), "--store", "store", "--out", "out", "--workers", "1"]
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *words],
            env=clean_environment(tmp_path / "prefect"),
            cwd=tmp_path,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        busy = "Searching" if module == "flows.nightly" else "Starting Prefect"
        end = time.monotonic() + START_S
        children: list[psutil.Process] = []
        while busy not in log.read_text() or not children:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
            children = psutil.Process(process.pid).children(recursive=True)
        assert any("flows.local_server" in child.cmdline() for child in children)
        process.terminate()
        status = process.wait(60)
        _, alive = psutil.wait_procs(children, timeout=5)
    finally:
        stop_process(process)
    assert alive == []
    assert status == (143 if module == "flows.nightly" else 0), log.read_text()
    assert "Traceback" not in log.read_text()


def test_server_that_does_not_answer_is_named_in_one_line(tmp_path):
    environment = clean_environment(tmp_path) | {"PREFECT_API_URL": "http://127.0.0.1:9/api"}
    done = subprocess.run(
        [sys.executable, "-m", "flows.nightly", str(LAB), "--store", "s", "--out", "o"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "PREFECT_API_URL=http://127.0.0.1:9/api" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "says"), [([], "inputs"), (["nowhere", "--store", "s"], "--out")]
)
def test_embedded_run_with_nothing_to_do_ends_with_one_line(tmp_path, words, says):
    done = subprocess.run(
        [sys.executable, "-m", "flows.nightly", *words],
        env=clean_environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


# Last in the file: it stops what the others use.
def test_closed_terminal_in_the_middle_of_a_run_leaves_no_process_and_no_place_held(served):
    topology = served.out.parent / "large.brite"
    words = [sys.executable, "-m", "pipeline.cli", "generate", "top-down", "--routers", "200000"]
    subprocess.run([*words, "--out", topology], check=True, cwd=ROOT, capture_output=True)
    deployment = served.post("/deployments/filter", {})[0]
    run = served.post(
        f"/deployments/{deployment['id']}/create_flow_run",
        {"parameters": {"inputs": [str(topology)]}, "state": {"type": "SCHEDULED"}},
    )
    end = time.monotonic() + RUN_S
    while "ingest-progress" not in served.artifacts(run):
        assert time.monotonic() < end
        time.sleep(0.1)
    children = psutil.Process(served.process.pid).children(recursive=True)
    commands = "\n".join(" ".join(child.cmdline()) for child in children)
    for part in ("flows.local_server", "worker start", "prefect.engine"):
        assert part in commands

    served.process.send_signal(signal.SIGHUP)
    assert served.process.wait(60) == 0
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []
    for url in (served.ui_url, served.reports_url):
        with socket.socket() as probe:
            assert probe.connect_ex((HOST, int(url.rpartition(":")[2]))) != 0
    # A run that stays "running" would have every later night cancelled.
    database = Path(served.environment["PREFECT_HOME"]) / "prefect.db"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        states = dict(connection.execute("select name, state_type from flow_run"))
    assert states[run["name"]] == "CRASHED"
    assert "RUNNING" not in states.values()
