"""Files that users name: written whole, in the place of what is a file, and of nothing else."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from pipeline.errors import UsageError
from pipeline.files import private_folder, replaced_whole, written_whole
from tests.full_disk import files_up_to


def test_a_file_is_replaced_only_when_the_block_ends_well(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"before")
    with pytest.raises(TypeError), written_whole(path) as file:
        file.writelines([b"half", None])
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("a", b"before")]
    with written_whole(path) as file:
        file.write(b"after")
        assert path.read_bytes() == b"before"
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("a", b"after")]


def test_a_pipe_keeps_its_place_and_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with written_whole(pipe) as file:
        file.write(b"all of it")
    reader.join(30)
    assert got == [b"all of it"]
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_the_target_of_a_link_is_replaced_and_not_the_link(tmp_path):
    (tmp_path / "kept").mkdir()
    target, link = tmp_path / "kept" / "target", tmp_path / "link"
    target.write_bytes(b"before")
    link.symlink_to(target)
    with written_whole(link) as file:
        file.write(b"after")
    assert link.is_symlink()
    assert target.read_bytes() == b"after"
    assert list((tmp_path / "kept").iterdir()) == [target]


@pytest.mark.parametrize("name", ["folder", "missing/a", "a/b"])
def test_what_cannot_be_written_is_named(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").write_bytes(b"")
    path = tmp_path / name
    with (
        pytest.raises(UsageError, match=f"^{path}: cannot be written: "),
        written_whole(path) as file,
    ):
        file.write(b"text")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "folder"]


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("alone", [False, True])
def test_a_file_that_the_disk_does_not_take_leaves_the_one_before(tmp_path, durable, alone):
    path = tmp_path / "a"
    path.write_bytes(b"before")
    with (
        files_up_to(300),
        pytest.raises(OSError, match="File too large"),
        replaced_whole(path, durable=durable, alone=alone) as file,
    ):
        file.write(bytes(301))
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("a", b"before")]


def test_what_a_killed_run_left_is_replaced_by_the_one_that_writes_alone(tmp_path):
    (tmp_path / ".a.writing").symlink_to(tmp_path / "other")
    with replaced_whole(tmp_path / "a", durable=True, alone=True) as file:
        file.write(b"after")
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert not (tmp_path / "a").is_symlink()


def test_a_link_to_a_file_of_ours_is_replaced_itself(tmp_path):
    (tmp_path / "target").write_bytes(b"before")
    (tmp_path / "link").symlink_to("target")
    with replaced_whole(tmp_path / "link", durable=False) as file:
        file.write(b"after")
    assert (tmp_path / "target").read_bytes() == b"before"
    assert not (tmp_path / "link").is_symlink()


def test_the_rights_of_a_file_are_those_of_any_new_one(tmp_path):
    before = os.umask(0o027)
    try:
        with written_whole(tmp_path / "a") as file:
            file.write(b"text")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_folder_of_secrets_is_made_or_narrowed_for_its_user_alone(tmp_path):
    made = private_folder(tmp_path / "a" / "b", "HOME_OF_IT")
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    loose = tmp_path / "loose"
    loose.mkdir()
    loose.chmod(0o755)
    (loose / "prefect.db").touch()
    (loose / "prefect.db").chmod(0o644)
    assert private_folder(loose, "HOME_OF_IT") == loose
    assert stat.S_IMODE(loose.stat().st_mode) == 0o700
    assert stat.S_IMODE((loose / "prefect.db").stat().st_mode) == 0o600


@pytest.mark.parametrize("how", ["sticky", "home", "other"])
def test_a_folder_that_others_use_too_is_refused_and_left_as_it_is(tmp_path, monkeypatch, how):
    mode = 0o1777 if how == "sticky" else 0o755
    tmp_path.chmod(mode)
    if how == "home":
        monkeypatch.setenv("HOME", str(tmp_path))
    if how == "other":
        owner = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: owner)
    with pytest.raises(UsageError, match=r"PREFECT_HOME=.*other users may enter it \(mode 1?7"):
        private_folder(tmp_path, "PREFECT_HOME")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == mode
