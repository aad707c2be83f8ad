"""Commands that are stopped or killed: their leftovers, and what removes them."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from pipeline.cli import main
from pipeline.config import GenerateConfig, IngestConfig
from pipeline.stages.generate import generate_topology
from pipeline.stages.ingest import ingest
from pipeline.stages.inputs.resumed import RECORD
from pipeline.store import snapshot_names
from pipeline.store.versions import held
from tests.real_data import REPOSITORY
from tests.soak import WHOLE

LAB = REPOSITORY / "data" / "samples" / "lab"
WAIT_S = 180.0  # on a busy machine
BOTH = [signal.SIGTERM, signal.SIGHUP]  # each of them by one command in make test


@contextlib.contextmanager
def command(*words: object) -> Iterator[psutil.Popen]:
    process = psutil.Popen(
        [sys.executable, "-m", "pipeline.cli", *map(str, words)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.is_running():
            for child in process.children(recursive=True):
                child.kill()
            process.kill()
        if not process.stdout.closed:
            process.communicate()


def until(true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end, f"{what} did not come about in {WAIT_S:.0f} s"
        time.sleep(0.02)


def is_gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it ended between the two questions
        return True


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """Two files that take some seconds to read, each by its own process."""
    folder = tmp_path_factory.mktemp("inputs")
    lines = gzip.decompress((LAB / "h0.udp-paris.json.gz").read_bytes())
    for name, times in (("a", 200), ("b", 201)):  # a copy would be left out
        with (folder / f"{name}.json").open("wb") as file:
            for _ in range(times):
                file.write(lines)
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    store = tmp_path_factory.mktemp("generated") / "store"
    made = {"model": "internet", "routers": 100_000, "ases": 2500, "snapshot": "made"}
    generate_topology(GenerateConfig(store=store, **made))
    return store


def hidden(folder: Path, kind: str) -> list[Path]:
    return list(folder.glob(f"{kind}*"))


@pytest.mark.soak
@pytest.mark.parametrize("asked", BOTH if WHOLE else [signal.SIGTERM])
def test_an_ingest_that_is_stopped_leaves_nothing(tmp_path, inputs, asked):
    with command(
        *("ingest", inputs, "--store", tmp_path / "store", "--workers", 2),
        *("--ip2as", LAB / "lab.pfx2as", "--allow-special", "198.18.0.0/15"),
    ) as process:
        until(lambda: list((tmp_path / "store").glob(f"{held.READING}*/files/*/*")), "reading")
        readers = process.children(recursive=True)
        process.send_signal(asked)
        assert process.wait(WAIT_S) == 128 + asked
        until(lambda: all(is_gone(reader) for reader in readers), "the end of the readers")
    assert readers
    assert hidden(tmp_path / "store", held.READING) == []


def test_an_ingest_that_was_killed_goes_on_by_file(tmp_path):
    """Its store is that of an undisturbed one; files that had been read are not read again."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    lines = gzip.decompress((LAB / "h0.udp-paris.json.gz").read_bytes())
    for i in range(4):  # a copy would be left out
        (folder / f"{i}.json").write_bytes(lines * (20 + i))
    options = {"ip2as": (LAB / "lab.pfx2as",), "allow_special": ("198.18.0.0/15",)}
    config = IngestConfig(inputs=(folder,), store=tmp_path / "store", snapshot="night", **options)
    wanted = ingest(replace(config, store=tmp_path / "wanted"))
    with command(
        *("ingest", folder, "--store", config.store, "--snapshot", "night", "--workers", 1),
        *("--ip2as", LAB / "lab.pfx2as", "--allow-special", "198.18.0.0/15"),
    ) as process:
        records = f"{held.READING}*/files/*/{RECORD}"
        until(lambda: list(config.store.glob(records)), "the first file")
        process.kill()
        process.wait(WAIT_S)
    n_read = len(list(config.store.glob(records)))
    assert n_read
    assert snapshot_names(config.store) == []
    found = ingest(config)
    assert found.n_resumed == n_read
    assert snapshot_names(config.store) == ["night"]
    assert hidden(config.store, held.READING) == []
    tables = sorted(path.name for path in wanted.path.glob("*.parquet"))
    assert tables == sorted(path.name for path in found.path.glob("*.parquet"))
    for name in tables:
        assert (found.path / name).read_bytes() == (wanted.path / name).read_bytes(), name
    inputs = [json.loads((s.path / "manifest.json").read_text())["inputs"] for s in (found, wanted)]
    assert inputs[0] == inputs[1]


