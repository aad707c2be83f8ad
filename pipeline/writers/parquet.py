"""Parquet: a row for each link, with the addresses of its ends; facts of the graph as metadata."""

from __future__ import annotations

from typing import BinaryIO

import pyarrow.parquet as pq

from pipeline.writers.graph import WrittenGraph


def write(graph: WrittenGraph, file: BinaryIO) -> None:
    about = {"name": graph.name, "weight_unit": graph.weight_unit, "n_nodes": str(graph.n_nodes)}
    writer: pq.ParquetWriter | None = None
    for part in graph.edges(True):
        if writer is None:
            schema = part.schema.with_metadata(about)
            writer = pq.ParquetWriter(file, schema, compression="zstd")
        writer.write_table(part.cast(writer.schema))
    if writer is None:
        writer = pq.ParquetWriter(file, graph.edge_fields.with_metadata(about))
    writer.close()
