"""What a user should know of the inputs before trusting the numbers; one line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def input_warnings(inputs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lines on files that were not used to the end and on broken records.

    Parameters
    ----------
    inputs : iterable of mappings
        Rows of the manifest's ``inputs``: path, status, error, n_rejected, rejected.
    """
    rows = list(inputs)
    lines = [f"{row['status']} file: {row['error']}" for row in rows if row["status"] != "ok"]
    for row in rows:
        if row["n_rejected"]:
            reasons = ", ".join(f"{reason} ({n})" for reason, n in row["rejected"].items())
            lines.append(f"{row['path']}: {row['n_rejected']} broken records set aside: {reasons}")
    return lines
