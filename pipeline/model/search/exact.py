"""Exact searches: tasks for workers, and their results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.metrics import WidthMetric
from pipeline.model.search.results import Widths
from pipeline.model.search.tasks import Device, ExactKind

NO_BOUND = np.iinfo(np.int32).max  # upper bound of a node that no search has reached


@dataclass(frozen=True, eq=False)
class ExactJob:
    """One large AS whose widths are found by an exact search: tasks of one or a few sources each.

    Attributes
    ----------
    row : int
        AS row of the snapshot.
    asn, n_nodes, n_arcs : int
    snapshot : str
        Directory of the snapshot's files, visible to the workers.
    metrics : tuple of str
        What is requested, of WIDTH_METRICS; at least one.
    device : str
        ``cpu`` or ``gpu``: where searches run.
    """

    row: int
    asn: int
    n_nodes: int
    n_arcs: int
    snapshot: str
    metrics: tuple[WidthMetric, ...]
    device: Device = "cpu"


@dataclass(frozen=True, eq=False)
class ExactTask:
    """One step of a job: how the graph is connected (``opening``, once), searches
    (``candidate``) or a path as long as the diameter (``path``, once).

    Attributes
    ----------
    sources : (n_sources,) int32
        ``candidate``: nodes to search from, all in one pass. ``path``: the end to begin at.
    alone : bool
        ``candidate``: whether no component has two of the sources.
    is_connected : bool
        ``candidate``: whether the graph is one component.
    job : ExactJob
    max_searches : int or None
        ``opening``: the limit for each component; it makes one.
    length : int
        ``path``: its hops.
    run : str
        Bounds that a worker remembers are used within one run only.
    """

    kind: ExactKind
    job: ExactJob
    sources: np.ndarray
    device: Device
    alone: bool = True
    is_connected: bool = True
    max_searches: int | None = None
    length: int = 0
    run: str = ""

    @property
    def name(self) -> str:
        """For the dashboard: ``ecc_AS3356``."""
        return f"ecc_AS{self.job.asn}"

    @property
    def rows(self) -> np.ndarray:
        """(1,) int64: the AS row."""
        return np.array([self.job.row], np.int64)

    @property
    def n_sources(self) -> int:
        """Searches of this task, as far as known beforehand."""
        return len(self.sources)


@dataclass(frozen=True, eq=False)
class ExactBounds:
    """Bounds from the searches of one task; see ``kernels.eccentricity.searches.Implied``.

    Attributes
    ----------
    sources, eccentricity : (n_sources,) int32
    lower, upper : (n_nodes,) uint8, uint16 or int32
        The narrowest that fits, 0 and the dtype's maximum where nothing is implied: on short
        graphs two bytes per node.
    read_s : float
        Seconds that the task waited for its graph.
    """

    sources: np.ndarray
    eccentricity: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    read_s: float = 0.0


@dataclass(frozen=True, eq=False)
class OpenedGraph:
    """How a graph is connected, and the bounds by one search per component.

    Attributes
    ----------
    names : (n_components,) int32
        Smallest node of each component, ascending.
    component : (n_nodes,) int32 or None
        Components by number; None: there is one.
    degree : (n_nodes,) uint16 or int32
        Links of each node, exact; the narrower where all fit.
    is_tip : (ceil(n_nodes / 8),) uint8 or None
        Bits (``np.packbits``): nodes among which ends of a longest path are to be looked for
        (``kernels.eccentricity.reductions.pendant_trees``); None: all.
    tip, tip_lower : (n_tips,) int32
        Tips of trees that have paths, and how long these are: lower bounds.
    bounds : ExactBounds or None
        None if not even these searches were allowed.
    """

    names: np.ndarray
    component: np.ndarray | None
    degree: np.ndarray
    is_tip: np.ndarray | None
    tip: np.ndarray
    tip_lower: np.ndarray
    bounds: ExactBounds | None
    read_s: float = 0.0


@dataclass(frozen=True, eq=False)
class ExactPath:
    """A shortest path, certified where it was found: (n,) int32 nodes."""

    path: np.ndarray
    read_s: float = 0.0


@dataclass(frozen=True, eq=False)
class ExactResult:
    """Outcome of a job.

    Attributes
    ----------
    job : ExactJob
    widths : Widths
        One row. ``exact`` is False where the run was cut short, and bounds are an interval.
    reason : str
        Why it is not exact; empty where it is.
    is_failed : bool
        Whether it failed; otherwise the allowed number of searches was used up.
    """

    job: ExactJob
    widths: Widths
    reason: str = ""
    is_failed: bool = False
