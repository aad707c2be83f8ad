"""What the start page and serve request from a Prefect server, and how they use its answers."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import http.server
import json
import threading
import urllib.error

import pytest

from flows.processes.holders import Holder
from flows.runs import api as api_module
from flows.runs.api import (
    PROCESS_LABEL,
    Api,
    RunsUnknown,
    end_lost_runs,
    runs_in_progress,
    schedule_again,
    why_failed,
)
from tests.refusing import refusing

AUTH = "admin:päss:word"


def run(name: str, **columns: object) -> dict:
    state = {"name": "Running", "type": "RUNNING"}
    return {"id": name, "name": name, "state": state, "labels": {}} | columns


@pytest.fixture
def prefect():
    """A server that asks for a password and knows ``runs``; ``asked`` holds what it was asked."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            wanted = f"Basic {base64.b64encode(AUTH.encode()).decode()}"
            code = 200 if self.headers["Authorization"] == wanted else 401
            if code == 200:
                server.asked.append((self.path, body))
            answers = {"/flow_runs/filter": server.runs, "/artifacts/filter": server.artifacts}
            data = json.dumps(answers.get(self.path, {})).encode() if code == 200 else b"{}"
            self.send_response(server.code or code)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.runs, server.artifacts, server.asked, server.code = [], [], [], None
        server.api = Api(f"http://127.0.0.1:{server.server_address[1]}", AUTH)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_runs_are_requested_with_the_password(prefect):
    link = "http://127.0.0.1:8787/status"
    prefect.runs = [run("a"), run("b", state={"name": "Waiting", "type": "RUNNING"})]
    prefect.artifacts = [{"flow_run_id": "a", "data": f"# Dask [x]({link})"}]
    first, second = runs_in_progress(prefect.api, "http://ui")
    assert (first.name, first.dashboard, first.state) == ("a", link, "Running")
    assert (second.page, second.dashboard, second.state) == (
        "http://ui/runs/flow-run/b",
        "",
        "Waiting",
    )
    assert AUTH not in repr(prefect.api)


def test_server_that_refuses_or_does_not_answer_is_no_server_without_runs(prefect):
    for auth in (None, "admin:wrong"):
        with pytest.raises(RunsUnknown, match="PREFECT_API_AUTH_STRING"):
            runs_in_progress(dataclasses.replace(prefect.api, auth=auth), "")
    prefect.code = 500
    with pytest.raises(RunsUnknown, match="500"):
        runs_in_progress(prefect.api, "")
    with pytest.raises(RunsUnknown, match="does not answer"):
        runs_in_progress(Api("http://127.0.0.1:9"), "")
    prefect.code, prefect.runs = None, [{"unknown": "answer"}]
    with pytest.raises(RunsUnknown):
        runs_in_progress(prefect.api, "")


def test_run_by_hand_whose_process_was_killed_is_not_in_progress(prefect):
    lives = Holder.me("run")
    gone = dataclasses.replace(lives, started=lives.started - 3600)
    labels = {name: {PROCESS_LABEL: of.to_text()} for name, of in {"l": lives, "g": gone}.items()}
    prefect.runs = [
        run("lives", labels=labels["l"]),
        run("gone", labels=labels["g"]),
        run("deployed", labels=labels["g"], deployment_id="d"),
        run("before it said so"),
    ]
    assert [r.name for r in runs_in_progress(prefect.api, "")] == [
        "lives",
        "deployed",
        "before it said so",
    ]
    for arguments, ended in (({}, ["gone"]), ({"no_worker": True}, ["gone", "deployed"])):
        prefect.asked.clear()
        assert end_lost_runs(prefect.api, **arguments) == len(ended)
        set_states = [(path, body["state"]["type"]) for path, body in prefect.asked[1:]]
        assert set_states == [(f"/flow_runs/{name}/set_state", "CRASHED") for name in ended]


