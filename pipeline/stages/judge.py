"""What a snapshot, or another method, says of a network, compared with what is true of it."""

from __future__ import annotations

import csv
import io
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.config import JudgeConfig
from pipeline.errors import UsageError, said_by_system
from pipeline.files import written_whole
from pipeline.infer import Observation
from pipeline.judge import Score, Truth, Visible, find_visible, score
from pipeline.judge.faults import find_faults
from pipeline.judge.figures import figures_of, unsaid
from pipeline.judge.kinds import Error, errors_of
from pipeline.judge.loading import read_truth
from pipeline.judge.observing import measurements_of, observe_files, observe_kept
from pipeline.judge.outputs import Output, read_output, topology_of_output
from pipeline.judge.rated import pool
from pipeline.judge.stored import HIDES, topology_of
from pipeline.model.addresses import format_addrs
from pipeline.model.measured.reading import ReadReport, reasons_text, rejects_text
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.model.topology import Topology
from pipeline.model.words import number
from pipeline.places import url_of
from pipeline.stages.places import check_file
from pipeline.store import Snapshot, has_store, open_snapshot, snapshot_names
from pipeline.writers.texts import of_csv

FEW = 0.75  # share of addresses known to a whole truth, below which it may be of another network


@dataclass(frozen=True)
class _LeftOut:
    """What of some files was not used.

    Attributes
    ----------
    warnings : list of str
    is_much : bool
        A file was not read to its end, or most of its records were not used.
    """

    warnings: list[str]
    is_much: bool

    @classmethod
    def of(cls, reports: Iterable[ReadReport]) -> _LeftOut:
        told, is_much = [], False
        for report in reports:
            if n := report.rejected.total():
                most = report.mostly_rejected
                told.append(
                    f"{report.path}: {most}: {reasons_text(report.rejected)}"
                    if most
                    else f"{report.path}: {rejects_text(n, report.rejected)}"
                )
            if report.error:
                told.append(report.error)
            is_much |= report.status != "ok" or bool(report.mostly_rejected)
        return cls(told, is_much)


@dataclass(frozen=True)
class Known:
    """What is true, and where that came from.

    Attributes
    ----------
    truth : Truth
    place : Path
        Traces in that folder say what can be found.
    left_out : _LeftOut
        What of its files was not used.
    """

    truth: Truth
    place: Path
    left_out: _LeftOut


@dataclass
class _Traces:
    """Traces that show what can be found, and where they came from; None: there are none."""

    observation: Observation | None
    source: str | None
    warnings: list[str] = field(default_factory=list)
    is_whole: bool = True  # every file was read to its end

    @property
    def n(self) -> int:
        return 0 if self.observation is None else self.observation.n_traces

    @property
    def observations(self) -> list[Observation]:
        return [] if self.observation is None else [self.observation]


def judge(config: JudgeConfig, progress: ProgressCallback = no_progress) -> dict[str, Any]:
    """Judge a snapshot, or the output of another method.

    Returns
    -------
    dict
        ``judged``: ``method`` (``hopscope``, ``CSV``, ``bdrmapIT``, ``ITDK``), ``snapshot`` or
        ``path``, ``node_kind``; ``truth``: ``path``, ``plan`` and its size; ``traces``: how many
        say what can be found (``n``), and whose they are (``source``, None: there are none);
        ``addresses``: ``stated``, and of these ``known`` to the truth; ``figures`` by name:
        ``right``, ``of``, ``share``, ``standard_error``, ``reason``; ``hops``: ``mean_excess``;
        ``left_out``; ``confidence``: rows of ``of``, ``class``, ``n``, ``right``, ``stated``,
        ``share``, ``standard_error``; ``errors``: ``kinds`` with counts, ``file``;
        ``complete``: every file was used to its end, most of its records too; ``warnings``.

    Raises
    ------
    UsageError
        If nothing can be judged: no addresses, no traces, a truth of another network; if another
        file would be replaced by the errors.
    FormatError
        If the truth, the output or a file of traces cannot be read.
    StoreError
        If there is no such snapshot, or it is broken.
    """
    if config.errors is not None:
        check_file(config.errors, "errors.csv", "--errors")
        _check_own(config.errors)
    known = read_known(config.truth)
    if url_of(config.store) or has_store(config.store) or _holds_nothing(config.store):
        with open_snapshot(config.store, config.snapshot) as snapshot:
            facts, errors = judge_snapshot(snapshot, known, config.traces, progress)
            facts["warnings"][:0] = _of_another_night(config, snapshot.name)
    elif config.snapshot is not None:
        raise UsageError(f"{config.store} is no store: --snapshot {config.snapshot} is not in it")
    else:
        facts, errors = judge_output(config.store, known, config.traces, progress)
    if config.errors is not None:
        write_errors(errors, config.errors)
        facts["errors"]["file"] = str(config.errors)
    return facts


