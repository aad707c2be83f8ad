"""What a worker leaves in the folder of temporary files is found by whoever comes after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from flows import TMPDIR_OF_RUNS
from flows.processes import worker as module
from flows.processes.worker import prefect_worker
from pipeline.errors import UsageError
from pipeline.store.versions import held
from tests.served import wait_until

# In place of Prefect's worker: it makes a workspace, says what its runs get, and stays.
WORKER = """
import json, os, sys, tempfile, time
tempfile.mkdtemp(prefix="prefect-workspace-attempt-")
with open(sys.argv[1], "w") as file:
    json.dump(dict(os.environ), file)
time.sleep(600)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    said = tmp_path / "said.json"
    words = [sys.executable, "-c", WORKER, str(said)]
    monkeypatch.setattr(module, "tied", lambda _: words)
    return said


def workspaces(folder: Path) -> list[Path]:
    return list(folder.rglob("prefect-workspace-attempt-*"))


def test_workspaces_go_with_the_worker_or_by_the_next_run_if_all_were_killed(place, tmp_path):
    with prefect_worker([], tmp_path, dict(os.environ), tmp_path / "log") as worker:
        wait_until(place.exists, 60)
        (left,) = workspaces(tmp_path)
        assert left.parent.parent.parent == held.own_folder()
        worker.process.kill()
        place.unlink()
        worker.stop()
        worker.start_again()
        wait_until(place.exists, 60)
        assert len(workspaces(tmp_path)) == 1
        assert held.abandoned(held.own_folder()) == []  # in use
        lock = held._held.pop(left.parent)
        lock.release()  # as if serve was killed
        assert held.abandoned(held.own_folder()) == [left.parent.parent]
        held.remove_abandoned(held.own_folder())
        assert workspaces(tmp_path) == []


def test_runs_have_the_usual_folder_of_temporary_files(place, tmp_path):
    with prefect_worker([], tmp_path, dict(os.environ), tmp_path / "log"):
        wait_until(lambda: place.exists() and place.read_text().endswith("}"), 60)
        environment = json.loads(place.read_text())
        code = "import flows, os, tempfile; print(tempfile.gettempdir(), os.environ.get('TMPDIR'))"
        for more, is_run in (({"PREFECT__FLOW_RUN_ID": "1"}, True), ({}, False)):
            done = subprocess.run(
                [sys.executable, "-c", code],
                env=environment | more,
                capture_output=True,
                text=True,
                check=True,
            )
            folder = str(tmp_path) if is_run else environment["TMPDIR"]
            assert done.stdout.split() == [folder, folder]
        assert environment[TMPDIR_OF_RUNS] == str(tmp_path)


def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(place, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with (
        pytest.raises(UsageError, match="set TMPDIR to a folder that can be written"),
        prefect_worker([], tmp_path, dict(os.environ), tmp_path / "log"),
    ):
        pass
