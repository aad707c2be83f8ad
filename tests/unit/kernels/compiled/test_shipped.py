"""What came along is used only if it is what the sources say, and only where it still fits."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from deploy.compiled import noting_what_is_linked, write_hashes
from kernels.compiled import shipped
from tests.real_data import REPOSITORY

NAME = "cpython-399-numba-1-llvmlite-2-linux-x86-64-v3"


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """An archive of one module's folder, known by its hash; its path."""
    made = tmp_path / "made" / "kernels.a-0123456789abcdef"
    made.mkdir(parents=True)
    (made / "a.f-1.nbi").write_bytes(b"index")
    (made / "complete").touch()
    path = tmp_path / "archives" / f"{NAME}{shipped.SUFFIX}"
    sha = shipped.pack(tmp_path / "made", path)
    monkeypatch.setattr(shipped, "ARCHIVES", path.parent)
    monkeypatch.setattr(shipped, "SHA256", {path.name: sha})
    (tmp_path / "to").mkdir()
    return path


def there(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("[!.]*"))


MODULE = "kernels.a-0123456789abcdef"
ALL = [MODULE, f"{MODULE}/a.f-1.nbi", f"{MODULE}/complete"]


def test_it_is_unpacked_once(archive, tmp_path):
    assert shipped.unpack(NAME, tmp_path / "to")
    assert there(tmp_path / "to") == ALL
    (tmp_path / "to" / MODULE / "complete").unlink()
    archive.unlink()
    assert shipped.unpack(NAME, tmp_path / "to")
    assert there(tmp_path / "to") == ALL[:2]


def test_what_was_compiled_here_stays(archive, tmp_path):
    own = tmp_path / "to" / MODULE
    own.mkdir()
    (own / "own").write_text("compiled here")
    assert shipped.unpack(NAME, tmp_path / "to")
    assert there(tmp_path / "to") == [MODULE, f"{MODULE}/own"]


def test_the_same_folders_make_the_same_archive(archive, tmp_path):
    os.utime(tmp_path / "made" / MODULE / "complete", (0, 0))
    sha = shipped.pack(tmp_path / "made", tmp_path / "again")
    assert {archive.name: sha} == shipped.SHA256


@pytest.mark.parametrize("change", [lambda b: b[:-9], lambda b: b + b"\0", lambda b: b""])
def test_an_archive_that_is_not_of_these_sources_is_not_opened(change, archive, tmp_path, caplog):
    archive.write_bytes(change(archive.read_bytes()))
    with caplog.at_level(logging.WARNING):
        assert not shipped.unpack(NAME, tmp_path / "to")
    assert there(tmp_path / "to") == []
    assert "is not the archive of these sources" in caplog.text


@pytest.mark.parametrize("name", ["../a", "a", "/a/b", "a/b/c", "a/..", ".a/b"])
def test_an_archive_with_other_names_is_not_unpacked(name, archive, tmp_path, monkeypatch, caplog):
    with tarfile.open(archive, "w:xz") as tar:
        tar.addfile(tarfile.TarInfo(name), io.BytesIO(b""))
    sha = shipped.hashlib.sha256(archive.read_bytes()).hexdigest()
    monkeypatch.setattr(shipped, "SHA256", {archive.name: sha})
    assert not shipped.unpack(NAME, tmp_path / "to")
    assert there(tmp_path / "to") == []
    assert "is not a file of a module" in caplog.text


def test_without_an_archive_nothing_is_said(archive, tmp_path, caplog):
    archive.unlink()
    assert not shipped.unpack(NAME, tmp_path / "to")
    assert not shipped.unpack("another", tmp_path / "to")
    assert caplog.text == ""


def test_each_archive_of_the_repository_is_the_one_that_the_sources_say():
    found = {path.name for path in shipped.ARCHIVES.glob("*")}
    assert found == set(shipped.SHA256)
    for name in found:
        content = (shipped.ARCHIVES / name).read_bytes()
        assert shipped.hashlib.sha256(content).hexdigest() == shipped.SHA256[name]
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            members = tar.getmembers()
        assert len(members) > (500 if name.startswith("cpython") else 10)
        assert all(one.isfile() and one.name.count("/") == 1 for one in members)


