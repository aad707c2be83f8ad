"""Laboratories with something altered: relationships that are wrong, or traces to few ASes.

    python -m tests.oracles.truth.altered LAB... --into FOLDER [--relationships] [--ases N]

Writes ``FOLDER/LAB`` for each laboratory, for the truth tool. With ``--relationships``, of the
lines of ``lab.as-rel.txt`` 60 % of the peers and 5 % of the customers are left out, and of the
other customers 3 % become peers and 1 % providers, as real files are incomplete and partly wrong.
With ``--ases`` only traces to so many ASes are left, as of a measurement aimed at a few. What is
drawn follows from the name of the laboratory. Its other files are linked, not copied.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from pipeline.errors import FormatError, PipelineError
from pipeline.judge import TRUTH
from tests.addresses import parse_addrs
from tests.oracles.truth.laboratory import load_prefixes

AS_REL = "lab.as-rel.txt"
_NO_PEER, _NO_CUSTOMER = 0.6, 0.05  # shares that are left out
_PEER, _PROVIDER = 0.03, 0.01  # of the customers


def damage(lines: Iterable[str], draw: random.Random) -> list[str]:
    """Lines of relationships, serial-1: some left out, some of another kind."""
    kept = []
    for line in lines:
        if line.startswith("#"):
            kept.append(line)
            continue
        one, other, kind, *rest = line.split("|")
        lot = draw.random()
        if lot < (_NO_PEER if kind == "0" else _NO_CUSTOMER):
            continue
        if kind == "-1":
            lot = draw.random()
            if lot < _PEER:
                kind = "0"
            elif lot < _PEER + _PROVIDER:
                one, other = other, one
        kept.append("|".join((one, other, kind, *rest)))
    return kept


def aim(folder: Path, n_ases: int, draw: random.Random) -> dict[str, list[str]]:
    """Lines of each file of traces (scamper's JSON, gzipped) that are aimed at some ASes.

    Raises
    ------
    FormatError
        If there are no such files, or traces are not aimed at so many ASes.
    """
    lines = {
        path.name: gzip.decompress(path.read_bytes()).decode().splitlines()
        for path in sorted(folder.glob("*.json.gz"))
    }
    target_of = {
        line: json.loads(line)["dst"]
        for of_file in lines.values()
        for line in of_file
        if json.loads(line)["type"] == "trace"
    }
    targets = sorted(set(target_of.values()))
    asn = load_prefixes(folder).lookup(parse_addrs(targets)).tolist()
    ases = sorted({one for one in asn if one >= 0})
    if len(ases) < n_ases:
        reason = f"its traces are aimed at {len(ases)} ASes, asked were {n_ases}"
        raise FormatError(folder, "*.json.gz", reason)
    chosen = set(draw.sample(ases, n_ases))
    near = {target for target, one in zip(targets, asn, strict=True) if one in chosen}
    return {
        name: [line for line in of_file if target_of.get(line) is None or target_of[line] in near]
        for name, of_file in lines.items()
    }


def alter(lab: Path, folder: Path, *, relationships: bool, n_ases: int | None) -> None:
    """Write one altered laboratory into a new folder."""
    if not (lab / TRUTH).is_file():
        raise FormatError(lab, TRUTH, "is not there, so this is not a laboratory")
    draw = random.Random(lab.name)
    texts: dict[str, bytes] = {}
    if relationships:
        lines = damage((lab / AS_REL).read_text().splitlines(), draw)
        texts[AS_REL] = "".join(f"{line}\n" for line in lines).encode()
    if n_ases is not None:
        for name, kept in aim(lab, n_ases, draw).items():
            texts[name] = gzip.compress("".join(f"{line}\n" for line in kept).encode(), mtime=0)
    folder.mkdir(parents=True)
    for path in lab.iterdir():
        if path.name in texts:
            (folder / path.name).write_bytes(texts[path.name])
        else:
            (folder / path.name).symlink_to(path.resolve())


def main(words: Sequence[str] | None = None) -> int:
    """Write altered laboratories; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.truth.altered", description=__doc__.splitlines()[0]
    )
    parser.add_argument("labs", nargs="+", type=Path, metavar="LAB")
    parser.add_argument("--into", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--relationships", action="store_true", help="leave out and change some")
    parser.add_argument("--ases", type=int, metavar="N", help="keep only traces to so many ASes")
    given = parser.parse_args(words)
    for lab in given.labs:
        try:
            alter(lab, given.into / lab.name, relationships=given.relationships, n_ases=given.ases)
        except PipelineError as error:
            print(error, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
