"""The nights that can be compared with one: those up to it, of its source and its settings.

A night that inference of another version made is among them, and says so. One with other options,
of another kind of nodes or from files of other formats would show these as if the network had
changed: it is left out, and named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.model.measured.mapped import mapped_percent
from pipeline.model.measured.origins import held_by
from pipeline.report.folder import mapping_or_empty, newest_s_of, report_of
from pipeline.store.pointers.nights import age_of, is_night

MAX_NIGHTS = 60  # up to the one that they are compared with
GAP = 2.0  # times the usual step between nights: further apart, nights are missing

# Options of ingest that decide what traces become, by their names in ``report.json``.
SETTINGS = {
    "borders": "--borders",
    "routers": "--routers",
    "bridge_gaps": "--bridge-gaps",
    "targets_are_routers": "--targets-are-routers",
    "allow_special": "--allow-special",
}
_MORE = {"asn": "--asn", "without_rule": "--without-rule"}
VERSION = {"hopscope": "version of hopscope", "inference_rules": "rules of inference"}


@dataclass(frozen=True)
class SeriesNight:
    """A night with a report.

    Attributes
    ----------
    name : str
    day : float
        Of its newest record, or of its name; days since 1970.
    node_kind : str
    mapped : float or None
        Share of the addresses that answered and are mapped or admitted, per cent.
    version : str
        Of the snapshot.
    made_otherwise : str
        What of the version of inference is not as on the last night; empty: nothing.
    """

    name: str
    day: float
    node_kind: str
    mapped: float | None
    version: str
    made_otherwise: str = ""


@dataclass(frozen=True)
class Series:
    """Nights that are compared, the oldest first, and those that are not, with the reason."""

    nights: list[SeriesNight] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    @property
    def days(self) -> list[float]:
        return [night.day for night in self.nights]


def series_up_to(out: Path, last: str, folder: Path | None = None) -> Series:
    """Nights with a report that can be compared with one of them, itself included.

    Parameters
    ----------
    out : Path
        Folder of reports.
    last : str
        The night; without a date as its name, or without a report, it has no series.
    folder : Path or None
        Where the report of this night is; None: among the others.
    """
    if not is_night(last) or not out.is_dir():
        return Series()
    reports = {path.name: report_of(path) for path in out.iterdir() if is_night(path.name)}
    if folder is not None:
        reports[last] = report_of(folder)
    known = {name: report for name, report in reports.items() if report}
    if last not in known:
        return Series()
    ages = {name: age_of(name, newest_s_of(report)) for name, report in known.items()}
    ordered = sorted((name for name in ages if ages[name] <= ages[last]), key=ages.__getitem__)
    settings, version = _settings(known[last]), _version(known[last])
    series = Series()
    for name in ordered[-MAX_NIGHTS:]:
        other = _differing(settings, _settings(known[name]))
        if other:
            series.left_out.append((name, other))
            continue
        counts = mapping_or_empty(known[name].get("counts"))
        n, n_mapped = counts.get("n_addrs"), counts.get("n_addrs_mapped", 0)
        series.nights.append(
            SeriesNight(
                name,
                ages[name][1] / 86_400,
                str(known[name].get("node_kind")),
                mapped_percent(n, n_mapped) if isinstance(n, int) and n else None,
                str(known[name].get("snapshot_version")),
                _differing(version, _version(known[name])),
            )
        )
    return series


def breaks(days: list[float]) -> list[bool]:
    """Whether nights are missing before each: it is more than twice as far as usual."""
    steps = np.diff(days)
    most = GAP * float(np.median(steps)) if len(steps) else 0.0
    return [False, *(bool(step > most) for step in steps)][: len(days)]


def _settings(report: Mapping[str, Any]) -> dict[str, str]:
    options = mapping_or_empty(report.get("ingest_options"))
    inputs = report.get("inputs")
    entries = [e for e in (inputs if isinstance(inputs, list) else []) if isinstance(e, dict)]
    formats = {str(e.get("format")) for e in entries if held_by(e) != "table" and e.get("format")}
    found = {"nodes": str(report.get("node_kind"))}
    if formats:
        found["formats"] = ", ".join(sorted(formats))
    for key, called in (SETTINGS | _MORE).items():
        value = options.get(key)
        if key in options or key == "without_rule":  # this one is there where a rule is left out
            found[called] = str(sorted(value) if isinstance(value, list) else value or "none")
    return found


def _version(report: Mapping[str, Any]) -> dict[str, str]:
    options = mapping_or_empty(report.get("ingest_options"))
    return {called: str(options[key]) for key, called in VERSION.items() if key in options}


def _differing(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """What differs, of what both say, with the value of the other; empty: nothing."""
    both = sorted(one.keys() & other.keys())
    return ", ".join(f"{name} {other[name]}" for name in both if one[name] != other[name])
