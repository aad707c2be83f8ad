"""Tables of docs/benchmarks.md, in Markdown: medians, and the bytes that bound them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from benchmarks.lib.charts import number
from benchmarks.pages.searches_results import COMPARED, OURS, Row, graph_name, kind_name, where

LARGEST = ("msbfs", 2000)
KINDS = ("bfs", "bfs parents", "msbfs", "msbfs levels", "components")


def tables(rows: list[Row]) -> Iterator[str]:
    """Markdown: what ran on each machine, the medians, and the bytes that bound them."""
    for machine in dict.fromkeys(row["machine"] for row in rows):
        yield from machine_section(machine, [row for row in rows if row["machine"] == machine])


def machine_section(machine: str, rows: list[Row]) -> Iterator[str]:
    yield f"### {machine}\n"
    runs = {(row["date"], row["command"], row["commit"], row["cores_of_others"]) for row in rows}
    for date, command, commit, others in sorted(runs, key=str):
        reported = "" if others is None else f"; other processes kept {others:g} cores busy"
        known = commit.rstrip("+") or "not recorded"
        yield f"- `{command}`, {date[:10]}, commit {known}{reported}"
    rates = [f"{rate(row['rate'] for row in rows):,.0f}" for rate in (min, max)]
    yield f"- copy within memory: {' to '.join(dict.fromkeys(rates))} GB/s read and written"
    compiled = [f"{row['wall_s']:.2f}" for row in rows if row["what"] == "compile"]
    yield f"- made or loaded once per process (compiled code): {', '.join(compiled)} s\n"
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
    bounded = [
        row
        for row in timed
        if "least_bytes" in row and (row["what"], row["n_sources"]) in (*COMPARED, LARGEST)
    ]
    if bounded:
        yield "| what bounds it | measured, ms | least, MB | most, MB | at a copy's rate, ms |"
        yield "| --- | --- | --- | --- | --- |"
        yield from (bound_row(row) for row in bounded)
        yield ""


def time_rows(rows: list[Row], graphs: list[str]) -> Iterator[str]:
    """One line per kind of search and program."""
    rows = [row for row in rows if "graph" in row and row["what"] != "msbfs_shard"]
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


def bound_row(row: Row) -> str:
    least, most = row["least_bytes"], row["most_bytes"]
    name = f"{kind_name(row['what'], row['n_sources'])}, {graph_name(row)}"
    spans = f"{short(least / row['rate'] / 1e6)} to {short(most / row['rate'] / 1e6)}"
    return (
        f"| {name} | {milliseconds(row)} | {short(least / 1e6)} | {short(most / 1e6)} | {spans} |"
    )


def milliseconds(row: Row) -> str:
    """A median; a star where it was scaled from fewer sources; or why there is none."""
    if "median_ms" not in row:
        return row["note"].partition(" (")[0].partition(":")[0]
    star = "\\*" if row.get("n_timed", row.get("n_sources")) != row.get("n_sources") else ""
    return short(row["median_ms"]) + star


def short(value: float) -> str:
    return number(value, millions="")
