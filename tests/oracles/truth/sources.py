"""What is judged: laboratories on disk, and networks that are drawn when it is their turn."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import UsageError
from tests.oracles.networks.making import make_network
from tests.oracles.networks.plan import KINDS, Plan, make_plan
from tests.oracles.truth.laboratory import Laboratory, open_lab

ON_DISK = "laboratories"  # the family of those that were measured


@dataclass(frozen=True)
class Source:
    """A laboratory on disk, or the plan of a network; ``family``: those of the same laws."""

    name: str
    family: str
    at: Path | Plan

    @contextmanager
    def open(self) -> Iterator[Laboratory]:
        """Read it; what it needs on disk is gone afterwards."""
        if isinstance(self.at, Path):
            with open_lab(self.at) as lab:
                yield lab
            return
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, self.name)
            make_network(self.at, folder)
            with open_lab(folder) as lab:
                yield lab


def find_sources(words: Sequence[str], seeds: Sequence[int]) -> list[Source]:
    """Sources in the order of the words.

    Parameters
    ----------
    words : sequence of str
        Kinds of ``tests.oracles.networks``, of each of which a network is drawn by each seed;
        fields of their plans, as ``field=value``; folders and archives of laboratories. A folder
        that has the name of a kind is written with a slash.
    seeds : sequence of int

    Raises
    ------
    UsageError
        If there is no such kind, folder or field.
    """
    fields = [word for word in words if "=" in word and not Path(word).exists()]
    found = []
    for word in words:
        if word in fields:
            continue
        if word in KINDS:
            try:
                plans = [make_plan(word, seed, fields) for seed in seeds]
            except ValueError as error:
                raise UsageError(str(error)) from error
            found += [Source(f"{word}-{plan.seed}", word, plan) for plan in plans]
        elif Path(word).exists():
            name = Path(word).name.split(".tar")[0]
            found.append(Source(name, ON_DISK, Path(word)))
        else:
            kinds = ", ".join(KINDS)
            raise UsageError(f"{word}: not a folder or archive, nor a kind of network: {kinds}")
    if not found:
        raise UsageError(f"only fields of plans were given: {' '.join(fields)}; add a kind")
    return found
