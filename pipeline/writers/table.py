"""CSV: a row for each link, with the addresses of its ends."""

from __future__ import annotations

from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pacsv

from pipeline.writers.graph import WrittenGraph
from pipeline.writers.texts import of_csv, text_of


def write(graph: WrittenGraph, file: BinaryIO) -> None:
    is_first = True
    for part in graph.edges(True):
        file.write(b"".join([_header(part)] if is_first else []))
        is_first = False
        pacsv.write_csv(_harmless(part), file, pacsv.WriteOptions(include_header=False))
    if is_first:
        names = [*graph.edge_fields.names[:2], "tail_addr", "head_addr"]
        file.write(_header(pa.table({name: [] for name in names})))


def _header(part: pa.Table) -> bytes:
    names = (of_csv(name).replace('"', '""') for name in part.column_names)
    return (",".join(f'"{name}"' for name in names) + "\n").encode()


def _harmless(part: pa.Table) -> pa.Table:
    """Without texts that spreadsheets take for formulas."""
    for i, field in enumerate(part.schema):
        if pa.types.is_string(field.type) and not field.name.endswith("_addr"):
            part = part.set_column(i, field.name, text_of(part[field.name], of_csv))
    return part
