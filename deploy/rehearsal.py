"""Uses everything that compiles: what it leaves in the cache is what releases bring along.

Kernels name their signatures: importing a module compiles it. Functions of the pipeline are
compiled for what they are called with, so the commands are run on the samples.
"""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

from kernels.host import compile_cpu

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
LAB = SAMPLES / "lab"
SMALL = ("--routers", "900", "--seed", "1")
_MODELS = {"top-down": ("--ases", "9"), "bottom-up": ("--ases", "9")}
_MODELS["internet"] = ("--ases", "9", "--min-routers", "30")
_MODELS["internet"] += ("--max-routers", "300")
_LAB = ("--ip2as", str(LAB / "lab.pfx2as"), "--as-names", str(LAB / "as_names.json"))
_LAB += ("--allow-special", "198.18.0.0/15")
_DOCUMENTED = ("203.0.113.0/24", "198.51.100.0/24", "192.0.2.0/24", "2001:db8::/32")
_METRICS = ("--metrics", "all,weighted_diameter")


class RehearsalError(Exception):
    """A command failed."""


def commands(folder: Path) -> Iterator[tuple[str, ...]]:
    """What is run, each in this process, with files in a folder."""
    from pipeline.algorithms import ALGORITHMS
    from pipeline.generate import MODELS

    store = ("--store", str(folder / "store"))
    for model in MODELS:
        words = (*SMALL, *_MODELS.get(model, ()))
        yield "generate", model, *words, "--out", str(folder / f"{model}.brite")
        yield "generate", model, *words, *store, "--snapshot", f"made-{model}", *_as(model)
    yield "generate", "ba", *SMALL, "--out", str(folder / "ba.adj")
    nights = {
        "lab": (str(LAB), *_LAB),
        "plain": (str(LAB), *_LAB, "--borders", "prefix", "--routers", "interfaces"),
        "traces": (*map(str, _traces()), *_documented(folder)),
        "aliases": (str(LAB), *_LAB, "--aliases", str(folder / "aliases.nodes")),
        "brite": (str(folder / "top-down.brite"),),
        "snap": (str(SAMPLES / "snap" / "attachment.txt.gz"), "--asn", "7"),
        "adjacency": (str(SAMPLES / "adjacency" / "made.adj"), "--asn", "7"),
    }
    for name, words in nights.items():
        yield "ingest", *words, *store, "--snapshot", name, "--workers", "1"
    for name in ("lab", "brite", "snap", "adjacency"):
        out = ("--out", str(folder / "out"), "--snapshot", name)
        yield "analyze", *store, *out, *_METRICS
    yield "compare", "plain", "lab", *store, "--out", str(folder / "compared")
    yield "doctor", *store
    given = {"source": ("--source", "0"), "target": ("--target", "3")}
    for name, row in ALGORITHMS.items():
        words = tuple(word for need in row.needs for word in given.get(need, ()))
        files = ("ba.brite",) if "weights" in row.needs else ("ba.brite", "small.txt")
        for file in files:
            yield "search", name, str(folder / file), *words, "--check"


def _as(model: str) -> tuple[str, ...]:
    return () if model in _MODELS else ("--asn", "7", "--ingresses", "2")


def _traces() -> Iterator[Path]:
    for name in ("atlas", "scamper_json", "warts", "traceroute_text"):
        yield from sorted(path for path in (SAMPLES / name).iterdir() if path.is_file())


def _documented(folder: Path) -> Iterator[str]:
    """Options that place the addresses of the samples of each format, which are of no AS."""
    table = folder / "documented.pfx2as"
    prefixes = (prefix.split("/") for prefix in _DOCUMENTED)
    table.write_text("".join(f"{at}\t{size}\t{7 + n}\n" for n, (at, size) in enumerate(prefixes)))
    yield from ("--ip2as", str(table))
    for prefix in _DOCUMENTED:
        yield from ("--allow-special", prefix)


def rehearse(folder: Path) -> None:
    """Compile all kernels, and run the commands.

    Raises
    ------
    RehearsalError
        With what a command said, if it failed.
    """
    compile_cpu()
    from pipeline.cli import main

    (folder / "aliases.nodes").write_text("node N1:  198.18.0.1 198.18.0.2\n")
    (folder / "small.txt").write_text("0 1\n1 2\n2 3\n3 0\n1 3\n4 5\n")
    for words in commands(folder):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                main(list(words))
                status = 0
            except SystemExit as ended:
                status = int(ended.code or 0)
        if status > 1:  # 1: something was left out, and named
            raise RehearsalError(f"{' '.join(words)}: {said.getvalue()}")


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    rehearse(Path(sys.argv[1]))
