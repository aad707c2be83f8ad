"""Files that are not as they were written: an error that names the file, never a wrong graph."""

from __future__ import annotations

import dataclasses
import hashlib
import pickle
from pathlib import Path

import numpy as np
import orjson
import pytest

from pipeline.config import ListConfig, ShowConfig
from pipeline.errors import StoreError
from pipeline.model.measured.mapped import mapped_of
from pipeline.model.measured.origins import origins_of
from pipeline.stages.contents.snapshots import list_snapshots, show
from pipeline.stages.warnings import low_share_warnings, snapshot_warnings
from pipeline.store import Snapshot, check_store, open_snapshot, snapshot_names
from pipeline.store.columns import naming
from pipeline.store.versions import opened
from pipeline.store.versions.opened import MOST_HASHED
from pipeline.terminal.contents import print_list, print_snapshot
from tests.unit.pipeline.store.snapshots import some_graphs, write

FILES = [
    "ases.parquet",
    "nodes-000.parquet",
    "arcs-000.parquet",
    "ingresses.parquet",
    "borders.parquet",
    "rejects.jsonl",
]


@pytest.fixture(scope="module")
def graphs():
    return some_graphs()


@pytest.fixture
def path(tmp_path, graphs) -> Path:
    """Folder of a whole snapshot."""
    return write(tmp_path, "a", graphs, rejects=[{"file": "x"}])


def read_all(snapshot: Snapshot) -> None:
    for row in range(snapshot.n_ases):
        snapshot.graph(row, weights=True)
        snapshot.nodes(row)
        snapshot.arc_columns(row)
    snapshot.shard(np.arange(snapshot.n_ases))
    snapshot.ingresses()
    snapshot.borders()


def rewrite_manifest(path: Path, change) -> None:
    """Change the manifest and give it a checksum that fits, as an attacker would."""
    manifest = orjson.loads((path / "manifest.json").read_bytes())
    change(manifest)
    manifest["manifest_sha256"] = "0" * 64
    data = orjson.dumps(manifest)
    checksum = hashlib.sha256(data).hexdigest().encode()
    (path / "manifest.json").write_bytes(data.replace(b"0" * 64, checksum, 1))


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named_when_the_snapshot_is_opened(tmp_path, path, name):
    (path / name).unlink()
    advice = rf"{name}: is missing.*`hopscope doctor --store {tmp_path}`"
    with pytest.raises(StoreError, match=advice):
        open_snapshot(tmp_path)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", [-1, +1])
def test_a_file_cut_short_or_grown_is_named_when_the_snapshot_is_opened(path, name, change):
    data = (path / name).read_bytes()
    (path / name).write_bytes(data[:-1] if change < 0 else data + b"x")
    numbers = f"{name}: has {len(data) + change} bytes, {len(data)} were written"
    with pytest.raises(StoreError, match=numbers):
        Snapshot.open_dir(path)


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_byte_is_found_by_verify_wherever_it_is(tmp_path, path, name):
    data = bytearray((path / name).read_bytes())
    rng = np.random.default_rng(3)
    for at in [0, len(data) - 1, *rng.integers(0, len(data), 6).tolist()]:
        data[at] ^= 1 << rng.integers(8)
        (path / name).write_bytes(data)
        problem = check_store(tmp_path)["a"]
        assert name in problem
    with pytest.raises(StoreError, match=name), open_snapshot(tmp_path) as snapshot:
        snapshot.verify()


@pytest.mark.parametrize("name", ["nodes-000.parquet", "arcs-000.parquet", "ases.parquet"])
def test_no_flipped_byte_gives_a_wrong_graph_silently(path, graphs, name):
    whole = (path / name).read_bytes()
    rng = np.random.default_rng(4)
    n_named = n_refused = 0
    for at in rng.integers(0, len(whole), 150).tolist():
        data = bytearray(whole)
        data[at] ^= 1 << rng.integers(8)
        (path / name).write_bytes(data)
        try:
            snapshot = Snapshot.open_dir(path)
            read_all(snapshot)
            found = [snapshot.graph(i).graph_hash() for i in range(snapshot.n_ases)]
        except StoreError as error:
            n_named += str(path) in str(error)
            n_refused += 1
        else:
            assert found == graphs.graph_hash
    # The rest hit bytes that mean nothing to a graph: names of writers, padding.
    assert n_named == n_refused > 75


