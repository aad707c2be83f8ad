"""What a user should know of the inputs before trusting the numbers; one line each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_NUMBER = re.compile(r"\d+")


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


def failure_warnings(failed: Mapping[int, str]) -> list[str]:
    """Lines on ASes of which something was not measured: one a reason, with how many have it.

    Parameters
    ----------
    failed : mapping of int to str
        ASN -> reason. Reasons that differ in numbers alone are one: of several ASes that of the
        first is told.
    """
    alike: dict[str, list[int]] = {}
    for asn, reason in sorted(failed.items()):
        alike.setdefault(_NUMBER.sub("0", reason), []).append(asn)
    return [_failure_line(asns, failed) for asns in alike.values()]


def _failure_line(asns: list[int], failed: Mapping[int, str]) -> str:
    first = f"AS{asns[0]}"
    if len(asns) == 1:
        return f"{first}: {failed[asns[0]]}"
    if len({failed[asn] for asn in asns}) == 1:
        return f"{len(asns):,} ASes ({first} and others): {failed[asns[0]]}"
    return f"{len(asns):,} ASes, numbers those of {first}: {failed[asns[0]]}"
