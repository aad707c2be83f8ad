"""What ``bench_searches.py`` wrote on all machines, as rows that plots and tables are made from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

OURS = "hopscope"
MANY = 100  # sources that programs are compared on
COMPARED = (("bfs", 1), ("msbfs", MANY), ("msbfs levels", MANY))
Row = dict[str, Any]


RENAMED = {  # programs in files of results -> as they are named now
    "a search a node": "one search per node",
    "thread a node": "one thread per node",
}


def load(results: Path) -> list[Row]:
    """Rows of all files, each with its machine and the rate of a copy in the same run.

    Of two rows with the same measurement the newer one is kept.
    """
    newest: dict[tuple, Row] = {}
    runs = [json.loads(path.read_text()) for path in sorted(results.glob("searches*.json"))]
    for run in sorted(runs, key=lambda run: run["date"]):
        about = {name: run.get(name) for name in ("date", "command", "commit", "cores_of_others")}
        rates = {row["device"]: row["gb_per_s"] for row in run["rows"] if row["what"] == "copy"}
        # Other devices were not measured, only prepared.
        for row in (row for row in run["rows"] if row["device"] in rates):
            more = {
                "machine": machine_name(run["machine"], row["device"]),
                "rate": rates[row["device"]],
            }
            if row.get("by") in RENAMED:
                row["by"] = RENAMED[row["by"]]
            names = ("graph", "device", "by", "what", "n_sources")
            key = (more["machine"], *(row.get(name) for name in names))
            newest[key] = about | row | more
    rows = sorted(newest.values(), key=_order)
    name_places(rows)
    return rows


def _order(row: Row) -> tuple:
    """GPUs first, then machines by name; short graphs by size, then long ones."""
    is_short = row.get("graph", "").startswith("attachment")
    return row["device"] != "gpu", row["machine"], not is_short, row.get("n_nodes", 0)


def name_places(rows: Iterable[Row]) -> None:
    """Give each row its ``place``, the shortest distinct name: ``H200``, ``2 cores``."""
    machines = {row["machine"] for row in rows}
    short_names = {machine: short_name(machine) for machine in machines}
    for row in rows:
        name = short_names[row["machine"]]
        is_unique = list(short_names.values()).count(name) == 1
        row["place"] = name if is_unique else row["machine"]


def short_name(machine: str) -> str:
    return machine.partition(",")[0].replace("NVIDIA ", "")


def machine_name(machine: Row, device: str) -> str:
    """``NVIDIA H200``, or ``2 cores, AMD EPYC``."""
    if device == "gpu" and machine["gpus"]:
        return machine["gpus"][0].partition(",")[0]
    return f"{machine['cores']} cores, {machine['cpu']}"


def where(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Rows that were timed and whose columns are as wanted."""
    return [
        row
        for row in rows
        if "median_ms" in row and all(row.get(name) == value for name, value in wanted.items())
    ]


def graph_name(row: Row) -> str:
    """``6,800,000 routers``, ``cut grid 1000``, ``10,000 ASes``."""
    kind, _, number = row["graph"].rpartition(" ")
    if kind == "attachment":
        return f"{row['n_nodes']:,} routers"
    return f"{kind} {number} x {number}" if kind == "cut grid" else str(row["graph"])


def kind_name(what: str, n_sources: int | None) -> str:
    """What was searched, in a reader's words."""
    ingresses = "1 ingress" if n_sources == 1 else f"{n_sources or 0:,} ingresses"
    return {
        "bfs": "one search, levels",
        "bfs parents": "one search, levels and parents",
        "msbfs": f"{ingresses}, hop counts",
        "msbfs levels": f"{ingresses}, levels",
        "components": "components",
        "msbfs_shard": "many ASes in one call",
    }[what]
