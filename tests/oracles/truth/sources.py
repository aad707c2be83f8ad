"""What is judged: laboratories on disk, and networks that are drawn when it is their turn."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import UsageError
from pipeline.generate.networks.plan import KINDS, Plan, make_plan
from pipeline.generate.networks.writing import make_network
from tests.oracles.truth.laboratory import Laboratory, open_lab
from tests.real_data import REPOSITORY, ROOT

ON_DISK = "laboratories"  # the family of those that were measured
# All there are: in the samples, and among the real data of this machine.
MEASURED = (
    REPOSITORY / "data/samples/lab",
    *(ROOT / "labs" / name for name in ("small", "atlas", "brite168")),
    *(ROOT / "labs/internet" / f"{name}.tar.xz" for name in ("provider31", "ixp")),
)


@dataclass(frozen=True)
class Source:
    """A laboratory on disk, or the plan of a network; ``family``: those of the same laws."""

    name: str
    family: str
    at: Path | Plan

    @contextmanager
    def open(self, *, together: bool = False) -> Iterator[Laboratory]:
        """Read it (see ``read_lab``); what it needs on disk is gone afterwards."""
        with tempfile.TemporaryDirectory() as scratch:
            at = self.at
            if isinstance(at, Plan):
                at = Path(scratch, self.name)
                make_network(self.at, at)
            with open_lab(at, together=together) as lab:
                yield lab


def _measured(path: Path) -> Source:
    return Source(path.name.split(".tar")[0], ON_DISK, path)


def drawn(kind: str, seed: int, *fields: str) -> Source:
    """A network of a kind, with fields of its plan changed; ValueError if there is none such."""
    return Source(f"{kind}-{seed}", kind, make_plan(kind, seed, fields))


def find_sources(words: Sequence[str], seeds: Sequence[int]) -> list[Source]:
    """Sources in the order of the words.

    Parameters
    ----------
    words : sequence of str
        Kinds of ``tests.oracles.networks``, of each of which a network is drawn by each seed;
        fields of their plans, as ``field=value``; folders and archives of laboratories, and
        ``laboratories`` for all that are on this machine. A folder that has the name of a kind is
        written with a slash.
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
                found += [drawn(word, seed, *fields) for seed in seeds]
            except ValueError as error:
                raise UsageError(str(error)) from error
        elif word == ON_DISK:
            found += [_measured(path) for path in MEASURED if path.exists()]
        elif Path(word).exists():
            found.append(_measured(Path(word)))
        else:
            kinds = ", ".join(KINDS)
            raise UsageError(f"{word}: not a folder or archive, nor a kind of network: {kinds}")
    if not found:
        raise UsageError(f"only fields of plans were given: {' '.join(fields)}; add a kind")
    return found
