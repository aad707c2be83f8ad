"""The nightly flow as a command, with a server of its own, and what is said before it begins."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from flows.nightly import main
from pipeline.pages.local_pages import HOST
from tests.served import LAB, RUN_S, clean_environment

SECRET = "correct-horse-battery"


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
            timeout=RUN_S,
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
    named = ("PREFECT_API_AUTH_STRING", "PREFECT_SERVER_API_AUTH_STRING")
    done = subprocess.run(
        [sys.executable, "-m", "flows.nightly", *words, "--snapshot", "now", "--workers", "1"],
        env=clean_environment(tmp_path / "prefect") | dict.fromkeys(named, f"analyst:{SECRET}"),
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
    # Neither logs, nor Prefect's database, nor any file of a report or a store holds the password.
    assert SECRET not in done.stdout + done.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"server.log", "report.json", "manifest.json"} <= {path.name for path in written}
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []


def test_server_that_does_not_answer_is_named_in_one_line_without_its_password(tmp_path):
    url = f"http://analyst:{SECRET}@127.0.0.1:9/api"
    environment = clean_environment(tmp_path) | {"PREFECT_API_URL": url}
    done = subprocess.run(
        [sys.executable, "-m", "flows.nightly", str(LAB), "--store", "s", "--out", "o"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert done.returncode == 2
    assert "PREFECT_API_URL=http://127.0.0.1:9/api" in done.stderr
    assert SECRET not in done.stderr
    assert "analyst" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "says"), [([], "inputs"), (["nowhere", "--store", "s"], "--out")]
)
def test_embedded_run_with_nothing_to_do_ends_with_one_line(
    tmp_path, monkeypatch, capsys, words, says
):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    said = capsys.readouterr().err
    assert says in said
    assert len(said.splitlines()) == 1
