"""What a user should know about the inputs before trusting the numbers; one line each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.ingest import FORMATS
from pipeline.ingest.opening import name_inside
from pipeline.metrics import tasks_of
from pipeline.model.measured.locations import Locations
from pipeline.model.measured.mapped import is_mapped_low, mapped_of
from pipeline.model.measured.reading import (
    CLASSIC,
    NO_SOURCE,
    NO_TARGET,
    printable_path,
    reasons_text,
    rejects_text,
)
from pipeline.model.topology import Topology
from pipeline.model.words import number
from pipeline.options import options_of

LONGEST_NIGHT_S = 2 * 86_400.0  # span of traces that one date may name silently
LEFT_OUT_NAMED = 5  # files of folders that are not measurements
LOSSES_NAMED = 5  # workers that were lost, named one by one
# Notes about entries of a table that contradict one another, and which of them counts.
CONFLICTS = {
    "address of two nodes": "the first node counts",
    "listed again with another relationship": "customer before sibling before peer",
    "ASes of two organisations": "the last name in order counts",
    "listed again with another origin": "the file given first counts, in one file the smaller "
    "AS number",
    "blocks of two holders": "the first name in order counts",
    "addresses that an earlier file has elsewhere": "the file given first counts",
    "LANs listed again with another name": "the first name listed counts",
}
_NEEDED = {  # ``Option.needs``: why an option has no effect without it
    "traces": "only for traces, and no input holds any",
    "topology": "only for topologies, and no input holds any",
    "hops": "only for hops, and --metrics does not name them",
    "widths": "only for widths, and --metrics names none",
}
_OF_TRACES = tuple(
    {suffix for format in FORMATS.values() if format.kind == "traces" for suffix in format.suffixes}
)
_NUMBER = re.compile(r"\d+")
_TASK = re.compile(r"^\w+_AS\d+(_AS\d+)?: ")  # a reason may begin with the task that failed


def low_share_warnings(manifest: Mapping[str, Any]) -> list[str]:
    """The line of ``mapped_warnings`` that a snapshot has, where its share is low."""
    counts = manifest.get("counts") or {}
    if not is_mapped_low(counts):
        return []
    said = mapped_of(counts)
    return [line for line in manifest.get("warnings", ()) if str(line).startswith(said)][:1]


def doubtful_text(n_pairs: int) -> str:
    """What became of pairs that only classic traces show (``infer.traces.links``)."""
    are = "is" if n_pairs == 1 else "are"
    return (
        f"{number(n_pairs, 'pair')} of successive answers that only traces by a classic method "
        f"show, and rarely, {are} not linked: they may be of two paths"
    )


def effect_warnings(
    config: IngestConfig | AnalyzeConfig, kinds: Iterable[str], others: Sequence[str] = ()
) -> list[str]:
    """One line if any option was given that has no effect on these inputs, or these metrics.

    Parameters
    ----------
    config : IngestConfig or AnalyzeConfig
    kinds : iterable of str
        What there is of what an option may need: ``"traces"``, ``"topology"``; ``"hops"``,
        ``"widths"``.
    others : sequence of str
        Further options without effect, each with the reason.
    """
    kind_of_config: type = type(config)
    options = options_of(kind_of_config)
    missing = {each.needs for each in options} - {"", *kinds}
    unused = [
        f"{', '.join(flags)} ({_NEEDED[kind]})"
        for kind in sorted(missing)
        if (
            flags := [
                each.flag
                for each in options
                if each.needs == kind and getattr(config, each.name) != each.default
            ]
        )
    ]
    unused += others
    return [f"options without effect: {'; '.join(unused)}"] if unused else []


def metric_warnings(config: AnalyzeConfig) -> list[str]:
    """One line if any option was given that has no effect on the requested metrics."""
    tasks = tasks_of(config.metrics).keys()
    needed = {"hops": {"search"}, "widths": {"widths", "weighted"}}
    return effect_warnings(config, [kind for kind, of in needed.items() if of & tasks])


def left_out_warnings(left_alone: Sequence[Path], chosen: str | None) -> list[str]:
    """One line if files of folders were left out, since they are not measurements.

    ``chosen``: the one format, or kind of formats, that was to be read; None: any.
    """
    if not left_alone:
        return []
    names = ", ".join(printable_path(path.name) for path in left_alone[:LEFT_OUT_NAMED])
    n_more = len(left_alone) - LEFT_OUT_NAMED
    kind = {"traces": "trace", None: "measurement"}.get(chosen, chosen)
    return [f"no {kind} files, left out: {names}{f' and {n_more:,} more' if n_more > 0 else ''}"]


def alias_warnings(path: Path | None, topologies: Sequence[Topology]) -> list[str]:
    """A line if traces contradict alias sets: the links inside them, and what to do.

    Parameters
    ----------
    path : Path or None
        The file of ``--aliases``.
    topologies : sequence of Topology
        Inferred from traces, and of files.
    """
    lines = []
    for topology in topologies:
        found = topology.swallowed
        if path is not None and found is not None and found.n_links:
            sets = number(found.n_sets, "set")
            lines.append(
                f"traces show {number(found.n_links, 'link')} inside {sets} of --aliases "
                f"{printable_path(path)}: their ends are mostly two routers, and the links are "
                f"lost; the largest such set, with {found.largest_addr}, has "
                f"{number(found.n_largest, 'address')}; correct the file, or leave it out to infer "
                "routers from the traces"
            )
    return lines


def name_warnings(oldest_s: float, newest_s: float) -> list[str]:
    """A line if the date that names a snapshot of traces is not that of all of them.

    Parameters
    ----------
    oldest_s, newest_s : float
        Time of the first and the last trace, seconds since 1970 UTC; 0: no time is known.
    """
    if not newest_s:
        return [
            "no trace has a usable time, so the snapshot is named by the time of this run; give "
            "--snapshot NAME"
        ]
    if newest_s - oldest_s <= LONGEST_NIGHT_S:
        return []
    first, last = (f"{datetime.fromtimestamp(s, UTC):%Y-%m-%d}" for s in (oldest_s, newest_s))
    return [
        f"the traces are from {first} to {last}, and the snapshot has the last date as its "
        "name; give --snapshot NAME for another one, or only the traces of one night"
    ]


def place_warnings(places: Locations | None) -> list[str]:
    """A line if the speed of light forbids some places."""
    n = 0 if places is None else int(places.is_impossible.sum())
    if places is None or not n:
        return []
    return [
        f"{n:,} of {number(len(places), 'place')} of addresses impossible by the speed of light in "
        "fibre, two thirds of that in a vacuum, and the smallest RTTs; they are kept, and marked"
    ]


def snapshot_warnings(manifest: Mapping[str, Any]) -> list[str]:
    """Warnings from the making of a snapshot: files lost, its own, others on inputs."""
    rows = manifest.get("inputs") or ()
    return [*lost_warnings(rows), *manifest.get("warnings", ()), *input_warnings(rows)]


def lost_warnings(inputs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lines on files of which most records were rejected: the share, and why."""
    return [
        f"{row.get('path', '')}: {lost}: {reasons_text(row.get('rejected', {}))}"
        for row in inputs
        if (lost := row.get("mostly_rejected"))
    ]


