"""Files of a comparison, beside the report of the newer night.

They stand in ``OUT/<new>/``, whether there is a report or not. A report that is written there later
keeps them; a comparison replaces nothing but the files of an earlier comparison.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import UsageError
from pipeline.model.addresses import format_addr
from pipeline.report.folder import earlier_report

CHANGES = "changes.parquet"
_COUNTS = (
    *("n_traces", "n_pairs", "n_vantages", "n_turned", "n_silent", "n_elsewhere"),
    *("n_no_target", "n_no_vantage"),
)


def write_comparison(out: Path, old, new, changes) -> Path:
    """Write the files of a comparison; each takes the place of an earlier one as a whole.

    Parameters
    ----------
    out : Path
        Folder of reports.
    old, new : pipeline.store.Snapshot
    changes : pipeline.compare.Changes

    Returns
    -------
    Path
        Folder of the files.

    Raises
    ------
    UsageError
        If the folder cannot be written, or holds what is no report of ours.
    """
    folder = Path(out) / new.name
    earlier_report(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / CHANGES, changes_table(changes))
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder}: {error.strerror or error}; give --out a folder that can "
            "be written and has room"
        ) from error
    return folder


def changes_table(changes) -> pa.Table:
    """Columns of changes.parquet."""
    return pa.table(
        {
            "what": pa.array(changes.what, pa.string()),
            "kind": pa.array(changes.kind, pa.string()),
            "asn": _asns(changes.asn),
            "addr": _addrs(changes.addr_high, changes.addr_low),
            "other_asn": _asns(changes.other_asn),
            "other_addr": _addrs(changes.other_high, changes.other_low),
            "old": pa.array(changes.old, mask=np.isnan(changes.old)),
            "new": pa.array(changes.new, mask=np.isnan(changes.new)),
            **{name: pa.array(getattr(changes, name)) for name in _COUNTS},
            "reason": pa.array(changes.reason, pa.string()),
        }
    )


def _asns(column: np.ndarray) -> pa.Array:
    return pa.array(column, mask=column < 0).cast(pa.uint32())


def _addrs(high: np.ndarray, low: np.ndarray) -> pa.Array:
    """Texts; null where there is none."""
    pairs = zip(high.tolist(), low.tolist(), strict=True)
    return pa.array([format_addr(h, w) if h or w else None for h, w in pairs], pa.string())


def _replace(path: Path, table: pa.Table) -> None:
    aside = path.with_name(f".{path.name}.writing")
    try:
        pq.write_table(table, aside, compression="zstd")
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
