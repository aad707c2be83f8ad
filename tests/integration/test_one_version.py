"""A run measures and reports one version of a snapshot, whatever is ingested in the meantime."""

from __future__ import annotations

from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from flows.runs.handover import read_measurement, write_measurement
from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.graphs import build_graphs
from pipeline.stages.analyze import analyze, measure_stage, report_stage
from pipeline.store import open_snapshot, write_snapshot
from tests.integration.measured import path_links, random_links, topology

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

NIGHTS = {  # of the same ASes, so that figures of one would fit into pages of the other
    "first": lambda n, seed: random_links(n, seed),
    "second": lambda n, seed: path_links(n),
}
NOT_MEASURED = ["device", "n_tasks", "n_retries", "wall_s", "n_reused", "reused_from"]


def ingest(store, night, name="night"):
    """Write a snapshot; an earlier one of that name is replaced, then removed unless being read."""
    ases = [topology(asn, n, NIGHTS[night](n, asn), [0, 3]) for asn, n in ((10, 400), (20, 60))]
    return write_snapshot(
        store,
        name,
        build_graphs(ases),
        as_names={},
        inputs=[],
        options={},
        counts={},
        rejects=[],
    )


def tables(report):
    ases = pq.read_table(report / "ases.parquet").drop_columns(NOT_MEASURED)
    return ases, pq.read_table(report / "ingresses.parquet")


@pytest.fixture
def config(scheduler_address, tmp_path):
    """Config of a run on the running cluster, for a store with the first night."""
    ingest(tmp_path / "store", "first")
    given = {"metrics": ("hops", "diameter"), "scheduler": scheduler_address, "full": True}
    return AnalyzeConfig(store=tmp_path / "store", out=tmp_path / "out", **given)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_snapshot_that_is_replaced_during_a_run_changes_nothing_of_it(config, tmp_path, share):
    """When workers are about to open it, and between the searches and the report."""
    clean = analyze(replace(config, out=tmp_path / "clean"))
    seen = []

    def replace_it(progress):
        if not seen and progress.stage == "search" and progress.done == share * progress.total:
            seen.append(ingest(config.store, "second"))

    summary = analyze(config, replace_it)
    assert open_snapshot(config.store).path == seen[0]
    assert summary.failed == {}
    for found, wanted in zip(tables(summary.out), tables(clean.out), strict=True):
        assert found.equals(wanted)


def test_hand_over_is_of_the_snapshot_that_was_measured(config, tmp_path):
    """Measured on Monday; on Tuesday another name is ingested, which becomes the newest."""
    clean = analyze(replace(config, out=tmp_path / "clean"))
    path = tmp_path / "measured.npz"
    write_measurement(path, measure_stage(config), 0.0)
    ingest(config.store, "second", "tuesday")
    measurement, started = read_measurement(path)
    with pytest.raises(UsageError, match=r"tuesday was requested, but night was measured"):
        report_stage(replace(config, snapshot="tuesday"), measurement, started)
    assert [path.name for path in config.out.iterdir()] == ["hopscope.prom"]
    summary = report_stage(config, measurement, started)
    assert summary.out == config.out / "night"
    for found, wanted in zip(tables(summary.out), tables(clean.out), strict=True):
        assert found.equals(wanted)


def test_report_refuses_what_was_measured_on_a_version_that_is_gone(config, tmp_path):
    measurement = measure_stage(config)
    report_stage(config, measurement, 0.0)
    before = {path: path.read_bytes() for path in config.out.rglob("*") if path.is_file()}
    ingest(config.store, "second")
    for given in (config, replace(config, snapshot="night")):
        with pytest.raises(UsageError, match="ingested again since; measure again"):
            report_stage(given, measurement, 0.0)
    assert {path: path.read_bytes() for path in config.out.rglob("*") if path.is_file()} == before
