"""A GPU that another program fills: tasks that fit are searched, others are split."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.errors import OutOfMemoryError
from pipeline.graphs import build_graphs
from pipeline.model.search.tasks import SearchTask
from pipeline.schedule.plan.batches import smaller
from pipeline.schedule.work import resident
from pipeline.schedule.work.searches import run_search
from pipeline.store import open_snapshot, write_snapshot
from tests.gpu_memory import LittleMemory
from tests.integration.measured import random_links, topology

pytestmark = pytest.mark.gpu


@pytest.fixture
def task(tmp_path):
    n_nodes = 300_000
    ases = [topology(7, n_nodes, random_links(n_nodes, 1), [0])]
    write_snapshot(
        tmp_path,
        "one",
        build_graphs(ases),
        as_names={},
        inputs=[],
        options={},
        counts={},
        rejects=[],
    )
    snapshot = open_snapshot(tmp_path)
    sources = np.arange(0, n_nodes, 1500, dtype=np.int32)
    return SearchTask(
        kind="pack",
        snapshot=str(snapshot.path),
        rows=np.array([0]),
        source_ptr=np.array([0, len(sources)]),
        sources=sources,
        device="gpu",
        name="msbfs_AS7",
    )


def searched(task):
    results = run_search(task)
    return results.source, results.n_reached, results.eccentricity, results.hop_counts


def run_smaller(task, tried=0):
    """As the driver does: halve every task that finds no memory."""
    try:
        return [searched(task)]
    except OutOfMemoryError:
        assert tried < 9
        halves = smaller(task)
        assert halves
        return [part for half in halves for part in run_smaller(half, tried + 1)]


def assert_same(parts, whole):
    for part, column in zip(zip(*parts, strict=True), whole, strict=True):
        np.testing.assert_array_equal(np.concatenate(part), column)


def test_memory_that_another_program_holds_is_avoided(task):
    import cupy

    whole = searched(task)
    cupy.get_default_memory_pool().free_all_blocks()
    # Not through CuPy's pool: as another program would hold it.
    held = cupy.cuda.runtime.malloc(cupy.cuda.runtime.memGetInfo()[0] - (48 << 20))
    try:
        assert_same(run_smaller(task), whole)
    finally:
        cupy.cuda.runtime.free(held)


def test_memory_that_disappears_after_it_was_counted_is_an_error_that_is_retried(task, monkeypatch):
    from kernels.multi_source.gpu import search as gpu

    whole = searched(task)
    with monkeypatch.context() as patched:
        patched.setattr(gpu, "fits", lambda n_bytes: True)  # another program is quicker
        # A sweep of 300,000 nodes takes over 20 MB, however few its lanes.
        with LittleMemory(2 << 20), pytest.raises(OutOfMemoryError, match="msbfs_AS7"):
            run_search(task)
    assert_same(run_smaller(task), whole)


def test_arcs_of_a_graph_larger_than_the_gpu_stay_on_the_host(task, monkeypatch):
    expected = searched(task)
    resident.resident("gpu").drop_all()
    graph = resident.snapshot_at(task.snapshot).graph(0)
    monkeypatch.setattr(resident, "_gpu_bytes", lambda: graph.n_bytes)
    here = resident.resident_graph(task.snapshot, 0, "gpu")
    assert type(here.indices.data.mem).__name__ == "UnownedMemory"
    for ours, theirs in zip(searched(task), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    resident.resident("gpu").drop_all()
