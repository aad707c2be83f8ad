"""run_widths without a cluster: what a worker finds, how it is checked, and how it fails."""

from dataclasses import fields, replace

import numpy as np
import pytest

from kernels.errors import DeviceError, DeviceMemoryError, GraphError
from pipeline.errors import OutOfMemoryError, PipelineError, RetryableError
from pipeline.graphs import build_graphs
from pipeline.metrics import WIDTH_METRICS
from pipeline.model.columns import take
from pipeline.model.search.tasks import WidthTask
from pipeline.schedule.work import measures as width_tasks
from pipeline.schedule.work.measures import run_widths, smaller_widths
from pipeline.store import open_snapshot, write_snapshot
from tests.integration.measured import make_snapshot, path_links, random_links, topology
from tests.oracles.paths import bfs_levels, distances
from tests.oracles.widths import Truth, check_widths


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def weighted_snapshot(tmp_path_factory):
    """ASes with whole lengths, with round-trip times, with a weight missing, without links."""
    rng = np.random.default_rng(4)
    made = []
    for asn, n_nodes in ((10, 30), (20, 60), (30, 6), (40, 1)):
        links = path_links(n_nodes) if n_nodes == 6 else random_links(n_nodes, asn)
        if n_nodes == 1:
            links = np.empty((0, 2), int)
        weight = rng.integers(1, 9, len(links)) if asn == 10 else 20 * rng.random(len(links))
        if asn == 30:
            weight[2] = np.nan
        one = topology(asn, n_nodes, links, [0])
        made.append(replace(one, weight=weight.astype(np.float32), weight_unit="ms"))
    graphs = build_graphs(made)
    store = tmp_path_factory.mktemp("weighted")
    nothing = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(store, "weighted", graphs, **nothing)
    return open_snapshot(store)


def task_of(snapshot, rows, metrics=WIDTH_METRICS, kind="widths", **options):
    return WidthTask(
        kind=kind,
        snapshot=str(snapshot.path),
        rows=np.array(rows),
        metrics=tuple(metrics),
        device="cpu",
        name=f"{kind}_AS10_AS80",
        **options,
    )


@pytest.mark.parametrize("verify", [False, True])
def test_shards_and_single_graphs_agree_with_other_programs(snapshot, verify):
    rows = np.array([0, 2, 3, 4, 5, 7])
    together = run_widths(task_of(snapshot, rows, verify=verify))
    assert together.failed == {}
    assert together.n_searches == together.found.n_searches.sum()
    assert together.found.exact.all()
    for i, row in enumerate(rows.tolist()):
        truth = Truth(snapshot.graph(row))
        check_widths(take(together.found, np.array([i])), truth)
        alone = run_widths(task_of(snapshot, [row], verify=verify)).found
        assert alone.row.tolist() == [row]
        check_widths(alone, truth)


def test_metrics_that_were_not_requested_are_not_listed(snapshot):
    found = run_widths(task_of(snapshot, [0, 2], metrics=["radius"])).found
    assert found.radius_lower.tolist() == found.radius_upper.tolist() == [3, 5]
    assert (len(found.path), len(found.center), len(found.periphery)) == (0, 0, 0)
    assert (len(found.eccentricity), len(found.counts)) == (0, 0)


def test_a_run_cut_short_reports_intervals(snapshot):
    found = run_widths(task_of(snapshot, [2, 6], ["eccentricities"], max_searches=1)).found
    assert found.exact.tolist() == [False, False]
    assert found.n_searches.tolist() == [1, 1]
    assert (found.diameter_lower <= [10, 14]).all()
    assert ([10, 14] <= found.diameter_upper).all()
    assert (found.radius_lower <= [5, 8]).all()
    assert ([5, 8] <= found.radius_upper).all()
    assert len(found.eccentricity) == len(found.counts) == 0


@pytest.mark.parametrize("verify", [False, True])
def test_weights_without_any_search_have_no_upper_bound(weighted_snapshot, verify):
    """The AS of one node is exact without a search."""
    options = {"kind": "weighted", "max_searches": 0, "verify": verify}
    task = task_of(weighted_snapshot, [0, 1, 3], **options)
    found = run_widths(task).found
    assert found.exact.tolist() == [False, False, True]
    assert found.n_searches.tolist() == [0, 0, 0]
    assert found.diameter_lower.tolist() == found.radius_lower.tolist() == [0, 0, 0]
    assert found.diameter_upper.tolist() == found.radius_upper.tolist() == [-1, -1, 0]
    assert found.component_diameter.tolist() == found.component_radius.tolist() == [-1, -1]


