"""``hopscope notify`` without a Prefect server."""

from __future__ import annotations

import json

import pytest

from flows.notices import automations
from flows.notify import main


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in ("HOPSCOPE_NOTIFY", "HOPSCOPE_NOTIFY_COMMAND", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)


def test_a_test_message_goes_to_a_program(tmp_path, capsys):
    program = tmp_path / "tell.sh"
    program.write_text(f'#!/bin/sh\ncp "$1" "{tmp_path}/got.json"\n')
    assert main(["--test", "--notify-command", str(program)]) == 1  # it cannot be run
    program.chmod(0o755)
    assert main(["--test", "--notify-command", str(program)]) == 0
    assert json.loads((tmp_path / "got.json").read_text())["run"] == "test"
    assert "1 of 1 test messages were sent" in capsys.readouterr().out


def test_a_message_that_is_not_sent_is_named(tmp_path, capsys):
    program = tmp_path / "tell.sh"
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    assert main(["--test", "--notify-command", str(program)]) == 1
    assert "exit status 7" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give --test, or --automations"),
        (["--test"], "nobody to send to"),
        (["--test", "--notify", "slack-webhook/nights"], "set PREFECT_API_URL"),
        (["--test", "--notify-kind", "AS gone"], "AS gone"),
        (["--test", "--notify-quiet", "night"], "22:00-07:00"),
        (["--test", "--notify-timezone", "Mars/Base"], "Europe/Amsterdam"),
    ],
)
def test_what_is_missing_or_wrong_is_said(words, said, capsys):
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_automations_send_to_each_block_what_runs_do_not_report():
    made = automations.wanted(["one", "two"])
    assert [each["name"] for each in made] == ["hopscope crashed night", "hopscope missing night"]
    for each in made:
        assert [action["block_document_id"] for action in each["actions"]] == ["one", "two"]
    assert "BLOCK_ID" not in json.dumps(made)
