"""From ``prefect deployment run`` to a report: where the time of a run on a warm machine goes.

    python benchmarks/bench_deployment.py
    python benchmarks/bench_deployment.py --device cpu --repeats 5 --subject deployment_2_cores

``hopscope serve`` starts a Prefect server, a worker and the reports; then the deployment
``nightly/nightly`` is run by Prefect's own command on a BRITE file of 100,000 routers, made
before, with diameter and radius, everything computed again each time. ``watched_s`` is the whole
command, ``waited_s`` its time until the worker takes the run, ``flow_start_s`` from there until the
flow runs, ``flow_s`` from there to the last state; of this ``first_task_s`` is the time until the
first task starts, ``tasks_s`` until the last one ends. The first run is a row of its own, as
it compiles what is not compiled yet; the others are medians.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyarrow.parquet as pq

from benchmarks.lib.record import REPOSITORY, record
from benchmarks.lib.timing import OtherWork
from flows.processes.server import HOST, free_port, stop_process
from pipeline.config import GenerateConfig
from pipeline.stages.generate import generate_topology

READY = "Stop with Ctrl-C"
METRICS = "diameter,radius"
ASN = 64496  # the file names none
START_S = 240


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--routers", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3, help="after the first run")
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--subject", default="deployment")
    parser.add_argument("--results", type=Path, help="folder of the result")
    given = parser.parse_args()
    others = OtherWork()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        topology = folder / "routers.brite"
        generate_topology(GenerateConfig(model="ba", routers=given.routers, seed=1, out=topology))
        options = {"asn": ASN, "device": given.device, "full": True}
        ready_s, runs = _serve(folder, topology, options, given.repeats + 1)
    rows: list[dict[str, Any]] = [{"what": "serve: from its start to ready", "wall_s": ready_s}]
    rows.append({"what": "first run", **runs[0]})
    rows.append(
        {"what": "later runs, medians"}
        | {key: round(statistics.median(run[key] for run in runs[1:]), 2) for key in runs[0]}
        | {"largest_watched_s": max(run["watched_s"] for run in runs[1:])}
    )
    record(
        given.subject,
        rows,
        given.results,
        n_routers=given.routers,
        device=given.device,
        repeats=given.repeats,
        other_processes_kept_busy_cores=others.n_cores(),
    )


def _serve(
    folder: Path, topology: Path, options: dict[str, Any], n_runs: int
) -> tuple[float, list[dict[str, float]]]:
    """Seconds until ``serve`` is ready, and the figures of each run."""
    reports, prefect = free_port(), free_port()
    paths = os.pathsep.join(filter(None, (str(REPOSITORY), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PREFECT_HOME": str(folder / "prefect"), "PYTHONPATH": paths}
    environment |= {"PYTHONUNBUFFERED": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    words = ["--out", str(folder / "out"), "--store", str(folder / "store")]
    words += ["--port", str(reports), "--prefect-port", str(prefect)]
    log = folder / "serve.log"
    started = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "flows.serve", *words],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        while READY not in log.read_text():
            if process.poll() is not None or time.perf_counter() - started > START_S:
                raise SystemExit(f"serve did not start:\n{log.read_text()}")
            time.sleep(0.02)
        ready_s = round(time.perf_counter() - started, 2)
        environment["PREFECT_API_URL"] = f"http://{HOST}:{prefect}/api"
        return ready_s, [_run(folder, topology, options, environment) for _ in range(n_runs)]
    finally:
        stop_process(process, 60)


def _run(
    folder: Path, topology: Path, options: dict[str, Any], environment: dict[str, str]
) -> dict[str, float]:
    """Figures of one run of the deployment, seconds."""
    words = ["-m", "prefect", "--no-prompt", "deployment", "run", "nightly/nightly", "--watch"]
    parameters = {"inputs": [str(topology)], "snapshot": "routers", "metrics": METRICS}
    for name, value in (parameters | {"options": options}).items():
        words += ["-p", f"{name}={json.dumps(value)}"]
    asked, clock = time.time(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *words], env=environment, check=False, capture_output=True, text=True
    )
    watched_s = time.perf_counter() - clock
    if done.returncode:
        raise SystemExit(f"the run failed:\n{done.stdout}{done.stderr}")
    at = _states(environment["PREFECT_API_URL"])
    tasks = pq.read_table(folder / "out" / "routers" / "tasks.parquet").to_pydict()
    figures = {
        "watched_s": watched_s,
        "waited_s": at["Pending"] - asked,
        "flow_start_s": at["Running"] - at["Pending"],
        "first_task_s": min(tasks["started"]) - at["Running"],
        "tasks_s": max(tasks["ended"]) - min(tasks["started"]),
        "flow_s": at["Completed"] - at["Running"],
    }
    return {name: round(value, 2) for name, value in figures.items()}


def _states(url: str) -> dict[str, float]:
    """When the newest flow run first entered each state, by name; seconds since 1970."""
    newest: dict[str, Any] = {"sort": "EXPECTED_START_TIME_DESC", "limit": 1}
    newest["flow_runs"] = {"state": {"type": {"not_any_": ["SCHEDULED"]}}}
    (run,) = _answer(f"{url}/flow_runs/filter", newest)
    at: dict[str, float] = {}
    for state in _answer(f"{url}/flow_run_states/?flow_run_id={run['id']}", None):
        moment = datetime.datetime.fromisoformat(state["timestamp"]).timestamp()
        at[state["name"]] = min(at.get(state["name"], moment), moment)
    return at


def _answer(url: str, body: dict[str, Any] | None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
