"""Files that fit their manifest, but are not what hopscope writes: an error that names the file."""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import StoreError
from pipeline.model.measured.host_names import HostNames
from pipeline.store import Snapshot, check_store, find_addresses, open_snapshot
from pipeline.store.versions.schemas import ORDER
from tests.unit.pipeline.compare.by_hand import ONE, TWO, write_night
from tests.unit.pipeline.stages.small_store import make_store
from tests.unit.pipeline.store.snapshots import some_delays, some_graphs, write
from tests.unit.pipeline.store.test_broken import rewrite_manifest

MEDIANS = {"delay_ms", "delay_p25_ms", "delay_p75_ms"}
# Where a null means something, or is read as what means "none".
NULLABLE = {
    "ases.parquet": {"name", "organisation", "weights_hash"},
    "ingresses.parquet": {"neighbor_ixps", "neighbor_n_direct", "confidence", *MEDIANS},
    "addresses.parquet": {"confidence"},
    "vantages.parquet": {"asn"},
    "observations.parquet": {"before", "near"},
    "paths.parquet": {"step"},
    "traces.parquet": {"vantage", "start_s"},
    "interfaces.parquet": {"node"},
    "nodes-000.parquet": {"id", "x", "type"},
    "arcs-000.parquet": {"bandwidth"},
    "borders.parquet": {"bandwidth"},
}
# Columns of signed numbers in which any number is one.
ANY_NUMBER = {"id", "x", "bandwidth", *MEDIANS}


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> dict[str, Path]:
    """A snapshot of traces, and one with weights, ids, own columns and every table of addresses."""
    traces, lengths = (tmp_path_factory.mktemp(name) for name in ("traces", "lengths"))
    make_store(traces)
    graphs = some_graphs()
    addrs = np.arange(2 * len(graphs.degree), dtype=np.uint64).reshape(-1, 2) + np.uint64(1)
    sizes = np.diff(graphs.node_ptr)
    graphs = dataclasses.replace(
        graphs,
        addrs=addrs,
        addr_asn=np.repeat(graphs.asn, sizes),
        addr_node=(np.arange(len(addrs)) - np.repeat(graphs.node_ptr[:-1], sizes)).astype(np.int32),
        unmapped=addrs[::2] + np.uint64(10**6),
        delays=some_delays(len(graphs.candidate)),
    )
    names = HostNames(addrs, np.full(len(addrs), "a.example", object))
    write(lengths, "night", graphs, host_names=names)
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
        snapshot.ingresses(np.arange(snapshot.n_ases))
        snapshot.exits(np.arange(snapshot.n_ases))
        snapshot.observations()
        snapshot.steps()
        if snapshot.traces is not None:
            assert sum(len(rows) for rows in snapshot.traces.groups()) == snapshot.traces.n_rows
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


def moved_in(store: Path, file: str) -> list[str]:
    """What doctor says of each row of a table whose router is made another one of its AS."""
    found = []
    # The router before the last one of a row is linked to that two before the last, and itself.
    name, by = ("far", 3) if file.startswith("obs") else ("node", 2)
    rows = pq.read_table(next((store / "versions").iterdir()) / file).num_rows
    for at in range(rows):

        def move(values: pa.ChunkedArray, at: int = at) -> pa.ChunkedArray:
            nodes = values.to_numpy().copy()
            nodes[at] += by if nodes[at] < by else -by
            return pa.chunked_array([pa.array(nodes)])

        copy = shutil.copytree(store, store.parent / f"{file}{at}")
        forge(copy, file, replaced(name, move))
        found.append(check_store(copy)["night"])
    return found


def test_an_address_of_another_router_is_found_by_doctor(stores, tmp_path):
    store = shutil.copytree(stores["lengths"], tmp_path / "s")
    assert check_store(store) == {"night": ""}
    found = moved_in(store, "addresses.parquet")
    assert all("lacks the address that names router" in fault for fault in found)


