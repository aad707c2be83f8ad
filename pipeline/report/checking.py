"""What is damaged in the folder of a report: its facts, its tables and its pages.

A report has no digests of its tables, but each is compressed, so that what was cut or overwritten
can hardly be read. Pages have the sizes that their list gives, apart from what a comparison adds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import first_line, said_by_system
from pipeline.model.words import number
from pipeline.report.folder import mapping_or_empty, read_report
from pipeline.report.names import REPORT
from pipeline.report.pages.ases.as_changes import size_without_changes
from pipeline.report.pages.reuse import PAGES

_TABLES = ("ases", "ingresses", "tasks")
_LATER_TABLES = ("exits", "as_links")  # which earlier versions did not write
_COMPARISON_TABLES = ("changes", "events")
_PER_AS = ("nodes", "distances")  # folders of tables, of which only the ends are read


def check_report(folder: Path) -> list[str]:
    """What is wrong with a report, each beginning with the file; empty: nothing is.

    Reads the whole tables, the ends of those of single ASes, and the sizes of the pages. A report
    that another one replaces meanwhile is looked at again; of one that is removed nothing is wrong.
    Pages are checked where the report has a list of them.
    """
    while True:
        before = _identity(folder)
        found = list(_faults(folder))
        if not found or _identity(folder) is None:
            return []
        if _identity(folder) == before:
            return found


def _identity(folder: Path) -> int | None:
    try:
        return folder.stat().st_ino
    except OSError:
        return None


def _faults(folder: Path) -> Iterator[str]:
    report = read_report(folder / REPORT)
    if report is None:
        yield f"{REPORT}: is not that of a report of hopscope"
    later = [name for name in _LATER_TABLES if (folder / f"{name}.parquet").exists()]
    for name in (*_TABLES, *(_LATER_TABLES if later else ())):
        yield from _table_faults(folder, f"{name}.parquet")
    for name in (*_COMPARISON_TABLES, PAGES.removesuffix(".parquet")):
        if (folder / f"{name}.parquet").exists():
            yield from _table_faults(folder, f"{name}.parquet")
    for name in _PER_AS:
        for path in sorted((folder / name).glob("*.parquet")):
            yield from _table_faults(folder, f"{name}/{path.name}", is_whole=False)
    n_nodes = mapping_or_empty((report or {}).get("totals")).get("n_node_files", 0)
    if isinstance(n_nodes, int) and n_nodes > (
        n := len(list((folder / "nodes").glob("*.parquet")))
    ):
        yield f"nodes: has {number(n, 'file')} of {n_nodes:,}"
    yield from _page_faults(folder)


def _table_faults(folder: Path, name: str, *, is_whole: bool = True) -> Iterator[str]:
    try:
        with pq.ParquetFile(folder / name) as file:
            for group in range(file.num_row_groups if is_whole else 0):
                file.read_row_group(group)
    except FileNotFoundError:
        yield f"{name}: is missing"
    except (OSError, pa.ArrowException) as error:
        yield f"{name}: cannot be read ({first_line(error)})"


def _page_faults(folder: Path) -> Iterator[str]:
    try:
        table = pq.read_table(folder / PAGES)
    except (OSError, pa.ArrowException):  # without pages, of earlier versions, or named already
        return
    try:
        asns, sizes = (table[name].to_pylist() for name in ("asn", "size"))
    except KeyError:
        yield f"{PAGES}: does not have the columns asn and size"
        return
    if not (folder / "index.html").is_file():
        yield "index.html: is missing"
    for asn, size in zip(asns, sizes, strict=True):
        name = f"as/{asn:d}.html"
        try:
            found = (folder / name).stat().st_size
            if found != size:
                found = size_without_changes(folder / name)
        except FileNotFoundError:
            yield f"{name}: is missing"
        except OSError as error:
            yield f"{name}: cannot be read ({said_by_system(error)})"
        else:
            if found != size:
                yield f"{name}: has {number(found, 'byte')}, {size:,} were written"
