"""Which modules are changed, and which tests stand for each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracles.mutants.sites import Site, find_sites, is_program

ROOMS = ("kernels", "pipeline/infer", "pipeline/compare", "pipeline/schedule")
UNIT = Path("tests/unit")
OF_GPUS = {"gpu", "_cuda", "gpus"}  # folders or modules whose tests need a GPU


@dataclass(frozen=True)
class Mutant:
    """One change of one module; ``path`` is relative to the project."""

    room: str
    path: Path
    site: Site
    after: str


def modules_of(root: Path, room: str) -> list[Path]:
    """Modules of a room that run without a GPU, relative to the project."""
    paths = [path.relative_to(root) for path in sorted((root / room).rglob("*.py"))]
    return [path for path in paths if not OF_GPUS & set(path.with_suffix("").parts)]


def stages_of(root: Path, room: str, module: Path) -> list[list[Path]]:
    """Files of tests to run, nearest first: the mirror of a module, then each folder above it.

    Returns
    -------
    list of lists of paths
        Each relative to the project, none empty; a file is in the first list only that has it.
    """
    place = UNIT / module.with_suffix("")
    above = [one for one in (place, *place.parents) if one.is_relative_to(UNIT / room)]
    wanted = [[place.with_name(f"test_{place.name}.py")]]
    wanted += [
        sorted(one.relative_to(root) for one in (root / at).rglob("test_*.py")) for at in above
    ]
    stages: list[list[Path]] = []
    seen: set[Path] = set()
    for files in wanted:
        new = [path for path in files if path not in seen and (root / path).is_file()]
        seen.update(new)
        if new:
            stages.append(new)
    return stages


def sample(root: Path, rooms: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Mutants of sites drawn without replacement; rooms take turns, each with the same number."""
    drawn = [_drawn(root, room, -(-count // len(rooms)), seed) for room in rooms]
    turns = [one for turn in zip(*drawn, strict=False) for one in turn]
    return turns[:count]


def _drawn(root: Path, room: str, count: int, seed: int) -> list[Mutant]:
    chance = random.Random(f"{seed} {room}")
    sites = list(_sites(root, room))
    chance.shuffle(sites)
    drawn: list[Mutant] = []
    for path, site in sites:
        if len(drawn) == count:
            break
        after = chance.choice(site.afters)
        if is_program(site.put((root / path).read_text(), after)):
            drawn.append(Mutant(room, path, site, after))
    return drawn


def _sites(root: Path, room: str) -> Iterator[tuple[Path, Site]]:
    for path in modules_of(root, room):
        for site in find_sites((root / path).read_text()):
            yield path, site