@pytest.mark.parametrize("most_hashed", [MOST_HASHED, 0])
@pytest.mark.parametrize(
    ("name", "column"),
    [("ingresses.parquet", b"neighbor_asns"), ("exits.parquet", b"n_traces"),
     ("borders.parquet", b"far_asn")],
)  # fmt: skip
def test_a_column_whose_name_is_damaged_is_named(path, monkeypatch, name, column, most_hashed):
    monkeypatch.setattr(opened, "MOST_HASHED", most_hashed)
    monkeypatch.setattr(opened, "MOST_HASHED_AT_OPENING", most_hashed)
    rename_column(path / name, column)
    with pytest.raises(StoreError, match=rf"{name}.*(altered|column|exist)"):
        getattr(Snapshot.open_dir(path), name.removesuffix(".parquet"))()


@pytest.mark.parametrize(
    ("name", "column"),
    [("ingresses.parquet", b"confidence"), ("ases.parquet", b"n_entered_unseen")],
)
def test_an_optional_column_whose_name_is_damaged_is_not_taken_for_missing(path, name, column):
    rename_column(path / name, column)
    with pytest.raises(StoreError, match=rf"{name}: has been altered"):
        Snapshot.open_dir(path).ingresses()


def test_a_table_that_is_gone_when_it_is_read_is_called_missing(path):
    snapshot = Snapshot.open_dir(path)
    (path / "borders.parquet").unlink()
    with pytest.raises(StoreError, match=r"borders\.parquet: is missing"):
        snapshot.borders()


def rename_column(path: Path, name: bytes) -> None:
    """Flip a bit of every mention of a column, as a disk may of one."""
    whole = path.read_bytes()
    assert name in whole
    path.write_bytes(whole.replace(name, name[:-1] + bytes([name[-1] ^ 1])))


def test_a_flipped_byte_anywhere_in_the_manifest_is_named(path):
    file = path / "manifest.json"
    whole = file.read_bytes()
    rng = np.random.default_rng(5)
    for at in rng.integers(0, len(whole), 300).tolist():
        data = bytearray(whole)
        data[at] ^= 1 << rng.integers(8)
        file.write_bytes(data)
        with pytest.raises(StoreError, match=r"manifest\.json"):
            Snapshot.open_dir(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"{}", b"\xff\xfe", b"PAR1"])
def test_a_manifest_that_is_none_is_named(path, content):
    (path / "manifest.json").write_bytes(content)
    with pytest.raises(StoreError, match=r"manifest\.json: (is not JSON|is not a manifest)"):
        Snapshot.open_dir(path)


@pytest.mark.parametrize("version", [0, 2, "1", None, 99])
def test_an_unknown_schema_version_is_named_with_the_known_one(path, version):
    rewrite_manifest(path, lambda m: m.update(schema_version=version))
    both = f"has schema version {version!r}, this hopscope reads version 1"
    with pytest.raises(StoreError, match=both):
        Snapshot.open_dir(path)


@pytest.mark.parametrize(
    "name", ["../../secret", "/etc/passwd", "nodes-000.parquet/../x", "arcs-000.parquet\0", "x", ""]
)
def test_a_manifest_that_names_files_elsewhere_is_refused(path, name):
    entry = {"size_bytes": 0, "sha256": ""}
    rewrite_manifest(path, lambda m: m["files"].update({name: entry}))
    with pytest.raises(StoreError, match="cannot be a file of a snapshot"):
        Snapshot.open_dir(path)


@pytest.mark.parametrize("key", ["name", "kind", "files", "has_addr", "node_columns"])
def test_a_manifest_without_what_readers_need_is_refused(path, key):
    rewrite_manifest(path, lambda m: m.pop(key))
    with pytest.raises(StoreError, match=f"no valid entry '{key}'"):
        Snapshot.open_dir(path)


def test_a_manifest_that_forgets_its_files_is_refused(path):
    whole = (path / "manifest.json").read_bytes()
    for name in FILES:
        (path / "manifest.json").write_bytes(whole)
        rewrite_manifest(path, lambda m, name=name: m["files"].pop(name))
        with pytest.raises(StoreError, match=f"does not name .*{name}"):
            Snapshot.open_dir(path)


def test_a_table_of_ases_that_points_outside_the_files_is_refused(path):
    for name in ("nodes-000.parquet", "arcs-000.parquet"):
        whole = (path / "manifest.json").read_bytes()
        rewrite_manifest(path, lambda m, name=name: m["files"][name].update(n_rows=3))
        with pytest.raises(StoreError, match=rf"{name}: has [0-9]+ rows, 3 were written"):
            Snapshot.open_dir(path)
        rewrite_manifest(path, lambda m, name=name: m["files"][name].pop("n_rows"))
        with pytest.raises(StoreError, match=f"does not give the size of {name}"):
            Snapshot.open_dir(path)
        (path / "manifest.json").write_bytes(whole)