def input_warnings(inputs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lines on files that were not used to the end and on broken records.

    Parameters
    ----------
    inputs : iterable of mappings
        Rows of the manifest's ``inputs``: path, status, error, n_rejected, rejected; any may be
        missing.
    """
    rows = list(inputs)
    lines = [
        f"{row['status']} file: {row.get('error') or row.get('path', '')}"
        for row in rows
        if row.get("status", "ok") != "ok"
    ]
    for row in rows:
        if (n_rejected := row.get("n_rejected")) and not row.get("mostly_rejected"):
            rejects = rejects_text(n_rejected, row.get("rejected", {}))
            lines.append(f"{row.get('path', '')}: {rejects}")
    return [
        *lines,
        *_empty_tables(rows),
        *_conflicts(rows),
        *_identical_files(rows),
        *_same_names(rows),
        *_of_traces(rows),
    ]


def _empty_tables(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each table that is valid, but of which nothing is used."""
    lines = []
    for row in rows:
        is_table = row.get("holds") == "table" and row.get("status", "ok") == "ok"
        if is_table and row.get("n_records") == 0 and not row.get("n_rejected"):
            skipped = row.get("skipped") or {}
            said = ", ".join(f"{kind} ({n:,})" for kind, n in skipped.items())
            what = f"nothing in it is used: {said}" if said else "holds no entries"
            lines.append(f"{row.get('path', '')}: a valid table, but {what}")
    return lines


def _conflicts(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for tables whose entries contradict one another, with how many and what counts.

    Tables of one format are read as one, so an entry of one may contradict that of another.
    """
    counts: dict[str, Counter[str]] = {}
    paths: dict[str, list[str]] = {}
    for row in rows:
        notes = row.get("notes")
        if row.get("holds") != "table" or not isinstance(notes, Mapping):
            continue  # a damaged manifest may hold anything
        kind = str(row.get("format", ""))
        found = {name: notes[name] for name in CONFLICTS if isinstance(notes.get(name), int)}
        counts.setdefault(kind, Counter()).update(found)
        if found or row.get("n_records"):
            paths.setdefault(kind, []).append(str(row.get("path", "")))
    lines = []
    for kind, found in counts.items():
        if found:
            one, *others = paths[kind]
            who = f"{one} contradicts itself"
            if others:
                n_more = len(others) - 1
                more = f" and {number(n_more, 'more table')}" if n_more else ""
                who = f"{one} and {others[0]}{more} contradict one another, or themselves"
            said = [f"{name} ({n}; {CONFLICTS[name]})" for name, n in found.items()]
            lines.append(f"{who}: {', '.join(said)}")
    return lines


def _identical_files(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each file of which there are copies.

    Copies are left out; before they were, their records counted more than once.
    """
    same: dict[str, list[str]] = {}
    for row in rows:
        digest = row.get("sha256")  # a damaged manifest may hold anything
        if (
            digest
            and isinstance(digest, str)
            and row.get("n_records")
            and row.get("holds") != "table"
        ):
            same.setdefault(digest, []).append(str(row.get("path", "")))
    counted_again = [
        f"{' and '.join(paths[:2])}{f' and {len(paths) - 2:,} more' if len(paths) > 2 else ''} are "
        f"identical: their records count {number(len(paths), 'time')}; leave all but one out"
        for paths in same.values()
        if len(paths) > 1
    ]
    copies: dict[str, list[str]] = {}
    for row in rows:
        if isinstance(original := row.get("copy_of"), str):
            copies.setdefault(original, []).append(str(row.get("path", "")))
    return counted_again + [
        f"{paths[0]}{f' and {len(paths) - 1:,} more' if len(paths) > 1 else ''} left out: "
        f"identical to {original}"
        for original, paths in copies.items()
    ]


def _of_traces(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lines that count traces by a classic method, and those without a source or destination."""
    noted = dict.fromkeys((CLASSIC, NO_SOURCE, NO_TARGET), 0)
    n_traces = 0
    for row in rows:
        notes, n_records = row.get("notes"), row.get("n_records")
        # A damaged manifest may hold anything.
        if row.get("holds") == "traces" and isinstance(n_records, int):
            n_traces += n_records
            for note in noted:
                found = notes.get(note) if isinstance(notes, Mapping) else 0
                noted[note] += found if isinstance(found, int) else 0
    of_all = f"of {number(n_traces, 'trace')}"
    lines = {
        CLASSIC: "by a classic method, or the text of traceroute, which has one by default: where "
        "load is balanced, they show links that do not exist, which confidence takes into account; "
        "measure with Paris traceroute where you can",
        NO_SOURCE: "do not say where they are from, so comparisons of nights do not use them: give "
        "--vantage ADDRESS, or --vantage PATTERN=ADDRESS by file name",
        NO_TARGET: "do not say the address of their destination, so destinations that answer "
        "may count as routers",
    }
    return [f"{n:,} {of_all} {lines[note]}" for note, n in noted.items() if n]


def _same_names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for pairs of files of one folder whose names differ in endings alone.

    These are endings of compressions and, of traces, of formats: programs write one measurement in
    several. Pairs are one line, which names the first; so are groups of three files, and so on.
    """
    same: dict[tuple[Path, str], list[Path]] = {}
    for row in rows:
        if row.get("n_records") and row.get("holds") != "table":
            path = Path(str(row.get("path", "")))
            name = name_inside(path.name)
            if row.get("holds") == "traces" and name.endswith(_OF_TRACES):
                name = name.rpartition(".")[0]
            same.setdefault((path.parent, name), []).append(path)
    alike: dict[tuple[str, int], list[str]] = {}
    for paths in same.values():
        if len(paths) > 1:
            is_one = len({name_inside(path.name) for path in paths}) == 1
            how = "plain or compressed" if is_one else "in several formats"
            alike.setdefault((how, len(paths)), []).append(" and ".join(map(str, paths)))
    lines = []
    for (how, n_paths), groups in alike.items():
        who, of_each = f"{groups[0]} have", ""
        if n_more := len(groups) - 1:
            more = number(n_more, "more pair" if n_paths == 2 else "more group")
            who, of_each = f"{groups[0]}, and {more}, each have", " of each"
        lines.append(
            f"{who} one name, {how}: if they hold the same, it counts {number(n_paths, 'time')}; "
            f"leave all but one{of_each} out"
        )
    return lines


def loss_warnings(lost: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line on the workers that a run lost, if any.

    Parameters
    ----------
    lost : sequence of mappings
        In order of time: worker, at (seconds since 1970 UTC), n_tasks.
    """
    if not lost:
        return []
    shown = [
        f"{row['worker']} at {datetime.fromtimestamp(row['at'], UTC):%Y-%m-%d %H:%M:%S} UTC "
        f"with {number(row['n_tasks'], 'task')}"
        for row in lost[:LOSSES_NAMED]
    ]
    if len(lost) > len(shown):
        shown.append(f"{len(lost) - len(shown):,} more")
    tasks = "its tasks were" if len(lost) == 1 else "their tasks were"
    return [f"{number(len(lost), 'worker')} lost, {tasks} retried: {'; '.join(shown)}"]


def failure_warnings(failed: Mapping[int, str]) -> list[str]:
    """Lines on ASes that were not measured completely: one per reason, with how many have it.

    Parameters
    ----------
    failed : mapping of int to str
        ASN -> reason. Reasons that differ only in the task that failed are one; so are those
        that differ only in numbers, shown as that of the first AS.
    """
    return [_failure_line(asns, failed) for asns in _alike(failed)]


def commonest_failure(failed: Mapping[int, str]) -> str:
    """The line of ``failure_warnings`` that concerns most ASes."""
    return _failure_line(max(_alike(failed), key=len), failed)


def _alike(failed: Mapping[int, str]) -> list[list[int]]:
    """ASes by reason, in order of the first of each."""
    alike: dict[str, list[int]] = {}
    for asn, reason in sorted(failed.items()):
        alike.setdefault(_NUMBER.sub("0", _without_task(reason)), []).append(asn)
    return list(alike.values())


def _without_task(reason: str) -> str:
    return _TASK.sub("", reason)


def _failure_line(asns: list[int], failed: Mapping[int, str]) -> str:
    first = f"AS{asns[0]}"
    if len(asns) == 1:
        return f"{first}: {failed[asns[0]]}"
    reason = _without_task(failed[asns[0]])
    if len({_without_task(failed[asn]) for asn in asns}) == 1:
        return f"{number(len(asns), 'AS')} ({first} and others): {reason}"
    return f"{number(len(asns), 'AS')} (numbers shown are for {first}): {reason}"
