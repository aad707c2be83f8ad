import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from pipeline.stages.doctor import examine
from pipeline.store import leftovers, remove_leftovers, scratch_folder
from pipeline.store.versions import held, locks
from pipeline.store.versions.held import unwritable
from tests.real_data import REPOSITORY
from tests.unit.pipeline.store.snapshots import write

HOLD = """
import sys, time
from pathlib import Path
from pipeline.store import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "spool").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


def hold(store: Path) -> tuple[subprocess.Popen, Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store)], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_folder_is_empty_and_goes_with_the_run(tmp_path):
    with scratch_folder(tmp_path) as folder:
        assert list(folder.iterdir()) == []
    assert not folder.exists()


def test_a_living_run_keeps_its_folder_and_a_killed_one_leaves_it_to_the_next(tmp_path):
    process, folder = hold(tmp_path)
    try:
        with scratch_folder(tmp_path):
            assert (folder / "spool").exists()
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
        assert (folder / "spool").exists()
        deadline = time.monotonic() + 10
        while folder.exists() and time.monotonic() < deadline:
            with scratch_folder(tmp_path):
                pass
        assert not folder.exists()
        assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    finally:
        process.kill()
        assert process.stdout is not None
        process.stdout.close()
        process.wait(30)


@pytest.mark.parametrize("kind", held._KINDS)
def test_leftovers_of_a_dead_run_are_named_and_removed_by_the_next_run_of_any_name(tmp_path, kind):
    left = tmp_path / f"{kind}0123456789ab"
    (left / "files").mkdir(parents=True)
    (left / "lock").touch()
    with held.held_folder(tmp_path, kind) as at_work:
        assert not left.exists()
        (left / "files").mkdir(parents=True)
        (left / "lock").touch()
        assert held.abandoned(tmp_path) == [left]
        assert held.remove_abandoned(tmp_path) != []
        assert not left.exists()
        assert held.abandoned(tmp_path) == []
        assert at_work.is_dir()


def test_what_is_wanted_of_dead_runs_is_taken_over(tmp_path):
    """Never from living runs, nor from runs of another kind."""
    dead, other_kind = (tmp_path / f"{kind}0123456789ab" for kind in (held.READING, held.WRITING))
    with scratch_folder(tmp_path) as living:
        (living / "e").mkdir()
        for outer, names in ((dead, "abc"), (other_kind, "d")):
            for name in names:
                (outer / "files" / name).mkdir(parents=True)
                (outer / "files" / name / "spool").write_text(name)
            (outer / "lock").touch()
        with scratch_folder(tmp_path, wanted=["a", "d", "e", "none"]) as folder:
            assert [path.name for path in folder.iterdir()] == ["a"]
            assert (folder / "a" / "spool").read_text() == "a"
            assert (living / "e").is_dir()
            assert not dead.exists()
            assert not other_kind.exists()
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_folder_handed_to_another_process_is_kept_for_a_day(tmp_path):
    waiting, forgotten = (tmp_path / f"{held.DISTANCES}{i:012x}" for i in range(2))
    for outer in (waiting, forgotten):
        (outer / "files").mkdir(parents=True)
        (outer / "lock").touch()
        held.hand_over(outer / "files")
    old = time.time() - held.KEEP_S - 1
    os.utime(forgotten / held._HANDED_OVER, (old, old))
    assert held.abandoned(tmp_path) == [forgotten]
    held.release_folder(waiting / "files")
    assert not waiting.exists()


@pytest.mark.parametrize("there", [(), ("files",), ("lock",)])
def test_what_is_just_being_made_or_removed_is_no_leftover_until_long_after(
    tmp_path, monkeypatch, there
):
    folder = tmp_path / f"{held.READING}0123456789ab"
    folder.mkdir()
    for name in there:
        (folder / name).mkdir() if name == "files" else (folder / name).touch()
    version = tmp_path / "versions" / ".writing-0123456789ab"
    version.mkdir(parents=True)
    being_removed = [
        tmp_path / f"{held._LEFT}0123456789ab",
        tmp_path / "versions/.trash-0123456789ab",
    ]
    for each in being_removed:
        each.mkdir()
    assert leftovers(tmp_path, None) == []
    with scratch_folder(tmp_path):
        assert folder.is_dir()
    monkeypatch.setattr(locks, "SETTLED_S", -1.0)
    assert set(leftovers(tmp_path, None)) >= {folder, version, being_removed[1]}
    remove_leftovers(tmp_path, None)
    assert not any(path.exists() for path in (folder, version, *being_removed))


def test_a_folder_is_never_a_leftover_while_its_owner_removes_it(tmp_path, monkeypatch):
    files = held.hold_folder(tmp_path, held.READING)
    remove, seen = shutil.rmtree, []

    def removed(path, **options):
        seen.extend(held.abandoned(tmp_path))
        remove(path, **options)
        seen.extend(held.abandoned(tmp_path))

    monkeypatch.setattr(held.shutil, "rmtree", removed)
    held.release_folder(files)
    assert seen == []
    assert not files.parent.exists()


OF_USERS = [
    f"{held.WRITING}desk/novel.txt",
    f"{held.WORKERS}api/main.py",
    f"{held.READING}list/lock",
    f"{held.DISTANCES}0123456789ab/walks.csv",
    f"{held.WORKERS}0123456789ab/files.txt",
    f"{held._LEFT}overs/soup",
    "versions/release-0123456789ab/notes.txt",
    "versions/.trash-bin/old",
    "versions/.writing-desk/novel.txt",
    "snapshots/.gitkeep",
    "snapshots/.hidden.json",
    "results/spring/data.parquet",
]


@pytest.mark.parametrize("way", ["clean", "run"])
def test_what_users_have_beside_reports_or_in_a_store_stays(tmp_path, way):
    """Folders whose names only begin as ours do, and ours to the digit that hold anything else."""
    store = tmp_path / "project"
    (store / "elsewhere").mkdir(parents=True)
    (store / "elsewhere" / "deed.txt").write_text("precious")
    (store / f"{held.WRITING}fedcba987654").symlink_to(store / "elsewhere")
    for name in OF_USERS:
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_text("precious")
    if way == "clean":
        assert leftovers(store, store) == []
        list(examine(store, store, clean=True))
    else:
        with held.held_folder(store, held.WRITING), scratch_folder(store, wanted=["a"]):
            write(store)
        write(store)
    for name in OF_USERS:
        assert (store / name).read_text() == "precious", name
    assert (store / f"{held.WRITING}fedcba987654" / "deed.txt").read_text() == "precious"


def test_versions_that_no_pointer_names_are_left_overs(tmp_path):
    write(tmp_path)
    version = next((tmp_path / "versions").iterdir())
    orphan = version.with_name(".writing-0123456789ab")
    orphan.mkdir()
    for name in ("lock", "manifest.json", "arcs-000.parquet", ".ases.parquet.lock"):
        (orphan / name).touch()
    asides = [tmp_path / "snapshots" / f".a.{end}" for end in ("0123456789ab", "json.4711")]
    for aside in asides:
        aside.touch()
    assert orphan in leftovers(tmp_path, None)
    assert version not in leftovers(tmp_path, None)
    remove_leftovers(tmp_path, None)
    assert not any(path.exists() for path in (orphan, *asides))
    assert version.exists()


@pytest.mark.parametrize("taken", ["a file", "a link", "open to others", "of another user"])
def test_another_folder_is_taken_where_the_name_of_ours_is(tmp_path, monkeypatch, taken):
    """Anybody may make a folder of that name in /tmp first: no run may depend on it."""
    monkeypatch.setattr(held.tempfile, "gettempdir", lambda: str(tmp_path))
    ours = tmp_path / f"hopscope-{os.getuid()}"
    if taken == "a file":
        ours.touch()
    elif taken == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        ours.symlink_to(tmp_path / "elsewhere")
    elif taken == "open to others":
        ours.mkdir()
        ours.chmod(0o777)
    else:
        ours.mkdir(mode=0o700)
        is_private = held._is_private
        monkeypatch.setattr(held, "_is_private", lambda path: path != ours and is_private(path))
    (tmp_path / f"{ours.name}-aaaaaaaa").mkdir(mode=0o755)  # somebody guesses those names too
    folder = held.own_folder()
    assert folder.name.startswith(f"{ours.name}-")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert held.own_folder() == folder  # later runs clean up there
    files = held.hold_folder(folder, held.WORKERS)
    held._held.pop(files).release()  # killed
    assert held.abandoned(held.own_folder()) == [files.parent]


def test_ours_is_for_its_user_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(held.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = held.own_folder()
    assert folder == tmp_path / f"hopscope-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert held.own_folder() == folder


KILLED = """
import os, signal, sys
from pipeline.schedule.cluster.own import forking
if __name__ == "__main__":
    forking.SHORT_FOLDERS = (sys.argv[1],)
    forking.start(())
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("deep", ["", "x" * 80])  # as batch systems give it
def test_sockets_of_a_killed_run_are_removed_by_the_next_one(deep):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # a path of a socket has 107 bytes
        place, short = Path(folder) / deep, Path(folder) / "s"
        place.mkdir(exist_ok=True)
        short.mkdir()
        program = Path(folder) / "killed.py"
        program.write_text(KILLED)
        given = os.environ | {"TMPDIR": str(place)}
        run = [sys.executable, str(program), str(short)]
        done = subprocess.run([*run, "kill"], env=given, capture_output=True, timeout=120)
        assert done.returncode == -signal.SIGKILL, done.stderr
        (own,) = (short if deep else place).glob("hopscope-*")
        assert list(own.rglob("pymp-*")) == list(Path(folder).rglob("pymp-*")) != []
        assert len(held.abandoned(own)) == 1
        subprocess.run([*run, "end"], env=given, check=True, capture_output=True, timeout=120)
        assert [path.name for path in own.iterdir()] == [".lock"]


def test_a_store_that_cannot_be_written_is_named_or_the_file_of_another_user_in_it(tmp_path):
    """As where a group shares a store, and its lock was made by one of them alone."""
    lock = tmp_path / ".lock"
    lock.touch()
    closed = PermissionError(errno.EACCES, "Permission denied", str(lock))
    said = f"{lock}: cannot be written (Permission denied); make it writable, or choose another"
    assert str(unwritable(tmp_path, closed)).startswith(said)
    for error in (
        PermissionError(errno.EACCES, "Permission denied", str(tmp_path / ".reading-0123456789ab")),
        OSError(errno.EROFS, "Read-only file system", str(lock)),
    ):
        said = f"{tmp_path}: cannot be written ({error.strerror}); choose another"
        assert str(unwritable(tmp_path, error)) == said
