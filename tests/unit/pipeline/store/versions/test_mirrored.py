"""A store at a URL, for two machines: whole versions only, each file fetched when it is read."""

from __future__ import annotations

import os
import pickle
import signal

import numpy as np
import pytest

from pipeline.errors import StoreError, UsageError
from pipeline.places import folder_of, mirror, objects
from pipeline.store import (
    Snapshot,
    check_store,
    leftovers,
    open_snapshot,
    open_version,
    remove_leftovers,
    snapshot_names,
)
from pipeline.store.pointers.changing import remove_snapshots
from tests.forks import forks
from tests.integration.measured import make_snapshot
from tests.s3 import BUCKET, keys

URL = f"s3://{BUCKET}/store"
FILES = {"ases", "borders", "exits", "ingresses", "nodes-000", "arcs-000", "rejects", "manifest"}


def stems(names) -> set[str]:
    return {os.path.basename(name).partition(".")[0] for name in names}


def test_another_machine_reads_what_was_written_and_fetches_only_what_it_reads(s3, machine):
    with make_snapshot(folder_of(URL)) as written:
        graphs = [written.graph(row) for row in range(written.n_ases)]
    assert stems(keys(s3, "store/versions")) == FILES
    machine("second")
    store = folder_of(URL)
    assert snapshot_names(store) == ["small"]
    with open_snapshot(store) as read:
        assert read.address == f"{URL}/versions/{written.version}"
        assert stems(os.listdir(read.path)) - {"", "lock"} == {"manifest", "ases"}
        for row, graph in enumerate(graphs):
            np.testing.assert_array_equal(read.graph(row, check=True).indices, graph.indices)
        assert len(read.ingresses()) == len(written.ingresses())
        assert "borders.parquet" not in os.listdir(read.path)
        again = pickle.loads(pickle.dumps(read))
        assert again.path == read.path
        address = read.address
    machine("third")
    with Snapshot.open_dir(address) as there:
        assert there.graph(2, check=True).n_nodes == graphs[2].n_nodes


def test_a_snapshot_that_is_written_again_is_seen_elsewhere_and_its_readers_read_on(machine):
    first = make_snapshot(folder_of(URL))
    machine("second")
    old = open_snapshot(folder_of(URL))
    machine("first")
    second = make_snapshot(folder_of(URL))
    machine("second")
    store = folder_of(URL)
    assert old.version == first.version != second.version
    assert old.graph(0, check=True).n_nodes == 6  # a file that it had not read before
    with open_snapshot(store) as new:
        assert new.version == second.version
    assert open_version(store, first.version).version == first.version


BEFORE_KILLED = """
import os, signal
import s3fs  # which would be imported by each process
from pipeline.places import folder_of, objects
from tests.integration.measured import make_snapshot
"""
KILLED = """
step, url, os.environ["HOPSCOPE_MIRRORS"] = words
write = getattr(objects, step)
def killed(*given):
    if step == "send":
        write(dict(list(given[0].items())[:2]))
    os.kill(os.getpid(), signal.SIGKILL)
setattr(objects, step, killed)
make_snapshot(folder_of(url))
"""


@pytest.fixture(scope="module")
def writers(s3):
    with forks(BEFORE_KILLED, KILLED) as started:
        yield started


@pytest.mark.parametrize("step", ["send", "write"])  # of files, of the pointer
def test_a_killed_writer_leaves_nothing_that_is_read(s3, machine, monkeypatch, writers, step):
    first = make_snapshot(folder_of(URL))
    writers.start(step, URL, os.environ["HOPSCOPE_MIRRORS"])
    assert writers.status() == -signal.SIGKILL
    assert len({key.split("/")[2] for key in keys(s3, "store/versions")}) == 2
    machine("second")
    store = folder_of(URL)
    with open_snapshot(store) as snapshot:
        assert snapshot.version == first.version
    # doctor marks what the writer left, and removes it a day later; nothing else.
    assert not [path for path in leftovers(store, None) if path.is_relative_to(store)]
    monkeypatch.setattr(mirror, "KEEP_S", -1.0)
    (left,) = [path for path in leftovers(store, None) if path.is_relative_to(store)]
    assert left.name != first.version
    remove_leftovers(store, None)
    assert {key.split("/")[2] for key in keys(s3, "store/versions")} == {first.version}
    assert check_store(store) == {"small": ""}


def test_an_object_that_was_altered_or_lost_is_named(s3, machine):
    with make_snapshot(folder_of(URL)) as written:
        key = f"store/versions/{written.version}/arcs-000.parquet"
    body = s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    s3.put_object(Bucket=BUCKET, Key=key, Body=body[:-1] + b"x")
    # Those that are in a mirror already are not taken as a proof of what is at the URL.
    (fault,) = check_store(folder_of(URL)).values()
    assert "arcs-000.parquet has been altered" in fault
    machine("second")
    store = folder_of(URL)
    with open_snapshot(store) as snapshot:
        with pytest.raises(StoreError, match=f"{URL}/versions/.*/arcs-000.parquet: has been alter"):
            snapshot.graph(0)
        s3.delete_object(Bucket=BUCKET, Key=key)
        with pytest.raises(StoreError, match=r"arcs-000\.parquet: no such object"):
            snapshot.graph(0)


def test_removed_snapshots_are_gone_everywhere(s3, machine):
    make_snapshot(folder_of(URL))
    machine("second")
    store = folder_of(URL)
    assert snapshot_names(store) == ["small"]
    machine("first")
    remove_snapshots(folder_of(URL), ["small"])
    machine("second")
    store = folder_of(URL)
    assert snapshot_names(store) == []
    with pytest.raises(StoreError, match="no snapshot here"):
        open_snapshot(store)


def test_an_upload_that_fails_leaves_the_store_as_it_was(machine, monkeypatch):
    first = make_snapshot(folder_of(URL))

    def fail(*_):
        raise StoreError(f"{URL}: cannot be reached (no way)")

    for step in ("send", "write"):
        with monkeypatch.context() as patch:
            patch.setattr(objects, step, fail)
            with pytest.raises(StoreError, match="no way"):
                make_snapshot(folder_of(URL))
        with open_snapshot(folder_of(URL)) as snapshot:
            assert snapshot.version == first.version
            assert snapshot.graph(0, check=True).n_nodes == 6


def test_mirrors_take_no_more_space_than_they_may(machine, monkeypatch):
    make_snapshot(folder_of(URL)).close()
    make_snapshot(folder_of(f"{URL}2")).close()
    machine("second")
    monkeypatch.setenv("HOPSCOPE_MIRRORS_GB", "0.000001")
    with open_snapshot(folder_of(URL)) as used:
        used.graph(0)
        with open_snapshot(folder_of(f"{URL}2")) as other:
            assert (used.path / "arcs-000.parquet").exists()  # it is open
            other.graph(0)
    machine_again = folder_of(f"{URL}3")
    make_snapshot(machine_again).close()
    machine("second")
    with open_snapshot(folder_of(f"{URL}3")):
        pass
    monkeypatch.setenv("HOPSCOPE_MIRRORS_GB", "much")
    machine("third")
    with pytest.raises(UsageError, match="HOPSCOPE_MIRRORS_GB takes a number of gigabytes"):
        open_snapshot(folder_of(URL))