def test_hashes_of_archives_that_are_gone_go(tmp_path):
    (tmp_path / "kernels" / "compiled" / "archives").mkdir(parents=True)
    (tmp_path / "kernels" / "compiled" / "archives" / "new").touch()
    hashes = tmp_path / "kernels" / "compiled" / "hashes.py"
    hashes.write_text('SHA256 = {"old": "12"}')
    write_hashes(tmp_path, {"new": "34"})
    namespace: dict = {}
    exec(hashes.read_text(), namespace)
    assert namespace["SHA256"] == {"new": "34"}


CALLED = """
from numba import njit

@njit("int64(int64)", cache=True)
def called(x):
    return x + 1

@njit("int64(int64)", cache=True)
def only_by_python(x):
    return called(x) + 1
"""
LINKING = """
from numba import njit
from kernels.room import {name}

@njit("int64(int64)", cache=True)
def new(x):
    return {name}(x) + 1

print(new(40))
"""
SLIMMED = """
import sys
from pathlib import Path
import kernels.room
sys.path.append({deploy!r})
from deploy.compiled import slim
slim(Path({folder!r}), set(), {{("kernels.room", "called")}})
"""


def compiled(root: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process, in a checkout that has the room of CALLED and our compiled package."""
    variables = {"PYTHONPATH": str(root), "XDG_CACHE_HOME": str(root / "cache")}
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=kept | variables,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def checkout(tmp_path):
    """A package ``kernels`` of one compiled module, with what we compile by; slimmed code of it."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "compiled").symlink_to(REPOSITORY / "kernels" / "compiled")
    (tmp_path / "kernels" / "__init__.py").write_text(
        "import kernels.compiled.sources as s, pathlib\n"
        f"s.ROOT = pathlib.Path({str(tmp_path)!r})\n"
        "from kernels.compiled import prepare\nprepare()\n"
    )
    (tmp_path / "kernels" / "room.py").write_text(CALLED)
    (tmp_path / "kernels" / "new_called.py").write_text(LINKING.format(name="called"))
    (tmp_path / "kernels" / "new_only.py").write_text(LINKING.format(name="only_by_python"))
    done = compiled(tmp_path, "from kernels.room import only_by_python")
    assert done.returncode == 0, done.stderr
    (folder,) = tmp_path.glob("cache/hopscope/compiled/*/kernels.room-*")
    done = compiled(tmp_path, SLIMMED.format(deploy=str(REPOSITORY), folder=str(folder)))
    assert done.returncode == 0, done.stderr
    return tmp_path, folder


def test_code_without_what_callers_are_linked_to_runs(checkout):
    root, folder = checkout
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    done = compiled(root, "from kernels.room import only_by_python; print(only_by_python(40))")
    assert done.stdout.split() == ["42"], done.stderr
    assert before == {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_who_is_called_by_compiled_code_can_be_called_by_more(checkout):
    root, _ = checkout
    done = compiled(root, "import kernels.new_called")
    assert done.stdout.split() == ["42"], done.stderr


def test_a_new_compiled_caller_of_another_is_refused_once_and_then_compiled(checkout):
    root, folder = checkout
    done = compiled(root, "import kernels.new_only")
    assert done.returncode != 0
    assert "the next process compiles what was in it" in done.stderr
    assert not folder.exists()
    done = compiled(root, "import kernels.new_only")
    assert done.stdout.split() == ["43"], done.stderr


def test_what_is_linked_is_noted():
    from numba import njit

    inner = njit("int64(int64)")(lambda x: x + 1)
    with noting_what_is_linked() as linked:
        njit("int64(int64)")(lambda x: inner(x) + 1)
    (symbol,) = (one.fndesc.mangled_name for one in inner.overloads.values())
    assert symbol in linked
