"""The page of all columns, ``docs/columns.md``: the only place where they are described.

``make generated`` writes its files, columns and types as a run has them, and what columns of
metrics mean as their rows in ``pipeline.metrics`` do. What other columns mean, and the text above
each table, is written by hand, on the page itself, and kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.config import AnalyzeConfig, CompareConfig, IngestConfig
from pipeline.metrics import METRICS, columns_of, tasks_of
from pipeline.metrics.columns import Table
from pipeline.stages.analyze import analyze
from pipeline.stages.compare import compare
from pipeline.stages.ingest import ingest
from tests.real_data import REPOSITORY

LAB = REPOSITORY / "data" / "samples" / "lab"
DOCS = REPOSITORY / "docs"
PAGE = DOCS / "columns.md"
# What no reader of ours relies on: digests of pages, and results by graph (docs/store.md).
INTERNAL = ("pages.parquet", "results/")
# Columns that some inputs lack, and this run with them.
OPTIONAL = {
    ("store", "nodes-NNN.parquet"): ("id",),
    ("store", "borders.parquet"): ("siblings", "as_relation"),
}
# Nights of the same traces: one with weights and every metric, one to compare it with.
OLD, NEW = "old", "new"
PARTS = {"reports": "A report", "store": "A store"}
# Tables of metrics -> titles of files of a report.
OF_METRICS: dict[str, Table] = {
    name: table
    for table in get_args(Table)
    for name in (f"{table}.parquet", f"{table}/<asn>.parquet")
}

HEAD = """# Files and columns

<!-- make generated writes files, columns and types; what columns mean is written here, by hand. -->

Every column of the Parquet files of a [report](reports.md) and of [a store](store.md).
Columns that start with `weighted_` are those without this prefix, by weight of links.
"""


@dataclass(frozen=True)
class File:
    """One kind of file: the part of the page that it is in, its title and its columns."""

    part: str
    title: str
    schema: pa.Schema


@dataclass(frozen=True)
class Section:
    """What the page says of a file: the text above its table, and rows by column."""

    text: str
    meanings: dict[str, str]
    rows: dict[str, str]


def make_files(folder: Path) -> None:
    """A store and reports with every kind of file, from measured traces."""
    store, out = folder / "store", folder / "reports"
    names = folder / "names.txt"
    names.write_text("198.18.4.15 border.example.net\n")
    places = folder / "places.csv"
    places.write_text("198.18.0.0/15,48.86,2.35,Paris,FR\n")
    for name in (OLD, NEW):
        ingest(
            IngestConfig(
                inputs=[LAB],
                store=store,
                snapshot=name,
                ip2as=[LAB / "lab.pfx2as"],
                host_names=[names],
                locations=[places],
                allow_special=("198.18.0.0/15",),
                workers=1,
            )
        )
    analyze(
        AnalyzeConfig(store=store, out=out, snapshot=NEW, metrics=tuple(METRICS), distances=True)
    )
    compare(CompareConfig(old=OLD, new=NEW, store=store, out=out))


def files_of(folder: Path) -> list[File]:
    """Every kind of Parquet file of a folder by ``make_files``, without the internal ones."""
    found = {}
    for part in PARTS:
        for path in sorted((folder / part).rglob("*.parquet")):
            inside = str(path.relative_to(folder / part))
            if any(internal in inside for internal in INTERNAL):
                continue
            kind = re.sub(r"^(versions/)?(old|new)[^/]*/", "", inside)
            title = re.sub(r"\d+(?=\.)", "NNN" if part == "store" else "<asn>", kind)
            found[part, title] = File(part, title, pq.read_schema(path))
    return list(found.values())


def sections_of(text: str) -> dict[tuple[str, str], Section]:
    """What the text of a page says, by part and title of a file."""
    found = {}
    for part, heading in PARTS.items():
        _, _, rest = text.partition(f"\n## {heading}\n")
        for block in rest.partition("\n## ")[0].split("\n### ")[1:]:
            title, _, body = block.partition("\n")
            title = title.replace("&lt;", "<").replace("&gt;", ">")
            above, _, table = body.partition("| column |")
            lines = re.findall(r"^\| `.* \|$", table, re.MULTILINE)
            found[part, title] = Section(above.strip(), *described(lines))
    return found


def described(lines: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Of rows of a table: what its last cell says of each column, and the row of each."""
    meanings, rows = {}, {}
    for line in lines:
        first, *_, last = re.split(r"(?<!\\) \| ", line.removesuffix(" |"))
        for name in re.findall(r"`(\w+)`", first):
            meanings[name], rows[name] = last, line
    return meanings, rows


def meanings_of(file: File, text: str) -> dict[str, str]:
    """Columns of a file -> what they mean, as metrics or else the text of a page say."""
    section = sections_of(text).get((file.part, file.title))
    found = dict(section.meanings) if section else {}
    if file.part == "reports" and (table := OF_METRICS.get(file.title)):
        for task in tasks_of(METRICS):
            found |= {column.name: column.means for column in columns_of(task, table)}
    return found


def type_text(kind: pa.DataType) -> str:
    """As NumPy names it."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list of {type_text(kind.value_type)}"
    return {"double": "float64", "float": "float32"}.get(str(kind), str(kind))


def page(folder: Path, text: str | None = None) -> str:
    """The whole page, with what its present text says by hand."""
    text = PAGE.read_text() if text is None else text
    made = [HEAD]
    for part, heading in PARTS.items():
        made.append(f"\n## {heading}\n")
        made += [table_of(file, text) for file in files_of(folder) if file.part == part]
    return "".join(made)


def table_of(file: File, text: str) -> str:
    """Heading, text and table of one file."""
    section = sections_of(text).get((file.part, file.title), Section("", {}, {}))
    meanings = meanings_of(file, text)
    title = file.title.replace("<", "&lt;").replace(">", "&gt;")
    above = f"{section.text}\n\n" if section.text else ""
    rows = []
    for means, group in groupby(file.schema, lambda field: meanings.get(field.name, "")):
        fields = list(group)  # the page describes them together
        names = ", ".join(f"`{field.name}`" for field in fields)
        types = ", ".join(dict.fromkeys(type_text(field.type) for field in fields))
        rows.append(f"| {names} | {types} | {means} |\n")
    more = [name for name in OPTIONAL.get((file.part, file.title), ()) if name in section.rows]
    rows += [f"{section.rows[name]}\n" for name in more if name not in file.schema.names]
    head = "| column | type | means |\n| --- | --- | --- |\n"
    return f"\n### {title}\n\n{above}{head}{''.join(rows)}"