@pytest.mark.parametrize("file", ["ingresses.parquet", "exits.parquet", "observations.parquet"])
def test_a_router_in_place_of_another_one_is_found_by_doctor(tmp_path, file):
    """Three ASes in a row, of a row of four routers each."""
    ways = [" ".join(f"20.{asn}.0.{i}" for i in range(1, 5)) for asn in (1, 2, 3)]
    store = tmp_path / "s"
    there, back = " ".join(ways), " ".join(" ".join(ways).split()[::-1])
    lines = {ONE: [f"{there} > 20.3.9.1"], TWO: [f"{back} > 20.1.9.1"]}
    write_night(store, "night", lines)
    shutil.rmtree(store / "scratch")
    assert check_store(store) == {"night": ""}
    found = moved_in(store, file)
    if file == "observations.parquet":
        found = [fault for fault in found if "do not follow one another" not in fault]
        assert [bool(fault) for fault in found] == [True, True]  # the last steps of both ways
    assert all("which have no link" in fault for fault in found)


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


def refusals(stores, tmp_path, kind: str, changes: dict) -> list[str]:
    """What is not refused by whoever reads all, of changes of a copy of a store."""
    wrong = []
    for number, (what, change) in enumerate(changes.items()):
        store = shutil.copytree(stores[kind], tmp_path / f"{kind}{number}")
        (path,) = (store / "versions").iterdir()
        change(store, path)
        try:
            read_all(path)
        except StoreError as error:
            if str(store) not in str(error):
                wrong.append(f"{what}: {error}")
        except Exception as error:
            wrong.append(f"{what}: {error!r}")
        else:
            wrong.append(f"{what}: handed out")
    return wrong


def of_table(file: str, change):
    return lambda store, _: forge(store, file, change)


def of_manifest(**entries):
    return lambda _, path: rewrite_manifest(path, lambda manifest: manifest.update(entries))


def first_as(change):
    """Change the first of some counts."""
    return lambda values: with_first(values, change(values[0].as_py()))


# Counts of ASes that opening alone tells to be wrong, whatever they are made.
CHECKED = ("n_nodes", "n_edges", "n_arcs", "n_ingresses", "n_candidates")


@pytest.mark.parametrize("kind", ["traces", "lengths"])
def test_counts_of_ases_that_their_tables_do_not_have_are_refused(stores, tmp_path, kind):
    table = pq.read_table(*(stores[kind] / "versions").glob("*/ases.parquet"))
    others = ("n_components", "largest_component", "n_unmapped", "n_mpls_links", "n_silent")
    changes = {}
    for name in (*CHECKED, *others):
        made = {"2**62": lambda _: 2**62}
        if name in CHECKED:
            made |= {"one more": lambda n: n + 1}
            if table.column(name)[0].as_py():
                made |= {"none": lambda _: 0}
        for what, change in made.items():
            forged = replaced(name, first_as(change))
            changes[f"{name} {what}"] = of_table("ases.parquet", forged)
    assert refusals(stores, tmp_path, kind, changes) == []
    assert len(changes) > 15


@pytest.mark.parametrize(
    "said",
    [{"n_components": 2, "largest_component": 39}, {"n_mpls_links": 1}, {"n_silent": 1}],
)
def test_counts_of_graphs_that_may_be_but_are_not_are_found_by_doctor(stores, tmp_path, said):
    store = shutil.copytree(stores["lengths"], tmp_path / "s")
    for name, n in said.items():
        forge(store, "ases.parquet", replaced(name, lambda values, n=n: with_first(values, n)))
    read_all(*(store / "versions").iterdir())
    name, n = next(iter(said.items()))
    assert f"says of AS10 {name} {n}, not " in check_store(store)["night"]


def test_lists_of_neighbours_of_different_lengths_are_refused(stores, tmp_path):
    made = {
        "neighbor_asns": ([], [1, 2, 3], [7, 7], [9, 8]),
        "neighbor_ixps": ([], ["A", "B", "C"], None),
        "neighbor_n_direct": ([], [1, 2, 3], [None, 1], None),
    }
    changes = {
        f"{name} {first}": of_table(
            "ingresses.parquet",
            replaced(name, lambda values, first=first: with_first(values, first)),
        )
        for name, firsts in made.items()
        for first in firsts
    }
    assert refusals(stores, tmp_path, "lengths", changes) == []


def reverse(table: pa.Table) -> pa.Table:
    return table.take(list(range(table.num_rows))[::-1])


