"""What serve reports before it starts anything."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from types import SimpleNamespace

import pytest
import yaml

from flows import deploy, serve
from flows.runs import api as api_module
from flows.runs.api import DEPLOYED, Api
from pipeline.config import ServeConfig
from pipeline.errors import UsageError
from pipeline.processes.stopping import Stopping
from tests.refusing import refusing


def test_without_prefect_one_line_names_the_extra():
    program = (
        "import sys; sys.modules['prefect'] = None\n"  # as if it were not installed
        "from importlib import util; find = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'prefect' else find(name, *more)\n"
        "from flows import serve; sys.exit(serve.main([]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "pip install 'hopscope[serve]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_deployments_are_where_an_installed_package_has_them():
    defined = yaml.safe_load((serve.ROOT / deploy.DEPLOYMENTS).read_text())["deployments"]
    assert [each["name"] for each in defined] == [
        "nightly",
        *(n for n in DEPLOYED if n != "nightly"),
    ]
    assert all((serve.ROOT / each["entrypoint"].split(":")[0]).is_file() for each in defined)
    settings = tomllib.loads((serve.ROOT / "pyproject.toml").read_text())
    assert (
        deploy.DEPLOYMENTS == "flows/" + settings["tool"]["setuptools"]["package-data"]["flows"][0]
    )


def a_watch(monkeypatch, answers: list[int | None]) -> tuple[list[float], list[object]]:
    """Watch a worker that has ended until runs are scheduled again.

    ``answers``: what the server says when the worker's runs are to be ended. Returns since when
    crashed runs were looked for, each time, and what was done, in order.
    """
    stopping, since, done = Stopping(), [], []
    alive, ended = (SimpleNamespace(poll=lambda: None), SimpleNamespace(poll=lambda: 1))
    ended.returncode = 1
    worker = SimpleNamespace(process=ended, log="worker.log", stop=lambda: done.append("stopped"))

    def start_again() -> None:
        worker.process = alive
        done.append("started")

    def end_lost_runs(_api, *, no_worker: bool = False) -> int | None:
        if not no_worker:
            return 0
        done.append(answers.pop(0))
        return done[-1]

    def schedule_again(_api, after: float, _but: set[str]) -> list[str]:
        since.append(after)
        stopping.is_asked = "started" in done
        return []

    worker.start_again = start_again
    monkeypatch.setattr(serve, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(serve, "LOOK_FOR_LOST_RUNS_EVERY_S", 0.0)
    monkeypatch.setattr(serve, "end_lost_runs", end_lost_runs)
    monkeypatch.setattr(serve, "schedule_again", schedule_again)
    assert serve._watch(SimpleNamespace(process=alive), worker, None, stopping) == 0
    return since, done


def test_runs_that_began_as_the_worker_ended_are_scheduled_again(monkeypatch):
    began = time.time()
    since, done = a_watch(monkeypatch, [2])
    assert since[0] == pytest.approx(began - serve.CRASHES_BEFORE_S, abs=60)
    assert done == ["stopped", 2, "started"]


def test_no_worker_starts_before_the_runs_of_the_last_one_are_ended(monkeypatch, capsys):
    since, done = a_watch(monkeypatch, [None, None, 1])
    assert done == ["stopped", None, None, 1, "started"]
    assert len(set(since)) == 1
    assert capsys.readouterr().err.count("the worker ended") == 1


def test_a_run_that_never_begins_is_scheduled_three_times_and_then_left(monkeypatch):
    stopping, left = Stopping(), []
    ended = SimpleNamespace(poll=lambda: 1, returncode=1)

    def start_again() -> None:
        worker.process = alive

    def schedule_again(_api, _after: float, but: set[str]) -> list[str]:
        left.append(set(but))
        stopping.is_asked = len(left) == 5
        return [run for run in ("crashes", "begins") if run not in but][: 2 if not left[1:] else 1]

    alive = SimpleNamespace(poll=lambda: None)
    worker = SimpleNamespace(
        process=ended, log="worker.log", stop=lambda: None, start_again=start_again
    )
    monkeypatch.setattr(serve, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(serve, "LOOK_FOR_LOST_RUNS_EVERY_S", 0.0)
    monkeypatch.setattr(serve, "end_lost_runs", lambda _api, *, no_worker=False: 0)
    monkeypatch.setattr(serve, "schedule_again", schedule_again)
    serve._watch(SimpleNamespace(process=alive), worker, None, stopping)
    assert left[:4] == [set(), set(), set(), {"crashes"}]
    assert serve.STARTS == 3


def test_runs_of_an_earlier_worker_are_ended_before_the_first_one_starts(monkeypatch):
    answers = [None, None, 3]
    monkeypatch.setattr(serve, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(serve, "end_lost_runs", lambda _api, *, no_worker: answers.pop(0))
    serve._end_earlier_runs(None, SimpleNamespace(log="server.log"))
    assert answers == []


def test_a_server_that_does_not_list_its_runs_is_named_with_its_log(monkeypatch):
    monkeypatch.setattr(serve, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(serve, "CLI_TIMEOUT_S", 0.0)
    monkeypatch.setattr(serve, "end_lost_runs", lambda _api, *, no_worker: None)
    with pytest.raises(UsageError, match=r"within 0 s: see server\.log"):
        serve._end_earlier_runs(None, SimpleNamespace(log="server.log"))


def test_the_pool_is_found_or_made_by_a_server_that_is_busy_at_first(monkeypatch):
    monkeypatch.setattr(api_module, "PAUSE_S", 0.02)
    with refusing(503, 503, 409, 503, 200, body=b'{"is_paused": true}') as server:
        pool = serve._make_pool(Api(server.url).patient(), SimpleNamespace(log="server.log"))
        assert pool is True  # as its operator left it
        kept = ("GET", f"/work_pools/{serve.POOL}")
        assert server.asked == [("POST", "/work_pools/")] * 3 + [kept] * 2


def test_a_server_that_stays_busy_is_named_with_its_reason_and_its_log(monkeypatch):
    monkeypatch.setattr(api_module, "PAUSE_S", 0.02)
    monkeypatch.setattr(api_module, "PATIENCE_S", 0.2)
    with refusing(503, body=b'{"exception_message": "it is locked"}') as server:
        api = Api(server.url).patient()
        with pytest.raises(UsageError, match=r"503.*\(it is locked\); see server\.log$"):
            serve._make_pool(api, SimpleNamespace(log="server.log"))


STOPPED_OFTEN = """
import os, random, signal, threading
from types import SimpleNamespace
from flows import serve
from pipeline.processes.stopping import stop_on_signals
serve.LOOK_EVERY_S, serve.LOOK_FOR_LOST_RUNS_EVERY_S = 0.0, 3600.0
alive = SimpleNamespace(process=SimpleNamespace(poll=lambda: None))
for _ in range(200):
    with stop_on_signals() as stopping:
        after_s = 0.002 * random.random()
        timer = threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGTERM))
        try:
            timer.start()
            serve._watch(alive, alive, None, stopping)
        except KeyboardInterrupt:
            pass
        timer.join()
        assert stopping.is_asked
