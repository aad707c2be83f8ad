"""Writes the reports that tests open in a browser; ``tests.report_fixtures`` has them ready."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from pipeline.report.pages.html import write_pages
from pipeline.report.pages.index_page import COLUMNS, index_script
from pipeline.report.pages.run_facts import RunFacts
from pipeline.report.tables.summarise import summarise
from pipeline.report.write import write_reports
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import cut_short, effective_of, widths_of

N_ASES = 50_000
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=\"alert('2')\">&amp;{{7*7}}"
TURNED = "\u202egnp.exe\u2066 \x00\x1b[31m"


def small(out: Path) -> Path:
    """Report of a small network whose names are hostile."""
    ring = [(i, (i + 1) % 12) for i in range(12)]
    snapshot = MemorySnapshot(
        {3356: [*ring, (0, 6)], 64500: [(0, 1)], 64501: []},
        {3356: 14, 64500: 2, 64501: 3},
        [
            (3356, 0, [64500, 64501], 40, 2, False),
            (3356, 3, [64501], 7, 0, False),
            (3356, 5, [64501], 0, 9, True),
            (64500, 0, [3356], 11, 0, False),
        ],
        names={3356: HOSTILE, 64500: TURNED},
        addrs={
            3356: [f"2001:db8:1234:5678:9abc:def0:1234:{i:x}" for i in range(14)],
            64500: ["198.51.100.1", "198.51.100.2"],
            64501: ["203.0.113.1", "203.0.113.2", "203.0.113.3"],
        },
        manifest={"inputs": [{"path": HOSTILE, "format": "warts", "n_records": 1234567}]},
        exits=[(3356, 2, 64500, 12), (3356, 2, 65000, 1), (3356, 9, 64501, 3)],
        borders=[(3356, 64500), (3356, 64501), (3356, 64501)],
    )
    return write_reports(
        snapshot, measured(snapshot), out, options={}, warnings=[HOSTILE], started=time.time()
    ).path


def large(out: Path) -> Path:
    """Index of 50,000 ASes; the page of each is left out, except one."""
    rng = np.random.default_rng(7)
    one = MemorySnapshot(
        {1: [(0, 1)]}, {1: 2}, [(1, 0, [2], 1, 0, False)], names={1: "so that names are shown"}
    )
    summary = summarise(one, measured(one))
    columns = {
        "asn": np.arange(1, N_ASES + 1),
        "name": pa.array([f"NETWORK-{i * 7919 % N_ASES} Some Company Ltd" for i in range(N_ASES)]),
        "mean_hops": pa.array(rng.random(N_ASES) * 9, mask=rng.random(N_ASES) < 0.1),
        "n_nodes": rng.integers(1, 100_000, N_ASES),
        "status": pa.array(["ok"] * N_ASES),
    }
    ases = {c.key: columns.get(c.key, rng.integers(0, 50, N_ASES)) for c in COLUMNS}
    run = RunFacts(
        "large", "2026-11-21 06:00 UTC", "0", "router", "routers", "", False, False, N_ASES, "0 %"
    )
    totals = summary.totals | {"n_ases": N_ASES}
    pages = replace(summary, totals=totals)
    write_pages(pages, run, out, manifest={}, warnings=[], busy_share={})
    (out / "ases.js").write_text(index_script(pa.table(ases)))
    return out


def wide(out: Path) -> Path:
    """Report with widths: a ring with a long tail, an interval, one without, all by weight too."""
    ring = [(i, (i + 1) % 12) for i in range(12)]
    tail = [(i, i + 1) for i in range(11, 60)]
    # Two equally large components: an ingress shows the width of neither, so the interval remains.
    twice = [(start + i, start + i + 1) for start in (0, 21) for i in range(20)]
    snapshot = MemorySnapshot(
        {7: [*ring, *tail, (62, 63)], 3356: twice, 64500: [(0, 1)], 64501: [(0, 1)]},
        {7: 66, 3356: 42, 64500: 2, 64501: 2},
        [(7, 0, [3356], 9, 0, False), (7, 65, [3356], 1, 0, False), (3356, 0, [7], 1, 0, False)],
        names={7: "Ring with a tail", 3356: HOSTILE},
        addrs={
            7: [f"2001:db8:1234:5678:9abc:def0:1234:{i:x}" for i in range(66)],
            3356: [f"192.0.2.{i + 1}" for i in range(42)],
            64500: ["198.51.100.1", "198.51.100.2"],
            64501: ["203.0.113.1", "203.0.113.2"],
        },
        weight=lambda a, b: 41.375 + a + b,
        manifest={"weight_unit": "ms"},
    )
    rows = [0, 1, 2]
    measurement = replace(
        measured(snapshot),
        widths=cut_short(widths_of(snapshot, rows=rows), 1, (9, 20), (5, 10), 2),
        weighted_widths=widths_of(snapshot, weight=snapshot.weight, rows=rows),
        figures={"effective": effective_of(snapshot, 4.25, error=0.5)},
    )
    return write_reports(
        snapshot, measurement, out, options={}, warnings=[], started=time.time()
    ).path


def url(folder: Path, name: str = "index.html") -> str:
    return (folder / name).as_uri()
