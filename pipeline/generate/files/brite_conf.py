"""BRITE's configuration files, and the lines in which its files name a model.

A configuration is a section of ``name = value`` lines between BeginModel and EndModel; that of a
hierarchy is followed by one for each level. ``#`` begins a comment. Names are those of BRITE 2.0;
both engines read the same file, and where its own comments and its code differ (the
numbers of edge connections), the code counts.

A third party's file: numbers are read as numbers and checked as options are; a graph that would be
read from another file (models 7 and 8) is refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.errors import UsageError, said_by_system
from pipeline.generate import MODELS
from pipeline.generate.laws.plane import plane_side
from pipeline.model.synthetic import (
    ASSIGNMENTS,
    BRITE_FILES,
    BRITE_MODELS,
    EDGE_CONNECTIONS,
    GROUPINGS,
    GROWTHS,
    LEVELS,
    MAX_LINKS,
    MAX_SIDE,
    PLACEMENTS,
    Parameters,
)

_MAX_BYTES = 1 << 20

_TOP_DOWN, _BOTTOM_UP = 5, 6
# Names of numbers as the C++ engine spells some.
_SPELT = {"ALPHA": "alpha", "BETA": "beta", "P": "p", "Q": "q"}
_BANDWIDTHS = {1: "constant", 2: "uniform", 3: "heavy-tailed", 4: "exponential"}
_LINE = re.compile(r"\s*([A-Za-z_]{1,32})\s*=\s*(\S{1,4096})\s*$")


@dataclass(frozen=True)
class Configured:
    """What a configuration asks for.

    Attributes
    ----------
    model : str
        A key of ``pipeline.generate.MODELS``.
    given : Parameters
        ``as_level`` is set if the graph of ASes has numbers of its own.
    ignored : list of str
        Names that say nothing of their model, as BRITE ignores them, too; once each.
    """

    model: str
    given: Parameters
    ignored: list[str] = field(default_factory=list)


def read_conf(path: Path) -> Configured:
    """Read a configuration file of BRITE.

    Raises
    ------
    UsageError
        If it cannot be read or is none, with the line; for a model or a number that is not known.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {said_by_system(error)}") from error
    if len(data) > _MAX_BYTES:
        raise UsageError(f"{path}: more than {_MAX_BYTES} bytes: not a configuration of BRITE")
    sections = _sections(data.decode("latin-1"), path)
    if not sections:
        raise UsageError(f"{path}: no BeginModel: not a configuration of BRITE")
    model, level = sections[0].model()
    number = sections[0].whole("Name")
    if number == _TOP_DOWN:
        given = _top_down(sections, path)
    elif number == _BOTTOM_UP:
        given = _bottom_up(sections, path)
    else:
        given = sections[0].flat(level=level)
    ignored = [name for section in sections for name in section.values if name not in section.read]
    return Configured(model, given, list(dict.fromkeys(ignored)))


def _top_down(sections: list[_Section], path: Path) -> Parameters:
    whole = sections[0]
    if len(sections) < 3:
        raise UsageError(f"{path}: a top-down model needs a model of ASes and one of routers")
    (as_model, as_level), (router_model, router_level) = sections[1].model(), sections[2].model()
    if as_level != "as" or router_level != "router":
        raise UsageError(
            f"{path}: line {sections[1].line}: a top-down model needs first a model of ASes, then "
            f"one of routers; these are models {sections[1].whole('Name')} and "
            f"{sections[2].whole('Name')}"
        )
    ases, routers = sections[1].flat(), sections[2].flat()
    k = whole.whole("k", -1)
    return replace(
        routers,
        n_routers=ases.n_routers * routers.n_routers,
        n_ases=ases.n_routers,
        as_model=as_model,
        router_model=router_model,
        edge_connection=whole.choice("edgeConn", EDGE_CONNECTIONS),
        k=Parameters.k if k < 0 else k,
        bandwidth=whole.bandwidth("BWIntra"),
        bandwidth_between=whole.bandwidth("BWInter"),
        as_level=ases,
    )


