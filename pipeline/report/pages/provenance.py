"""How a report was made, for pages of ASes: commands that make them again, versions, inputs.

What differs from night to night (folders, versions, inputs) goes to a script beside the pages.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.metrics import METRICS
from pipeline.model.measured.reading import inputs_text
from pipeline.model.words import printable

N_INPUTS = 3  # that a page names; the index lists more, report.json all
_DEFAULT = ["hops"]  # what is measured where no metric is given
_N_DIGITS = 12  # of a sha256, on a page


@dataclass(frozen=True)
class Provenance:
    """Facts of ``report.json`` that pages show.

    Attributes
    ----------
    options : mapping
        Of the run: ``store`` and ``out``, if it has them.
    runs : sequence of dict
        Which runs measured what, as in ``report.json``.
    metrics : sequence of str
        Of all of them.
    versions : mapping of str to str
    inputs : sequence of dict
        Of the snapshot.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[dict] = ()
    metrics: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    inputs: Sequence[dict] = ()

    def measured_with(self, asn: int) -> str:
        """Options of ``hopscope analyze`` that measure what an AS has, each after a space."""
        runs = [run for run in self.runs if not run["asns"] or asn in run["asns"]]
        named = {metric for run in runs for metric in run["metrics"]} or set(self.metrics)
        metrics = [metric for metric in METRICS if metric in named]
        given = f" --metrics {','.join(metrics)}" if metrics not in ([], _DEFAULT) else ""
        limits = [limit for run in runs if (limit := run.get("max_searches")) is not None]
        if limits and len(limits) == len(runs):
            given += f" --max-searches {max(limits)}"
        return given

    def of_night(self) -> dict[str, str]:
        """Texts that differ from night to night, by their place on the page."""
        versions = [f"{name} {version}" for name, version in self.versions.items()]
        made = f"Made by {', '.join(versions)}." if versions else ""
        return {
            "store": _folder(self.options.get("store")),
            "out": _folder(self.options.get("out")),
            "made": printable(" ".join(filter(None, [made, _inputs(self.inputs)]))),
        }


def _folder(path: str | None) -> str:
    """An absolute path for a shell; empty where a page could not show it as it is."""
    if not path:
        return ""
    quoted = shlex.quote(os.path.abspath(path))
    return quoted if printable(quoted) == quoted else ""


def _inputs(inputs: Sequence[dict]) -> str:
    if not inputs:
        return ""
    named = [
        f"{entry.get('path', '')} (sha256 {(entry.get('sha256') or 'unknown')[:_N_DIGITS]})"
        for entry in inputs[:N_INPUTS]
    ]
    n_more = len(inputs) - len(named)
    more = f" and {n_more:,} more" if n_more else ""
    return f"From {inputs_text(inputs)}: {', '.join(named)}{more}."
