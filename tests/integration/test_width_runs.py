"""Widths of a whole snapshot on real workers: packs, schedules and order change nothing."""

import sys
from dataclasses import fields, replace
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from pipeline.generate.internet import generate_internet
from pipeline.metrics import names_for_all, tasks_of
from pipeline.model.columns import take
from pipeline.schedule import planning
from pipeline.schedule import run as measuring
from pipeline.schedule.run import measure
from pipeline.store import open_snapshot, write_snapshot
from tests.integration.exact_search_runs import run_held_for_others
from tests.integration.measured import config_for, expected, make_snapshot, measured
from tests.oracles.paths import bfs_levels
from tests.oracles.widths import Truth, check_widths

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
NOT_MEASURED_VALUES = ("path", "n_searches", "read_s")  # a path may be any


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def internet(tmp_path_factory):
    store = tmp_path_factory.mktemp("internet")
    nothing = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(store, "internet", generate_internet(60, 3000, m=2, seed=3), **nothing)
    return open_snapshot(store)


def assert_same(one, other):
    for field in fields(one):
        if field.name not in NOT_MEASURED_VALUES:
            before, after = getattr(one, field.name), getattr(other, field.name)
            if isinstance(before, dict):
                assert list(before) == list(after)
                before, after = list(before.values()), list(after.values())
            np.testing.assert_array_equal(before, after, err_msg=field.name)


def check_all(snapshot, widths):
    """By NetworkX; some eccentricities of an AS that is large for it by SciPy."""
    for i, row in enumerate(widths.row.tolist()):
        graph = snapshot.graph(row)
        if graph.n_nodes <= 1000:
            one = take(widths, np.array([i]))
            check_widths(one, Truth(graph))
        else:
            own = widths.eccentricity[slice(*widths.eccentricity_ptr[i : i + 2])]
            some = np.arange(0, graph.n_nodes, 20)
            assert own[some].tolist() == bfs_levels(graph, some).max(axis=1).tolist()
            assert (widths.diameter_lower[i], widths.radius_lower[i]) == (own.max(), own.min())


def test_widths_and_hops_come_in_one_run_and_packs_change_nothing(
    snapshot, scheduler_address, tmp_path
):
    seen = []
    config = config_for(
        snapshot, tmp_path, scheduler=scheduler_address, metrics=names_for_all(), verify=True
    )
    together = measure(snapshot, config, seen.append)
    assert together.failed == {}
    assert measured(snapshot, together) == expected(snapshot)
    assert together.widths.row.tolist() == together.rows.tolist()
    check_all(snapshot, together.widths)
    kinds = set(together.tasks["kind"])
    assert {"widths", "effective"} < kinds
    assert together.cluster["n_widths_tasks"] == together.tasks["kind"].count("widths")
    n_kinds = len(tasks_of(names_for_all())) - 1  # beside searches, each asks of every AS
    assert (seen[-1].done, seen[-1].total) == (seen[-1].total, 167 + 7 * n_kinds)
    assert seen[-1].unit == "searches and widths"
    options = {
        "scheduler": scheduler_address,
        "metrics": names_for_all(),
        "pack": 40,
        "schedule": "barrier",
    }
    apart = measure(snapshot, config_for(snapshot, tmp_path, **options))
    assert apart.failed == {}
    assert "candidate" in apart.tasks["kind"]
    assert_same(together.widths, apart.widths)
    assert_same(together.figures["effective"], apart.figures["effective"])
    assert measured(snapshot, apart) == measured(snapshot, together)


def test_widths_alone_need_no_ingress(internet, scheduler_address, tmp_path):
    config = config_for(
        internet, tmp_path, scheduler=scheduler_address, metrics=("diameter", "radius")
    )
    found = measure(internet, config)
    assert found.failed == {}
    assert len(found.results.source) == 0
    assert set(found.tasks["kind"]) == {"widths"}
    assert (found.n_tasks == 1).all()
    assert found.device == ["cpu"] * internet.n_ases
    check_all(internet, found.widths)


def test_a_task_that_fails_names_its_ases_and_hops_are_done(
    snapshot, scheduler_address, tmp_path, monkeypatch
):
    def of_no_question(*args, **options):
        return replace(plan_of(*args, **options), metrics=("girth",))

    plan_of = planning.plan_widths
    monkeypatch.setattr(planning, "plan_widths", of_no_question)
    config = config_for(
        snapshot,
        tmp_path,
        scheduler=scheduler_address,
        metrics=("hops", "radius"),
        asns=(70, 80),
    )
    found = measure(snapshot, config)
    assert list(found.failed) == [snapshot.row_of(70), snapshot.row_of(80)]
    assert "girth" in found.failed[snapshot.row_of(70)]
    assert measured(snapshot, found) == expected(snapshot, (70, 80))
    assert len(found.widths.row) == 0


