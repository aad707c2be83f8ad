"""Notices that are sent, and those that cannot be: no secret is said, and no night is lost."""

from __future__ import annotations

import json
import time

import pytest
from prefect.blocks.abstract import NotificationBlock
from prefect.blocks.core import Block

from flows.notices import send as module
from flows.notices.apprise_url import AppriseUrl
from flows.notices.notice import Notice
from flows.notices.send import send
from pipeline.config import NotifyConfig

# Apprise imports what later versions of Python do not have.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SECRET = "correct-horse-battery"
NOTICE = Notice("a subject", "a body", {"status": "failed", "message": "$(id); `id` \x1b[31m"})


def program(tmp_path, text):
    path = tmp_path / "tell me.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return NotifyConfig(notify_command=path)


def test_a_program_gets_a_file_of_json_and_no_shell_reads_its_text(tmp_path):
    got = tmp_path / "got.json"
    config = program(tmp_path, f'cat "$1" > "{got}"; echo "$HOPSCOPE_NOTICE" > "{got}.path"')
    assert send(NOTICE, config) == []
    assert json.loads(got.read_text()) == NOTICE.facts
    path = (tmp_path / "got.json.path").read_text().strip()
    assert path.endswith("/notice.json")
    assert not (tmp_path / path).exists()  # it is removed afterwards


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"echo {SECRET} >&2; exit 3", "exit status 3"),
        ("sleep 600", "stopped after"),
    ],
)
def test_a_program_that_fails_is_named_without_what_it_said(
    tmp_path, monkeypatch, capfd, text, says
):
    monkeypatch.setattr(module, "LIMIT_S", 2.0)
    (line,) = send(NOTICE, program(tmp_path, text))
    assert line.endswith(says) or says in line
    assert str(tmp_path) in line
    said = capfd.readouterr()
    assert line in said.err
    assert SECRET not in said.err + said.out


def test_a_program_that_is_not_there_is_named(tmp_path):
    (line,) = send(NOTICE, NotifyConfig(notify_command=tmp_path / "none"))
    assert line == f"no notice went to {tmp_path / 'none'}: No such file or directory"


class Broken(NotificationBlock):
    def notify(self, body, subject=None):
        raise RuntimeError(f"cannot post to http://user:{SECRET}@hooks.example")


class Hanging(NotificationBlock):
    def notify(self, body, subject=None):
        time.sleep(30)


@pytest.mark.parametrize(
    ("block", "says"),
    [
        (Broken, "RuntimeError"),
        (Hanging, "it took more than 1 s"),
        (Block, "it is not a block for notifications"),
        (lambda: AppriseUrl(url=f"mailto://user:{SECRET}@"), "NotificationError"),
        (
            lambda: AppriseUrl(url=f"mailto://user:{SECRET}@127.0.0.1:1?to=x@y.z"),
            "NotificationError",
        ),
    ],
)
def test_a_block_that_fails_is_named_without_its_secrets(monkeypatch, capfd, caplog, block, says):
    if block is Hanging:  # others are given time: on a busy machine their imports take a second
        monkeypatch.setattr(module, "LIMIT_S", 1.0)
    monkeypatch.setattr(module.Block, "load", lambda name: block())
    (line,) = send(NOTICE, NotifyConfig(notify=("custom-webhook/nights",)))
    assert line == f"no notice went to the block custom-webhook/nights: {says}"
    assert SECRET not in "".join([*capfd.readouterr(), caplog.text])


def test_what_one_recipient_does_not_get_the_next_one_does(tmp_path, monkeypatch):
    monkeypatch.setattr(module.Block, "load", lambda name: Broken())
    got = tmp_path / "got"
    config = program(tmp_path, f'cat "$1" > "{got}"')
    both = NotifyConfig(notify=("a/b",), notify_command=config.notify_command)
    assert len(send(NOTICE, both)) == 1
    assert got.exists()
