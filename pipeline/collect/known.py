"""Results that a store has of the graphs of a snapshot, and the place where new ones are kept.

A run joins what is known, measures the rest, and adds each result to the store soon after it has
arrived: a run that is killed and started again continues where it stopped.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

import kernels
import pipeline
from pipeline.errors import StoreError, said_by_system
from pipeline.metrics import columns_of, metrics_of, tasks_of
from pipeline.model.columns import concat, schema_of, take
from pipeline.model.columns.keys import ordered_keys
from pipeline.model.digests import digest_of_sources
from pipeline.model.search.results import (
    Findings,
    Measurement,
    SearchResults,
    Widths,
    findings_class,
)
from pipeline.store import Snapshot
from pipeline.store.pointers import open_snapshot, snapshot_names
from pipeline.store.results import (
    GraphKeys,
    ResultTable,
    first_of_equal,
    keys_of,
    keys_of_weighted,
    result_table,
)
from pipeline.store.results.table import RESULTS

# What arrived waits this long to be written with more. With ``Limits.poll_s`` until the next beat,
# and a second to write, a run that is killed loses ten seconds of work at most.
KEEP_S = 7.0


@dataclass(eq=False)
class _Kind:
    """Results of one kind of task."""

    table: ResultTable
    keys: GraphKeys  # of every AS row of the snapshot
    owner: np.ndarray  # (n_rows,) of each requested row the first with the same key
    found: Findings  # known; ``row`` is an owner
    nights: np.ndarray  # parallel to it
    fresh: list[Any] = field(default_factory=list)  # arrived, and not on disk


@dataclass(eq=False)
class Known:
    """What is known of the graphs of some ASes; ``known_results`` makes it.

    Attributes
    ----------
    rows : (n_rows,) int64
        Requested AS rows of the snapshot, ascending.
    snapshot : str
        Its name, by which later runs call this night.
    warnings : list of str
        What could not be read or kept, one line each.
    """

    rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    snapshot: str = ""
    warnings: list[str] = field(default_factory=list)
    _kinds: dict[str, _Kind] = field(default_factory=dict)
    _since: float | None = None  # when the first result that is not on disk arrived

    def found(self, kind: str) -> Any:
        """Known results of one kind of task, under the first row with each graph; None: nothing."""
        known = self._kinds.get(kind)
        return known.found if known is not None and len(known.found.row) else None

    def owner(self, kind: str) -> np.ndarray:
        """(n_rows,) int64: row under which the graph of each requested row is known, if it is."""
        return self._kinds[kind].owner if kind in self._kinds else self.rows

    def is_searched(self, source_ptr: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """Which of the requested sources are known.

        Parameters
        ----------
        source_ptr : (n_rows + 1,) int64; sources : (n_sources,) int32
            Of ``rows``.
        """
        known = self._kinds.get("search")
        if known is None:
            return np.zeros(len(sources), bool)
        owner = np.repeat(known.owner, np.diff(source_ptr))
        return np.isin(ordered_keys(owner, sources), _found_by_source(known.found))

    def is_measured(self, kind: str) -> np.ndarray:
        """(n_rows,) bool: which of the requested rows need no task about their whole graph."""
        known = self._kinds.get(kind)
        if known is None:
            return np.zeros(len(self.rows), bool)
        return np.isin(known.owner, known.found.row)

    def add(self, kind: str, found: Findings) -> None:
        """Take what a task found; the first ``beat`` after ``KEEP_S`` puts it on disk."""
        known = self._kinds.get(kind)
        if known is not None and len(found.row):
            known.fresh.append(_worth_keeping(found))
            self._since = monotonic() if self._since is None else self._since

    def beat(self) -> None:
        """Called now and then: write what has waited long enough."""
        if self._since is not None and monotonic() - self._since >= KEEP_S:
            self.flush()

    def flush(self) -> None:
        """Write all that is not on disk; a store that cannot be written costs a warning only."""
        self._since = None
        for known in self._kinds.values():
            pieces, known.fresh = known.fresh, []
            if not pieces:
                continue
            found: Any = concat(pieces)
            nights = np.full(len(found.row), self.snapshot, object)
            self._trying(known.table.append, found, known.keys[found.row], nights)

    def tidy(self, store: Path) -> None:
        """Make many segments into one without what no snapshot needs, after a run."""
        for kind, known in self._kinds.items():
            by_weight = kind == "weighted"
            self._trying(known.table.merge, functools.partial(_keys_in_use, store, by_weight))
            known.table.forget_old()

    def mark(self, measurement: Measurement) -> Measurement:
        """The same measurement with marks: what of each AS is from which earlier run."""
        rows = measurement.rows
        n_reused = np.zeros(len(rows), np.int64)
        night = np.full(len(rows), "", object)
        for kind, known in self._kinds.items():
            table = measurement.found().get(kind)
            if table is None or not len(known.found.row) or not len(table.row):
                continue
            place = np.searchsorted(rows, table.row)
            owner = known.owner[place]
            key, wanted = known.found.row.astype(np.int64), owner.astype(np.int64)
            if isinstance(table, SearchResults):
                key, wanted = _found_by_source(known.found), ordered_keys(owner, table.source)
            order = np.argsort(key, kind="stable")
            at = order[np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)]
            is_known = key[at] == wanted
            if isinstance(table, SearchResults):
                n_reused += np.bincount(place[is_known], minlength=len(rows))
            np.maximum.at(night, place[is_known], known.nights[at[is_known]])
        return replace(measurement, n_reused=n_reused, reused_from=night.tolist())

    def _trying(self, write: Callable, *given: Any) -> None:
        try:
            write(*given)
        except OSError as error:
            line = (
                f"results are not kept for later runs: {error.filename or 'the store'}: "
                f"{said_by_system(error)}"
            )
            if line not in self.warnings:
                self.warnings.append(line)


def known_results(
    snapshot: Snapshot,
    store: Path,
    asns: Sequence[int],
    metrics: Sequence[str],
    again: Iterable[str] | None = (),
) -> Known:
    """Look up what a store knows of a snapshot.

    Parameters
    ----------
    snapshot : Snapshot
    store : Path
    asns : sequence of int
        ASes of the run; none: all.
    metrics : sequence of str
    again : iterable of str or None
        Kinds of tasks whose results are measured again, and kept; None: all kinds.
    """
    rows = snapshot.rows_of(asns)
    known = Known(rows, snapshot.name)
    asked = tasks_of(metrics)
    again = set(asked if again is None else again)
    keys_by: dict[bool, GraphKeys | None] = {}
    for kind, names in asked.items():
        by_weight = kind == "weighted"
        if by_weight not in keys_by:
            keys_by[by_weight] = _keys(snapshot, by_weight)
        keys = keys_by[by_weight]
        if keys is None:
            continue
        first = first_of_equal(keys[rows])
        owners = np.unique(first)
        table = _table(store, kind, names)
        wanted = keys[rows[owners]]
        lookup = table.find(wanted[:0] if kind in again else wanted)
        known.warnings += [f"{line}; its results count as unknown" for line in lookup.broken]
        found = replace(lookup.found, row=rows[owners[lookup.found.row]])
        known._kinds[kind] = _Kind(table, keys, rows[first], found, lookup.nights)
    return known


def known_longest_path(store: Path, graph_hash: str) -> np.ndarray | None:
    """Node ids of the longest path that runs found in a graph: the one that reports show.

    Of several runs it is that of most metrics, whose report is never replaced by a smaller one.
    None: none is known, or what is there cannot be read.
    """
    tables = [path.name.rpartition("-") for path in (Path(store) / RESULTS).glob("widths.*-*")]
    asked = [(tuple(name.split(".")[1:]), version) for name, _, version in tables]
    for names, version in sorted(asked, key=lambda one: (-len(one[0]), one)):
        if version != version_of("widths", names):
            continue
        found = _table(store, "widths", names).find(keys_of([graph_hash])).found
        if len(found.row) and len(found.path) > 1:
            return found.path
    return None


def _keys(snapshot: Snapshot, by_weight: bool) -> GraphKeys | None:
    """Keys of all rows of a snapshot; None by weight if it has none, or does not say their hash."""
    if not by_weight:
        return keys_of(snapshot.graph_hash)
    hashes = snapshot.weights_hash
    return None if hashes is None else keys_of_weighted(snapshot.graph_hash, hashes)


def _table(store: Path, kind: str, names: Sequence[str]) -> ResultTable:
    plain: dict[str, Any] = {}
    cls: type[Findings] = findings_class(kind)
    if cls is Widths:
        plain = {"metrics": tuple(names), "is_weighted": kind == "weighted"}
    elif cls is not SearchResults:
        columns = {c.name: np.empty(0, np.dtype(c.dtype)) for c in columns_of(kind)}
        plain = {"task": kind, "columns": columns}
    return result_table(store, ".".join([kind, *names]), version_of(kind, names), cls, plain)


def version_of(kind: str, names: Sequence[str]) -> str:
    """Twelve hex digits of whatever decides results of some metrics: rows, kernels, columns."""
    asked = [m for m in metrics_of(kind) if (m.asks or m.name) in names]
    schema = schema_of(findings_class(kind))
    parts = [
        _sources(),
        *(f"{metric.name} {metric.version}" for metric in asked),
        *(str(field) for field in (sorted(schema.flat), sorted(map(str, schema.ragged.items())))),
        *(_own_source(metric.kernel) for metric in asked if metric.kernel),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


@functools.cache
def _sources() -> str:
    """Digest of what runs on workers: kernels, and what makes columns of their answers."""
    room = Path(pipeline.__file__).parent / "schedule"
    return digest_of_sources([Path(kernels.__file__).parent, room / "work", room / "exact_search"])


def _own_source(kernel: str) -> str:
    """Digest of the module of a kernel, which may be outside the folder of kernels."""
    spec = importlib.util.find_spec(kernel.partition(":")[0])
    source = Path(spec.origin).read_bytes() if spec is not None and spec.origin else b""
    return hashlib.sha256(source).hexdigest()


def _worth_keeping(found: Any) -> Any:
    """Results that stay right: widths that a limit of searches left open are left out."""
    return take(found, np.flatnonzero(found.exact)) if isinstance(found, Widths) else found


def _found_by_source(found: Any) -> np.ndarray:
    return ordered_keys(found.row, found.source)


def _keys_in_use(store: Path, by_weight: bool) -> GraphKeys | None:
    """Keys of all graphs of all snapshots, each once; None if some snapshot cannot be read."""
    parts = [np.empty((0, 4), np.uint64)]
    try:
        for name in snapshot_names(store):
            with open_snapshot(store, name) as snapshot:
                if not by_weight:
                    parts.append(keys_of(snapshot.graph_hash))
                elif snapshot.weights_hash is not None:
                    parts.append(keys_of_weighted(snapshot.graph_hash, snapshot.weights_hash))
    except StoreError:
        return None
    return np.unique(np.concatenate(parts), axis=0)