def run_command(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["hopscope", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, capsys.readouterr()


def test_the_command_writes_widths_of_the_lab(tmp_path, monkeypatch, capsys):
    lab, store, out = "data/samples/lab", tmp_path / "store", tmp_path / "out"
    given = ["--ip2as", f"{lab}/lab.pfx2as", "--allow-special", "198.18.0.0/15"]
    wanted = "all,weighted_diameter,weighted_center"
    options = ["--store", store, "--out", out, "--snapshot", "lab", "--workers", 1]
    status, reported = run_command(
        monkeypatch, capsys, "run", lab, *options, *given, "--metrics", wanted, "--verify"
    )
    assert status == 0, reported.err
    table = pq.read_table(out / "lab" / "ases.parquet").to_pydict()
    snapshot = open_snapshot(store)
    assert table["status"] == ["ok"] * snapshot.n_ases
    for row, diameter, radius, path, exact, weighted in zip(
        range(snapshot.n_ases),
        table["diameter"],
        table["radius"],
        table["diameter_path"],
        table["exact"],
        table["weighted_diameter"],
        strict=True,
    ):
        truth = Truth(snapshot.graph(row))
        e = truth.eccentricity[truth.largest]
        assert (diameter, radius, exact) == (e.max(), e.min(), True)
        assert len(path) == diameter + 1
        assert weighted > 0


def test_a_snapshot_without_weights_names_its_ases_and_does_the_rest(
    internet, scheduler_address, tmp_path, monkeypatch, capsys
):
    given = ["--store", internet.path.parent.parent, "--out", tmp_path]
    given += ["--scheduler", scheduler_address]
    monkeypatch.setenv("HOPSCOPE_METRICS", "radius,weighted_radius")
    status, reported = run_command(monkeypatch, capsys, "analyze", *given, "--no-pages")
    assert status == 1
    assert "weighted metrics need a weight for each link" in reported.err
    table = pq.read_table(tmp_path / "internet" / "ases.parquet").to_pydict()
    assert None not in table["radius"]


@pytest.mark.parametrize("metrics", ["girth", "diameter,girth", ","])
def test_an_unknown_metric_is_reported_before_anything_is_done(
    tmp_path, monkeypatch, capsys, metrics
):
    given = ["--store", tmp_path, "--out", tmp_path, "--metrics", metrics]
    status, reported = run_command(monkeypatch, capsys, "analyze", *given)
    assert status == 2
    assert "--metrics takes" in reported.err


@pytest.mark.parametrize("limit", [None, 5])
def test_a_store_that_is_broken_fails_whatever_number_of_searches_is_allowed(tmp_path, limit):
    """No graph can be read; too low a limit also leaves bounds apart, but is not a failure."""
    snapshot = make_snapshot(tmp_path / "store")
    (arcs,) = snapshot.path.glob("arcs*")
    arcs.write_bytes(b"\xff" * arcs.stat().st_size)
    options = {"workers": 1, "metrics": ("diameter",), "pack": 1, "max_searches": limit}
    found = measure(snapshot, config_for(snapshot, tmp_path, asns=(30, 80), **options))
    assert list(found.failed) == [snapshot.row_of(30), snapshot.row_of(80)]


def test_searches_that_do_not_suffice_are_no_failure(snapshot, scheduler_address, tmp_path):
    options = {"metrics": ("eccentricities",), "pack": 1, "max_searches": 1}
    options["scheduler"] = scheduler_address
    found = measure(snapshot, config_for(snapshot, tmp_path, asns=(30,), **options))
    assert found.failed == {}
    assert found.widths.exact.tolist() == [False]


@pytest.mark.parametrize("schedule", ["free", "striding"])
def test_exact_searches_do_not_delay_tasks_of_another_kind(
    snapshot, scheduler_address, tmp_path, monkeypatch, schedule
):
    run = partial(run_held_for_others, folder=str(tmp_path))
    monkeypatch.setattr(measuring, "run_task", run)
    metrics = ("eccentricities", "effective_diameter")
    options = {"pack": 1, "asns": (30, 80), "schedule": schedule}
    options["scheduler"] = scheduler_address
    seen = []
    config = config_for(snapshot, tmp_path / "out", metrics=metrics, **options)
    found = measure(snapshot, config, seen.append)
    assert (tmp_path / "held").exists()
    assert found.failed == {}
    check_all(snapshot, found.widths)
    assert len(found.figures["effective"].row) == 2
    assert (seen[-1].done, seen[-1].total, seen[-1].unit) == (4, 4, "widths")
