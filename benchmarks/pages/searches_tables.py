"""Tables of docs/benchmarks.md, in Markdown: medians of each machine, in few rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from benchmarks.lib.charts import number
from benchmarks.pages.searches_results import OURS, Row, graph_name, kind_name, where

KINDS = ("bfs", "msbfs", "msbfs levels", "components")  # a picture shows the bytes that bound them
SOURCES = (None, 0, 1, 100, 1000)  # a picture shows the others


def tables(rows: list[Row]) -> Iterator[str]:
    """Markdown: when each machine was measured, and its medians."""
    for machine in dict.fromkeys(row["machine"] for row in rows):
        yield from machine_section(machine, [row for row in rows if row["machine"] == machine])


def machine_section(machine: str, rows: list[Row]) -> Iterator[str]:
    yield f"### {machine}\n"
    rates = [f"{rate(row['rate'] for row in rows):,.0f}" for rate in (min, max)]
    copied = " to ".join(dict.fromkeys(rates))
    yield f"{measured(rows)} Copy within memory: {copied} GB/s read and written.\n"
    timed = where(rows)
    graphs = list(dict.fromkeys(graph_name(row) for row in timed if row["what"] != "msbfs_shard"))
    if graphs:
        yield f"| median, ms | by | {' | '.join(graphs)} |"
        yield f"| --- | --- |{' --- |' * len(graphs)}"
        yield from time_rows(rows, graphs)
        yield ""
    for row in where(timed, what="msbfs_shard"):
        yield (
            f"{row['graph'].capitalize()}, {row['n_nodes']:,} routers, {row['n_sources']:,} "
            f"ingresses, hop counts of each: **{milliseconds(row)} ms**.\n"
        )


def measured(rows: Iterable[Row]) -> str:
    """When rows were measured, and how busy other programs kept the machine then."""
    rows = list(rows)
    days = sorted({row["date"][:10] for row in rows})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    busy = [row["cores_of_others"] for row in rows if row["cores_of_others"] is not None]
    others = f"; other programs kept at most {max(busy):g} cores busy" if busy else ""
    return f"Measured {span}{others}."


def time_rows(rows: list[Row], graphs: list[str]) -> Iterator[str]:
    """One line per kind of search and program."""
    rows = [row for row in rows if row["what"] in KINDS and row.get("n_sources") in SOURCES]
    order = {what: i for i, what in enumerate(KINDS)}
    keys = sorted(
        {(row["what"], row.get("n_sources") or 0, row["by"]) for row in rows},
        key=lambda key: (order[key[0]], key[1], key[2] != OURS, key[2].lower()),
    )
    for kind, members in itertools.groupby(keys, key=lambda key: key[:2]):
        own: dict[str, dict[str, Row]] = {}  # of each program, by graph
        for _, _, by in members:
            own[by] = {
                graph_name(row): row
                for row in rows
                if (row["what"], row.get("n_sources") or 0, row["by"]) == (*kind, by)
            }
            cells = [milliseconds(own[by][g]) if g in own[by] else "" for g in graphs]
            yield f"| {kind_name(*kind)} | {by} | {' | '.join(cells)} |"
        if OURS in own and len(own) > 1:
            cells = [times_next(own, graph) for graph in graphs]
            yield f"| | *next best / {OURS}* | {' | '.join(cells)} |"


def times_next(own: dict[str, dict[str, Row]], graph: str) -> str:
    """The time of the fastest of the others divided by ours; empty where one is missing."""
    times = {by: rows[graph]["median_ms"] for by, rows in own.items() if timed_on(rows, graph)}
    ours = times.pop(OURS, None)
    return f"*{min(times.values()) / ours:.3g}*" if ours and times else ""


def timed_on(rows: dict[str, Row], graph: str) -> bool:
    return "median_ms" in rows.get(graph, {})


def milliseconds(row: Row) -> str:
    """A median; a star where it was scaled from fewer sources; or why there is none."""
    if "median_ms" not in row:
        return row["note"].partition(" (")[0].partition(":")[0]
    star = "\\*" if row.get("n_timed", row.get("n_sources")) != row.get("n_sources") else ""
    return short(row["median_ms"]) + star


def short(value: float) -> str:
    return number(value, millions="")
