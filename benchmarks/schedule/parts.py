"""What ``bench_schedule`` runs: ASes, ingresses, schedules and packs of each part. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from benchmarks.schedule.store import Size
from benchmarks.schedule.work import search_long, search_two_kernel
from pipeline.model.choices import SCHEDULES
from pipeline.schedule.work.searches import run_search

PARTS = ("tasks", "tables", "long", "many", "uneven", "degrees")
ONE_BY_ONE = SCHEDULES[::-1]
FIELD_SIZES = (4_600_000, 4_800_000, 6_700_000)  # routers, of the tables that are reproduced


@dataclass(frozen=True)
class Run:
    """One row of a table."""

    ases: tuple[Size, ...]
    text: str
    n_ingresses: int  # of each
    schedule: str = "free"
    pack: int | None = None  # None: auto
    order: str = "largest first"
    work: Callable[[Any], Any] = run_search

    @property
    def work_name(self) -> str:
        return {search_two_kernel: "two kernels", search_long: "20 ms"}.get(self.work, "ours")

    @property
    def key(self) -> tuple:
        """What makes it comparable on other numbers of workers."""
        pack = f"pack {self.pack or 'auto'}"
        n = f"{self.n_ingresses} ingresses"
        return (self.text, n, self.work_name, self.schedule, pack, self.order)


@dataclass(frozen=True)
class Part:
    """Runs that belong together; ``disturb``: with one worker slowed."""

    name: str
    runs: list[Run] = field(default_factory=list)
    disturb: list[Run] = field(default_factory=list)
    has_baseline: bool = False


def parts_of(names: list[str], scale: float, device: str) -> list[Part]:
    """Parts by name, ASes of ``scale`` times the size."""

    def sized(n_nodes: int, m: int = 2, copy: int = 1) -> Size:
        return Size(max(100, round(n_nodes * scale)), m, copy)

    small, middle, large = (sized(n) for n in FIELD_SIZES)
    millions = tuple(sized(1_000_000, copy=i) for i in range(8))
    fifths = tuple(sized(200_000, copy=i) for i in range(10, 18))
    degrees = [*(sized(4_800_000, m) for m in (3, 4, 5)), sized(20_000_000)]
    parts = {
        "tasks": Part("tasks"),
        "tables": _tables([small, middle, large]),
        "long": _long(middle, device),
        "many": _many(large, millions),
        "uneven": _uneven(large, (large, middle, small, *millions[:4], *fifths)),
        "degrees": _degrees(degrees),
    }
    return [parts[name] for name in names]


def sizes_of(parts: list[Part]) -> list[Size]:
    """Every AS that some parts need, once."""
    runs = [run for part in parts for run in part.runs + part.disturb]
    return list(dict.fromkeys(size for run in runs for size in run.ases))


def _tables(sizes: list[Size]) -> Part:
    one_by_one = [(schedule, 1) for schedule in ONE_BY_ONE]
    runs = [
        Run((size,), size.text, n_ingresses, schedule, pack)
        for size, n_ingresses, (schedule, pack) in product(
            sizes, (50, 100), [*one_by_one, ("free", None)]
        )
    ]
    return Part("tables", runs, has_baseline=True)


def _long(size: Size, device: str) -> Part:
    work = [search_two_kernel, search_long] if device == "gpu" else [search_long]
    runs = [
        Run((size,), size.text, 100, schedule, 1, work=one)
        for one, schedule in product(work, ONE_BY_ONE)
    ]
    return Part("long", runs, has_baseline=True)


def _many(size: Size, others: tuple[Size, ...]) -> Part:
    one = [Run((size,), size.text, n) for n in (100, 1000, 4000)]
    text = f"{len(others)} ASes of {others[0].text}"
    return Part("many", one + [Run(others, text, n) for n in (100, 1000)])


def _uneven(large: Size, mixed: tuple[Size, ...]) -> Part:
    text = f"{len(mixed)} ASes, mixed"
    runs = [
        Run(mixed, text, 20, schedule, 1, order)
        for order, schedule in product(("largest first", "random"), ONE_BY_ONE)
    ]
    long = [Run((large,), large.text, 50, s, 1, work=search_long) for s in ONE_BY_ONE]
    packed = [Run(mixed, text, 100, schedule) for schedule in ONE_BY_ONE]
    return Part("uneven", runs + packed + long, long + packed)


def _degrees(sizes: list[Size]) -> Part:
    runs = [Run((size,), size.text, 100, pack=pack) for size, pack in product(sizes, (1, None))]
    return Part("degrees", runs, has_baseline=True)
