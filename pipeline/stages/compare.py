"""Two snapshots to what changed between them."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from pipeline.compare import Changes, compare_nights
from pipeline.compare.drift import with_drifts
from pipeline.config import CompareConfig
from pipeline.errors import UsageError
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.places.command_lines import command_line
from pipeline.report.compared import Compared, compared_in
from pipeline.report.comparison import comparison_tables, write_comparison
from pipeline.report.folder import report_of, report_turn
from pipeline.report.nights import NIGHTS_PAGE, write_nights
from pipeline.report.published import bring_reports
from pipeline.stages.nights.drift import drifts_up_to
from pipeline.stages.nights.flapping import turns_up_to
from pipeline.stages.nights.inferences import agreement
from pipeline.stages.nights.references import before_next, keep_up_to, usual_up_to
from pipeline.stages.nights.snapshots import (
    before,
    figures_warning,
    gap_warning,
    night_after,
    night_before,
    open_night,
    order_warning,
    rules_warning,
    synthetic_warning,
)
from pipeline.stages.places import check_comparison
from pipeline.store import Snapshot, open_snapshot
from pipeline.store.pointers.nights import is_night
from pipeline.store.pointers.versions import versions_named


@dataclass(frozen=True)
class CompareSummary:
    """What changed, and where the files are."""

    old: str
    new: str
    folder: Path
    page: Path
    n_events: int
    events: list[dict] = field(default_factory=list)  # the first ones, as in events.parquet
    counts: dict[str, int] = field(default_factory=dict)  # "link removed" -> rows
    wall_s: float = 0.0
    warnings: list[str] = field(default_factory=list)
    n_reference_nights: int = 0  # that RTTs and hops were compared with
    agreement: dict[str, int] = field(default_factory=dict)  # of two inferences, see `agreement`


@dataclass(frozen=True)
class NightCompared:
    """A night and the one before it: what changed, None if there is none to compare with.

    ``passed_over``: a line on each night that was to be compared with and is broken.
    """

    summary: CompareSummary | None
    passed_over: list[str] = field(default_factory=list)


def compare(config: CompareConfig, progress: ProgressCallback = no_progress) -> CompareSummary:
    """Compare two snapshots of a store, and write what changed into ``OUT/<new>/``.

    Raises
    ------
    UsageError
        If both are the same one, the files cannot be written to their place, or there is the
        comparison with the night before the newer one.
    StoreError
        If there is no such snapshot, or one is broken.
    """
    started = time.time()
    if config.old == config.new:
        raise UsageError(f"both are {config.old}; give two snapshots, the older one first")
    with (
        open_snapshot(config.store, config.old) as old,
        open_snapshot(config.store, config.new) as new,
    ):
        bring_reports(config.out)
        check_comparison(config, old, new)
        _check_not_own(config)
        progress(Progress("compare", 0, 1, "nights", f"{old.name} and {new.name}"))
        warnings = [order_warning(old, new, config.out), *map(synthetic_warning, (old, new))]
        warnings.append(gap_warning(config.store, config.out, old.name, new.name))
        warnings += [figures_warning(night, config.out) for night in (old, new)]
        nights = open_night(old, config.out), open_night(new, config.out)
        warnings.append(rules_warning(*nights))
        warnings = [line for line in warnings if line]
        usual = usual_up_to(config.store, config.out, old, nights[0])
        changes, events = compare_nights(*nights, usual)
        drifts = drifts_up_to(config.out, new.name) if is_night(old.name) else None
        if drifts is not None:
            changes, events = with_drifts(changes, events, drifts)
        agrees = agreement(old, new)
        progress(Progress("compare", 1, 1, "nights"))
        has_traces = all(night.observations is not None for night in nights)
        names, covers = nights[0].names | nights[1].names, (usual.n_nights, usual.since)
        known = before_next(config.store, config.out, new, old, nights[0], usual)
        night = nights[1]
        del nights  # of millions of paths: the older one is not needed where new ones are kept
        if known is not None:
            keep_up_to(config.store, new, night, known)
        del night, known, usual
        with report_turn(config.out, new.name):
            files = write_comparison(
                config.out,
                old.name,
                new.name,
                changes,
                events,
                names,
                "; ".join(warnings),
                covers,
                _kind_of_nodes(old, new),
                (old.version, new.version),
                has_traces=has_traces,
                turns=turns_up_to(config.out, old.name, changes, events),
            )
            unshown = _not_shown(config, new.version)
            if (config.out / NIGHTS_PAGE).exists():
                write_nights(config.out, config.store)
    return CompareSummary(
        config.old,
        config.new,
        files.folder,
        files.page,
        files.n_events,
        files.events,
        count_changes(changes),
        time.time() - started,
        [*warnings, *filter(None, [unshown])],
        covers[0],
        agrees,
    )


def compared_tables(
    old: Snapshot, new: Snapshot, out: Path | None = None
) -> tuple[pa.Table, pa.Table]:
    """What changed between two snapshots: the tables of ``compare``, of which nothing is written.

    Parameters
    ----------
    old, new : Snapshot
        Of one store or of two.
    out : Path or None
        Folder of reports, whose figures are compared, too.

    Returns
    -------
    changes, events : pyarrow.Table
        As in ``changes.parquet`` and ``events.parquet``. RTTs and hops are compared with those of
        the older night alone.
    """
    nights = open_night(old, out), open_night(new, out)
    changes, events = compare_nights(*nights)
    names = nights[0].names | nights[1].names
    compared = Compared(old.name, new.name, old.version, new.version)
    return comparison_tables(changes, events, names, compared, 1, _kind_of_nodes(old, new))


def _kind_of_nodes(old: Snapshot, new: Snapshot) -> str:
    """What a node is on both nights, see ``node_words``."""
    return old.kind if old.kind == new.kind and old.kind != "as" else "mixed"


def _not_shown(config: CompareConfig, version: str) -> str:
    """What to say if the report beside a comparison is of another version, and shows none of it."""
    folder = config.out / config.new
    report = report_of(folder)
    if report is None or report.get("snapshot_version") == version:
        return ""
    words = ("analyze", "--snapshot", config.new)
    return (
        f"{folder}: the report is of another version of {config.new} than the store has, so its "
        "pages do not show what changed; "
        f"{command_line(*words, store=config.store, out=config.out)} writes it again"
    )


def _check_not_own(config: CompareConfig) -> None:
    """Refuse to replace the comparison of a night with the one before it by another one."""
    folder = config.out / config.new
    there = compared_in(folder).old
    if there in ("", config.old) or there != night_before(config.store, config.out, config.new):
        return
    raise UsageError(
        f"{folder} holds what changed since {there}, the night before it, and its report says so; "
        f"to compare {config.new} with {config.old} give --out another folder (figures of reports "
        "are compared only where both reports are in it)"
    )


def compare_with_night_before(
    store: Path, out: Path, new: str, progress: ProgressCallback = no_progress
) -> NightCompared:
    """Compare a night with the one before it (``before``), past those that are broken.

    Raises
    ------
    UsageError, StoreError
        As ``compare`` does.
    """
    bring_reports(out)
    with open_snapshot(store, new) as snapshot:
        if not snapshot.has_observations:
            return NightCompared(None)
        found = before(store, out, new)
    done = f"{new} was " + (f"compared with {found.night}, not" if found.night else "not compared")
    passed_over = [f"{done} with {name}: {why}" for name, why in found.broken.items()]
    if found.night is None:
        return NightCompared(None, passed_over)
    config = CompareConfig(found.night, new, store, out)
    return NightCompared(compare(config, progress), passed_over)


def next_to_compare(store: Path, out: Path, night: str) -> str | None:
    """The night after a late one, if it was compared with an older one, or another version.

    Nights may be ingested in any order, and again; each is then compared with the one before it.
    """
    later = night_after(store, out, night)
    if later is None:
        return None
    versions, there = versions_named(store), compared_in(out / later)
    is_done = there.is_of(versions[later]) and not there.is_replaced(versions)
    return None if there.old == night and is_done else later


def count_changes(changes: Changes) -> dict[str, int]:
    """Rows by what and kind, most first."""
    pairs = zip(changes.what.tolist(), changes.kind.tolist(), strict=True)
    counts = Counter(f"{what} {kind}" for what, kind in pairs)
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
