"""Files that fit their manifest, but are not what hopscope writes: an error that names the file."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import StoreError
from pipeline.store import Snapshot, check_store, find_addresses, open_snapshot
from tests.unit.pipeline.stages.small_store import make_store
from tests.unit.pipeline.store.snapshots import some_graphs, write
from tests.unit.pipeline.store.test_broken import rewrite_manifest

# Where a null means something, or is read as what means "none".
NULLABLE = {
    "ases.parquet": {"name", "weights_hash"},
    "ingresses.parquet": {"neighbor_ixps", "neighbor_n_direct", "confidence"},
    "addresses.parquet": {"confidence"},
    "vantages.parquet": {"asn"},
    "observations.parquet": {"before", "near"},
    "paths.parquet": {"step"},
    "nodes-000.parquet": {"id", "x", "type"},
    "arcs-000.parquet": {"bandwidth"},
    "borders.parquet": {"bandwidth"},
}
# Columns of signed numbers in which any number is one.
ANY_NUMBER = {"id", "x", "bandwidth"}


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> dict[str, Path]:
    """A snapshot of traces, and one with weights, ids and columns of its own."""
    traces, lengths = (tmp_path_factory.mktemp(name) for name in ("traces", "lengths"))
    make_store(traces)
    write(lengths, "night", some_graphs())
    return {"traces": traces, "lengths": lengths}


def forge(store: Path, file: str, change) -> Path:
    """Rewrite a table of the one snapshot, and give the manifest what fits it."""
    (path,) = (store / "versions").iterdir()
    with pq.ParquetFile(path / file) as whole:
        table, groups = whole.read(), whole.num_row_groups
        ends = np.cumsum([whole.metadata.row_group(i).num_rows for i in range(groups)]).tolist()
    table = change(table)
    with pq.ParquetWriter(path / file, table.schema, write_page_checksum=True) as writer:
        for first, last in zip([0, *ends], ends, strict=False):
            writer.write_table(table.slice(first, last - first))
    renew(path, file)
    return path


def renew(path: Path, file: str) -> None:
    """Size and sha256 of a file, as they are, into the manifest."""
    data = (path / file).read_bytes()
    facts = {"size_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    rewrite_manifest(path, lambda manifest: manifest["files"][file].update(facts))


def read_all(path: Path) -> None:
    """All that a snapshot gives, as commands and workers ask for it."""
    with Snapshot.open_dir(path) as snapshot:
        assert len(snapshot.as_name) == len(snapshot.graph_hash) == snapshot.n_ases
        assert snapshot.weights_hash is None or len(snapshot.weights_hash) == snapshot.n_ases
        for row in range(snapshot.n_ases):
            snapshot.graph(row, weights=True)
            snapshot.nodes(row)
            snapshot.arc_columns(row)
        snapshot.shard(np.arange(snapshot.n_ases))
        for read in ("ingresses", "exits", "borders", "addresses", "unmapped", "host_names"):
            getattr(snapshot, read)()
        snapshot.observations()
        snapshot.steps()
        find_addresses(snapshot, (0, 0), (2**64 - 1, 2**64 - 1))


def other_type(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values, as far as possible, in another type."""
    if pa.types.is_large_list(values.type):
        return pa.chunked_array([pa.array([1.5] * len(values))])
    if pa.types.is_string(values.type):
        return pa.chunked_array([pa.array(range(len(values)), pa.int64())])
    wide = pa.types.is_floating(values.type) or pa.types.is_boolean(values.type)
    return values.cast(pa.int8() if wide else pa.float64(), safe=False)


def with_first(values: pa.ChunkedArray, first: object) -> pa.ChunkedArray:
    """The same values with another first one."""
    return pa.chunked_array([pa.array([first, *values.to_pylist()[1:]], values.type)])


def replaced(column: str, change):
    """A change of a table by one of a column."""

    def changed(table: pa.Table) -> pa.Table:
        at = table.column_names.index(column)
        return table.set_column(at, column, change(table.column(column)))

    return changed


