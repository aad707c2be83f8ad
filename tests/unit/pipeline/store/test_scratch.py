import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pipeline.store import scratch_folder
from tests.real_data import REPOSITORY

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