def analyze(store: Path, out: Path) -> tuple[object, ...]:
    # One task for each search, thousands of them: some seconds, on any machine.
    return ("analyze", "--store", store, "--out", out, "--distances", "--pack", 1, "--workers", 2)


def wait_for_line(process: psutil.Popen, first: str) -> None:
    """Read what a command prints, up to a line that begins so."""
    line = ""
    while not line.startswith(first):
        line = process.stdout.readline()
        assert line, f"it ended before it printed {first}"


def wait_for_searches(process: psutil.Popen, out: Path) -> None:
    wait_for_line(process, "Searching")
    until(lambda: hidden(out, held.DISTANCES), "the folder of distances")


@pytest.mark.soak
@pytest.mark.parametrize("asked", BOTH if WHOLE else [signal.SIGHUP])
def test_an_analysis_that_is_stopped_leaves_nothing(tmp_path, store, asked):
    with command(*analyze(store, tmp_path)) as process:
        wait_for_searches(process, tmp_path)
        workers = process.children(recursive=True)
        process.send_signal(asked)
        assert process.wait(WAIT_S) == 128 + asked
        until(lambda: all(is_gone(worker) for worker in workers), "the end of the workers")
    assert workers
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {".lock", "hopscope.prom"}  # which counts the run as failed


def test_an_analysis_that_is_stopped_while_workers_start_prints_no_more(tmp_path, store):
    with command(*analyze(store, tmp_path)) as process:
        wait_for_line(process, "Starting workers")
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == "hopscope: stopped\n"
        assert process.wait(WAIT_S) == 128 + signal.SIGTERM


def forking_server(process: psutil.Popen) -> psutil.Process | None:
    for child in process.children():
        with contextlib.suppress(psutil.Error):
            if any("multiprocessing.forkserver" in word for word in child.cmdline()):
                return child
    return None


def has_forked(process: psutil.Popen, n: int) -> bool:
    server = forking_server(process)
    return server is not None and len(server.children()) >= n


@pytest.mark.parametrize("asked", BOTH if WHOLE else [signal.SIGTERM])
@pytest.mark.parametrize("n_forked", [0, 1, 2])
def test_a_signal_to_all_processes_while_workers_start_stops_the_run(
    tmp_path, store, n_forked, asked
):
    """As GNU ``timeout``, systemd, a closed terminal or a batch system sends it."""
    with command(*analyze(store, tmp_path), "--device", "cpu") as process:
        until(lambda: has_forked(process, n_forked), f"the start of {n_forked} workers")
        children = process.children(recursive=True)
        os.killpg(process.pid, asked)
        said, _ = process.communicate(timeout=WAIT_S)
        assert process.returncode == 128 + asked, said
        until(lambda: all(is_gone(child) for child in children), "the end of its processes")
    assert said.endswith("hopscope: stopped\n")
    assert "Traceback" not in said


def test_workers_whose_start_is_lost_end_the_run_with_one_line(tmp_path, store):
    with command(*analyze(store, tmp_path), "--device", "cpu") as process:
        until(lambda: has_forked(process, 1), "the start of a worker")
        server = forking_server(process)
        for one in (server, *server.children()):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        said, _ = process.communicate(timeout=WAIT_S)
    assert process.returncode == 2, said
    assert said.splitlines()[-1].startswith("hopscope: workers cannot be started: one was killed")
    assert "Traceback" not in said


def test_leftovers_of_a_killed_analysis_are_named_and_removed(tmp_path, store, capsys):
    with command(*analyze(store, tmp_path)) as process:
        wait_for_searches(process, tmp_path)
        workers = process.children(recursive=True)
        process.kill()
        process.wait(WAIT_S)
        until(lambda: all(is_gone(worker) for worker in workers), "the end of the workers")
    (left,) = hidden(tmp_path, held.DISTANCES)
    doctor = ("doctor", "--store", store, "--out", tmp_path, "--json")
    found = []
    for more in ((), ("--clean",), ()):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in (*doctor, *more)])
        said = capsys.readouterr().out
        assert ended.value.code == 0, said
        findings = json.loads(said)["findings"]
        found.append([f["text"] for f in findings if f["subject"] == "left-over"])
    assert [len([text for text in texts if str(left) in text]) for texts in found] == [1, 1, 0]
    assert not left.exists()
