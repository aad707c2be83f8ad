"""Compiled code is read only from where no one else can write."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

import pytest

from kernels.compiled import folder, has_compiled
from kernels.compiled.sources import sources
from kernels.compiled.target import target

USER = os.getuid() if hasattr(os, "getuid") else 0


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A cache of this test alone."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(folder.shipped, "SHA256", {})
    folder._base.cache_clear()
    yield tmp_path / "cache"
    folder._base.cache_clear()


def test_it_is_in_the_users_cache_by_target_and_no_one_else_may_look(home):
    before = os.umask(0o002)
    try:
        found = folder.base()
    finally:
        os.umask(before)
    assert found == home / "hopscope" / "compiled" / target()
    for one in (found, *list(found.parents)[:2]):
        assert one.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_the_user_gave_is_used(home, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    assert folder.base() == tmp_path / "given" / "compiled" / target()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722, 0o702])
@pytest.mark.parametrize("place", ["hopscope", "hopscope/compiled", ""])
def test_where_others_may_write_nothing_is_read_or_kept(mode, place, home, caplog, monkeypatch):
    monkeypatch.setattr(os, "getgid", lambda: USER + 1)  # no group is the user's own
    (home / "hopscope" / "compiled").mkdir(parents=True)
    (home / place).chmod(mode)
    with caplog.at_level(logging.WARNING):
        found = folder.base()
    assert home not in found.parents
    assert found.parent.stat().st_mode & 0o077 == 0
    assert f"others may write in {home / place}" in caplog.text


def test_a_folder_around_it_is_fine_if_it_is_sticky(home):
    home.mkdir()
    home.chmod(0o1777)
    assert home in folder.base().parents


def test_a_folder_of_another_user_is_left_alone(home, monkeypatch):
    folder.base()
    folder._base.cache_clear()
    monkeypatch.setattr(os, "getuid", lambda: USER + 1)
    assert "belongs to another user" in folder.why_not_trusted(home)
    assert home not in folder.base().parents


def test_where_nothing_can_be_written_the_process_has_a_folder_of_its_own(home, monkeypatch):
    home.write_text("a file")
    found = folder.base()
    assert found.is_dir()
    assert home not in found.parents


def test_what_is_there_is_of_this_state_of_a_package(home):
    assert not has_compiled()
    path = sources().path_of("pipeline.ingest.snap")
    (folder.base() / "pipeline.ingest.snap-0123456789abcdef").mkdir()
    assert not has_compiled()
    folder.folder_of(path).mkdir()
    (folder.folder_of(sources().path_of("pipeline.ingest.warts.decode"))).mkdir()
    known = ("", "pipeline.ingest", "pipeline.ingest.warts", "pipeline.ingest.snap")
    others = ("pipeline.ingest.atlas", "pipeline.ingest.icmp", "pipeline.infer.traces")
    assert [name for name in (*known, *others) if has_compiled(name)] == list(known)


def look_again(home):
    (home / "hopscope" / "compiled" / ".looked").unlink()
    folder._base.cache_clear()
    return folder.base()


def test_what_was_long_unused_is_removed_and_what_is_used_stays(home):
    module = folder.folder_of(sources().path_of("kernels.validate"))
    old = folder.base() / f"kernels.validate-{'0' * 16}"
    recent = folder.base() / f"kernels.validate-{'1' * 16}"
    cubin = folder.base("cubins-sm_90") / f"cubin-{'0' * 32}"
    for one in (module, old, recent, cubin):
        one.mkdir()
    for one in (module, old, cubin):
        os.utime(one, (time.time() - 30 * 86400,) * 2)
    folder._used.cache_clear()
    folder.folder_of(sources().path_of("kernels.validate"))
    look_again(home)
    kept = [one.exists() for one in (module, recent, old, cubin)]
    assert kept == [True, True, False, False]


def test_nothing_of_others_is_removed(home):
    """NUMBA_CACHE_DIR is numba's own: others may keep what they like there."""
    base = folder.base()
    top = home / "hopscope"
    named = ("numba-thesis", "compiled/myproject/results", "compiled/myproject/a-0123456789abcdef")
    others = [*(top / name for name in named), base / "notes", base / "kernels.validate-backup"]
    for one in others:
        one.mkdir(parents=True)
        os.utime(one, (time.time() - 30 * 86400,) * 2)
    look_again(home)
    assert all(one.exists() for one in others)


def test_what_came_along_and_was_long_unused_is_unpacked_again(home, tmp_path, monkeypatch):
    made, archives = tmp_path / "made", tmp_path / "archives"
    module = f"kernels.validate-{'2' * 16}"
    (made / module).mkdir(parents=True)
    (made / module / "index.nbi").write_bytes(b"1")
    name = f"{target()}{folder.shipped.SUFFIX}"
    monkeypatch.setattr(folder.shipped, "ARCHIVES", archives)
    known = {name: folder.shipped.pack(made, archives / name)}
    monkeypatch.setattr(folder.shipped, "SHA256", known)
    assert (folder.base() / module / "index.nbi").exists()
    os.utime(folder.base() / module, (time.time() - 30 * 86400,) * 2)
    assert (look_again(home) / module / "index.nbi").exists()


def test_files_that_a_crash_left_empty_are_not_read(home, caplog):
    module = folder.folder_of(sources().path_of("kernels.validate"))
    module.mkdir()
    (module / "a.nbi").write_bytes(b"")
    folder._used.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert folder.folder_of(sources().path_of("kernels.validate")) == module
    assert not module.exists()
    assert "holds empty files: it is removed" in caplog.text


def test_what_is_behind_a_link_must_be_trusted_too(home, tmp_path, caplog):
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    (open_to_all / "inner").mkdir()
    (home / "hopscope").mkdir(parents=True)
    (home / "hopscope" / "compiled").symlink_to(open_to_all / "inner")
    with caplog.at_level(logging.WARNING):
        found = folder.base()
    assert not found.is_relative_to(open_to_all)
    assert f"others may write in {open_to_all}" in caplog.text


def test_a_source_of_others_has_none(home):
    assert folder.folder_of(Path(os.__file__)) is None