def test_a_run_that_was_being_cancelled_is_not_called_crashed(prefect):
    cancelling = {"name": "Cancelling", "type": "CANCELLING"}
    prefect.runs = [run("a", state=cancelling, deployment_id="d"), run("b", deployment_id="d")]
    assert end_lost_runs(prefect.api, no_worker=True) == 2
    found = [body["state"]["type"] for path, body in prefect.asked if path.endswith("set_state")]
    assert found == ["CANCELLED", "CRASHED"]
    prefect.code = 503
    assert end_lost_runs(prefect.api, no_worker=True) is None


def test_only_runs_that_crashed_before_they_began_are_scheduled_again(prefect):
    def crashed(name: str, at: str = "2026-11-25T20:11:33.754494Z", **columns: object) -> dict:
        state = {"name": "Crashed", "type": "CRASHED", "timestamp": at}
        return run(name, state=state, run_count=0, deployment_id="d") | columns

    prefect.runs = [
        crashed("a"),
        crashed("had begun", run_count=1),
        crashed("by hand", deployment_id=None),
        crashed("before", at="2026-11-25T20:11:00Z"),
        crashed("was"),
    ]
    since = datetime.datetime(2026, 11, 25, 20, 11, 30, tzinfo=datetime.UTC).timestamp()
    assert schedule_again(prefect.api, since, {"was"}) == ["a"]
    (path, body) = prefect.asked[-1]
    assert path == "/flow_runs/a/set_state"
    assert body["state"]["type"] == "SCHEDULED"
    assert body["state"]["state_details"]["scheduled_time"]
    prefect.code = 500
    assert schedule_again(prefect.api, since) == []


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(api_module, "PAUSE_S", 0.02)
    monkeypatch.setattr(api_module, "PATIENCE_S", 0.3)


@pytest.mark.parametrize("code", api_module.MAY_PASS)
def test_a_patient_call_is_tried_again_while_the_server_is_busy(code, monkeypatch):
    monkeypatch.setattr(api_module, "PAUSE_S", 0.02)
    with refusing(code, code, 201, body=b'{"id": 1}') as server:
        assert Api(server.url).patient().post("/work_pools/", {}) == {"id": 1}
        assert server.asked == [("POST", "/work_pools/")] * 3


def test_a_patient_call_gives_up_with_the_reason_of_prefect(impatient):
    body = b'{"exception_message": "database\\n is \x1b[31mlocked"}'.replace(b"\x1b", b"\\u001b")
    with refusing(503, body=body) as server:
        with pytest.raises(urllib.error.HTTPError) as caught:
            Api(server.url).patient().post("/work_pools/", {})
        assert len(server.asked) > 2
        said = "HTTP Error 503: Service Unavailable (database is \ufffd[31mlocked)"
        assert why_failed(caught.value) == said


def test_a_patient_call_waits_for_a_server_that_is_not_there_but_not_without_end(impatient):
    with pytest.raises(OSError, match="refused"):
        Api("http://127.0.0.1:9").patient().get("/x")


def test_other_calls_and_other_refusals_are_not_tried_again(impatient):
    for code, patient in ((503, False), (404, True), (500, True)):
        with refusing(code, 200) as server:
            api = Api(server.url).patient() if patient else Api(server.url)
            with pytest.raises(urllib.error.HTTPError) as caught:
                api.get("/x")
            caught.value.close()
            assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"detail": "no"}', " (no)"),
        (b"", ""),
        (b'{"exception_message": "Service Unavailable"}', ""),
        (b"[1]", " ([1])"),
        (b"<p>\xff", " (<p>\ufffd)"),
        (b"x" * 900, f" ({'x' * 500} ...)"),
    ],
)
def test_whatever_a_refusal_says_its_reason_is_one_short_line(body, reason):
    with refusing(503, body=body) as server:
        with pytest.raises(urllib.error.HTTPError) as caught:
            Api(server.url).get("/x")
        assert why_failed(caught.value) == f"HTTP Error 503: Service Unavailable{reason}"