def test_a_manifest_with_false_columns_is_refused(path):
    rewrite_manifest(path, lambda m: m["node_columns"].update(y="float64"))
    with pytest.raises(StoreError, match="nodes-000"):
        Snapshot.open_dir(path).nodes(0)
    rewrite_manifest(path, lambda m: m["node_columns"].update(y="no dtype"))
    with pytest.raises(StoreError, match="unknown dtype in 'node_columns'"):
        Snapshot.open_dir(path)


def test_a_link_in_place_of_a_file_is_refused(path, tmp_path):
    (path / "arcs-000.parquet").rename(tmp_path / "elsewhere")
    (path / "arcs-000.parquet").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"arcs-000\.parquet: is not a regular file"):
        Snapshot.open_dir(path)


@pytest.mark.parametrize("head", [-1, 40, 2**31 - 1])
def test_an_arc_that_leads_outside_its_as_never_reaches_a_kernel(tmp_path, graphs, head):
    indices = graphs.indices.copy()
    indices[graphs.arc_ptr[2] + 3] = head
    write(tmp_path, "bad", dataclasses.replace(graphs, indices=indices))
    snapshot = open_snapshot(tmp_path)
    if head >= 0:  # a negative one is a fault of its row group
        snapshot.graph(1)
    for read in (lambda: snapshot.graph(2), lambda: snapshot.shard(np.arange(6))):
        with pytest.raises(
            StoreError,
            match=r"arcs-000\.parquet: (an arc of AS30 leads outside its nodes|.*indices has -1)",
        ):
            read()


@pytest.mark.parametrize("change", [1, -100])
def test_degrees_that_do_not_sum_up_are_refused(tmp_path, graphs, change):
    degree = graphs.degree.copy()
    degree[graphs.node_ptr[2]] += change
    write(tmp_path, "bad", dataclasses.replace(graphs, degree=degree))
    snapshot = open_snapshot(tmp_path)
    for read in (lambda: snapshot.graph(2), lambda: snapshot.shard(np.arange(6))):
        with pytest.raises(
            StoreError, match=r"nodes-000\.parquet: (the degrees of AS30|.*degree has -)"
        ):
            read()


def test_negative_degrees_that_sum_up_are_refused(tmp_path, graphs):
    degree = graphs.degree.copy()
    degree[graphs.node_ptr[2]] -= 100
    degree[graphs.node_ptr[2] + 1] += 100
    write(tmp_path, "bad", dataclasses.replace(graphs, degree=degree))
    with pytest.raises(StoreError, match=r"nodes-000\.parquet: .*degree has -"):
        open_snapshot(tmp_path).graph(2)


def test_a_graph_that_is_not_the_hashed_one_is_found_by_check(tmp_path, graphs):
    hashes = [*graphs.graph_hash[:2], "0" * 64, *graphs.graph_hash[3:]]
    write(tmp_path, "bad", dataclasses.replace(graphs, graph_hash=hashes))
    snapshot = open_snapshot(tmp_path)
    snapshot.graph(2)
    with pytest.raises(StoreError, match="graph of AS30 does not match its graph_hash"):
        snapshot.graph(2, check=True)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b'{"name":"a","version":"../../x","ingested_ns":1}',
        b'{"name":"a","version":"b-0123456789ab","ingested_ns":1}',
        b'{"name":"a"}',
        b'{"name":"a","version":"a-0123456789ab","ingested_ns":9999999999999999999999}',
        b'{"name":"a","version":"a-0123456789ab","ingested_ns":-1}',
    ],
)
def test_a_broken_pointer_is_named_and_does_not_hide_other_snapshots(tmp_path, path, content):
    write(tmp_path, "b")
    (tmp_path / "snapshots" / "a.json").write_bytes(content)
    for read in (lambda: snapshot_names(tmp_path), lambda: open_snapshot(tmp_path, "a")):
        with pytest.raises(StoreError, match=r"a\.json"):
            read()
    assert open_snapshot(tmp_path, "b").name == "b"
    assert "a.json" in check_store(tmp_path)["a"]
    write(tmp_path, "c")
    assert path.exists(), "the version of a broken pointer may still be wanted"
    write(tmp_path, "a")
    assert snapshot_names(tmp_path) == ["b", "c", "a"]


def test_a_pointer_to_nothing_is_named(tmp_path, path):
    path.rename(tmp_path / "gone")
    with pytest.raises(
        StoreError, match=r"a\.json: points to a-[0-9a-f]{12}, which does not exist"
    ):
        open_snapshot(tmp_path)


