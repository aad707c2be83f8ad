"""Nights of traces written by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipeline.compare import Changes, Night
from pipeline.graphs import build_graphs
from pipeline.infer import infer_topology
from pipeline.model.addresses import format_addr
from pipeline.stages.nights.snapshots import open_night
from pipeline.store import open_snapshot
from tests.unit.pipeline.infer.handmade import PREFIXES, observe, prefix_table, traces
from tests.unit.pipeline.store.snapshots import write

ONE, TWO, THREE = "20.7.0.1", "20.8.0.1", "20.6.0.1"  # vantage points


def write_night(
    store: Path,
    name: str,
    lines: dict[str, list[str]],
    prefixes: str = PREFIXES,
    observations: bool = True,
    newest_s: float = 0.0,
    options: dict[str, object] | None = None,
    **more,
) -> None:
    """The snapshot of some traces by vantage point; ``observations``: keep their paths.

    ``newest_s``: when the last was taken, seconds since 1970; ``options``: of the manifest.
    """
    scratch = store / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    batches = [traces(*own, source=vantage) for vantage, own in lines.items()]
    topology = infer_topology(
        [observe(scratch, *batches)],
        prefixes=prefix_table(scratch, prefixes),
        **{"borders": "prefix", "routers": "interfaces"} | more,
    )
    if not observations:
        topology = replace(topology, observations=None)
    table = {"holds": "table", "format": "pfx2as", "sha256": prefixes}
    measured = {"holds": "traces", "newest_s": newest_s}
    write(store, name, build_graphs([topology]), inputs=[table, measured], options=options or {})


def night(store: Path, lines: dict[str, list[str]], *options, **more) -> Night:
    """The night of some traces by vantage point, through a store."""
    write_night(store, "night", lines, *options, **more)
    with open_snapshot(store) as snapshot:
        return open_night(snapshot)


def told(changes: Changes, what: str = "link") -> dict[tuple[str, str], str]:
    """Kind of each change by its two addresses."""
    ends = zip(
        changes.addr_high, changes.addr_low, changes.other_high, changes.other_low, strict=True
    )
    return {
        (format_addr(a, b), format_addr(c, d)): kind
        for (a, b, c, d), kind, about in zip(ends, changes.kind, changes.what, strict=True)
        if about == what
    }
