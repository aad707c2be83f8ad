"""One network with all rules, and with each of some left out: one task of a process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pipeline.errors import PipelineError
from pipeline.judge import Score
from tests.oracles.truth.laboratory import Laboratory
from tests.oracles.truth.scores import judge_lab
from tests.oracles.truth.sources import Source

ALL_RULES = ""  # in the place of the rule that is left out
TOGETHER = "+"  # between the names of rules that are left out together


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _links(s: Score) -> float | None:
    return _share(s.links_found, s.links_visible + s.links_false)


def _hops(s: Score) -> float | None:
    """Of all pairs that traces show: a rule that joins more of them is no worse for those."""
    return _share(s.hops_equal, max(s.hop_pairs, s.best_pairs))


def _pairs(s: Score) -> float | None:
    wrong = s.alias_pairs - s.alias_pairs_right
    return _share(s.alias_pairs_found, s.alias_pairs_visible + wrong)


# None where a network has nothing of the kind.
FIGURES: Mapping[str, Callable[[Score], float | None]] = {
    "P": lambda s: _share(s.ingresses_right, s.ingresses),
    "R": lambda s: _share(s.borders_found, s.borders_visible),
    "links": _links,
    "hops": _hops,
    "pairs": _pairs,
}

Figures = tuple[float | None, ...]  # in the order of ``FIGURES``


@dataclass
class Outcome:
    """Figures of one network by the rule that was left out, and what could not be judged."""

    name: str
    family: str
    figures: dict[str, Figures] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    wall_s: float = 0.0


@dataclass(frozen=True)
class Task:
    """A network, rules to leave out one after the other, and other options of ``judge_lab``.

    Names with ``TOGETHER`` between them are left out together.
    """

    source: Source
    rules: tuple[str, ...]
    options: Mapping[str, object]
    label: str = ""  # of the options, where they are not the usual ones

    @property
    def family(self) -> str:
        return ", ".join(filter(None, (self.source.family, self.label)))

    def run(self) -> Outcome:
        """Make or read the network once and judge it for all rules."""
        started = time.perf_counter()
        outcome = Outcome(self.source.name, self.family)
        try:
            with self.source.open(together=True) as lab:
                self._judge(lab, outcome)
        except PipelineError as error:
            outcome.failed[ALL_RULES] = str(error)
        outcome.wall_s = time.perf_counter() - started
        return outcome

    def _judge(self, lab: Laboratory, outcome: Outcome) -> None:
        if self.options.get("registries") and lab.registries.relationships is None:
            outcome.failed[ALL_RULES] = "no files of registries lie beside it"
            return
        for rule in (ALL_RULES, *self.rules):
            without = {"without": rule.split(TOGETHER)} if rule else {}
            try:
                score = judge_lab(lab, **self.options, **without)
            except Exception as error:  # without a rule; the others are judged all the same
                if not rule:
                    raise
                outcome.failed[rule] = f"{type(error).__name__}: {error}"
                continue
            outcome.figures[rule] = tuple(figure(score) for figure in FIGURES.values())