def second_row_twice(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(1, 1), table.slice(1)])


@pytest.mark.parametrize("kind", ["traces", "lengths"])
def test_tables_in_another_order_or_with_a_row_twice_are_refused(stores, tmp_path, kind):
    (path,) = (stores[kind] / "versions").iterdir()
    changes = {}
    for file in sorted({path.name for path in path.glob("*.parquet")} & set(ORDER)):
        if pq.read_metadata(path / file).num_rows > 1:
            changes[f"{file} reversed"] = of_table(file, reverse)
            changes[f"{file} a row twice"] = of_table(file, second_row_twice)
    assert len(changes) >= 6
    assert refusals(stores, tmp_path, kind, changes) == []


def test_steps_and_paths_that_do_not_follow_one_another_are_refused(stores, tmp_path):
    (path,) = (stores["traces"] / "versions").iterdir()
    steps = pq.read_table(path / "observations.parquet")
    at = steps["before"].to_pylist().index(next(b for b in steps["before"].to_pylist() if b))
    other = {
        "near": None,
        "vantage": 1 - min(1, steps["vantage"][at].as_py()),
    }

    def at_that(value):
        def change(values: pa.ChunkedArray) -> pa.ChunkedArray:
            found = values.to_pylist()
            found[at] = value
            return pa.chunked_array([pa.array(found, values.type)])

        return change

    changes = {
        name: of_table("observations.parquet", replaced(name, at_that(value)))
        for name, value in other.items()
    }
    changes["reversed"] = of_table("observations.parquet", reverse)
    for file in ("observations.parquet", "paths.parquet"):
        none = replaced("n_traces", lambda values: with_first(values, 0))
        changes[f"{file} of no traces"] = of_table(file, none)
    assert refusals(stores, tmp_path, "traces", changes) == []


def test_an_address_is_not_sought_in_a_table_out_of_order(stores, tmp_path):
    store = shutil.copytree(stores["lengths"], tmp_path / "s")
    path = forge(store, "addresses.parquet", reverse)
    first = pq.read_table(path / "addresses.parquet")
    sought = (first["addr_high"][0].as_py(), first["addr_low"][0].as_py())
    with (
        Snapshot.open_dir(path) as snapshot,
        pytest.raises(StoreError, match=r"addresses\.parquet: is not sorted"),
    ):
        find_addresses(snapshot, sought, sought)


@pytest.mark.parametrize(
    "entries",
    [
        {"n_nodes": -5},
        {"n_nodes": 10**15},
        {"n_edges": 2**62},
        {"n_ases": True},
        {"n_ases": 99999},
        {"n_ingresses": -3},
        {"n_ingresses": 1.5},
        {"n_candidates": 1e300},
        {"n_border_links": 99},
        {"n_unmapped": -1},
        {"kind": "banana"},
        {"created": "yesterday"},
        {"created": ""},
        {"has_weights": False},
        {"has_addr": False},
        {"has_id": False},
        {"node_columns": {}},
        {"node_columns": {"degree": "int32"}},
        {"arc_columns": {"indices": "int32"}},
        {"counts": {"n_x": -1}},
        {"counts": {"n_x": 0.5}},
        {"inputs": [{"n_records": -1}]},
        {"inputs": [{"newest_s": "yesterday"}]},
    ],
)
def test_a_manifest_that_says_what_cannot_be_is_refused_at_opening(stores, tmp_path, entries):
    store = shutil.copytree(stores["lengths"], tmp_path / "s")
    (path,) = (store / "versions").iterdir()
    rewrite_manifest(path, lambda manifest: manifest.update(entries))
    with pytest.raises(StoreError, match=str(path)):
        Snapshot.open_dir(path)


def test_a_snapshot_without_weights_does_not_have_them_by_its_manifest(stores, tmp_path):
    store = shutil.copytree(stores["traces"], tmp_path / "s")
    (path,) = (store / "versions").iterdir()
    rewrite_manifest(
        path, lambda manifest: manifest.update(has_weights=not manifest["has_weights"])
    )
    with pytest.raises(StoreError, match=r"arcs-000\.parquet: does not have the columns"):
        Snapshot.open_dir(path)
