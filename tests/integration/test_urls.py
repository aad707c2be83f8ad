"""Store and reports at s3:// URLs, for machines without a common disk, as on one disk."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest
from s3fs import S3FileSystem

from pipeline.cli import main
from pipeline.places import folder_of, objects
from tests.integration.test_two_workers import scheduler, worker
from tests.s3 import BUCKET, in_environment, keys
from tests.served import LAB

STORE, OUT = f"s3://{BUCKET}/nights/store", f"s3://{BUCKET}/nights/reports"
OLD, NEW = "2026-11-20", "2026-11-21"
IP2AS = ["--ip2as", str(LAB / "lab.pfx2as"), "--allow-special", "198.18.0.0/15"]
# Marks of a run, in which two runs need not agree.
OF_RUNS = {
    "device",
    "n_tasks",
    "n_retries",
    "wall_s",
    "n_reused",
    "reused_from",
    "n_width_searches",
}
OF_RUNS |= {"diameter_path", "diameter_path_addrs"}  # any valid one
SECRET = "not-a-secret"  # of tests.s3

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def hopscope(capfd):
    """Runs a command in this process; what it printed on stdout and stderr."""

    def run(*words, fails=0):
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        said = capfd.readouterr()
        assert (ended.value.code or 0) == fails, said.out + said.err
        assert "Traceback" not in said.err
        assert SECRET not in said.out + said.err
        return said

    return run


def ingest_both(hopscope, store):
    some = [LAB / f"h{i}.icmp-paris.warts.gz" for i in range(4)]
    hopscope("ingest", LAB, "--store", store, "--snapshot", OLD, *IP2AS)
    hopscope("ingest", *some, "--store", store, "--snapshot", NEW, *IP2AS)


def published(night):
    """Where a published report is in the bucket."""
    content = orjson.loads(objects.read(f"{OUT}/{night}/current.json"))
    return f"nights/reports/{content['version']}"


def tables(read):
    found = {}
    for name in ("ases", "ingresses", "exits", "as_links", "changes", "events"):
        table = read(f"{name}.parquet")
        found |= {f"{name} {n}": table[n] for n in table.column_names if n not in OF_RUNS}
    return found


def test_machines_without_a_common_disk_measure_what_one_machine_does(
    s3, machine, hopscope, tmp_path
):
    reader = ["h0.icmp-paris.warts.gz"]
    assert (LAB / reader[0]).exists()
    ingest_both(hopscope, STORE)
    mirrors = {}
    with scheduler(tmp_path) as (_, address), contextlib.ExitStack() as running:
        for name in ("worker-1", "worker-2"):
            machine(name)
            mirrors[name] = Path(os.environ["HOPSCOPE_MIRRORS"])
            running.enter_context(worker(address, tmp_path))
        machine("client")
        mirrors["client"] = Path(os.environ["HOPSCOPE_MIRRORS"])
        given = ["--store", STORE, "--out", OUT, "--scheduler", address, "--pack", "1"]
        for night in (OLD, NEW):
            hopscope("analyze", *given, "--snapshot", night, "--metrics", "hops,diameter")
        refused = hopscope("analyze", *given, "--distances", fails=2)
    assert refused.err.splitlines()[-1].endswith(f"give --out a folder instead of {OUT}")
    hopscope("compare", OLD, NEW, "--store", STORE, "--out", OUT)
    # Each worker fetched the files it read into a mirror of its own; the client had no need of all.
    for name, folder in mirrors.items():
        versions = list(folder.glob(f"s3*/{BUCKET}/nights/store/versions/*"))
        assert len(versions) == 2, name
        assert all((path / "arcs-000.parquet").exists() for path in versions), name
        assert (name == "client") == bool(list(folder.glob("**/observations.parquet")))
    ingest_both(hopscope, tmp_path / "store")
    place = ["--store", tmp_path / "store", "--out", tmp_path / "out"]
    for night in (OLD, NEW):
        hopscope("analyze", *place, "--snapshot", night, "--metrics", "hops,diameter")
    hopscope("compare", OLD, NEW, *place)
    there, here = f"s3://{BUCKET}/{published(NEW)}", tmp_path / "out" / NEW
    found = tables(lambda name: pq.read_table(fetched(f"{there}/{name}", tmp_path / "fetched")))
    assert found == tables(lambda name: pq.read_table(here / name))
    tasks = pq.read_table(fetched(f"{there}/tasks.parquet", tmp_path / "tasks")).to_pylist()
    assert {task["status"] for task in tasks} == {"ok"}
    assert len({task["worker"] for task in tasks}) == 2
    pages = {path.relative_to(here).as_posix() for path in here.rglob("*.html")}
    prefix = f"{published(NEW)}/"
    assert {key.removeprefix(prefix) for key in keys(s3, prefix) if key.endswith(".html")} == pages
    report = json.loads(objects.read(f"{there}/report.json"))
    assert (report["options"]["store"], report["options"]["out"]) == (STORE, OUT)
    for key in keys(s3):
        assert SECRET.encode() not in objects.read(f"s3://{BUCKET}/{key}"), key
    machine("reader")
    said = hopscope("list", "--store", STORE).out
    assert OLD in said
    assert NEW in said
    for words in (
        ("show", NEW, "AS64497", "--out", OUT),
        ("lookup", "198.18.68.18", "--snapshot", NEW),
        ("export", NEW, "--asn", "64497", "--out", tmp_path / "x.graphml"),
    ):
        hopscope(*words, "--store", STORE)


def fetched(url, path):
    objects.fetch(url, path)
    return path


def test_a_night_at_urls_is_compared_and_kept_as_on_a_disk(s3, machine, hopscope):
    some = [LAB / f"h{i}.icmp-paris.warts.gz" for i in range(4)]
    given = ["--store", STORE, "--out", OUT, *IP2AS, "--workers", "1", "--keep-nights", "2"]
    hopscope("run", *some, *given, "--snapshot", "2026-11-19")
    hopscope("run", *some, *given, "--snapshot", OLD)
    said = hopscope("run", *some, *given, "--snapshot", NEW).out
    assert f"Report: {OUT}/{NEW}/index.html" in said
    assert "Reused: " in said
    assert objects.read(f"{OUT}/2026-11-19/current.json") is None
    assert objects.read(f"{STORE}/snapshots/2026-11-19.json") is None
    assert NEW.encode() in objects.read(f"{OUT}/index.html")
    machine("another")
    again = hopscope("run", *some, *given, "--snapshot", NEW).out
    assert "Reused: " in again


@contextlib.contextmanager
def clients_anew():
    """As in a process of its own: clients look at the environment when they are made."""
    S3FileSystem.clear_instance_cache()
    try:
        yield
    finally:
        S3FileSystem.clear_instance_cache()


@pytest.mark.parametrize(
    ("store", "variables", "said"),
    [
        ("s3://no-such-bucket/store", {}, "no such bucket; create it first"),
        (STORE, {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "no credentials"),
        (STORE, {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "the object store does not answer"),
        (f"s3://AKIA:{SECRET}@{BUCKET}/store", {}, "takes a URL without keys"),
        ("http://127.0.0.1/store", {}, "takes a folder, or a URL of s3://"),
    ],
)
def test_a_store_that_cannot_be_used_is_one_line_before_anything_is_read(
    machine, hopscope, tmp_path, store, variables, said
):
    alone = {"AWS_CONFIG_FILE": str(tmp_path / "none"), "HOME": str(tmp_path)} | variables
    with in_environment(**alone), clients_anew():
        for words in (["list"], ["ingest", LAB / "h1.icmp-paris.warts.gz", *IP2AS]):
            done = hopscope(*words, "--store", store, fails=2)
            assert done.out == ""
            assert said in done.err.splitlines()[-1]
    assert folder_of(STORE).parts[-1] == "store"


def test_commands_that_need_a_file_say_so(hopscope):
    done = hopscope("generate", "top-down", "--routers", 50, "--out", f"{STORE}.brite", fails=2)
    assert "--out takes a file or folder on this machine's disks" in done.err
