"""A snapshot depends on the traces alone: not on files, their order, or who read them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.synthetic.internet import make_internet, write_pfx2as
from benchmarks.synthetic.traces import Vantages
from pipeline.config import IngestConfig
from pipeline.stages.ingest import IngestSummary, ingest
from pipeline.store import Snapshot, open_snapshot
from pipeline.store.versions.names import MANIFEST, TRACES

N_TRACES = 4_000
N_VANTAGES = 16


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> tuple[Vantages, Path]:
    """Where traces come from, and a folder with the prefixes of their internet."""
    folder = tmp_path_factory.mktemp("measured")
    internet = make_internet(n_ases=12, routers_per_as=40, seed=5)
    write_pfx2as(internet, folder / "prefixes.pfx2as")
    return Vantages(internet, N_VANTAGES), folder


@pytest.fixture(scope="module")
def reference(measured) -> IngestSummary:
    """All traces in one file, in order, read by this process."""
    return ingested(measured, "reference", [np.arange(N_TRACES)], workers=1)


def ingested(
    measured: tuple[Vantages, Path],
    name: str,
    parts: list[np.ndarray],
    workers: int,
    order: list[int] | None = None,
) -> IngestSummary:
    """Write traces by number to one file per part, and ingest the files in some order."""
    vantages, folder = measured
    place = folder / name
    place.mkdir()
    paths = [place / f"{i}.warts.gz" for i in range(len(parts))]
    for path, which in zip(paths, parts, strict=True):
        vantages.write(path, which.astype(np.int64), N_TRACES)
    return ingest(
        IngestConfig(
            inputs=tuple(paths[i] for i in order or range(len(parts))),
            store=place / "store",
            ip2as=(folder / "prefixes.pfx2as",),
            workers=workers,
        )
    )


def content(snapshot: Snapshot) -> dict[str, bytes]:
    """Every array of a snapshot, by name."""
    arrays = {"asn": snapshot.asn, "graph_hash": np.array(snapshot.graph_hash)}
    ingresses = dict(vars(snapshot.ingresses()))
    delays = ingresses.pop("delays")
    arrays |= {f"ingresses.{name}": column for name, column in ingresses.items()}
    arrays |= {f"delays.{name}": column for name, column in vars(delays).items()}
    for row in range(len(snapshot.asn)):
        graph, nodes = snapshot.graph(row, weights=True), snapshot.nodes(row)
        assert graph.weights is not None
        assert nodes.addr is not None
        arrays[f"{row}.indptr"] = graph.indptr
        arrays[f"{row}.indices"] = graph.indices
        arrays[f"{row}.weights"] = graph.weights
        arrays[f"{row}.addr"] = nodes.addr
        columns = nodes.columns | snapshot.arc_columns(row)
        arrays |= {f"{row}.{name}": column for name, column in columns.items()}
    borders = snapshot.borders()
    arrays |= {f"borders.{name}": borders[name].to_numpy() for name in borders.column_names}
    return {name: np.asarray(array).tobytes() for name, array in arrays.items()}


def files(snapshot: Snapshot) -> dict[str, str]:
    """Digest of every file but the manifest, which names inputs and times.

    Of kept traces without the number of the file that each came from.
    """
    digests = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path(snapshot.path).iterdir()
        if path.is_file() and path.name not in {MANIFEST, TRACES}
    }
    traces = pq.read_table(Path(snapshot.path) / TRACES).drop_columns(["input"])
    rows = repr(traces.to_pydict()).encode()
    return digests | {TRACES: hashlib.sha256(rows).hexdigest()}


def assert_same(one: IngestSummary, other: IngestSummary) -> None:
    assert one.complete
    assert other.complete
    mine, theirs = open_snapshot(one.store), open_snapshot(other.store)
    expected, found = content(mine), content(theirs)
    assert found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []
    assert files(theirs) == files(mine)
    assert theirs.manifest["counts"] == mine.manifest["counts"]


def test_the_measurement_holds_what_could_depend_on_order(reference):
    counts = open_snapshot(reference.store).manifest["counts"]
    assert reference.n_traces == N_TRACES
    assert reference.n_ases == 12
    assert reference.n_ingresses > 100
    # Elections, refused joins of interfaces, hosts left out: all decisions are taken somewhere.
    for name in ("elected_otherwise", "suspect_addresses", "alias_conflicts"):
        assert counts[name] > 0
    assert counts["destinations_left_out"] > 0


def test_files_in_another_order_give_the_same_snapshot(measured, reference):
    parts = np.array_split(np.arange(N_TRACES), 5)
    order = [3, 0, 4, 2, 1]
    assert_same(reference, ingested(measured, "order", parts, 1, order))


def test_traces_shuffled_over_any_number_of_files_give_the_same_snapshot(measured, reference):
    shuffled = np.random.default_rng(3).permutation(N_TRACES)
    parts = np.array_split(shuffled, 7)
    assert_same(reference, ingested(measured, "shuffled", parts, 1))


def test_two_reading_processes_give_the_same_snapshot(measured, reference):
    # Parts of very different size, so that files end in another order than they began.
    parts = np.split(np.random.default_rng(4).permutation(N_TRACES), [2_500, 2_600])
    assert_same(reference, ingested(measured, "processes", parts, 2, order=[1, 0, 2]))


def test_one_trace_less_gives_another_snapshot(measured, reference):
    less = ingested(measured, "less", [np.arange(N_TRACES - 1)], 1)
    assert files(open_snapshot(less.store)) != files(open_snapshot(reference.store))