def test_no_store_and_no_snapshot_say_what_to_do(tmp_path, path):
    with pytest.raises(StoreError, match="no snapshot here; `hopscope ingest"):
        open_snapshot(tmp_path / "none")
    with pytest.raises(StoreError, match=r"no store here; `hopscope ingest .*` makes one"):
        check_store(tmp_path / "none")
    with pytest.raises(StoreError, match="no snapshot 'x'; available snapshots: a"):
        open_snapshot(tmp_path, "x")


def test_snapshots_that_are_not_named_are_counted(tmp_path, path):
    for n in range(12):
        (tmp_path / "snapshots" / f"b{n:02}.json").write_bytes(
            (tmp_path / "snapshots" / "a.json").read_bytes()
        )
    with pytest.raises(StoreError, match=r"available snapshots: b02, .*, b11, and 3 more$"):
        open_snapshot(tmp_path, "x")


def test_errors_of_the_store_survive_pickling(path):
    (path / "arcs-000.parquet").unlink()
    with pytest.raises(StoreError) as caught:
        Snapshot.open_dir(path)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(("at", "node"), [(0, -1), (-1, 40)])
def test_an_ingress_that_is_no_node_is_refused(tmp_path, graphs, at, node):
    ingress_node = graphs.ingress_node.copy()
    ingress_node[at] = node
    write(tmp_path, "bad", dataclasses.replace(graphs, ingress_node=ingress_node))
    with pytest.raises(
        StoreError,
        match=r"ingresses\.parquet: (names an ingress that is not a node|.*node has -1)",
    ):
        open_snapshot(tmp_path).ingresses()


def test_an_exit_that_is_no_node_is_refused(tmp_path, graphs):
    exits = dataclasses.replace(graphs.exits, node=graphs.exits.node + 40)
    write(tmp_path, "bad", dataclasses.replace(graphs, exits=exits))
    with pytest.raises(StoreError, match=r"exits\.parquet: names an exit that is not a node"):
        open_snapshot(tmp_path).exits()


WRONG = [None, -1, 2**62, "../x", [[]], {"x": []}]


def places(value, at=()):
    """Every place in a JSON value, as keys from the outside in."""
    if at:
        yield at
    inner = list(enumerate(value)) if isinstance(value, list) else []
    for key, entry in value.items() if isinstance(value, dict) else inner:
        yield from places(entry, (*at, key))


def test_a_forged_manifest_is_refused_or_read_and_never_an_accident(tmp_path, graphs):
    row = {"path": "a.warts", "format": "warts", "status": "ok", "error": "", "sha256": "0" * 64}
    row |= {"size_bytes": 5, "n_records": 3, "n_rejected": 1, "rejected": {"no address": 1}}
    row |= {"holds": "topology", "kind": "router", "made_by": "a model", "as_ranges": [[1, 9]]}
    row |= {"skipped": {"ping": 2}, "notes": {"odd": 1}, "newest_s": 5.0}
    counts = {"n_traces": 3, "n_addrs": 4, "n_addrs_mapped": 2, "n_addrs_in_no_table": 1}
    path = write(
        tmp_path, "a", graphs, inputs=[row], counts=counts, options={"a": 1}, warnings=["a note"]
    )
    written = (path / "manifest.json").read_bytes()
    whole = orjson.loads(written)
    n_refused = 0
    for keys in places(whole):
        for wrong in WRONG:

            def forge(manifest, keys=keys, wrong=wrong):
                for key in keys[:-1]:
                    manifest = manifest[key]
                manifest[keys[-1]] = wrong

            (path / "manifest.json").write_bytes(written)
            rewrite_manifest(path, forge)
            try:
                with Snapshot.open_dir(path) as snapshot:
                    snapshot.graph(0, weights=True)
                    snapshot.verify()
                shown(tmp_path)
            except StoreError:
                n_refused += 1
    assert n_refused > 60


def shown(store: Path) -> None:
    """Everything that commands and pages make of a manifest."""
    listed = list_snapshots(ListConfig(store=store))
    assert not listed[0]["fault"]
    print_list(listed)
    print_snapshot(show(ShowConfig(snapshot="a", store=store)))
    assert check_store(store).keys() == {"a"}
    with open_snapshot(store) as snapshot:
        snapshot_warnings(snapshot.manifest)
        mapped_of(snapshot.manifest.get("counts") or {})
        low_share_warnings(snapshot.manifest)
        origins = origins_of(snapshot.manifest, snapshot.asn)
        origins.notes()
        [origins.source_of(asn) for asn in snapshot.asn.tolist()]


def test_a_file_is_named_by_an_error_that_says_nothing(tmp_path):
    with (
        pytest.raises(StoreError, match=r"arcs\.parquet: cannot be read: OSError"),
        naming(tmp_path / "arcs.parquet"),
    ):
        raise OSError
