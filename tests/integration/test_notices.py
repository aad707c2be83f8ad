"""Notices of nights on a real Prefect server: to a webhook, by e-mail, to a program."""

from __future__ import annotations

import contextlib
import http.server
import json
import re
import socketserver
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from types import SimpleNamespace

import pytest
from prefect import flow
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.states import Cancelled, Cancelling, Completed, Crashed, Failed

from flows.deploy import deploy
from flows.nightly import nightly
from flows.notices import quiet
from flows.notices.apprise_url import AppriseUrl
from flows.notices.automations import block_id
from flows.notices.quiet import is_held
from flows.notify import notify, sample_notice
from flows.runs.api import Api
from pipeline.config import NotifyConfig
from pipeline.pages.local_pages import HOST
from tests.flows_here import server_for_flows
from tests.served import LAB, ROOT, RUN_S, clean_environment, wait_until

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

TOKEN = "token-of-a-webhook"

# Of automations that wait for another event. A busy server handles events many seconds late.
WAIT_S = 45


class Hooks(http.server.BaseHTTPRequestHandler):
    """Keeps what is posted: path and JSON."""

    got: list[tuple[str, dict]]

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.got.append((self.path, json.loads(self.rfile.read(length))))
        self.send_response(500 if "broken" in self.path else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Mails(socketserver.StreamRequestHandler):
    """As much of SMTP as takes mails in."""

    got: list[str]

    def handle(self):
        self.wfile.write(b"220 sink\r\n")
        while line := self.rfile.readline():
            word = line[:4].upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                text = b"".join(iter(self.rfile.readline, b".\r\n"))
                self.got.append(text.decode())
            elif word == b"EHLO":
                self.wfile.write(b"250-sink\r\n250 8BITMIME\r\n")
                continue
            self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
            if word == b"QUIT":
                return


@contextlib.contextmanager
def receiving(kind, handler):
    """A server of 127.0.0.1: its port, and what it got."""
    got: list = []
    with kind((HOST, 0), type("Handler", (handler,), {"got": got})) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1], got
        finally:
            server.shutdown()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with server_for_flows(tmp_path_factory.mktemp("prefect"), ui=True) as server:
        yield server


@pytest.fixture(scope="module")
def hooks():
    with receiving(http.server.ThreadingHTTPServer, Hooks) as found:
        yield found


def save_webhook(port: int, name: str, path: str = "hook") -> str:
    """A webhook block whose URL holds a secret; its name in ``--notify``."""
    block = CustomWebhookNotificationBlock(
        name=name,
        url=f"http://{HOST}:{port}/{path}/{{{{token}}}}",
        json_data={"subject": "{{subject}}", "body": "{{body}}"},
        secrets={"token": TOKEN},
    )
    block.save(name, overwrite=True)
    return f"custom-webhook/{name}"


def test_events_and_failures_of_nights_are_told_and_secrets_are_not(
    server, hooks, tmp_path, capfd, caplog
):
    port, posted = hooks
    program = tmp_path / "tell.sh"
    program.write_text(f'#!/bin/sh\ncp "$1" "{tmp_path}/$(date +%s%N).json"\n')
    program.chmod(0o755)
    with receiving(socketserver.ThreadingTCPServer, Mails) as (smtp, mails):
        url = f"mailto://{HOST}:{smtp}?from=hopscope@example.net&to=noc@example.net&mode=insecure"
        AppriseUrl(url=url).save("mail", overwrite=True)
        blocks = [save_webhook(port, "nights"), "apprise-url/mail"]
        blocks += [save_webhook(port, "broken", "broken")]
        store = {"store": str(tmp_path / "store"), "out": str(tmp_path / "out")}
        options = {"allow_special": ["198.18.0.0/15"], "workers": 1, "max_data_age": 10**6}
        options |= {"notify": blocks, "notify_command": str(program)}

        def run(name: str, *inputs: str):
            paths = [str(LAB / f"{each}.icmp-paris.warts.gz") for each in inputs]
            return nightly(
                inputs=paths or [str(program)],
                snapshot=name,
                ip2as=[str(LAB / "lab.pfx2as")],
                **store,
                options=options,
                return_state=True,
            )

        assert run("2026-11-20", "h0", "h1", "h2").name == "Completed"
        assert (posted, mails) == ([], [])  # all was done, and there is no night before it
        assert run("2026-11-21", "h0", "h1").name == "Completed"
        assert run("2026-11-22").is_failed()
    of_nights = [body for path, body in posted if path == f"/hook/{TOKEN}"]
    assert [body["subject"] for body in of_nights] == [
        "hopscope, night 2026-11-21: 1 event since 2026-11-20",
        of_nights[1]["subject"],
    ]
    assert "no longer measures" in of_nights[0]["body"]
    assert "2026-11-21/changes.html" in of_nights[0]["body"]
    assert of_nights[1]["subject"].endswith(": failed")
    assert len(mails) == 2
    assert "1 event since 2026-11-20" in mails[0]
    files = sorted(tmp_path.glob("*.json"))
    facts = [json.loads(path.read_text()) for path in files]
    assert [each["status"] for each in facts] == ["complete", "failed"]
    assert facts[0]["events"][0]["kind"] == "vantage point lost"
    # The block that fails is named, and neither log nor terminal nor report holds its token.
    said = "".join([*capfd.readouterr(), caplog.text])
    assert "no notice went to the block custom-webhook/broken: HTTPStatusError" in said
    assert TOKEN not in said
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or TOKEN.encode() not in path.read_bytes(), path


