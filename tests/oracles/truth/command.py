"""Judge inference in networks of known truth: laboratories, and networks that are drawn.

usage: python -m tests.oracles.truth LAB|KIND|FIELD=VALUE... [--seeds FIRST-LAST] [--workers N]
           [--table {full,gain,means,...} [--into FILE] | --json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.pages.plot_searches import fill
from pipeline.errors import FormatError, PipelineError
from pipeline.judge import Score
from pipeline.judge.faults import find_faults
from tests.oracles.networks.seeds import parse_seeds
from tests.oracles.truth.laboratory import Laboratory
from tests.oracles.truth.scores import infer_lab, judge_owners, score
from tests.oracles.truth.side_by_side import each
from tests.oracles.truth.sources import Source, find_sources
from tests.oracles.truth.tables import (
    REGISTRIES,
    SHARES,
    TRUE_ALIASES,
    Judged,
    calibration_table,
    full_table,
    gain_table,
    means_table,
    misses,
    text,
    unseen_tables,
)

# Name on the command line: name in tables, options of ``judge_lab``.
_ALL = ("relationships", "organisations", "delegations", "exchanges")
WAYS: Mapping[str, tuple[str, dict]] = {
    "elected": ("elected", {"routers": "interfaces"}),
    "inferred-routers": ("elected, inferred routers", {"routers": "inferred"}),
    "true-aliases": (TRUE_ALIASES, {"true_alias_sets": True}),
    "registries": (REGISTRIES, {"registries": _ALL, "routers": "interfaces"}),
    "registries-inferred-routers": (
        f"{REGISTRIES}, inferred routers",
        {"registries": _ALL, "routers": "inferred"},
    ),
    "registries-true-aliases": (
        f"{REGISTRIES}, true aliases",
        {"registries": _ALL, "routers": "interfaces", "true_alias_sets": True},
    ),
    "host-names": ("elected, host names", {"registries": ("named",), "routers": "interfaces"}),
    "host-names-inferred-routers": (
        "elected, host names, inferred routers",
        {"registries": ("named",), "routers": "inferred"},
    ),
    "registries-host-names-inferred-routers": (
        f"{REGISTRIES}, host names, inferred routers",
        {"registries": (*_ALL, "named"), "routers": "inferred"},
    ),
    **{
        name: (f"elected, {name} alone", {"registries": (name,), "routers": "interfaces"})
        for name in _ALL
    },
    "prefix": ("by prefix alone", {"borders": "prefix"}),
    "targets-are-routers": ("elected, targets are routers", {"targets_are_routers": True}),
}
_NO_COUNTS = {"rated", "errors", "not_judged"}  # of ``Score``; of a whole truth all is judged
_BY_DEFAULT = ("elected", "inferred-routers", "true-aliases", "prefix")
TABLES = {
    "gain": gain_table,
    "full": full_table,
    "means": means_table,
    "unseen": unseen_tables,
}
# Part of a page that a table fills, between two marks; other tables fill one of their own name.
PARTS = {"full": "accuracy"}


def _ways(words: str) -> list[str]:
    ways = words.split(",")
    if unknown := set(ways) - set(WAYS):
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: give some of {', '.join(WAYS)}")
    return ways


def _owners(words: str) -> tuple[str, Path]:
    name, found, folder = words.partition("=")
    if not found or not Path(folder).is_dir():
        raise argparse.ArgumentTypeError(f"{words}: give NAME=FOLDER")
    return name, Path(folder)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.truth",
        description="Compare what is inferred in laboratories with their true networks.",
    )
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="LAB|KIND|FIELD=VALUE",
        help="folder with ground_truth.json, or .tar.xz; or a kind of tests.oracles.networks, "
        "drawn by each seed, with fields of its plan changed",
    )
    parser.add_argument("--seeds", type=parse_seeds, default=[1], metavar="FIRST-LAST")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes")
    parser.add_argument(
        "--ways",
        type=_ways,
        metavar="WAY,...",
        help=f"how owners are found: {', '.join(WAYS)}; "
        "default: elected, inferred-routers, true-aliases, prefix, registries where there are any, "
        "targets-are-routers where most are",
    )
    parser.add_argument(
        "--owners",
        type=_owners,
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="owners that another program found: LAB.json, address to AS",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--table", nargs="?", const="full", choices=TABLES, help="write Markdown")
    form.add_argument(
        "--json", action="store_true", help="one object: counts, shares and every fault"
    )
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FILE",
        help="fill the part of a page that is made of such a table",
    )
    return parser.parse_intermixed_args(words)


def _read_owners(path: Path) -> Mapping[str, int]:
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise FormatError(path, "owners", f"not JSON: {error}") from error


def judge(
    lab: Laboratory,
    ways: Sequence[str] | None,
    owners: Sequence[tuple[str, Path]],
    *,
    list_faults: bool = False,
) -> Judged:
    """Score a laboratory in every way."""
    if ways is None:
        known = vars(lab.registries).values()
        also = {
            "registries": any(table is not None for table in known),
            "targets-are-routers": lab.targets_are_routers,
        }
        ways = [way for way in WAYS if way in _BY_DEFAULT or also.get(way)]
    scores: dict[str, Score] = {}
    faults = {}
    for name, options in (WAYS[way] for way in ways):
        topology = infer_lab(lab, **options)
        scores[name] = score(topology, lab.truth, lab.observations, lab.visible)
        if list_faults:
            faults[name] = find_faults(topology, lab.truth, lab.visible)
    for name, folder in owners:
        if (path := folder / f"{lab.name}.json").is_file():
            scores[name] = judge_owners(lab, _read_owners(path))
    programs = frozenset(name for name, _ in owners if name in scores)
    name = lab.truth.plan or lab.name
    return Judged(name, name.partition(",")[0], lab.describe(), scores, programs, faults)


@dataclass(frozen=True)
class _Task:
    """What a process needs to know to judge one source."""

    source: Source
    ways: Sequence[str] | None
    owners: Sequence[tuple[str, Path]]
    list_faults: bool

    def run(self) -> tuple[Judged | None, list[str]]:
        """What was judged, None where it cannot be read; and what to say about it."""
        try:
            with self.source.open() as lab:
                told = _differences(lab)
                return judge(lab, self.ways, self.owners, list_faults=self.list_faults), told
        except PipelineError as error:
            return None, [str(error)]


def _differences(lab: Laboratory) -> list[str]:
    differences = {} if lab.listed is None else lab.visible.differences(lab.listed)
    return [
        f"{lab.name}: visible {what}: {n} differ from the list beside the laboratory"
        for what, n in differences.items()
    ]


def _as_json(judged: Sequence[Judged]) -> dict[str, Any]:
    """Everything that is known of what was judged."""
    return {
        "networks": [
            {
                "name": lab.name,
                "plan": lab.plan,
                "described": lab.described,
                "ways": {
                    way: {
                        "shares": {what: one(s) for what, one in SHARES.items()},
                        "counts": {k: v for k, v in asdict(s).items() if k not in _NO_COUNTS},
                        "confidence": [asdict(one) | {"class": one.class_name} for one in s.rated],
                        "faults": lab.faults.get(way),
                    }
                    for way, s in lab.scores.items()
                },
            }
            for lab in judged
        ]
    }


def _filled(page: Path, part: str, table: str) -> str:
    """The text of a page with a table in it; FormatError if it has no place for that."""
    try:
        return fill(page.read_text(), part, table)
    except OSError as error:
        raise FormatError(page, "", str(error.strerror)) from error
    except ValueError as error:
        raise FormatError(page, "", str(error)) from error


def main(words: Sequence[str] | None = None) -> int:
    """Print a text for each laboratory, or one table for all; the exit status."""
    arguments = _arguments(words)
    wanted = arguments.table or "full"
    part = PARTS.get(wanted, wanted)
    judged: list[Judged] = []
    try:
        if arguments.into:
            _filled(arguments.into, part, "")  # before minutes of judging
        sources = find_sources(arguments.sources, arguments.seeds)
    except PipelineError as error:
        print(error, file=sys.stderr)
        return 2
    as_text = not (arguments.table or arguments.into or arguments.json)
    tasks = [_Task(one, arguments.ways, arguments.owners, arguments.json) for one in sources]
    for one, told in each(_Task.run, tasks, arguments.workers):
        for line in told:
            print(line, file=sys.stderr)
        if one is None:
            return 2
        judged.append(one)
        if as_text:
            print(f"{text(one)}\n", flush=True)
    if arguments.json:
        print(json.dumps(_as_json(judged)))
        return 0
    calibration = calibration_table(judged)
    if arguments.into or arguments.table:
        parts = [TABLES[wanted](judged)]
        parts += misses(judged) if wanted in PARTS else []
        if calibration and arguments.table in (None, "full"):
            parts.append(f"Confidence, all laboratories and ways together:\n\n{calibration}")
        table = "\n\n".join(parts)
        if arguments.into:
            arguments.into.write_text(_filled(arguments.into, part, table))
        else:
            print(table)
    elif calibration:
        print(calibration)
    return 0
