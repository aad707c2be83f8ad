"""Everything a run measured on one snapshot, as columns: what reports are made of."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pipeline.model.tasks import SearchResults
from pipeline.model.widths import EffectiveDiameters, Widths


@dataclass(frozen=True, eq=False)
class Measurement:
    """Outcome of all searches of one run.

    Attributes
    ----------
    rows : (n_ases,) int64
        AS rows of the snapshot that were asked for, ascending.
    results : SearchResults
        Every finished source of every asked row, sorted by (row, source); ASes that share a
        graph_hash each have theirs.
    failed : dict of int to str
        AS row -> why some of its searches failed; rows without are complete.
    n_tasks, n_retries : (n_ases,) int64; wall_s : (n_ases,) float64 (NaN inside a shard)
        Parallel to ``rows``.
    device : list of n_ases str
        ``cpu``, ``gpu``, or ``""`` where nothing ran.
    tasks : dict of str to list or array
        Columns of tasks.parquet (CONTRACT.md).
    cluster : dict
        Workers, devices, dashboard link, schedule, pack: for report.json.
    busy_share : dict of str to float
        Worker -> share of the wall time between first submission and last end that it computed.
    distances_dir : str
        Folder of this run's hop matrices, a file an AS, for the report to take in; "" if none.
    widths, weighted_widths : Widths or None
        In hops and by weight, where asked for; a row for each of ``rows`` that did not fail.
    effective : EffectiveDiameters or None
        Where asked for; the same rows.
    snapshot, version : str
        What was measured: name of the snapshot, and folder of the version that it then was.
    metrics : tuple of str
        What was asked for, of ``pipeline.model.metrics.METRICS``.
    lost : str
        Why the cluster was lost before all was measured; empty where it was not.
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
    effective: EffectiveDiameters | None = None
    snapshot: str = ""
    version: str = ""
    metrics: tuple[str, ...] = ()
    lost: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known of any AS."""
        found = (self.widths, self.weighted_widths, self.effective)
        return not len(self.results.row) and not any(len(w.row) for w in found if w is not None)