print("stopped")
"""


def test_a_signal_stops_it_wherever_it_comes():
    """A signal handler that took a lock of the loop would wait for itself without end."""
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_OFTEN], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "stopped\n", done.stderr


def test_files_in_variables_are_named_from_the_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPSCOPE_IP2AS", "v4.gz:v6.gz")
    monkeypatch.setenv("HOPSCOPE_AS_NAMES", "names:of.json")  # one file, whatever its name
    monkeypatch.setenv("HOPSCOPE_ALLOW_SPECIAL", "10.0.0.0/8")
    serve._make_paths_absolute()
    assert os.environ["HOPSCOPE_IP2AS"] == f"{tmp_path}/v4.gz:{tmp_path}/v6.gz"
    assert os.environ["HOPSCOPE_AS_NAMES"] == f"{tmp_path}/names:of.json"
    assert os.environ["HOPSCOPE_ALLOW_SPECIAL"] == "10.0.0.0/8"


@pytest.mark.parametrize("out", ["", "s3://lab-bucket/reports"])
def test_places_at_a_url_are_those_of_nightly_runs(tmp_path, monkeypatch, out):
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOPSCOPE_MIRRORS", str(tmp_path / "mirrors"))
    monkeypatch.setenv("HOPSCOPE_STORE", url := "s3://lab-bucket/store")
    monkeypatch.setenv("HOPSCOPE_OUT", out := out or str(tmp_path / "out"))

    def refuse(home, config):
        raise UsageError("far enough")

    monkeypatch.setattr(serve, "_only_one", refuse)
    assert serve.main([]) == 2
    assert (os.environ["HOPSCOPE_STORE"], os.environ["HOPSCOPE_OUT"]) == (url, out)


def test_a_url_with_a_key_is_one_line_without_it(monkeypatch, capsys):
    monkeypatch.setenv("HOPSCOPE_OUT", "s3://key:secret@bucket/reports")
    assert serve.main([]) == 2
    said = capsys.readouterr().err
    assert "HOPSCOPE_OUT takes a URL without keys" in said
    assert "secret" not in said
    assert len(said.splitlines()) == 1


def test_ports_come_from_words_then_variables_then_the_config(tmp_path, monkeypatch):
    seen: list[ServeConfig] = []
    monkeypatch.setattr(serve, "_serve", lambda config, stopping: seen.append(config) or 0)
    monkeypatch.setenv("HOPSCOPE_SERVE_PREFECT_PORT", "4300")
    assert serve.main(["--store", str(tmp_path), "--port", "0"]) == 0
    assert seen == [ServeConfig(store=tmp_path, port=0, prefect_port=4300)]


@pytest.mark.parametrize("words", [["--port", "70000"], ["--port", "x"], ["--prot", "1"]])
def test_wrong_words_are_one_line(words, capsys):
    assert serve.main(words) == 2
    said = capsys.readouterr().err
    assert words[0] in said
    assert ("see --help" in said.lower()) == (words[0] == "--prot")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "used"), [({}, "2"), ({"PREFECT_WORKER_QUERY_SECONDS": "7"}, "7")]
)
def test_a_worker_asks_for_runs_often_unless_the_environment_says_otherwise(given, used):
    environment = {key: text for key, text in os.environ.items() if not key.startswith("PREFECT_")}
    code = "import os, flows; print(os.environ['PREFECT_WORKER_QUERY_SECONDS'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | given,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == used


@pytest.mark.parametrize(
    ("program", "most_s", "said"),
    [
        ("import time; time.sleep(60)", 1.0, "the flows were not deployed within 1 s; try again"),
        ("raise SystemExit('no such file')", 60.0, "the flows cannot be deployed: no such file"),
    ],
)
def test_flows_that_cannot_be_deployed_are_one_line(monkeypatch, program, most_s, said):
    run = subprocess.run

    def other(_words, **options):
        return run([sys.executable, "-c", program], **options)

    monkeypatch.setattr(serve, "CLI_TIMEOUT_S", most_s)
    monkeypatch.setattr(serve.subprocess, "run", other)
    with pytest.raises(UsageError, match=said):
        serve._deploy(Api("http://127.0.0.1:1/api"), ServeConfig(), dict(os.environ))
