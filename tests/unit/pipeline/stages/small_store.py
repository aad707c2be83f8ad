"""A store of one small snapshot, from traces written by hand."""

from __future__ import annotations

from pathlib import Path

from pipeline.graphs import build_graphs
from tests.unit.pipeline.infer.handmade import infer
from tests.unit.pipeline.store.snapshots import write

A, B = "20.1.0.10", "20.1.0.20"
X, Y = "20.2.0.10", "20.2.0.20"
P, Q = "20.3.0.10", "20.3.0.20"
LINES = [f"{A} {X} {Y} {P}", f"{A} {X} {Q}", f"{B} {X}", f"{P} {Y} {A}", f"{P} {Q}", f"{A} * {Y}"]
HOSTILE = "<b>Two\x1b[31m & \u202eowt</b>"


def make_store(folder: Path, name: str = "night") -> Path:
    """AS 1: A, B; AS 2: X - Y; AS 3: P - Q. Interfaces, by prefix."""
    folder.mkdir(exist_ok=True)
    graphs = build_graphs([infer(folder, *LINES)])
    counts = {"n_traces": len(LINES), "n_addrs": 6, "n_addrs_mapped": 5}
    inputs = [{"path": "a.warts", "format": "warts", "holds": "traces", "status": "ok"}]
    names = {2: HOSTILE}
    write(folder, name, graphs, as_names=names, counts=counts, inputs=inputs, warnings=["careful"])
    return folder
