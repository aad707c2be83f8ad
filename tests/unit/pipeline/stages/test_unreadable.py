"""Inputs that cannot be read, in a folder or by name, are named and skipped; the rest is done."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.config import IngestConfig
from pipeline.errors import UsageError
from pipeline.stages.ingest import ingest
from pipeline.stages.inputs.files import find_inputs
from pipeline.store import snapshot_names
from tests.permissions import where_modes_hold
from tests.real_data import REPOSITORY

ATLAS = REPOSITORY / "data" / "samples" / "atlas" / "results.jsonl"


def faults(*inputs: Path, store: Path = Path("/nowhere/store")) -> dict[str, str]:
    """What find_inputs reports of each file: the fault, or nothing if it can be read."""
    found = find_inputs(inputs, None, store)
    return {f.path.name: "" if f.error is None else f.error.reason for f in found.files}


def faults_where_modes_hold(*inputs: Path) -> dict[str, str]:
    faults(*inputs)  # imports all there is to import
    return where_modes_hold(lambda: faults(*inputs))  # no numba, no thread: it looks at files


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "in"
    path.mkdir()
    shutil.copy(ATLAS, path / "a.jsonl")
    return path


def test_dangling_links_loops_pipes_sockets_and_devices_of_a_folder_are_named(folder):
    (folder / "gone").symlink_to(folder / "nothing")
    (folder / "round").symlink_to(folder / "round")
    os.mkfifo(folder / "pipe")
    (folder / "device").symlink_to("/dev/null")
    (folder / "sub").mkdir()
    (folder / "sub" / "up").symlink_to(folder)
    (folder / "above").symlink_to("..")
    (folder / "root").symlink_to("/")
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(folder)  # the path of a socket has room for 107 bytes
        server.bind("socket")
        os.chdir(REPOSITORY)
        found = faults(folder)
    assert found.pop("a.jsonl") == ""
    assert "dangling link" in found.pop("gone")
    assert "loop of links" in found.pop("round")
    for name in ("up", "above", "root"):
        assert "link to an enclosing folder" in found.pop(name)
    assert set(found) == {"pipe", "device", "socket"}
    assert all("socket, pipe or device" in fault for fault in found.values())


def test_links_to_folders_are_followed_each_folder_once(folder, tmp_path):
    other = tmp_path / "other"
    (other / "deep").mkdir(parents=True)
    (other / "deep" / "b.jsonl").write_bytes(ATLAS.read_bytes() + b"\n")
    (folder / "link").symlink_to(other)
    (folder / "link2").symlink_to(other)
    (other / "deep" / "back").symlink_to(other / "deep")
    found = find_inputs([folder], None, tmp_path / "store").files
    assert [str(f.path.relative_to(folder)) for f in found] == [
        "a.jsonl",
        "link/deep/b.jsonl",
        "link/deep/back",
    ]
    assert "link to an enclosing folder" in str(found[2].error)


def test_folders_in_one_another_by_the_thousand_are_walked(folder, monkeypatch):
    """As deep as a path can be; below that, folders cannot be reached by their names."""
    monkeypatch.chdir(folder)
    for name in ["a"] * (sys.getrecursionlimit() + 50):
        os.mkdir(name)
        os.chdir(name)
    Path("b.jsonl").write_bytes(ATLAS.read_bytes() + b"\n")
    for name in ["c" * 200] * 20:
        os.mkdir(name)
        os.chdir(name)
    os.chdir(folder)
    try:
        found = faults(folder)
    finally:  # not by Python, whose removal of folders goes as deep as its recursion may
        subprocess.run(["rm", "-rf", folder / "a"], check=True)
    assert found.pop("a.jsonl") == found.pop("b.jsonl") == ""
    assert list(found) == ["c" * 200]
    assert "File name too long" in found["c" * 200]


def test_subfolders_and_files_without_permission_are_named(folder):
    (folder / "closed").mkdir()
    (folder / "closed" / "x.jsonl").write_text("{}")
    (folder / "README").write_text("nothing\n")
    shutil.copy(ATLAS, folder / "secret")
    for name in ("closed", "secret", "README"):
        (folder / name).chmod(0)
    try:
        found = faults_where_modes_hold(folder)
        named = faults_where_modes_hold(
            folder / "secret", folder / "closed" / "x.jsonl", folder / "a.jsonl"
        )
    finally:
        (folder / "closed").chmod(0o755)
    assert found.pop("a.jsonl") == named.pop("a.jsonl") == ""
    assert set(found) == {"closed", "secret", "README"}
    assert set(named) == {"secret", "x.jsonl"}
    assert all("Permission denied" in fault for fault in [*found.values(), *named.values()])


def test_what_cannot_be_read_in_a_folder_makes_an_ingest_incomplete(folder, tmp_path):
    (folder / "gone").symlink_to(folder / "nothing")
    os.mkfifo(folder / "pipe")
    summary = ingest(
        IngestConfig(
            inputs=(folder,), store=tmp_path / "store", asn=1, allow_special=("0.0.0.0/0",)
        )
    )
    assert not summary.complete
    assert {Path(r.path).name: r.status for r in summary.reports} == {
        "a.jsonl": "ok",
        "gone": "rejected",
        "pipe": "rejected",
    }
    assert any("gone: is a dangling link" in line for line in summary.warnings)


def test_if_every_input_is_unreadable_nothing_is_done(folder, tmp_path):
    (folder / "a.jsonl").unlink()
    os.mkfifo(folder / "pipe")
    with pytest.raises(UsageError, match="pipe: is a socket, pipe or device"):
        ingest(IngestConfig(inputs=(folder,), store=tmp_path / "store", asn=1))
    assert snapshot_names(tmp_path / "store") == []
