"""Results as columns: those of tasks, and everything that a run measured of a snapshot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from pipeline.metrics import WidthMetric, own_kernels
from pipeline.model.columns import Flat, FlatByName, Offsets, Ragged

THIS_PROCESS = "this process"  # stands for a worker in a run that starts none

_Width = Annotated[np.ndarray, Flat(np.int64, weighted=np.float64)]
_OfComponents = Annotated[np.ndarray, Ragged("component_ptr", np.int64, weighted=np.float64)]


@dataclass(frozen=True, eq=False)
class SearchResults:
    """Finished searches as columns, one row per source; what travels back from a worker.

    Attributes
    ----------
    row : (n_sources,) int64
        AS row of the snapshot.
    source, n_reached, eccentricity : (n_sources,)
        Local node id int32; nodes reached, the source included, int64; hops int32.
    hop_ptr : (n_sources + 1,) int64; hop_counts : (n_levels_in_all,) int64
        hop_counts[hop_ptr[i] + h]: nodes at h hops of source i; h = 0 is the source itself.
    farthest_ptr : (n_sources + 1,) int64; farthest : int32
        Up to 10 smallest node ids of the last level.
    read_s : float
        Seconds that the task which made these waited for its graphs on the device that searches.
    """

    row: Annotated[np.ndarray, Flat(np.int64)]
    source: Annotated[np.ndarray, Flat(np.int32)]
    n_reached: Annotated[np.ndarray, Flat(np.int64)]
    eccentricity: Annotated[np.ndarray, Flat(np.int32)]
    hop_ptr: Annotated[np.ndarray, Offsets()]
    hop_counts: Annotated[np.ndarray, Ragged("hop_ptr", np.int64)]
    farthest_ptr: Annotated[np.ndarray, Offsets()]
    farthest: Annotated[np.ndarray, Ragged("farthest_ptr", np.int32)]
    read_s: float = 0.0


@dataclass(frozen=True, eq=False)
class Widths:
    """Widths of some graphs, one row per graph; what travels back from a worker, and into reports.

    Values are in hops (int64), or in the unit of the weights (float64). They are about the largest
    component of each graph, of two equally large ones the one with the smaller smallest node; the
    others are listed by the columns ``component_*``.

    Attributes
    ----------
    row : (n_graphs,) int64
        AS row of the snapshot, ascending.
    metrics : tuple of str
        What was requested, of WIDTH_METRICS; what was not requested may still be known.
    is_weighted : bool
    n_searches : (n_graphs,) int64
        Sources searched for all of it, over all components.
    component : (n_graphs,) int64
        Smallest node of the largest component; -1: the graph has no nodes.
    diameter_lower, diameter_upper, radius_lower, radius_upper : (n_graphs,) int64 or float64
        Proven bounds; equal where the value is exact. -1 where nothing is known.
    exact : (n_graphs,) bool
        Whether everything requested is known exactly, in every component.
    path_ptr : (n_graphs + 1,) int64; path : int32
        Nodes of a shortest path as long as ``diameter_lower``; empty where it was not requested.
    center_ptr, periphery_ptr : (n_graphs + 1,) int64; center, periphery : int32
        Nodes of the largest component that attain radius and diameter, ascending; empty where
        that was not requested or is not known exactly.
    count_ptr : (n_graphs + 1,) int64; counts : int64
        counts[count_ptr[i] + e]: nodes of the largest component with eccentricity e, where
        eccentricities were requested and are exact; empty for weighted ones.
    eccentricity_ptr : (n_graphs + 1,) int64; eccentricity : uint8, uint16, int32 or float64
        Of every node within its own component, where eccentricities were requested and are exact.
    component_ptr : (n_graphs + 1,) int64; component_id, component_size : int32;
    component_diameter, component_radius : int64 or float64
        Every component of two nodes or more: its smallest node, ascending, its nodes, its widths;
        -1 where a width is not known exactly.
    read_s : float
        Seconds that the task which made these waited for its graphs.
    """

    row: Annotated[np.ndarray, Flat(np.int64)]
    metrics: tuple[WidthMetric, ...]
    is_weighted: bool
    n_searches: Annotated[np.ndarray, Flat(np.int64)]
    component: Annotated[np.ndarray, Flat(np.int64)]
    diameter_lower: _Width
    diameter_upper: _Width
    radius_lower: _Width
    radius_upper: _Width
    exact: Annotated[np.ndarray, Flat(np.bool_)]
    path_ptr: Annotated[np.ndarray, Offsets()]
    path: Annotated[np.ndarray, Ragged("path_ptr", np.int32)]
    center_ptr: Annotated[np.ndarray, Offsets()]
    center: Annotated[np.ndarray, Ragged("center_ptr", np.int32)]
    periphery_ptr: Annotated[np.ndarray, Offsets()]
    periphery: Annotated[np.ndarray, Ragged("periphery_ptr", np.int32)]
    count_ptr: Annotated[np.ndarray, Offsets()]
    counts: Annotated[np.ndarray, Ragged("count_ptr", np.int64)]
    eccentricity_ptr: Annotated[np.ndarray, Offsets()]
    eccentricity: Annotated[np.ndarray, Ragged("eccentricity_ptr", np.uint8, weighted=np.float64)]
    component_ptr: Annotated[np.ndarray, Offsets()]
    component_id: Annotated[np.ndarray, Ragged("component_ptr", np.int32)]
    component_size: Annotated[np.ndarray, Ragged("component_ptr", np.int32)]
    component_diameter: Annotated[
        np.ndarray, Ragged("component_ptr", np.int64, weighted=np.float64)
    ]
    component_radius: _OfComponents
    read_s: float = 0.0


@dataclass(frozen=True, eq=False)
class Figures:
    """Results of the kernel of one metric for some graphs, one row per graph.

    Attributes
    ----------
    task : str
        Kind of the tasks that found it: one of ``pipeline.metrics.own_kernels``.
    row : (n_graphs,) int64
        AS row of the snapshot.
    columns : dict of str to (n_graphs,) array
        The metric's columns of ``ases`` by name, in their dtypes; NaN in the first: the graph has
        no figure.
    value_ptr : (n_graphs + 1,) int64; of_nodes : float64
        The metric's columns of ``nodes``, one after the other, each with a value for every node of
        the graph; NaN: not known. Empty of a metric without such columns.
    read_s : float
        Seconds that the task which made these waited for its graphs.
    """

    task: str
    row: Annotated[np.ndarray, Flat(np.int64)]
    columns: Annotated[dict[str, np.ndarray], FlatByName()]
    value_ptr: Annotated[np.ndarray, Offsets()]
    of_nodes: Annotated[np.ndarray, Ragged("value_ptr", np.float64)]
    read_s: float = 0.0

    @property
    def n_searches(self) -> int:
        """Number of sources; 0 if the kernel does not report it."""
        name = own_kernels()[self.task].searches_column
        return int(self.columns[name].sum()) if name else 0


Findings = SearchResults | Widths | Figures
# Kind of task -> the field that a measurement has for what it finds, and the class of that; other
# kinds find figures.
_OWN_FIELDS: dict[str, tuple[str, type[Findings]]] = {
    "search": ("results", SearchResults),
    "widths": ("widths", Widths),
    "weighted": ("weighted_widths", Widths),
}


def findings_class(task: str) -> type[Findings]:
    """Class of what one kind of task finds."""
    return _OWN_FIELDS[task][1] if task in _OWN_FIELDS else Figures


@dataclass(frozen=True, eq=False)
class Measurement:
    """Outcome of all searches of one run.

    Attributes
    ----------
    rows : (n_ases,) int64
        AS rows of the snapshot that were requested, ascending.
    results : SearchResults
        Every finished source of every requested row, sorted by (row, source); ASes that share a
        graph_hash each have theirs.
    failed : dict of int to str
        AS row -> why some of its searches failed; rows without are complete.
    n_tasks, n_retries : (n_ases,) int64; wall_s : (n_ases,) float64 (NaN inside a shard)
        Parallel to ``rows``.
    device : list of n_ases str
        ``cpu``, ``gpu``, or ``""`` where nothing ran.
    tasks : dict of str to list or array
        Columns of tasks.parquet.
    cluster : dict
        Workers, devices, dashboard link, schedule, pack: for report.json.
    busy_share : dict of str to float
        Worker -> share of the wall time between first submission and last end that it computed;
        of a run without workers, names that begin with ``THIS_PROCESS``.
    distances_dir : str
        Folder of this run's hop matrices, one file per AS, for the report to take in; "" if none.
    widths, weighted_widths : Widths or None
        In hops and by weight, where requested; a row for each of ``rows`` that did not fail.
    figures : dict of str to Figures
        By kind of task, of metrics with a kernel of their own that were requested; the same rows.
    snapshot, version : str
        What was measured: name of the snapshot, and folder of the version that it then was.
    metrics : tuple of str
        What was requested, of ``pipeline.metrics.METRICS``.
    lost : str
        Why the cluster was lost before all was measured; empty where it was not.
    n_reused : (n_ases,) int64, or empty
        Searches of each of ``rows`` that earlier runs made; empty: of none.
    reused_from : list of n_ases str, or empty
        Snapshot of the last of the runs that made what is reused of an AS; ``""``: nothing is.
    notes : list of str
        What could not be read from the results of earlier runs, or kept for later ones.
    """

    rows: np.ndarray
    results: SearchResults
    failed: dict[int, str]
    n_tasks: np.ndarray
    n_retries: np.ndarray
    wall_s: np.ndarray
    device: list[str]
    tasks: dict
    cluster: dict = field(default_factory=dict)
    busy_share: dict[str, float] = field(default_factory=dict)
    distances_dir: str = ""
    widths: Widths | None = None
    weighted_widths: Widths | None = None
    figures: dict[str, Figures] = field(default_factory=dict)
    snapshot: str = ""
    version: str = ""
    metrics: tuple[str, ...] = ()
    lost: str = ""
    n_reused: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    reused_from: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known about any AS."""
        return not any(len(found.row) for found in self.found().values())

    def reused(self) -> dict[str, Any]:
        """How much is from earlier runs: searches, ASes with results from there, these by night."""
        nights = Counter(night for night in self.reused_from if night)
        return {
            "n_searches": int(self.n_reused.sum()),
            "n_ases": nights.total(),
            "n_ases_from": dict(sorted(nights.items())),
        }

    def found(self) -> dict[str, Findings]:
        """Results by the kind of task that finds them; kinds not requested are missing."""
        own = {task: getattr(self, name) for task, (name, _) in _OWN_FIELDS.items()}
        return {task: table for task, table in (own | self.figures).items() if table is not None}

    def with_found(self, found: dict[str, Any]) -> Measurement:
        """The same run with other results, by kind of task; missing kinds are None."""
        figures = {task: found[task] for task in found if task not in _OWN_FIELDS}
        named: dict[str, Any] = {name: found.get(task) for task, (name, _) in _OWN_FIELDS.items()}
        return replace(self, **named, figures=figures)
