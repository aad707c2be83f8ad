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

    from pipeline.stages.analyze import measure_stage, report_stage

    stamps: dict[str, Any] = {}

    def note(progress) -> None:
        stamps.setdefault(progress.stage, time.time())  # the first comes after the planning

    began = time.time()
    measurement = measure_stage(config, note)
    stamps["measured"] = time.time()
    summary = report_stage(config, measurement, began)
    stamps["written"] = time.time()
    if summary.failed:
        raise RuntimeError(f"{len(summary.failed)} ASes failed: {summary.failed}")
    if pages:
        report_stage(replace(config, pages=True, out=config.out / "pages"), measurement, began)
        stamps["pages"] = time.time()
    columns = ("kind", "worker", "device", "started", "ended", "read_s", "status")
    stamps["tasks"] = {name: list(measurement.tasks[name]) for name in columns}
    stamps["cluster"] = measurement.cluster
    Path(reported).write_text(json.dumps(stamps, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