def _bottom_up(sections: list[_Section], path: Path) -> Parameters:
    whole = sections[0]
    if len(sections) < 2:
        raise UsageError(f"{path}: a bottom-up model needs a model of routers")
    router_model, level = sections[1].model()
    if level != "router" or not MODELS[router_model].is_flat:
        raise UsageError(
            f"{path}: line {sections[1].line}: a bottom-up model needs a model of routers, not "
            f"model {sections[1].whole('Name')}"
        )
    routers = sections[1].flat()
    assignment = whole.choice("AssignType", ASSIGNMENTS)
    n_ases = whole.whole("NumAS", -1)
    if n_ases < 0:
        if assignment != "heavy-tailed":
            raise UsageError(
                f"{path}: line {whole.line}: NumAS is {n_ases}: give the number of ASes, of which "
                f"the mean size of {assignment} ASes follows"
            )
        n_ases = 1  # the law has no other number
    return replace(
        routers,
        n_ases=n_ases,
        router_model=router_model,
        grouping=whole.choice("Grouping", GROUPINGS),
        assignment=assignment,
        bandwidth_between=whole.bandwidth("BWInter"),
    )


class _Section:
    """The values of one model, and where it begins."""

    def __init__(self, path: Path, line: int) -> None:
        self.path, self.line = path, line
        self.values: dict[str, str] = {}
        self.read: set[str] = set()

    def _number(self, name: str, default: float | None) -> float:
        self.read.add(name)
        text = self.values.get(name)
        if text is None and default is not None:
            return default
        if text is None:
            raise UsageError(f"{self.path}: the model of line {self.line} has no {name}")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or abs(value) > 2**62:
            raise UsageError(
                f"{self.path}: the model of line {self.line}: {name} = {text!r} is not a number"
            )
        return value

    def counted(self, name: str, most: int = MAX_LINKS) -> int:
        """A whole number from 1 on."""
        value = self.whole(name)
        if not 1 <= value <= most:
            raise UsageError(
                f"{self.path}: the model of line {self.line}: {name} = {value}; give 1 to {most}"
            )
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        value = self._number(name, default)
        if value != int(value):
            raise UsageError(
                f"{self.path}: the model of line {self.line}: {name} = {value:g} is not whole"
            )
        return int(value)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.whole(name)
        if not 1 <= value <= len(choices):
            takes = ", ".join(f"{i} ({choice})" for i, choice in enumerate(choices, start=1))
            raise UsageError(
                f"{self.path}: the model of line {self.line}: {name} = {value}; give {takes}"
            )
        return choices[value - 1]

    def model(self) -> tuple[str, str]:
        """Its name, and whether it is of routers or of ASes."""
        value = self.whole("Name")
        if value in BRITE_FILES:
            raise UsageError(
                f"{self.path}: the model of line {self.line} reads a graph from a file: "
                "`hopscope ingest` or `convert` read that file itself"
            )
        for name, model in MODELS.items():
            if value in model.brite:
                return name, LEVELS[model.brite.index(value)]
        known = ", ".join(f"{number} ({name})" for number, name in BRITE_MODELS.items())
        raise UsageError(
            f"{self.path}: the model of line {self.line}: Name = {value}; known are {known}"
        )

    def bandwidth(self, prefix: str) -> str:
        """A law of bandwidths; where BRITE's numbers give none (-1), the default."""
        kind = self.whole(f"{prefix}Dist" if prefix == "BW" else prefix, -1)
        low, high = self._number(f"{prefix}Min", -1.0), self._number(f"{prefix}Max", -1.0)
        law = _BANDWIDTHS.get(kind)
        is_wrong = law in {"uniform", "heavy-tailed"} and 0 < low and high < low
        if is_wrong or (law is None and kind != -1):
            takes = ", ".join(f"{number} ({name})" for number, name in _BANDWIDTHS.items())
            raise UsageError(
                f"{self.path}: the model of line {self.line}: bandwidths of law {kind} from "
                f"{low:g} to {high:g}; give {takes}, and the smaller number first"
            )
        if law is None or low <= 0:
            return Parameters.bandwidth
        if law in {"constant", "exponential"}:
            return f"{law}:{low:g}"
        return f"{law}:{low:g}:{high:g}"

    def flat(self, level: str = "router") -> Parameters:
        """Numbers of a model of one level."""
        model, _ = self.model()
        given = Parameters(
            n_routers=self.counted("N"),
            m=self.counted("m"),
            level=level,
            placement=self.choice("NodePlacement", PLACEMENTS),
            plane_side=self.counted("HS", MAX_SIDE),
            square_side=self.counted("LS", MAX_SIDE),
            bandwidth=self.bandwidth("BW"),
        )
        own = MODELS[model].options
        named = {name: self._number(name, None) for name in _SPELT.values() if name in own}
        growth = {"growth": self.choice("GrowthType", GROWTHS)} if "growth" in own else {}
        return replace(given, **named, **growth)  # type: ignore[arg-type]


