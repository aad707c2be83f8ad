"""Whether two states of the sources give the same answers: snapshots, reports and comparisons.

``python -m tests.oracles.same_answers CHECKOUT [LAB...]``: another checkout of the project, for
instance ``git worktree add ../before COMMIT``, against this one, on the committed samples and on
laboratories. Everything that is written must be the same but for times, versions, places and marks
of origin (``Exempt``). Prints each difference; exit status 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.oracles.truth.laboratory import LAB_RANGES, measurements_of, unpacked

ROOT = Path(__file__).parents[2]
SAMPLES = "data/samples"
DOCUMENTED = ("203.0.113.0/24", "198.51.100.0/24", "192.0.2.0/24", "2001:db8::/32")
_MOST_SHOWN = 20  # differences of one job


class Exempt:
    """What may differ between two runs of the same sources."""

    FILES = re.compile(r"(^|/)(lock|\.lock|tasks\.parquet|hopscope\.prom)$")
    COLUMNS = frozenset({"device", "n_tasks", "n_retries", "wall_s", "reused_from", "measured"})
    KEYS = frozenset(
        {"started", "ended", "wall_s", "report_started", "report_wall_s", "busy_share"}
        | {"snapshot_version", "version", "versions", "created", "written", "ingested_ns"}
        | {"store", "out", "ran_in", "sha256", "manifest_sha256", "files", "host", "hopscope"}
    )
    TEXT = re.compile(
        r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z|[+-]\d\d:\d\d)?"  # times
        r"|\b\d+(\.\d+)? m?s\b"  # durations
        r"|\bhopscope \d+(\.\d+)+(\.dev\d+)?"
        r"|[^\s\"']*/(before|now)(?=/)"  # folders
    )
    # Versions of snapshots and parts of results end in something random.
    NAMES = re.compile(r'-[0-9a-f]{12}(?=[/."]|$)|(?<=/)\d{20}-?(?=-|\.|$)')


@dataclass(frozen=True)
class Job:
    """A command, given the folder that it may write to."""

    name: str
    words: tuple[str, ...]

    def run(self, checkout: Path, folder: Path) -> str:
        """Run it with the sources of a checkout; returns its exit status and what it wrote."""
        words = [word.replace("{}", str(folder)) for word in self.words]
        path = os.pathsep.join(filter(None, (str(checkout), os.environ.get("PYTHONPATH"))))
        done = subprocess.run(
            [sys.executable, "-m", "pipeline.cli", *words],
            cwd=checkout,
            env=os.environ | {"PYTHONPATH": path, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stderr.splitlines()[-1:] if done.returncode else []
        text = "\n".join((f"exit status {done.returncode}", *said, done.stdout))
        return text.replace(str(folder), "FOLDER")


def _sample_jobs() -> Iterator[Job]:
    lab = f"{SAMPLES}/lab"
    table = ("--ip2as", f"{lab}/lab.pfx2as", "--allow-special", LAB_RANGES[0])
    into = ("--store", "{}/store", "--out", "{}/out", "--metrics", "all")
    yield Job("lab", ("run", lab, *into, *table, "--snapshot", "lab", "--distances"))
    for words in (("--routers", "interfaces"), ("--borders", "prefix"), ("--bridge-gaps",)):
        name = "-".join(word.strip("-") for word in words)
        yield Job(name, ("run", lab, *into, *table, "--snapshot", name, *words))
    yield Job("nights", ("compare", "lab", "routers-interfaces", *into[:4]))
    documented = [word for text in DOCUMENTED for word in ("--allow-special", text)]
    for file in ("atlas/results.jsonl", "scamper_json/sample.json", "warts/sample.warts"):
        name = file.partition("/")[0]
        words = ("run", f"{SAMPLES}/{file}", *into, "--asn", "64496", "--snapshot", name)
        yield Job(name, (*words, *documented))
    for file in ("brite/topdown_java.brite", "snap/attachment.txt.gz", "adjacency/made.adj"):
        name = file.partition("/")[0]
        words = ("run", f"{SAMPLES}/{file}", *into, "--snapshot", name, "--ingresses", "3")
        yield Job(name, (*words, *(() if name == "brite" else ("--asn", "64496"))))
    yield Job("show", ("show", "lab", "--store", "{}/store", "--json"))
    yield Job("list", ("list", "--store", "{}/store", "--json"))


def _lab_jobs(folder: Path) -> Iterator[Job]:
    """A laboratory with the prefix table alone, and with what registries say."""
    name = folder.name
    traces = tuple(map(str, measurements_of(folder)))
    tables = [
        word for path in sorted(folder.glob("lab.pfx2as*")) for word in ("--ip2as", str(path))
    ]
    special = [word for text in LAB_RANGES for word in ("--allow-special", text)]
    options = {"lab.as-rel.txt": "--as-rel", "lab.as2org.txt": "--as2org"}
    options |= {"lab.peeringdb.json": "--ixp", "lab.delegated": "--delegated"}
    registries = [
        word
        for file, option in options.items()
        if (folder / file).is_file()
        for word in (option, str(folder / file))
    ]
    for way, words in {"traces": [], "registries": registries}.items():
        if way == "traces" or words:
            into = ("--store", "{}/store", "--out", "{}/out", "--snapshot", f"{name}-{way}")
            yield Job(f"{name} {way}", ("run", *traces, *into, *tables, *special, *words))


def _differences(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """Of two values as JSON has them."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted((one.keys() | other.keys()) - Exempt.KEYS):
            yield from _differences(one.get(key), other.get(key), f"{place}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (each, beside) in enumerate(zip(one, other, strict=True)):
            yield from _differences(each, beside, f"{place}/{at}")
    elif isinstance(one, str) and isinstance(other, str):
        if _plain(one) != _plain(other):
            yield f"{place}: {one[:80]!r}, {other[:80]!r}"
    elif one != other:
        yield f"{place}: {str(one)[:80]}, {str(other)[:80]}"


def _plain(text: str) -> str:
    return Exempt.NAMES.sub("", Exempt.TEXT.sub("TIME", text))


def _table_differences(one: Path, other: Path) -> Iterator[str]:
    tables = [pq.ParquetFile(path).read() for path in (one, other)]
    names = [[n for n in table.column_names if n not in Exempt.COLUMNS] for table in tables]
    if names[0] != names[1]:
        yield f"columns {names[0]}, {names[1]}"
        return
    for name in names[0]:
        here, there = (table[name].combine_chunks() for table in tables)
        if here.type != there.type:
            yield f"column {name}: {here.type}, {there.type}"
        elif not here.equals(there) and not _equal_nan(here, there):
            yield f"column {name}: {len(here)} and {len(there)} rows, {_first(here, there)}"


def _equal_nan(one: pa.Array, other: pa.Array) -> bool:
    if not pa.types.is_floating(one.type) or len(one) != len(other):
        return False
    values = (each.to_numpy(zero_copy_only=False) for each in (one, other))
    return np.array_equal(*values, equal_nan=True)


def _first(one: pa.Array, other: pa.Array) -> str:
    pairs = zip(one.to_pylist(), other.to_pylist(), strict=False)
    return next(
        (f"row {row}: {a}, {b}" for row, (a, b) in enumerate(pairs) if a != b),
        "one is the start of the other",
    )


def _file_differences(one: Path, other: Path) -> Iterator[str]:
    if one.suffix == ".parquet":
        yield from _table_differences(one, other)
    elif one.suffix == ".json":
        yield from _differences(*(json.loads(path.read_text()) for path in (one, other)))
    else:
        texts = [_plain(path.read_text(errors="replace")).splitlines() for path in (one, other)]
        if texts[0] != texts[1]:
            pairs = zip(*texts, strict=False)
            at = next((n for n, (a, b) in enumerate(pairs, 1) if a != b), min(map(len, texts)) + 1)
            yield f"line {at}"


def _files(folder: Path) -> dict[str, Path]:
    """Files by names that two runs share."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or Exempt.FILES.search(name):
            continue
        plain, number = Exempt.NAMES.sub("", name), 1
        while (known := f"{plain} ({number})") in found:
            number += 1
        found[known] = path
    return found


def tree_differences(one: Path, other: Path) -> Iterator[str]:
    """Of all files below two folders."""
    here, there = _files(one), _files(other)
    for name in sorted(here.keys() ^ there.keys()):
        yield f"{name}: only {'before' if name in here else 'now'}"
    for name in sorted(here.keys() & there.keys()):
        for text in _file_differences(here[name], there[name]):
            yield f"{name}: {text}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.same_answers")
    parser.add_argument("checkout", type=Path, help="of the state before")
    parser.add_argument("labs", nargs="*", type=Path, metavar="LAB", help="folder, or .tar.xz")
    given = parser.parse_args()
    n_found = 0
    with ExitStack() as stack:
        jobs = list(_sample_jobs())
        for lab in given.labs:
            jobs += _lab_jobs(stack.enter_context(unpacked(lab)))
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folders = scratch / "before", scratch / "now"
        for job in jobs:
            before, now = (
                job.run(checkout, folder)
                for checkout, folder in zip((given.checkout.resolve(), ROOT), folders, strict=True)
            )
            found = [] if _plain(before) == _plain(now) else [f"output:\n{before}\n{now}"]
            if before.startswith("exit status 2"):
                found.append("nothing was done, so nothing is compared")
            sys.stdout.write(
                f"{job.name}: {before.splitlines()[0]}{', differs' if found else ''}\n"
            )
            sys.stdout.flush()
            n_found += len(found)
            sys.stdout.writelines(f"  {text}\n" for text in found)
        different = list(tree_differences(*folders))
        n_found += len(different)
        sys.stdout.writelines(f"  {text}\n" for text in different[:_MOST_SHOWN])
        n_files = len(_files(folders[1]))
    sys.stdout.write(f"{len(jobs)} commands, {n_files} files: {n_found} differences\n")
    sys.exit(1 if n_found else 0)


if __name__ == "__main__":
    main()