def _of_another_night(config: JudgeConfig, newest: str) -> list[str]:
    """A warning if the newest was judged, and the truth's folder has the name of another."""
    place = config.truth.absolute()
    name = (place if place.is_dir() else place.parent).name
    if config.snapshot is not None or name == newest or name not in snapshot_names(config.store):
        return []
    return [
        f"the newest snapshot, {newest}, is judged; the truth is in a folder {name}, as another "
        f"snapshot is called: --snapshot {name} judges that one"
    ]


def _check_own(errors: Path) -> None:
    """UsageError where a file is there that is no table of errors: it may be what is judged."""
    try:
        with errors.open("rb") as file:
            head = file.readline(1 << 10).rstrip()
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"--errors {errors} cannot be read: {said_by_system(error)}") from error
    if head != ",".join(Error._fields).encode():
        reason = "is there already, and is no table of errors: give another name"
        raise UsageError(f"--errors {errors} {reason}")


def _holds_nothing(place: Path) -> bool:
    """Whether a path is missing, or an empty folder, as a first ingest that fails leaves it."""
    return not place.exists() or (place.is_dir() and not any(place.iterdir()))


def read_known(place: Path) -> Known:
    """Read a truth; FormatError if it cannot be used."""
    truth, reports = read_truth(place)
    return Known(truth, place, _LeftOut.of(reports))


def judge_snapshot(
    snapshot: Snapshot,
    known: Known,
    traces: Sequence[Path] = (),
    progress: ProgressCallback = no_progress,
) -> tuple[dict[str, Any], list[Error]]:
    """Facts of ``judge``, and what is wrong; ``traces`` are taken in place of those beside."""
    topology = topology_of(snapshot)
    assert topology.addrs is not None
    shared, warnings = _shared(topology.addrs, known)
    with tempfile.TemporaryDirectory(prefix="hopscope-") as scratch:
        shown = _traces_of(snapshot, known.place, traces, Path(scratch), progress)
        progress(_compare(0))
        visible = find_visible(known.truth, shown.observations)
    shown.warnings[:0] = warnings
    judged = {"method": "hopscope", "snapshot": snapshot.name, "node_kind": snapshot.kind}
    reasons = unsaid(
        known.truth,
        has_traces=True,
        has_links=True,
        has_routers=snapshot.kind == "router",
        has_tunnels=HIDES in topology.link_columns,
    )
    return _compared(
        topology, known, visible, shown, reasons, judged | {"addresses": shared}, progress
    )


def judge_output(
    path: Path,
    known: Known,
    traces: Sequence[Path] = (),
    progress: ProgressCallback = no_progress,
) -> tuple[dict[str, Any], list[Error]]:
    """As ``judge_snapshot``, of the output of another method."""
    output, report = read_output(path)
    left_out = _LeftOut.of([report])
    warnings = left_out.warnings
    if output.n_several:
        warnings.append(
            f"{number(output.n_several, 'router')} of {path} with addresses in several ASes: that "
            "of most of them counts"
        )
    with tempfile.TemporaryDirectory(prefix="hopscope-") as scratch:
        shown = _traces_beside(known.place, traces, Path(scratch), progress)
        progress(_compare(0))
        topology = topology_of_output(output, shown.observations)
        visible = _visible(known.truth, output, shown)
    shared, few = _shared(output.addrs, known)
    shown.warnings[:0] = [*few, *warnings]
    shown.is_whole &= not left_out.is_much
    reasons = unsaid(
        known.truth,
        has_traces=bool(shown.observations),
        has_links=output.near is not None,
        has_routers=output.joins,
        has_tunnels=False,
        has_owners=output.has_owners,
    )
    judged = {"method": output.method, "path": str(path), "node_kind": topology.kind}
    return _compared(
        topology, known, visible, shown, reasons, judged | {"addresses": shared}, progress
    )


def _visible(truth: Truth, output: Output, shown: _Traces) -> Visible:
    """What traces show; without any, what the output names: of its addresses, and all links."""
    if shown.observations:
        return find_visible(truth, shown.observations)
    named = frozenset(format_addrs(output.addrs)) & truth.router_of.keys()
    return Visible(frozenset(), truth.links, frozenset(named))