def _sections(text: str, path: Path) -> list[_Section]:
    sections: list[_Section] = []
    current: _Section | None = None
    for at, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].strip()
        if line.startswith("Begin") and current is not None:
            break
        if line == "BeginModel":
            current = _Section(path, at)
            sections.append(current)
        elif line == "EndModel":
            current = None
        elif current is not None and line:
            found = _LINE.match(line)
            if found is None:
                raise UsageError(f"{path}: line {at}: not a line NAME = VALUE: {line[:60]!r}")
            name = _SPELT.get(found[1], found[1])
            if name in current.values:
                raise UsageError(f"{path}: line {at}: {name} is there already")
            current.values[name] = found[2]
    if current is not None:
        raise UsageError(f"{path}: cut short: the model of line {current.line} has no EndModel")
    return sections


def model_lines(model: str, given: Parameters) -> list[str]:
    """The lines that BRITE's Java engine would write on top of such a file."""
    number = MODELS[model].brite[0]
    if number == _TOP_DOWN:
        ases = replace(given.as_level or given, n_routers=given.n_ases)
        routers = replace(given, n_routers=-(-given.n_routers // given.n_ases))
        return [
            f"Model ({number} - {BRITE_MODELS[number]})",
            _flat_line(given.as_model, "as", ases),
            _flat_line(given.router_model, "router", routers),
        ]
    if number == _BOTTOM_UP:
        grouping = GROUPINGS.index(given.grouping) + 1
        assignment = ASSIGNMENTS.index(given.assignment) + 1
        law = _law_numbers(given.bandwidth_between or given.bandwidth)
        numbers = f"{given.n_ases} {grouping} {assignment} {law}"
        return [
            f"Model ({number} - {BRITE_MODELS[number]}): {numbers}",
            _flat_line(given.router_model, "router", given),
        ]
    return [_flat_line(model, given.level, given)]


def _flat_line(model: str, level: str, given: Parameters) -> str:
    number = MODELS[model].brite[LEVELS.index(level)]
    side = given.plane_side or plane_side(given.n_routers)
    square = given.square_side or max(side // 10, 1)
    placement = PLACEMENTS.index(given.placement) + 1
    own = MODELS[model].function("numbers")
    before, after = own(given) if own is not None else ((), ())
    words = [*before, _law_numbers(given.bandwidth), *after]
    numbers = f"{given.n_routers} {side} {square} {placement}  {given.m}  "
    return f"Model ({number} - {BRITE_MODELS[number]}):  {numbers}{' '.join(map(str, words))} "


def _law_numbers(law: str) -> str:
    name, *numbers = law.split(":")
    kind = next(number for number, each in _BANDWIDTHS.items() if each == name)
    low, high = float(numbers[0]), float(numbers[-1])
    return f"{kind} {low} {high}"
