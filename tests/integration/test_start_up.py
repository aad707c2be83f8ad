"""A run on cores starts with little: workers are forked, the client imports only what it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import psutil
import pytest

from kernels.host import is_compiled
from pipeline.config import AnalyzeConfig
from pipeline.metrics import compiled_work
from pipeline.schedule.cluster.open import open_cluster
from pipeline.schedule.cluster.own import start
from pipeline.stages.generate import GenerateConfig, generate_topology
from tests.real_data import REPOSITORY

# The client's share of a run: kernels, inference, generators and the dashboard's pages are not.
NOT_OURS = {"numba", "scipy", "bokeh", "pipeline.infer", "pipeline.generate.grid"}
JEMALLOC = "jemalloc_bg_thd"  # of pyarrow; jemalloc repairs itself after a fork
ANALYZED = """
import contextlib, json, sys
import pipeline.cli

with contextlib.suppress(SystemExit), contextlib.redirect_stdout(sys.stderr):
    pipeline.cli.main(sys.argv[1:])
print(json.dumps(sorted(sys.modules)))
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = tmp_path_factory.mktemp("small") / "store"
    generate_topology(
        GenerateConfig(model="ba", routers=300, store=store, snapshot="small", asn=7, ingresses=3)
    )
    return store


def test_a_run_imports_neither_kernels_nor_pages_of_the_dashboard(store, tmp_path):
    words = ("analyze", "--store", store, "--out", tmp_path, "--device", "cpu", "--workers", "2")
    for _ in range(1 if is_compiled(compiled_work(("hops",))) else 2):  # the first one compiles
        done = subprocess.run(
            [sys.executable, "-c", ANALYZED, *map(str, words)],
            cwd=REPOSITORY,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
    assert (tmp_path / "small" / "index.html").exists(), done.stderr
    assert NOT_OURS & set(json.loads(done.stdout)) == set()


FORKED = """
import json, os, sys
from pathlib import Path

from pipeline.config import AnalyzeConfig
from pipeline.schedule.cluster.open import open_cluster

def facts():
    import os, sys
    from kernels.host import compiled_modules
    modules = set(compiled_modules("searches"))
    return {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "threads": os.environ["HOPSCOPE_THREADS"],
        "not_imported": sorted(modules - set(sys.modules)),
    }

here = Path(sys.argv[1])
given = {"device": "cpu", "workers": 2, "dashboard": "127.0.0.1:0"}
with open_cluster(AnalyzeConfig(store=here, out=here, **given)) as cluster:
    workers = list(cluster.client.run(facts).values())
    parent = Path(f"/proc/{workers[0]['parent']}")
    threads = [(task / "comm").read_text().strip() for task in (parent / "task").iterdir()]
    above = int((parent / "stat").read_text().rpartition(")")[2].split()[1])
print(json.dumps([workers, threads, above == os.getpid()]))
"""


def test_workers_are_forked_from_one_process_without_threads(tmp_path):
    """In a process of its own: another test may have started what workers are forked from."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(tmp_path)],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    workers, threads, is_ours = json.loads(done.stdout)
    assert len({worker["parent"] for worker in workers}) == 1
    assert is_ours
    assert len([name for name in threads if name != JEMALLOC]) == 1
    assert [worker["not_imported"] for worker in workers] == [[], []]
    share = str(max(1, len(os.sched_getaffinity(0)) // 2))
    assert {worker["threads"] for worker in workers} == {share}
    assert not any(psutil.pid_exists(worker["pid"]) for worker in workers)


def _gpu_facts(dask_worker) -> tuple:
    return os.environ["CUDA_VISIBLE_DEVICES"], os.getppid(), dask_worker.memory_manager.memory_limit


def test_workers_on_gpus_are_forked_and_each_sees_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(start, "visible_gpus", lambda: ["0", "GPU-b"])
    monkeypatch.setattr(start, "has_cupy", lambda: True)
    config = AnalyzeConfig(store=tmp_path, out=tmp_path, dashboard="127.0.0.1:0")
    with open_cluster(config) as cluster:
        gpus, parents, limits = zip(*cluster.client.run(_gpu_facts).values(), strict=True)
    assert sorted(gpus) == ["0", "GPU-b"]
    assert len(set(parents)) == 1
    assert os.getpid() not in parents
    assert len(set(limits)) == 1


def test_a_run_works_where_the_path_of_temporary_files_is_too_long_for_sockets(store, tmp_path):
    folder = tmp_path / ("x" * 80)
    folder.mkdir()
    words = ["analyze", "--store", str(store), "--out", "out", "--device", "cpu", "--workers", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", *words, "--no-pages"],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert not list(folder.glob("pymp-*"))
