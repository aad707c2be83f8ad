"""Snapshots on disk: the graphs of many ASes in a few Parquet files. See docs/store.md."""

from pipeline.store.doctor import (
    bytes_of_snapshot,
    check_measured,
    check_replaced,
    check_store,
    has_store,
    leftovers,
    remove_leftovers,
)
from pipeline.store.find import Found, addresses_of, find_addresses
from pipeline.store.pointers import open_snapshot, open_version, snapshot_names
from pipeline.store.snapshot import Snapshot
from pipeline.store.tables import Ingresses, NodeTable
from pipeline.store.versions.held import scratch_folder
from pipeline.store.versions.names import check_name
from pipeline.store.writer import write_snapshot

__all__ = [
    "Found",
    "Ingresses",
    "NodeTable",
    "Snapshot",
    "addresses_of",
    "bytes_of_snapshot",
    "check_measured",
    "check_name",
    "check_replaced",
    "check_store",
    "find_addresses",
    "has_store",
    "leftovers",
    "open_snapshot",
    "open_version",
    "remove_leftovers",
    "scratch_folder",
    "snapshot_names",
    "write_snapshot",
]
