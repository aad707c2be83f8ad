"""Columns of the record of a run's tasks: which task ran where and when."""

from __future__ import annotations

import pyarrow as pa

# tasks.parquet, one row per attempt. Times are seconds since 1970 UTC: ``submitted`` by the
# client's clock, ``started`` and ``ended`` by the worker's.
TASKS = pa.schema(
    [
        pa.field("task", pa.string(), nullable=False),  # name, as the dashboard shows it
        # search, pack, shard; widths, weighted, effective; opening, candidate, path of a large AS
        pa.field("kind", pa.string(), nullable=False),
        pa.field("asns", pa.list_(pa.int64()), nullable=False),  # whose graphs were searched
        pa.field("n_ases", pa.int64(), nullable=False),
        pa.field("n_sources", pa.int64(), nullable=False),
        pa.field("worker", pa.string()),  # null: it died, or was never reached
        pa.field("device", pa.string(), nullable=False),
        pa.field("submitted", pa.float64(), nullable=False),
        pa.field("started", pa.float64()),
        pa.field("ended", pa.float64()),
        pa.field("read_s", pa.float64()),  # of these, until its graphs were there; null: unknown
        pa.field("attempt", pa.int32(), nullable=False),  # 1, 2, ...
        # ok, retried, failed; older versions also wrote withdrawn (not needed, and not begun).
        pa.field("status", pa.string(), nullable=False),
    ]
)

# distances/<asn>.parquet, one row per (source, node): row groups never mix sources of one AS unless
# several fit into one.
DISTANCES = pa.schema(
    [
        pa.field("ingress", pa.int32(), nullable=False),
        pa.field("node", pa.int32(), nullable=False),
        pa.field("hops", pa.int32()),  # null: unreached
    ]
)
