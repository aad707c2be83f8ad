"""Paths of vantage points as files of a snapshot, and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from pipeline.model.measured.observations import FIRST, Observations, Paths, Steps, Vantages
from pipeline.model.topology import NO_ASN
from pipeline.store.columns import as_arrow, read_table
from pipeline.store.versions.names import OBSERVATIONS, PATHS, VANTAGES, broken

Table = TypeVar("Table")


_OF_PATHS = (
    *("vantage", "target_high", "target_low", "step", "n_traces", "n_hops", "rtt_ms"),
    *("reached", "direct"),
)


def observation_tables(seen: Observations) -> list[tuple[str, pa.Table]]:
    """Name and content of each file."""
    vantages, steps, paths = seen.vantages, seen.steps, seen.paths
    return [
        (
            VANTAGES,
            pa.table(
                {
                    "addr_high": as_arrow(vantages.addr_high),
                    "addr_low": as_arrow(vantages.addr_low),
                    "asn": pa.array(vantages.asn, mask=vantages.asn == NO_ASN).cast(pa.uint32()),
                }
            ),
        ),
        (
            OBSERVATIONS,
            pa.table(
                {
                    "vantage": as_arrow(steps.vantage),
                    "before": _or_null(steps.before),
                    "near": _or_null(steps.near),
                    "far": as_arrow(steps.far),
                    "across_gap": as_arrow(steps.across_gap),
                    "n_traces": as_arrow(steps.n_traces),
                    "rtt_ms": as_arrow(steps.rtt_ms),
                }
            ),
        ),
        (
            PATHS,
            pa.table(
                {
                    "vantage": as_arrow(paths.vantage),
                    "target_high": as_arrow(paths.target_high),
                    "target_low": as_arrow(paths.target_low),
                    "step": _or_null(paths.step),
                    "n_traces": as_arrow(paths.n_traces),
                    "n_hops": as_arrow(paths.n_hops),
                    "rtt_ms": as_arrow(paths.rtt_ms),
                    "reached": as_arrow(paths.reached),
                    "direct": as_arrow(paths.direct),
                }
            ),
        ),
    ]


def read_observations(folder: Path, n_nodes: int) -> Observations:
    """Read the files of a snapshot; ``n_nodes``: of all its ASes.

    Raises
    ------
    StoreError
        If a file is missing, cut short or altered, or names what is not there.
    """
    vantages, steps = read_vantages(folder), read_steps(folder, n_nodes)
    paths = _read(folder / PATHS, Paths, _OF_PATHS)
    known = range(len(vantages))
    if not (_within(paths.vantage, known) and _within(paths.step, range(FIRST, len(steps)))):
        raise broken(folder / PATHS, "names what is not in the snapshot")
    return Observations(vantages, steps, paths)


def read_steps(folder: Path, n_nodes: int) -> Steps:
    """Read the steps alone; otherwise as ``read_observations``."""
    known, nodes = range(len(read_vantages(folder))), range(n_nodes)
    steps = _read(
        folder / OBSERVATIONS,
        Steps,
        ("vantage", "before", "near", "far", "across_gap", "n_traces", "rtt_ms"),
    )
    if not (
        _within(steps.vantage, known)
        and _within(steps.far, nodes)
        and _within(steps.near, range(FIRST, n_nodes))
        and (steps.before >= FIRST).all()
        and (steps.before < np.arange(len(steps))).all()
    ):
        raise broken(folder / OBSERVATIONS, "names what is not in the snapshot")
    return steps


def read_vantages(folder: Path) -> Vantages:
    """Read the vantage points alone; otherwise as ``read_observations``."""
    return _read(folder / VANTAGES, Vantages, ("addr_high", "addr_low", "asn"))


def _read(path: Path, kind: Callable[..., Table], names: tuple[str, ...]) -> Table:
    table = read_table(path, names)
    columns = {}
    for name in names:
        column = table.column(name)
        if column.null_count:
            column = column.cast(pa.int64()).fill_null(-1)
        columns[name] = column.to_numpy()
    return kind(**columns)


def _or_null(column: np.ndarray) -> pa.Array:
    return pa.array(column, mask=column == FIRST)


def _within(column: np.ndarray, values: range) -> bool:
    return not len(column) or bool(column.min() >= values.start and column.max() < values.stop)
