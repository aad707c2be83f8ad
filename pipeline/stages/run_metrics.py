"""Metrics of runs for Prometheus: ``hopscope.prom`` in the folder of reports.

A night lasts minutes and its cluster ends with it, so no scrape would come in time: the figures
are in a file, which stays, for the textfile collector of a node exporter and for ``hopscope serve``
(``/metrics``). Counters continue from run to run, and runs at the same time add to the same ones.
Of reports at a URL each machine has a file of its own, in its mirror: no collector reads a URL, and
two machines could not take turns there. Nothing here ever makes a run fail.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.model.choices import RUN_STATUSES
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.model.search.tasks import DEVICES
from pipeline.places import shown
from pipeline.processes.stopping import signals_later
from pipeline.store.running import running_stages
from pipeline.store.versions.locks import HeldLock, hold_for_writing, hold_with_others

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from pipeline.model.search.results import Measurement

log = logging.getLogger(__name__)

NAME = "hopscope.prom"
IN_PROGRESS = f".{NAME}.runs"  # held by all runs in progress, removed with the last
RENEW_S = 5.0  # while a run works
MAX_BYTES = 1 << 20  # of an earlier file; ours have some 5,000

# Name without its suffix -> what it means. Counters: summed over runs, _total is added.
COUNTERS = {
    "searches": "Searches that were run.",
    "retries": "Attempts of tasks that were repeated.",
    "lost_workers": "Workers that were lost.",
    "reused_ases": "ASes with results of earlier runs, once a run.",
    "failed_ases": "ASes that were not measured completely, once a run.",
}
RUNS = "Runs that ended, by status: complete, partial (something failed), failed (no report)."
GAUGES = {
    "run_in_progress": "1 while a run is in progress.",
    "run_started_timestamp_seconds": "When the run in progress, or the last one, began.",
    "run_updated_timestamp_seconds": "When these figures were written.",
    "run_ases": "ASes that this run measures.",
    "run_ases_left": "ASes with searches still to do.",
    "run_ases_failed": "ASes that were not measured completely in this run.",
    "run_ases_reused": "ASes with results of earlier runs in this run.",
    "resident_graphs": "Graphs that workers keep.",
    "last_report_timestamp_seconds": "When the last report was written.",
    "last_success_timestamp_seconds": "When the last report without a failed AS was written.",
    "newest_record_timestamp_seconds": "Time of the newest trace in any report; 0 unknown.",
}
RESIDENT_BYTES = "Bytes of the graphs that workers keep, by device."
_of_stages: dict[Path, RunMetrics] = {}  # of several stages in this process, by their reports
NEWEST = "newest_record_timestamp_seconds"  # a report of an older night does not make it older
_KEPT = ("last_report_timestamp_seconds", "last_success_timestamp_seconds", NEWEST)


@contextlib.contextmanager
def run_metrics(out: Path, progress: ProgressCallback) -> Iterator[RunMetrics]:
    """Figures of one run while the block lasts; an exception counts as a failed run."""
    metrics = RunMetrics(out, progress)
    try:
        yield metrics
    except Exception:
        metrics.failed()
        raise
    finally:
        metrics.end()


@contextlib.contextmanager
def stages_of_a_run(store: Path, out: Path) -> Iterator[None]:
    """Show the stages in the block as one run, by ``hopscope status`` and by its metrics.

    So a run that is killed between two of them, or in its ingest, is named as killed later. A block
    that ends without a report counts as one failed run, unless it was stopped. Within such a block
    this does nothing.

    Parameters
    ----------
    store : Path
    out : Path
        Folder of reports, known to be no input.
    """
    key = Path(out).absolute()
    if key in _of_stages:
        yield
        return
    with running_stages(store):
        run = _of_stages[key] = RunMetrics(out, no_progress)
        try:
            run.begin()
            yield
            run.failed()
        except Exception:
            run.failed()
            raise
        finally:
            del _of_stages[key]
            run.end_stages()


class RunMetrics:
    """The figures of one run, written now and then, once the folder of reports is there.

    Parameters
    ----------
    out : Path
        Folder of reports.
    progress : callable
        Gets all progress too.
    """

    def __init__(self, out: Path, progress: ProgressCallback):
        self._out, self._progress = Path(out), progress
        self._whole = _of_stages.get(self._out.absolute(), self)  # the run that it is a stage of
        self.began_s: float = time.time() if self._whole is self else self._whole.began_s
        self._in_progress: HeldLock | None = None
        self._counts: dict[str, float] = dict.fromkeys(COUNTERS, 0)
        self._runs = dict.fromkeys(RUN_STATUSES, 0)
        self._is_reported = False
        self._added: dict[tuple[str, str], float] = {}  # of both, what the file has
        self._gauges: dict[str, float] = {name: 0 for name in GAUGES if name not in _KEPT}
        self._gauges |= {"run_in_progress": 1, "run_started_timestamp_seconds": self.began_s}
        self._resident = dict.fromkeys(DEVICES, 0)
        self._written_s = 0.0

    def __call__(self, progress: Progress) -> None:
        """Take progress, pass it on, and write now and then."""
        self._progress(progress)
        if counts := progress.counts:
            self._take(counts)
        if time.monotonic() - self._written_s >= RENEW_S:
            self._write()

    def _take(self, counts: Mapping[str, int]) -> None:
        for name in ("searches", "retries", "lost_workers"):
            self._counts[name] = counts[name]
        self._gauges["run_ases"], self._gauges["run_ases_left"] = (
            counts["ases"],
            counts["ases_left"],
        )
        self._gauges["resident_graphs"] = counts["resident_graphs"]
        self._resident = {device: counts[f"resident_{device}_bytes"] for device in DEVICES}

    def measured(self, measurement: Measurement) -> None:
        """A run has measured what it could."""
        self._gauges["run_ases"], self._gauges["run_ases_left"] = len(measurement.rows), 0
        self._counts["failed_ases"] = len(measurement.failed)
        self._counts["reused_ases"] = measurement.reused()["n_ases"]

    def reported(self, measurement: Measurement, started: float, newest_s: float) -> None:
        """A report was written of a run that began at ``started``, in seconds since 1970 UTC.

        ``newest_s``: time of its newest record, likewise; 0 unknown.
        """
        self._gauges[NEWEST] = newest_s
        complete = not measurement.failed
        self._is_reported = self._whole._is_reported = True
        self._gauges["run_started_timestamp_seconds"] = started
        self._gauges["run_ases"] = len(measurement.rows)
        self._gauges["last_report_timestamp_seconds"] = time.time()
        self._gauges["run_ases_failed"] = len(measurement.failed)
        self._gauges["run_ases_reused"] = measurement.reused()["n_ases"]
        if complete:
            self._gauges["last_success_timestamp_seconds"] = time.time()
        self._runs["complete" if complete else "partial"] += 1

    def failed(self) -> None:
        """The run ends, without a report if it has none by now; of its stages it counts alone.

        A stage that fails may be tried again.
        """
        if self._whole is self and not self._is_reported:
            self._runs["failed"] += 1

    def begin(self) -> None:
        """Write that a run is in progress, before it counts anything."""
        self._write()

    def end(self) -> None:
        """Write the figures that stay; the run goes on if other stages follow."""
        self._gauges["resident_graphs"] = 0
        self._resident = dict.fromkeys(DEVICES, 0)
        self._write(ends=self._whole is self)

    def end_stages(self) -> None:
        """Write that this run is no longer in progress; other figures are those of its stages."""
        self._gauges = {}
        self._write(ends=True)

    def _write(self, *, ends: bool = False) -> None:
        self._written_s = time.monotonic()
        self._gauges["run_updated_timestamp_seconds"] = time.time()
        if not self._out.is_dir():
            return
        aside = self._out / f".{NAME}"
        lock = None
        try:
            lock = hold_for_writing(aside)  # by one run at a time
            self._whole.hold()
            if ends:
                self._gauges["run_in_progress"] = int(self._others_go_on())
            found, counted = _totals(self._out / NAME), self._counted()
            totals = {
                key: found.get(key, 0) + n - self._added.get(key, 0) for key, n in counted.items()
            }
            aside.write_bytes(_text(_Figures(self._families(found | totals))))
            os.replace(aside, self._out / NAME)
            self._added = counted
        except (OSError, ImportError) as error:
            log.debug("no metrics are written: %s", error)
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)
        finally:
            if lock is not None:
                lock.release()

    def hold(self) -> None:
        """Be in progress for other runs with the same reports; in the turn to write."""
        if self._in_progress is None:
            self._in_progress = hold_with_others(self._out / IN_PROGRESS)

    def _others_go_on(self) -> bool:
        """End for other runs; whether any of them is in progress. In the turn to write."""
        held, self._in_progress = self._in_progress, None
        if held is None:
            return False
        if held.release_of_all():
            with contextlib.suppress(OSError):  # another user's, or a folder
                (self._out / IN_PROGRESS).unlink(missing_ok=True)
            return False
        return True

    def _counted(self) -> dict[tuple[str, str], float]:
        """What this run has counted so far, by name and status."""
        counts = {(f"hopscope_{name}_total", ""): n for name, n in self._counts.items()}
        return counts | {("hopscope_runs_total", status): n for status, n in self._runs.items()}

    def _families(self, known: Mapping[tuple[str, str], float]) -> Iterator[Metric]:
        """All figures; ``known``: totals, and what an earlier run left."""
        _load()
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        out = shown(self._out.resolve())
        for name, help in COUNTERS.items():
            counter = CounterMetricFamily(f"hopscope_{name}", help, labels=["out"])
            counter.add_metric([out], known[f"hopscope_{name}_total", ""])
            yield counter
        runs = CounterMetricFamily("hopscope_runs", RUNS, labels=["out", "status"])
        for status in self._runs:
            runs.add_metric([out, status], known["hopscope_runs_total", status])
        yield runs
        for name, help in GAUGES.items():
            gauge = GaugeMetricFamily(f"hopscope_{name}", help, labels=["out"])
            left = known.get((f"hopscope_{name}", ""), 0)
            value = self._gauges.get(name, left)
            gauge.add_metric([out], max(value, left) if name == NEWEST else value)
            yield gauge
        resident = GaugeMetricFamily(
            "hopscope_resident_bytes", RESIDENT_BYTES, labels=["out", "device"]
        )
        for device, n_bytes in self._resident.items():
            resident.add_metric([out, device], n_bytes)
        yield resident


class _Figures:
    """What prometheus_client collects, once."""

    def __init__(self, families: Iterator[Metric]):
        self._families = list(families)

    def collect(self) -> list[Metric]:
        return self._families


def _load() -> None:
    """Import prometheus_client; a signal waits, since its decorators print what they then lose."""
    with signals_later():
        import prometheus_client.parser  # noqa: F401


def _text(figures: _Figures) -> bytes:
    _load()
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(figures)
    return generate_latest(registry)


def last_success(out: Path) -> float | None:
    """When the last report in a folder without a failed AS was written; None: none was.

    Seconds since 1970 UTC.
    """
    return _totals(out / NAME).get(("hopscope_last_success_timestamp_seconds", "")) or None


def _totals(path: Path) -> dict[tuple[str, str], float]:
    """Figures of an earlier file by name and status; none where there is no sound one."""
    try:
        _load()
        from prometheus_client.parser import text_string_to_metric_families

        with path.open("rb") as file:
            text = file.read(MAX_BYTES).decode()
        samples: list[Any] = [
            sample for family in text_string_to_metric_families(text) for sample in family.samples
        ]
    except (OSError, ImportError, ValueError):
        return {}
    return {(each.name, each.labels.get("status", "")): each.value for each in samples}
