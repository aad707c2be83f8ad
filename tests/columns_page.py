"""The page of all columns, ``docs/columns.md``; ``make generated`` writes it.

Files and types are those of a run; meanings are those of docs/reports.md and docs/store.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.config import AnalyzeConfig, CompareConfig, IngestConfig
from pipeline.metrics import METRICS
from pipeline.metrics.columns import WEIGHTED, meaning_by_weight
from pipeline.stages.analyze import analyze
from pipeline.stages.compare import compare
from pipeline.stages.ingest import ingest
from tests.real_data import REPOSITORY

LAB = REPOSITORY / "data" / "samples" / "lab"
DOCS = REPOSITORY / "docs"
# What no reader of ours relies on: digests of pages, and results by graph (docs/store.md).
INTERNAL = ("pages.parquet", "results/")
# Nights of the same traces: one with weights and every metric, one to compare it with.
OLD, NEW = "old", "new"

HEAD = """# Files and columns

<!-- Written by make generated, from the files of a run. -->

Every column of the Parquet files of a report and of a store. What they mean in full, and what is in
JSON, is in [reports](reports.md) and [the store](store.md). Columns that start with `weighted_` are
those without this prefix, by weight of links.
"""


@dataclass(frozen=True)
class File:
    """One kind of file: its title, page and section of the docs, and its columns."""

    title: str
    page: str
    section: str
    schema: pa.Schema


def make_files(folder: Path) -> None:
    """A store and reports with every kind of file, from measured traces."""
    store, out = folder / "store", folder / "reports"
    names = folder / "names.txt"
    names.write_text("198.18.4.15 border.example.net\n")
    for name in (OLD, NEW):
        ingest(
            IngestConfig(
                inputs=[LAB],
                store=store,
                snapshot=name,
                ip2as=[LAB / "lab.pfx2as"],
                host_names=[names],
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
    for part, page in (("reports", "reports.md"), ("store", "store.md")):
        for path in sorted((folder / part).rglob("*.parquet")):
            inside = str(path.relative_to(folder / part))
            if any(internal in inside for internal in INTERNAL):
                continue
            kind = re.sub(r"^(versions/)?(old|new)[^/]*/", "", inside)
            title = re.sub(r"\d+(?=\.)", "NNN" if part == "store" else "<asn>", kind)
            found[part, title] = File(title, page, section_of(page, title), pq.read_schema(path))
    return list(found.values())


def section_of(page: str, title: str) -> str:
    """Text of a page about one file: from the heading, or the sentence, that begins with it."""
    text = (DOCS / page).read_text()
    name = re.escape(title).replace("<", r"\\?<").replace(">", r"\\?>")
    begin = re.search(rf"^(## {name}|`{name}`, one row per)", text, re.MULTILINE)
    if begin is None:
        raise LookupError(f"docs/{page} has no section about {title}")
    rest = text[begin.end() :]
    end = re.search(r"^(## |`\S+\.parquet`, one row per)", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def meanings_of(section: str) -> dict[str, str]:
    """Columns of the tables of a section -> what its last cell says."""
    found = {}
    for line in re.findall(r"^\| (`.*) \|$", section, re.MULTILINE):
        first, *_, last = re.split(r"(?<!\\) \| ", line)
        for name in re.findall(r"`(\w+)`", first):
            found[name] = last
    return found


def meaning_of(name: str, meanings: dict[str, str]) -> str:
    """What a column means; empty: the docs do not say."""
    return meanings.get(name) or meaning_by_weight(meanings.get(name.removeprefix(WEIGHTED), ""))


def type_text(kind: pa.DataType) -> str:
    """As NumPy names it."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list of {type_text(kind.value_type)}"
    return {"double": "float64", "float": "float32"}.get(str(kind), str(kind))


def page(folder: Path) -> str:
    """The whole page."""
    parts = [HEAD]
    for where, heading in (("reports.md", "A report"), ("store.md", "A store")):
        parts.append(f"\n## {heading}\n")
        parts += [table_of(file) for file in files_of(folder) if file.page == where]
    return "".join(parts)


def table_of(file: File) -> str:
    """Heading and table of one file."""
    meanings = meanings_of(file.section)
    title = file.title.replace("<", "&lt;").replace(">", "&gt;")
    rows = []
    for means, group in groupby(file.schema, lambda field: meaning_of(field.name, meanings)):
        fields = list(group)  # the docs describe them together
        names = ", ".join(f"`{field.name}`" for field in fields)
        types = ", ".join(dict.fromkeys(type_text(field.type) for field in fields))
        rows.append(f"| {names} | {types} | {means} |\n")
    return f"\n### {title}\n\n| column | type | means |\n| --- | --- | --- |\n{''.join(rows)}"