def forgeries(name: str, column: str, values: pa.ChunkedArray) -> dict[str, object]:
    """Changes of a column, each of which must be refused."""
    found: dict[str, object] = {"another type": other_type}
    if len(values):
        if column not in NULLABLE.get(name, ()):
            found["null"] = lambda values: with_first(values, None)
        if column not in ANY_NUMBER:
            if pa.types.is_signed_integer(values.type) or pa.types.is_floating(values.type):
                found["-1"] = lambda values: with_first(values, -1)
            if pa.types.is_floating(values.type):
                found["inf"] = lambda values: with_first(values, float("inf"))
        if column in ("node", "near", "far", "indices", "vantage", "file", "node_start"):
            found["far too large"] = lambda values: with_first(values, 2**31 - 2)
        if column.endswith("asn") and column != "neighbor_asn" and name != "vantages.parquet":
            found["an AS that is not there"] = lambda values: with_first(values, 77)
    return found


@pytest.mark.parametrize("kind", ["traces", "lengths"])
def test_no_forged_column_of_any_table_is_handed_out(stores, tmp_path, kind):
    (path,) = (stores[kind] / "versions").iterdir()
    read_all(path)
    assert check_store(stores[kind]) == {"night": ""}
    wrong, n_forged = [], 0
    for file in sorted(path.glob("*.parquet")):
        table = pq.read_table(file)
        for column in table.column_names:
            for what, change in forgeries(file.name, column, table.column(column)).items():
                store = tmp_path / str(n_forged)
                shutil.copytree(stores[kind], store)
                forged = forge(store, file.name, replaced(column, change))
                n_forged += 1
                try:
                    read_all(forged)
                except StoreError as error:
                    if str(store) not in str(error):
                        wrong.append(f"{file.name} {column} {what}: {error}")
                except Exception as error:
                    wrong.append(f"{file.name} {column} {what}: {error!r}")
                else:
                    wrong.append(f"{file.name} {column} {what}: handed out")
                shutil.rmtree(store)
    assert wrong == []
    assert n_forged > 100


def one_way(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Heads of arcs, one of them changed by one, so that no arc leads back."""
    heads = values.to_numpy().copy()
    at = next(i for i in range(1, len(heads) - 1) if heads[i - 1] + 1 < heads[i] < heads[i + 1])
    heads[at] -= 1
    return pa.chunked_array([pa.array(heads)])


def test_an_arc_without_the_one_back_is_found_by_doctor_even_with_its_hash_renewed(
    stores, tmp_path
):
    store = shutil.copytree(stores["lengths"], tmp_path / "s")
    path = forge(store, "arcs-000.parquet", replaced("indices", one_way))
    assert "does not match its graph_hash" in check_store(store)["night"]
    with Snapshot.open_dir(path) as snapshot:
        hashes = [snapshot.graph(row).graph_hash() for row in range(snapshot.n_ases)]
    forge(store, "ases.parquet", replaced("graph_hash", lambda _: pa.chunked_array([hashes])))
    assert "is not a graph" in check_store(store)["night"]


def test_weights_that_differ_by_direction_are_found_by_doctor(stores, tmp_path):
    store = shutil.copytree(stores["lengths"], tmp_path / "s")
    forge(store, "arcs-000.parquet", replaced("weight", lambda values: with_first(values, 9.0)))
    assert "weights that do not match their hash" in check_store(store)["night"]


@pytest.mark.parametrize("file", ["vantages.parquet", "observations.parquet", "exits.parquet"])
def test_files_of_one_size_that_changed_places_are_noticed_at_opening(tmp_path, file):
    store = make_store(tmp_path)
    other = open_snapshot(make_store(tmp_path, "other")).path / file
    own = open_snapshot(store, "night").path / file
    data = bytearray(other.read_bytes())
    data[8] ^= 1  # another night of the same size
    own.write_bytes(data)
    with pytest.raises(StoreError, match=rf"{file}: has been altered, or is of another version"):
        open_snapshot(store, "night")


def test_a_table_with_other_numbers_of_rows_is_noticed_at_opening(stores, tmp_path):
    store = shutil.copytree(stores["lengths"], tmp_path / "s")
    (path,) = (store / "versions").iterdir()
    pq.write_table(pq.read_table(path / "exits.parquet").slice(1), path / "exits.parquet")
    renew(path, "exits.parquet")
    with pytest.raises(StoreError, match=r"exits\.parquet: has \d+ rows, \d+ were written"):
        Snapshot.open_dir(path)
