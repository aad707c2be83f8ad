"""What a snapshot says, compared with what is true of its network."""

from __future__ import annotations

import csv
import io
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.config import JudgeConfig
from pipeline.errors import UsageError
from pipeline.files import written_whole
from pipeline.infer import Observation
from pipeline.judge import Score, Truth, find_visible, load_truth, score
from pipeline.judge.faults import find_faults
from pipeline.judge.figures import figures_of
from pipeline.judge.kinds import Error, errors_of
from pipeline.judge.observing import measurements_of, observe_files, observe_kept
from pipeline.judge.rated import pool
from pipeline.judge.stored import topology_of
from pipeline.model.addresses import format_addrs
from pipeline.model.topology import Topology
from pipeline.model.words import number
from pipeline.stages.places import check_file
from pipeline.store import Snapshot, open_snapshot
from pipeline.writers.texts import of_csv

FEW = 0.5  # share of addresses that a whole truth knows, below which it may be of another network


@dataclass
class _Traces:
    """Traces that show what can be found, and where they came from."""

    observation: Observation
    source: str
    warnings: list[str] = field(default_factory=list)


def judge(config: JudgeConfig) -> dict[str, Any]:
    """Judge a snapshot.

    Returns
    -------
    dict
        As of ``judged``.

    Raises
    ------
    UsageError
        If nothing can be judged: no addresses, no traces, a truth of another network.
    FormatError
        If the truth, or a file of traces, cannot be read.
    StoreError
        If there is no such snapshot, or it is broken.
    """
    if config.errors is not None:
        check_file(config.errors, "errors.csv")
    truth = load_truth(config.truth)
    with open_snapshot(config.store, config.snapshot) as snapshot:
        facts, errors = judged(snapshot, truth, config.truth, config.traces)
    if config.errors is not None:
        write_errors(errors, config.errors)
        facts["errors"]["file"] = str(config.errors)
    return facts


def judged(
    snapshot: Snapshot, truth: Truth, place: Path, traces: Iterable[Path] = ()
) -> tuple[dict[str, Any], list[Error]]:
    """Figures of a snapshot, and what is wrong.

    Parameters
    ----------
    snapshot : Snapshot
    truth : Truth
    place : Path
        Where it came from: traces in that folder say what can be found.
    traces : iterable of Path
        Files of traces that do so instead.

    Returns
    -------
    dict
        ``judged`` (``snapshot``, ``node_kind``); ``truth``: its size; ``traces``: how many say
        what can be found, and whose they are (``source``); ``addresses``: ``stated``, and of these
        ``known`` to the truth; ``figures`` by name: ``right``, ``of``, ``share``,
        ``standard_error``, ``reason``; ``hops``: mean excess; ``left_out``; ``confidence``: rows of
        ``of``, ``class``, ``n``, ``right``, ``stated``, ``share``; ``errors``: counts by ``kinds``;
        ``warnings``.
    list of Error
    """
    topology = topology_of(snapshot)
    shared, warnings = _shared(topology, truth, place)
    with tempfile.TemporaryDirectory(prefix="hopscope-") as scratch:
        shown = _observed(snapshot, place, tuple(traces), Path(scratch))
        visible = find_visible(truth, [shown.observation])
        n_traces = shown.observation.n_traces
    found = score(topology, truth, visible)
    errors = list(errors_of(find_faults(topology, truth, visible), truth))
    facts = {
        "judged": {"snapshot": snapshot.name, "node_kind": snapshot.kind},
        "truth": {
            "path": str(place),
            "plan": truth.plan or None,
            "n_routers": len(truth.asn_of),
            "n_ases": len(set(truth.asn_of.values())),
            "n_links": len(truth.links),
            "n_addresses": len(truth.router_of),
        },
        "traces": {"source": shown.source, "n": n_traces},
        "addresses": shared,
        "figures": {name: one.facts() for name, one in figures_of(found, {}).items()},
        "hops": {"mean_excess": found.hops_excess if found.hop_pairs else None},
        "left_out": {
            "candidates": found.candidates,
            "borders_not_visible": found.borders_true - found.borders_visible,
            "ingresses_not_judged": found.not_judged,
        },
        "confidence": _confidence(found),
        "errors": {"kinds": _kinds(errors)},
        "warnings": [*warnings, *shown.warnings],
    }
    return facts, errors


def _shared(topology: Topology, truth: Truth, place: Path) -> tuple[dict[str, int], list[str]]:
    """How many addresses the truth knows, and a warning if these are few."""
    assert topology.addrs is not None
    stated = set(format_addrs(topology.addrs))
    n_known = len(stated & truth.router_of.keys())
    of = f"{n_known:,} of {number(len(stated), 'address')} that are judged"
    if not n_known:
        raise UsageError(
            f"{of} are of a router of {place} ({number(len(truth.router_of), 'address')}): "
            "it is the truth of another network"
        )
    few = n_known < FEW * len(stated) and truth.is_whole
    warnings = [f"only {of} are of a router of {place}: is it the truth of this network?"] * few
    return {"stated": len(stated), "known": n_known}, warnings


def _observed(snapshot: Snapshot, place: Path, given: tuple[Path, ...], scratch: Path) -> _Traces:
    n_read = int((snapshot.manifest.get("counts") or {}).get("n_traces") or 0)
    beside = given or (tuple(measurements_of(place)) if place.is_dir() else ())
    if beside:
        observation, faults = observe_files(beside, scratch)
        if not given and observation.n_traces != n_read:
            faults.append(
                f"snapshot {snapshot.name} is of {number(n_read, 'trace')}, and beside the truth "
                f"there are {observation.n_traces:,}: what these show counts; --traces FILE names "
                "others"
            )
        source = "files" if given else "beside the truth"
        return _Traces(observation, source, faults)
    if snapshot.traces is None:
        raise UsageError(
            f"snapshot {snapshot.name} keeps no traces, and {place} has none beside it: give those "
            "that say what can be found, --traces FILE"
        )
    n_kept = snapshot.n_traces_kept or 0
    warnings = []
    if n_kept < n_read:
        warnings.append(
            f"what can be found is what the {n_kept:,} kept of {number(n_read, 'trace')} show: "
            "that may be less than all of them do; --traces FILE gives all"
        )
    return _Traces(observe_kept(snapshot.traces, scratch), "kept by the snapshot", warnings)


def _confidence(found: Score) -> list[dict[str, Any]]:
    return [
        {
            "of": one.what,
            "class": one.class_name,
            "n": one.n,
            "right": one.right,
            "stated": one.stated,
            "share": one.measured,
        }
        for one in pool(found.rated)
    ]


def _kinds(errors: Iterable[Error]) -> list[dict[str, Any]]:
    n = Counter((error.what, error.kind) for error in errors)
    return [{"what": what, "kind": kind, "n": n[what, kind]} for what, kind in n]


def write_errors(errors: Iterable[Error], path: Path) -> None:
    """Write a CSV file, complete or not at all."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Error._fields)
    for error in errors:
        cells = ("" if value is None else value for value in error)
        writer.writerow(of_csv(one) if isinstance(one, str) else one for one in cells)
    with written_whole(path) as file:
        file.write(text.getvalue().encode())
