"""A page of our own on the Dask dashboard: searches per second, ASes and tasks left, graphs kept.

The scheduler keeps the counts that a run sends (``run_events``), so that a page that is opened late
shows the run from its beginning. A preload of Dask, which must be imported before the other pages
are made: our own clusters do so at the first request (``dashboard_guard``), others by
``dask scheduler --preload pipeline.schedule.cluster.dashboard_page``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import ColumnDataSource, NumeralTickFormatter, Range1d, Row
from bokeh.plotting import figure
from distributed import Scheduler
from distributed.dashboard import scheduler as dask_pages
from distributed.dashboard.components import add_periodic_callback
from distributed.dashboard.components.scheduler import BOKEH_THEME, env
from distributed.utils import log_errors

from pipeline.model.words import number
from pipeline.schedule.cluster.run_events import TOPIC

ADDRESS = "hopscope"  # of the page, and its word in the bar of pages
UPDATE_MS = 1000
MIN_WIDTH_PX = 360  # of a figure: two beside each other where there is room
COLUMNS = (
    *("time", "searches_s", "ases_left", "tasks_left"),
    *("graphs", "cpu_bytes", "gpu_bytes"),
)
BLUE, ORANGE = "#1f6fb2", "#b85c00"  # distinguishable for readers who do not see red


def dask_setup(scheduler: Scheduler) -> None:
    """Add the page's word to the bar of a scheduler's pages; called by Dask as it starts."""
    pages = dask_pages.template_variables(scheduler)["pages"]
    if ADDRESS not in pages:
        pages.insert(1, ADDRESS)


@log_errors
def page(scheduler: Scheduler, extra: dict[str, Any], doc: Any) -> None:
    """Called by Bokeh for each browser that opens the page."""
    shown = RunFigures(scheduler)
    add_periodic_callback(doc, shown, UPDATE_MS)
    doc.title = "Dask: hopscope"
    doc.add_root(shown.root)
    doc.template = env.get_template("simple.html")
    doc.template_variables.update(extra)
    doc.theme = BOKEH_THEME


def columns_of(events: Sequence[tuple[float, dict[str, int]]]) -> dict[str, list[float]]:
    """Columns of the figures from what a run sent.

    Parameters
    ----------
    events : sequence of (float, dict)
        Seconds since 1970 UTC, ``Progress.counts``, oldest first. Searches that become fewer begin
        another run, which alone the figures describe.

    Returns
    -------
    dict of str to list
        ``time`` in milliseconds; ``searches_s`` is 0 where it is not known yet.
    """
    begin = 0
    for i in range(1, len(events)):
        if events[i][1]["searches"] < events[i - 1][1]["searches"]:
            begin = i
    columns: dict[str, list[float]] = {name: [] for name in COLUMNS}
    before: tuple[float, int] | None = None
    for at, counts in events[begin:]:
        rate = 0.0
        if before is not None and at > before[0]:
            rate = (counts["searches"] - before[1]) / (at - before[0])
        before = at, counts["searches"]
        row = (
            *(1000 * at, rate, counts["ases_left"], counts["tasks_left"]),
            *(counts["resident_graphs"], counts["resident_cpu_bytes"]),
            counts["resident_gpu_bytes"],
        )
        for name, value in zip(COLUMNS, row, strict=True):
            columns[name].append(value)
    return columns


class RunFigures:
    """Four figures over the time of a run, with the newest values in their titles."""

    def __init__(self, scheduler: Scheduler):
        self._scheduler = scheduler
        self.source = ColumnDataSource({name: [] for name in COLUMNS})
        self.searches = self._figure({"searches_s": (BLUE, "")})
        self.ases = self._figure({"ases_left": (BLUE, "")})
        self.tasks = self._figure({"tasks_left": (BLUE, "")})
        kept = {"cpu_bytes": (BLUE, "cores"), "gpu_bytes": (ORANGE, "GPUs")}
        self.graphs = self._figure(kept, "0.0 b")
        self.root = Row(
            children=[self.searches, self.ases, self.tasks, self.graphs],
            sizing_mode="stretch_width",
            styles={"flex-wrap": "wrap"},  # one below the other on a phone
        )
        self.update()

    def _figure(self, lines: dict[str, tuple[str, str]], number: str = "0,0") -> figure:
        made = figure(
            title="",
            x_axis_type="datetime",
            y_range=Range1d(0, 1),
            tools="",
            height=380,
            sizing_mode="stretch_width",
            styles={"flex": "1 1 40%", "min-width": f"{MIN_WIDTH_PX}px"},
            name="-".join(lines),
        )
        for column, (color, label) in lines.items():
            named = {"legend_label": label} if label else {}
            made.line("time", column, source=self.source, color=color, line_width=2, **named)
            made.scatter("time", column, source=self.source, color=color, size=4)
        if len(lines) > 1:
            made.legend.location = "top_left"
        made.yaxis.formatter = NumeralTickFormatter(format=number)
        made.xaxis.axis_label = "time (UTC)"
        made.xaxis.ticker.desired_num_ticks = 4
        return made

    @log_errors
    def update(self) -> None:
        """Called by Bokeh now and then."""
        columns = columns_of(self._scheduler.get_events(TOPIC))
        if columns["time"] == self.source.data["time"] and columns["time"]:
            return
        self.source.data = columns
        newest = {name: values[-1] if values else 0 for name, values in columns.items()}
        n_bytes = newest["cpu_bytes"] + newest["gpu_bytes"]
        on_workers = sum(len(state.processing) for state in self._scheduler.workers.values())
        for shown, title, names in (
            (self.searches, f"{newest['searches_s']:,.0f} searches per second", ["searches_s"]),
            (self.ases, f"{number(int(newest['ases_left']), 'AS')} left", ["ases_left"]),
            (
                self.tasks,
                f"{number(int(newest['tasks_left']), 'task')} left, {on_workers:,} at workers",
                ["tasks_left"],
            ),
            (
                self.graphs,
                f"{number(int(newest['graphs']), 'graph')} kept by workers, "
                f"{n_bytes / 2**20:,.1f} MiB",
                ["cpu_bytes", "gpu_bytes"],
            ),
        ):
            shown.title.text = title if columns["time"] else f"{title} (no run yet)"
            most = max((max(columns[name], default=0) for name in names), default=0)
            shown.y_range.end = 1.1 * most or 1


dask_pages.applications[f"/{ADDRESS}"] = page  # of which schedulers make their pages
