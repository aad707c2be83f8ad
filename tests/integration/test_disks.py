"""Disks that are full, and folders that cannot be written: one line says so, nothing is damaged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.commands import hopscope
from tests.full_disk import files_up_to
from tests.permissions import hold_for_programs
from tests.real_data import REPOSITORY
from tests.served import LAB, RUN_S
from tests.soak import WHOLE

OLD, NEW = "2026-11-20", "2026-11-21"
INPUTS = [str(LAB / f"h{i}.icmp-paris.warts.gz") for i in range(4)]
MAPPED = ["--ip2as", str(LAB / "lab.pfx2as"), "--allow-special", "198.18.0.0/15"]
# Bytes that a file may have: what is written first fails, or something later, or nothing.
ROOM = [0, 300, 1_000, 3_000, 6_000, 10_000, 20_000, 50_000, 200_000, 500_000, 10_000_000]
CASES = [(command, n_bytes) for command in ("ingest", "analyze") for n_bytes in ROOM]
FEW = [("ingest", 1_000), ("ingest", 200_000), ("analyze", 0), ("analyze", 3_000)]

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def words_of(command, folder, night):
    words = ["--store", str(folder / "store"), "--snapshot", night]
    if command == "ingest":
        return ["ingest", *INPUTS[: 4 if night == NEW else 3], *MAPPED, *words]
    words += ["--out", str(folder / "out"), "--metrics", "hops,diameter"]
    return ["analyze", *words, "--device", "cpu", "--workers", "1"]


def content(folder):
    """Bytes of each file below a folder, hidden ones too; not the metrics, which say when."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("hopscope.prom", ".lock")
    }


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    """A store of two nights, and the report of the first."""
    folder = tmp_path_factory.mktemp("nights")
    for command, night in (("ingest", OLD), ("ingest", NEW), ("analyze", OLD)):
        done = hopscope(words_of(command, folder, night), folder, {})
        assert done.status == 0, done.said
    return folder


def damage(folder, variables):
    """What doctor finds in a store: lines that do not begin with ok."""
    done = hopscope(["doctor", "--store", str(folder / "store")], folder, variables)
    lines = [line for line in done.said.splitlines() if "Loading the program" not in line]
    return done.status, [line for line in lines if not line.startswith("ok ")]


@pytest.mark.soak
@pytest.mark.parametrize(("command", "n_bytes"), CASES if WHOLE else FEW)
def test_a_full_disk_is_one_line_and_costs_nothing_that_was_there(
    nights, tmp_path, monkeypatch, command, n_bytes
):
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("store", "out"):
        shutil.copytree(nights / name, tmp_path / name, symlinks=True)
    healthy = damage(nights, {})
    store, out = content(tmp_path / "store"), content(tmp_path / "out")
    words = words_of(command, tmp_path, NEW)
    with files_up_to(n_bytes):
        done = hopscope(words, tmp_path, {})
    assert done.status == 0 if n_bytes == max(ROOM) else done.status in (0, 2), done.said
    if done.status == 2:
        last = done.said.splitlines()[-1]
        assert last.startswith("hopscope: ")
        assert "File too large" in last
        # Of what was there all is there; only whole results of searches may have been added.
        left = content(tmp_path / "store")
        assert store.items() <= left.items()
        assert all(name.startswith("results/") for name in left.keys() - store.keys())
        assert content(tmp_path / "out") == out
    assert damage(tmp_path, {}) == healthy
    again = hopscope(words, tmp_path, {})
    assert again.status == 0, again.said
    assert damage(tmp_path, {}) == healthy


def started(words):
    return subprocess.run(
        [sys.executable, "-m", "pipeline.cli", *words],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=hold_for_programs,
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )


@pytest.fixture
def closed(nights, tmp_path):
    """The two nights where nobody can write."""
    for name in ("store", "out"):
        shutil.copytree(nights / name, tmp_path / name, symlinks=True)
    folders = [path for path in tmp_path.rglob("*") if path.is_dir()]
    for path in folders:
        path.chmod(0o555)
    yield tmp_path
    for path in folders:
        path.chmod(0o755)


def test_a_store_that_is_read_only_is_measured_and_refuses_a_night(closed, tmp_path_factory):
    before = content(closed)
    done = started(words_of("ingest", closed, "2026-11-22"))
    line = f"hopscope: {closed / 'store'}: cannot be written (Permission denied); choose another"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, line)
    words = words_of("analyze", closed, NEW)
    words[words.index("--out") + 1] = str(tmp_path_factory.mktemp("elsewhere"))
    done = started(words)
    assert done.returncode == 0, done.stderr
    assert "results are not kept for later runs" in done.stderr
    assert content(closed) == before


def test_a_folder_of_reports_that_is_read_only_is_named_before_anything_is_searched(closed):
    before = content(closed)
    done = started(words_of("analyze", closed, NEW))
    line = f"hopscope: --out {closed / 'out'}: {closed / 'out'} cannot be written; "
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == line + "give a folder that can"
    assert "Starting workers" not in done.stderr
    assert content(closed) == before
