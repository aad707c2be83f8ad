"""One analysis as the command does it, in a process that imports nothing else.

    python -m benchmarks.lib.analyzed OPTIONS REPORTED

OPTIONS is JSON of some fields of ``AnalyzeConfig``; times and tasks go to the file REPORTED.
``pages`` in OPTIONS: pages are written after the tables, and timed apart.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def main(options: str, reported: str) -> None:
    import pipeline.cli  # noqa: F401  # as the command does, and in its order
    from pipeline.config import AnalyzeConfig
    from pipeline.schedule.early import start_early

    given = json.loads(options)
    pages = given.pop("pages")
    places = {name: Path(given.pop(name)) for name in ("store", "out")}
    config = AnalyzeConfig(**places, **given, pages=False)
    start_early(config)
    from dataclasses import replace

    import pyarrow.parquet as pq

    from pipeline.stages.analyze import analyze, measure_stage, report_stage

    stamps: dict[str, Any] = {}

    def note(progress) -> None:
        stamps.setdefault(progress.stage, time.time())  # the first comes after the planning

    summary = analyze(config, note)
    stamps["measured"], stamps["written"] = stamps["report"], time.time()
    if summary.failed:
        raise RuntimeError(f"{len(summary.failed)} ASes failed: {summary.failed}")
    if pages:
        again = replace(config, pages=True, full=False, out=config.out / "pages")
        measurement = measure_stage(again)  # all is known by now
        stamps["again"] = time.time()
        report_stage(again, measurement, stamps["again"])
        stamps["pages"] = time.time()
    columns = ("kind", "worker", "device", "started", "ended", "read_s", "status")
    tasks = pq.read_table(summary.report.files["tasks"], columns=list(columns))
    stamps["tasks"] = tasks.to_pydict()
    stamps["cluster"] = summary.cluster
    Path(reported).write_text(json.dumps(stamps, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
