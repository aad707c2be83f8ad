"""A metric is a kernel and a row: everything from the command line to the pages follows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

import jinja2
import numpy as np
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster

from flows.runs.handover import read_measurement, write_measurement
from pipeline.cli import main
from pipeline.config import AnalyzeConfig
from pipeline.graphs import build_graphs
from pipeline.metrics import METRICS, Metric, names_for_help
from pipeline.metrics.columns import Column
from pipeline.report.pages.ases import writing
from pipeline.stages.analyze import measure_stage
from pipeline.store import open_snapshot, write_snapshot
from tests.integration.measured import path_links, random_links, topology

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

LINKS = {10: (6, path_links(6)), 20: (40, random_links(40, 2)), 30: (1, [])}
SECTION = "<div><dt>busiest node</dt><dd>{{ f.largest_load }} of {{ f.mean_load }}</dd></div>"


@dataclass(frozen=True)
class Degrees:
    mean: np.ndarray
    largest_load: np.ndarray
    n_searches: np.ndarray


def degrees(shard):
    """The kernel: links of a node, on average and at most; no mean without a link."""
    ptr = np.asarray(shard.node_ptr)
    degree = np.diff(np.asarray(shard.indptr))
    each = [degree[a:b] for a, b in pairwise(ptr)]
    mean = np.array([part.mean() if part.any() else np.nan for part in each])
    return Degrees(mean, np.array([part.max() for part in each]), np.diff(ptr))


# The row; nothing else in the project knows of it.
ROW = Metric(
    "mean_load",
    "How many links has a node on average?",
    "degrees",
    (
        Column(
            "mean_load",
            "float64",
            "links",
            "links of a node on average",
            source="mean",
            label="Load",
            title="Links of {noun} on average",
            decimals=1,
        ),
        Column("largest_load", "int64", "links", "links of the busiest node"),
        Column("n_load_nodes", "int64", "nodes", "nodes looked at", source="n_searches"),
    ),
    kernel=f"{__name__}:degrees",
)


@pytest.fixture(scope="module")
def scheduler():
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=1, processes=False, protocol="tcp", **options) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = tmp_path_factory.mktemp("store")
    ases = [topology(asn, n, links, [0]) for asn, (n, links) in LINKS.items()]
    given = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(store, "night", build_graphs(ases), **given)
    return store


@pytest.fixture
def _registered(monkeypatch):
    monkeypatch.setitem(METRICS, ROW.name, ROW)


def expected(store):
    snapshot = open_snapshot(store)
    found = degrees(snapshot.shard(np.arange(len(LINKS))))
    means = [None if np.isnan(mean) else mean for mean in found.mean.tolist()]
    largest = [
        None if mean is None else most
        for mean, most in zip(means, found.largest_load.tolist(), strict=True)
    ]
    return means, largest


def analyze(store, out, scheduler, metrics):
    words = ["analyze", "--store", str(store), "--out", str(out), "--metrics", metrics]
    words += ["--full", "--verbose"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--scheduler", scheduler, "--device", "cpu"])
    return ended.value.code


@pytest.mark.usefixtures("_registered")
def test_a_kernel_and_a_row_are_a_metric(store, scheduler, tmp_path, capsys):
    assert analyze(store, tmp_path, scheduler, "hops,mean_load") == 0
    reported = capsys.readouterr().out
    assert "47 searches for mean loads" in reported
    folder = tmp_path / "night"
    ases = pq.read_table(folder / "ases.parquet")
    means, largest = expected(store)
    assert ases["mean_load"].to_pylist() == means
    assert ases["largest_load"].to_pylist() == largest
    assert [str(ases.schema.field(c.name).type) for c in ROW.columns] == [
        "double",
        "int64",
        "int64",
    ]
    report = json.loads((folder / "report.json").read_text())
    assert report["metrics"] == ["hops", "mean_load"]
    assert report["totals"]["n_load_nodes"] == 47
    assert set(pq.read_table(folder / "tasks.parquet")["kind"].to_pylist()) >= {"degrees"}
    page = (folder / "as" / "10.html").read_text()
    assert f'<dt title="{ROW.question}">mean load</dt><dd>{means[0]:.1f}' in page
    assert "mean load" not in (folder / "as" / "30.html").read_text()
    assert 'data-key="mean_load"' in (folder / "index.html").read_text()
    assert '"mean_load":[' in (folder / "ases.js").read_text().replace(" ", "")
    # A later run of something else takes nothing from it.
    assert analyze(store, tmp_path, scheduler, "diameter") == 0
    again = pq.read_table(folder / "ases.parquet")
    assert again["mean_load"].to_pylist() == means
    assert again["diameter"].to_pylist()[0] == 5


@pytest.mark.usefixtures("_registered")
def test_its_section_is_a_template(store, scheduler, tmp_path, monkeypatch):
    made = writing.environment.__wrapped__(opening=writing.opening, quality=writing.quality)
    own = jinja2.DictLoader({"degrees.html": SECTION})
    made.loader = jinja2.ChoiceLoader([made.loader, own])
    monkeypatch.setattr(writing, "environment", lambda **_: made)
    monkeypatch.setitem(METRICS, ROW.name, Metric(**vars(ROW) | {"section": "degrees.html"}))
    assert analyze(store, tmp_path, scheduler, "mean_load,diameter") == 0
    means, largest = expected(store)
    page = (tmp_path / "night" / "as" / "20.html").read_text()
    assert f"<dd>{largest[1]} of {means[1]}</dd>" in page


@pytest.mark.usefixtures("_registered")
def test_flows_keep_it_between_tasks(store, scheduler, tmp_path):
    given = {"metrics": ("mean_load",), "scheduler": scheduler, "device": "cpu"}
    found = measure_stage(AnalyzeConfig(store=store, out=tmp_path, **given))
    write_measurement(tmp_path / "m.npz", found, 0.0)
    back, _ = read_measurement(tmp_path / "m.npz")
    assert list(back.figures) == ["degrees"]
    for name, values in found.figures["degrees"].columns.items():
        np.testing.assert_array_equal(back.figures["degrees"].columns[name], values)


@pytest.mark.usefixtures("_registered")
def test_help_names_it():
    assert "mean_load" in names_for_help().partition(";")[0].split(", ")


def test_without_its_row_it_is_unknown(store, scheduler, tmp_path, capsys):
    assert "mean_load" not in names_for_help()
    assert analyze(store, tmp_path, scheduler, "mean_load") == 2
    assert "mean_load" in capsys.readouterr().err