def prefect_of(server, home: Path) -> dict[str, str]:
    return clean_environment(home / "prefect") | {"PREFECT_API_URL": server.api_url}


def test_notify_sends_a_test_and_makes_automations_with_the_ids_of_blocks(server, hooks, tmp_path):
    port, posted = hooks
    name = save_webhook(port, "tried", "tried")
    words = ["-m", "pipeline.cli", "notify", "--test", "--automations", "--notify"]
    for _ in range(2):  # the second time it finds them there
        done = subprocess.run(
            [sys.executable, *words, name],
            env=prefect_of(server, tmp_path),
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 of 1 test messages were sent" in done.stdout
        assert TOKEN not in done.stdout + done.stderr
    told = [body["subject"] for path, body in posted if path.startswith("/tried/")]
    assert told == ["hopscope: a test"] * 2
    api = Api(server.api_url).patient()
    made = api.post("/automations/filter", {})
    assert sorted(each["name"] for each in made) == [
        "hopscope crashed night",
        "hopscope missing night",
    ]
    block = block_id(name, api)
    assert {each["actions"][0]["block_document_id"] for each in made} == {block}
    missing = subprocess.run(
        [sys.executable, *words, "slack-webhook/none"],
        env=prefect_of(server, tmp_path),
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert missing.returncode == 2
    assert "no notification block slack-webhook/none" in missing.stderr
    for each in made:  # they would send beside those of the tests below
        with get_client(sync_client=True) as client:
            client.request("DELETE", "/automations/{id}", path_params={"id": each["id"]})


def test_a_notice_waits_for_the_end_of_quiet_hours(server, hooks, tmp_path, monkeypatch):
    port, posted = hooks
    config = NotifyConfig((save_webhook(port, "later", "later"),), notify_quiet="00:00-23:59")
    of_deployment = SimpleNamespace(deployment_id=uuid.uuid4())
    context = SimpleNamespace(get=lambda: SimpleNamespace(flow_run=of_deployment))
    monkeypatch.setattr(quiet, "FlowRunContext", context)
    held = sample_notice()
    assert not is_held(held, config)  # no deployment would send it
    api = Api(server.api_url).patient()
    api.post("/work_pools/", {"name": "local", "type": "process", "base_job_template": {}})
    deploy(api)
    assert is_held(held, config)
    (run,) = api.post(
        "/flow_runs/filter", {"flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}}}
    )
    assert run["expected_start_time"][11:16] == "23:59"
    assert posted_to(posted, "later") == []
    assert notify(**run["parameters"], return_state=True).is_completed()
    assert posted_to(posted, "later") == [held.subject]
    with get_client(sync_client=True) as client:
        client.delete_flow_run(uuid.UUID(run["id"]))


def posted_to(posted: list[tuple[str, dict]], path: str) -> list[str]:
    return [body["subject"] for to, body in posted if to.startswith(f"/{path}/")]


@pytest.fixture(scope="module")
def automations(server, hooks, tmp_path_factory):
    """Those of ``deploy/``, created by the documented commands; both waits are shorter."""
    home = tmp_path_factory.mktemp("automations")
    name = save_webhook(hooks[0], "automation", "automation")
    environment = clean_environment(home / "prefect") | {"PREFECT_API_URL": server.api_url}

    def prefect(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "prefect", "--no-prompt", *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    block = re.search(r"Block id\W+([0-9a-f-]{36})", prefect("block", "inspect", name))
    assert block is not None
    text = (ROOT / "deploy" / "automations.yaml").read_text()
    for within in ("within: 93600", "within: 120"):
        assert text.count(within) == 1
        text = text.replace(within, f"within: {WAIT_S}")
    text = text.replace("BLOCK_ID", block[1])
    (home / "automations.yaml").write_text(text)
    said = prefect("automation", "create", "--from-file", str(home / "automations.yaml"))
    assert "Created 4 automation(s)" in said
    return hooks[1]


def notices(posted: list[tuple[str, dict]], begin: str) -> set[tuple[str, str]]:
    """Subject and body of what automations sent, by the beginning of the subject.

    As a set: Prefect tries again what it may have done, if its database was locked.
    """
    sent = [body for path, body in posted if path.startswith("/automation/")]
    return {(body["subject"], body["body"]) for body in sent if body["subject"].startswith(begin)}


def seen(posted: list[tuple[str, dict]], server) -> str:
    """For a failure: all that was posted, and what the server logged."""
    return f"posted: {posted}\nserver: {server.log.read_text()[-3000:]}"


def test_the_automations_of_deploy_tell_of_a_crash_and_not_of_a_cancelled_run(server, automations):
    with get_client(sync_client=True) as client:
        cancelled = client.create_flow_run(nightly, parameters={})
        run = client.create_flow_run(nightly, parameters={})
        other = client.create_flow_run(flow(name="other")(lambda: None))
        for each, state in (
            (other, Crashed()),
            (cancelled, Cancelling()),
            (cancelled, Crashed()),  # as Prefect has it if the process does not answer in time
            (cancelled, Cancelled()),
            (run, Crashed(message="<b>gone</b>")),
        ):
            client.set_flow_run_state(each.id, state, force=True)

    def told(of: FlowRun) -> set[tuple[str, str]]:
        return notices(automations, f"hopscope: {of.name} ")

    wait_until(lambda: told(run), seen=lambda: seen(automations, server))
    page = server.api_url.removesuffix("/api")
    body = f"Flow run {run.id}: {page}/runs/flow-run/{run.id}"
    assert told(run) == {(f"hopscope: {run.name} crashed", body)}
    assert told(other) == told(cancelled) == set(), seen(automations, server)


def test_the_automations_of_deploy_tell_of_a_run_that_failed(server, automations):
    with get_client(sync_client=True) as client:
        run = client.create_flow_run(nightly, parameters={})
        client.set_flow_run_state(run.id, Failed(message="<b>no</b>"), force=True)
    wait_until(lambda: notices(automations, f"hopscope: {run.name} ended Failed"), 60)


def test_the_automations_of_deploy_tell_once_of_a_night_that_did_not_happen(server, automations):
    with get_client(sync_client=True) as client:
        for name in ("first", "second"):
            run = client.create_flow_run(nightly, parameters={}, name=name)
            client.set_flow_run_state(run.id, Completed(), force=True)

    def told(name: str) -> int:
        """Notices of no night since that one; others may be of nights of the tests above."""
        late = notices(automations, "hopscope: no night for 26 hours")
        return sum(f"since {name}: " in body for _, body in late)

    wait_until(lambda: told("second"), seen=lambda: seen(automations, server))
    assert (told("first"), told("second")) == (0, 1)


def test_the_automations_of_deploy_tell_of_a_night_with_events(server, automations, tmp_path):
    def run(name: str, *inputs: str, traces: int = 1):
        state = nightly(
            inputs=[str(LAB / f"{each}.icmp-paris.warts.gz") for each in inputs],
            snapshot=name,
            ip2as=[str(LAB / "lab.pfx2as")],
            store=str(tmp_path / "store"),
            out=str(tmp_path / "out"),
            options={
                "allow_special": ["198.18.0.0/15"],
                "workers": 1,
                "max_data_age": 10**6,
                "notify_traces": traces,
            },
            return_state=True,
        )
        assert state.name == "Completed", state

    # Not the nights of the test above, of which something may still arrive.
    run("2026-12-20", "h0", "h1", "h2")
    run("2026-12-21", "h0", "h1", traces=1_000_000)  # its event touches fewer
    run("2026-12-22", "h0")
    of_nights = "hopscope, night 2026-12-"
    wait_until(lambda: notices(automations, of_nights), seen=lambda: seen(automations, server))
    ((subject, body),) = notices(automations, of_nights)
    assert subject == "hopscope, night 2026-12-22: 1 event since 2026-12-21"
    assert "no longer measures" in body
    assert "2026-12-22/changes.html" in body