def _compared(
    topology: Topology,
    known: Known,
    visible: Visible,
    shown: _Traces,
    reasons: dict[str, str],
    judged: dict[str, Any],
    progress: ProgressCallback,
) -> tuple[dict[str, Any], list[Error]]:
    truth = known.truth
    progress(_compare(1))
    found = score(topology, truth, visible)
    progress(_compare(2))
    faults = find_faults(topology, truth, visible)
    for name, lists in _LISTS.items():
        if name in reasons:
            faults |= {each: [] for each in lists}
    errors = list(errors_of(faults, truth))
    progress(_compare(3))
    addresses = judged.pop("addresses")
    facts = {
        "judged": judged,
        "truth": {
            "path": str(known.place),
            "plan": truth.plan or None,
            "whole": truth.is_whole,
            "n_routers": len(truth.asn_of),
            "n_ases": len(set(truth.asn_of.values())),
            "n_links": len(truth.links) if truth.has_links else None,
            "n_addresses": len(truth.router_of),
        },
        "traces": {"source": shown.source, "n": shown.n},
        "addresses": addresses,
        "figures": {name: one.facts() for name, one in figures_of(found, reasons).items()},
        "hops": {
            "mean_excess": found.hops_excess if found.hop_pairs and "hops" not in reasons else None
        },
        "left_out": {
            "candidates": found.candidates,
            "borders_not_visible": found.borders_true - found.borders_visible
            if truth.is_whole and shown.observations
            else None,
            "ingresses_not_judged": found.not_judged,
        },
        "confidence": [
            one
            for one in _confidence(found)
            if one["of"] == "address" or "ingresses" not in reasons
        ],
        "errors": {"kinds": _kinds(errors)},
        "complete": shown.is_whole and not known.left_out.is_much,
        "warnings": [*shown.warnings, *known.left_out.warnings],
    }
    return facts, errors


_COMPARED = ("what traces show", "figures", "errors")


def _compare(done: int) -> Progress:
    """How many steps of comparing are done."""
    name = _COMPARED[min(done, len(_COMPARED) - 1)]
    return Progress("compare", done, len(_COMPARED), "steps", name)


# Lists of faults that say nothing where a figure cannot be said.
_LISTS = {
    "ingresses": ("ingresses",),
    "borders": ("borders_missed",),
    "addresses": ("addresses",),
    "links_right": ("links_false",),
    "links_found": ("links_missed",),
    "alias_pairs_right": ("mixed_nodes",),
}


def _shared(addrs: np.ndarray, known: Known) -> tuple[dict[str, int], list[str]]:
    """How many addresses the truth knows, and a warning if these are few."""
    truth, place = known.truth, known.place
    stated = set(format_addrs(addrs))
    n_known = len(stated & truth.router_of.keys())
    of = f"{n_known:,} of {number(len(stated), 'judged address')}"
    if not n_known:
        raise UsageError(
            f"{of} on a router of {place} ({number(len(truth.router_of), 'address')}): "
            "it is the truth of another network"
        )
    few = n_known < FEW * len(stated) and truth.is_whole
    warnings = [f"only {of} on a router of {place}: is it the truth of this network?"] * few
    return {"stated": len(stated), "known": n_known}, warnings


def _traces_beside(
    place: Path, given: Sequence[Path], scratch: Path, progress: ProgressCallback
) -> _Traces:
    """Traces of files that are given, else of those in the folder of the truth."""
    paths = tuple(given) or (tuple(measurements_of(place)) if place.is_dir() else ())
    if not paths:
        return _Traces(None, None)

    def told(done: int, name: str, n_traces: int) -> None:
        detail = ", ".join(filter(None, [name, number(n_traces, "trace")]))
        progress(Progress("read", done, len(paths), "files", detail))

    observation, reports = observe_files(paths, scratch, told)
    left_out = _LeftOut.of(reports)
    source = "that were given" if given else "beside the truth"
    return _Traces(observation, source, left_out.warnings, not left_out.is_much)


def _traces_of(
    snapshot: Snapshot,
    place: Path,
    given: Sequence[Path],
    scratch: Path,
    progress: ProgressCallback,
) -> _Traces:
    n_read = int((snapshot.manifest.get("counts") or {}).get("n_traces") or 0)
    shown = _traces_beside(place, given, scratch, progress)
    if shown.observations:
        if not given and shown.n != n_read:
            shown.warnings.append(
                f"snapshot {snapshot.name} is of {number(n_read, 'trace')}, and beside the truth "
                f"there are {shown.n:,}: what these show counts; --traces FILE names others"
            )
        return shown
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
    progress(Progress("read", 0, n_kept, "traces", f"kept by {snapshot.name}"))
    observed = observe_kept(snapshot.traces, scratch)
    progress(Progress("read", n_kept, n_kept, "traces", f"kept by {snapshot.name}"))
    return _Traces(observed, "kept by the snapshot", warnings)


def _confidence(found: Score) -> list[dict[str, Any]]:
    return [
        {
            "of": one.what,
            "class": one.class_name,
            "n": one.n,
            "right": one.right,
            "stated": one.stated,
            "share": one.measured,
            "standard_error": found.errors.get(f"{one.what} {one.class_name}"),
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
