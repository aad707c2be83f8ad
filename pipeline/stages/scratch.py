"""A folder for a run's spool files, which goes with the run, or with the next one after a kill."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = ".reading-"


@contextlib.contextmanager
def scratch_folder(store: Path) -> Iterator[Path]:
    """Make a scratch folder in the store (its disk is the one with room) and delete it after.

    Its name bears host and process, so that what a killed run left behind is known and removed.
    """
    store.mkdir(parents=True, exist_ok=True)
    host = socket.gethostname().replace("-", "_") or "host"
    for left in store.glob(f"{_PREFIX}{host}-*"):
        pid = left.name.removeprefix(f"{_PREFIX}{host}-").split("-")[0]
        if pid.isdigit() and not _is_running(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{host}-{os.getpid()}-", dir=store))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's, and alive
        return True
    return True
