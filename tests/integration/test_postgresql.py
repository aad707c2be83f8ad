"""A nightly run whose Prefect server keeps its history in PostgreSQL.

The test starts a database cluster of its own, as a user without rights where it runs as root.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from flows.processes.server import free_port, stop_process
from pipeline.pages.local_pages import HOST
from tests.served import DATABASE, LAB, RUN_S, clean_environment

SECRET = "correct-horse-battery"
USER = "nobody" if os.getuid() == 0 else None  # PostgreSQL refuses to run as root


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest of several."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)  # Debian
    if on_path := shutil.which("postgres"):
        found.append(Path(on_path).resolve().parent)
    needed = ("initdb", "postgres", "createdb", "psql")
    return next((each for each in found if all((each / name).exists() for name in needed)), None)


BIN = programs()


@pytest.fixture
def database():
    """The URL of an empty database, as Prefect takes it."""
    assert BIN is not None
    folder = Path(tempfile.mkdtemp(prefix="hopscope-postgresql-"))
    password = folder / "password"
    password.write_text(SECRET)
    if USER:
        for path in (folder, password):
            os.chown(path, pwd.getpwnam(USER).pw_uid, -1)
    port = free_port()
    words = [BIN / "initdb", "-D", folder / "data", "-U", "prefect", "-A", "scram-sha-256"]
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        subprocess.run(
            [*words, f"--pwfile={password}", "--no-sync"],
            user=USER,
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=RUN_S,
        )
        options = [f"listen_addresses={HOST}", f"unix_socket_directories={folder}", "fsync=off"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [BIN / "postgres", "-D", folder / "data", "-p", str(port)]
                + [word for each in options for word in ("-c", each)],
                user=USER,
                cwd=folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        stack.callback(stop_process, process)
        give_up = time.monotonic() + RUN_S
        while subprocess.run(
            [BIN / "createdb", "-h", HOST, "-p", str(port), "-U", "prefect", "prefect"],
            env=os.environ | {"PGPASSWORD": SECRET},
            check=False,
            capture_output=True,
            timeout=RUN_S,
        ).returncode:
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < give_up, (folder / "log").read_text()
            time.sleep(0.2)
        yield f"postgresql+asyncpg://prefect:{SECRET}@{HOST}:{port}/prefect"


def rows(url: str, query: str) -> list[str]:
    """What a query gives, a line a row."""
    assert BIN is not None
    done = subprocess.run(
        [BIN / "psql", url.replace("+asyncpg", ""), "-At", "-c", query],
        check=True,
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(BIN is None, reason="no server programs of PostgreSQL here (initdb)")
def test_a_night_is_recorded_in_postgresql(database, tmp_path):
    environment = clean_environment(tmp_path / "prefect")
    (tmp_path / "prefect" / DATABASE).unlink()
    environment["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = database
    words = [str(LAB / "h1.icmp-paris.warts.gz"), "--store", "store", "--out", "out"]
    words += ["--ip2as", str(LAB / "lab.pfx2as"), "--allow-special", "198.18.0.0/15"]
    done = subprocess.run(
        [sys.executable, "-m", "flows.nightly", *words],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    query = "select f.name, r.state_name from flow_run r join flow f on f.id = r.flow_id"
    assert rows(database, query) == ["nightly|Completed"]
    query = "select name, state_name from task_run order by name"
    assert [row.rpartition("-")[0] for row in rows(database, query)] == [
        *("compare", "ingest", "measure", "report")
    ]
    assert not (tmp_path / "prefect" / DATABASE).exists()
    assert SECRET not in done.stdout + done.stderr
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path