@pytest.mark.parametrize("verify", [False, True])
def test_weighted_widths_are_those_of_all_distances(weighted_snapshot, verify):
    task = task_of(weighted_snapshot, [0, 1, 3], kind="weighted", verify=verify)
    found = run_widths(task).found
    for i, row in enumerate([0, 1, 3]):
        graph = weighted_snapshot.graph(row, weights=True)
        every = np.array([distances(graph, v) for v in range(graph.n_nodes)])
        truth = every.max(axis=1)  # these graphs are connected
        own = slice(*found.eccentricity_ptr[i : i + 2])
        assert found.eccentricity[own].tolist() == truth.tolist()
        assert found.diameter_lower[i] == found.diameter_upper[i] == truth.max()
        assert found.radius_lower[i] == truth.min()
        center = found.center[slice(*found.center_ptr[i : i + 2])]
        assert center.tolist() == np.flatnonzero(truth == truth.min()).tolist()


def test_an_as_without_all_weights_is_named_and_the_others_are_done(weighted_snapshot, snapshot):
    done = run_widths(task_of(weighted_snapshot, [1, 2, 3], ["diameter"], kind="weighted"))
    assert done.found.row.tolist() == [1, 3]
    assert list(done.failed) == [2]
    assert "links without one: 1 of 5" in done.failed[2]
    none = run_widths(task_of(snapshot, [0, 1], ["diameter"], kind="weighted"))
    assert len(none.found.row) == 0
    assert sorted(none.failed) == [0, 1]
    assert "the snapshot has none" in none.failed[0]


def test_effective_diameters_are_those_of_all_pairs(snapshot):
    found = run_widths(task_of(snapshot, [0, 2, 3], [], kind="effective")).found
    for i, row in enumerate([0, 2]):
        levels = bfs_levels(snapshot.graph(row), range(int(snapshot.n_nodes[row])))
        pairs = np.bincount(levels[levels > 0])
        share = np.cumsum(pairs) / pairs.sum()
        h = int(np.flatnonzero(share >= 0.9)[0])
        value = h - 1 + (0.9 - share[h - 1]) / (share[h] - share[h - 1])
        assert found.columns["effective_diameter"][i] == pytest.approx(value)
    assert np.isnan(found.columns["effective_diameter"][2])
    assert not found.columns["effective_estimated"].any()


def wrong_by_one(name):
    right = width_tasks.widths

    def widths(*args):
        found = right(*args)
        getattr(found, name)[...] += 1
        return found

    return widths


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        ("diameter_lower", ["diameter"]),
        ("eccentricity", ["eccentricities"]),
        ("radius_lower", ["center"]),
        ("path", ["diameter"]),
    ],
)
def test_verify_refuses_what_is_wrong(snapshot, monkeypatch, name, metrics):
    monkeypatch.setattr(width_tasks, "widths", wrong_by_one(name))
    task = task_of(snapshot, [2], metrics)
    run_widths(task)
    with pytest.raises((PipelineError, IndexError), match=r"wrong result on cpu|out of bounds"):
        run_widths(replace(task, verify=True))


@pytest.mark.parametrize(
    ("raised", "becomes"),
    [
        (DeviceMemoryError("the GPU has too little free memory"), OutOfMemoryError),
        (DeviceError("no GPU here"), RetryableError),
        (MemoryError(), OutOfMemoryError),
        (GraphError("broken"), PipelineError),
        (OSError(116, "Stale file handle"), RetryableError),
    ],
)
def test_errors_are_those_of_searches(snapshot, monkeypatch, raised, becomes):
    def fail(*args):
        raise raised

    monkeypatch.setattr(width_tasks, "widths", fail)
    with pytest.raises(becomes, match="widths_AS10_AS80"):
        run_widths(task_of(snapshot, [0, 2]))


def test_a_task_that_does_not_fit_is_halved_and_at_last_goes_to_a_core(snapshot):
    task = replace(task_of(snapshot, [0, 2, 4]), device="gpu")
    halves = smaller_widths(task)
    assert [half.rows.tolist() for half in halves] == [[0], [2, 4]]
    assert smaller_widths(halves[0]) == []
    assert [one.device for one in smaller_widths(halves[0], fall_back=True)] == ["cpu"]


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["widths", "weighted", "effective"])
def test_a_gpu_reports_what_a_core_reports(snapshot, weighted_snapshot, kind):
    there = weighted_snapshot if kind == "weighted" else snapshot
    rows = [0, 1] if kind == "weighted" else [0, 2, 3, 4, 6]
    task = task_of(there, rows, kind=kind, verify=True)
    on_core, on_gpu = run_widths(task).found, run_widths(replace(task, device="gpu")).found
    for field in fields(on_core):
        if field.name not in ("path", "n_searches", "read_s"):
            before, after = getattr(on_core, field.name), getattr(on_gpu, field.name)
            if field.name != "columns":
                before, after = {field.name: before}, {field.name: after}
            assert before.keys() == after.keys()
            for name in before:
                np.testing.assert_array_equal(before[name], after[name], err_msg=name)
