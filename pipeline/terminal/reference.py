"""The page of all options, ``docs/options.md``; ``make generated`` writes it."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.config import (
    AnalyzeConfig,
    CompareConfig,
    DoctorConfig,
    ExploreConfig,
    ExportConfig,
    GenerateConfig,
    IngestConfig,
    JudgeConfig,
    ListConfig,
    LogConfig,
    LookupConfig,
    NotifyConfig,
    RemoveConfig,
    RenameConfig,
    RestoreConfig,
    SearchConfig,
    ServeConfig,
    ShowConfig,
    StatusConfig,
    TracesConfig,
    WhyConfig,
)
from pipeline.options import Option, options_of

TITLES = {
    "hopscope ingest": IngestConfig,
    "hopscope analyze": AnalyzeConfig,
    "hopscope compare": CompareConfig,
    "hopscope generate": GenerateConfig,
    "hopscope search": SearchConfig,
    "hopscope explore": ExploreConfig,
    "hopscope doctor": DoctorConfig,
    "hopscope list": ListConfig,
    "hopscope show": ShowConfig,
    "hopscope lookup": LookupConfig,
    "hopscope why": WhyConfig,
    "hopscope traces": TracesConfig,
    "hopscope judge": JudgeConfig,
    "hopscope status": StatusConfig,
    "hopscope export": ExportConfig,
    "hopscope remove": RemoveConfig,
    "hopscope rename": RenameConfig,
    "hopscope restore": RestoreConfig,
    "hopscope serve": ServeConfig,
    "Notices of nightly runs": NotifyConfig,
    "Logs of ingest, analyze, run, compare, serve and nightly runs": LogConfig,
}
OF_FLOWS = (IngestConfig, AnalyzeConfig, CompareConfig, NotifyConfig)
HEAD = """# Options

<!-- Written by make generated, from the fields of pipeline/config/. -->

The command line overrides the variable, which overrides the default.
Files in a variable are separated as in `PATH` (`:`), prefixes by blanks; switches are `1` or `0`.
`hopscope run`, `python -m flows.nightly` and the flow `nightly` take the options of `ingest` and
those of `analyze` except its `--asn`; the latter two also those of notices. Only flows read
`HOPSCOPE_INPUTS`.
`hopscope --install-completion` sets up completion of commands, options and their choices for your
shell (bash, zsh, fish); `hopscope --show-completion` prints it instead.
`analyze` and `run` take `--verbose` (`-v`): how busy each worker was, and the searches
that the results are from, made now or by earlier runs.
For flow runs, `options.workers` stands for `{"workers": 2}` in their parameter `options`.
"""


def page() -> str:
    """The whole page."""
    sections = [
        f"## {title}\n\n{table(options_of(config), of_flows=config in OF_FLOWS)}"
        for title, config in TITLES.items()
    ]
    return "\n".join([HEAD, *sections])


def table(options: Sequence[Option], *, of_flows: bool) -> str:
    """One row per option; ``of_flows``: with the parameter of flow runs."""
    header = ["option", "takes", "default", "variable", *["parameter"] * of_flows, "means"]
    rows = [header, ["---"] * len(header)]
    for each in options:
        parameter = each.name if each.is_parameter else f"options.{each.name}"
        rows.append(
            [
                f"`{each.flag}`",
                _takes(each),
                _default(each),
                _code(each.variable or ""),
                *[_code(parameter)] * of_flows,
                each.help.replace("|", "\\|"),
            ]
        )
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _default(option: Option) -> str:
    if option.is_required:
        return "required"
    return "on" if option.default is True else _code(option.text(option.default))


def _takes(option: Option) -> str:
    if option.kind is bool:
        return f"or `--no-{option.word}`" if option.default is True else ""
    shown = option.shown_value or option.kind.__name__
    words = [] if option.is_argument else [" or ".join(f"`{word}`" for word in shown.split("|"))]
    if option.kind in (int, float) and not option.parser:
        words.append(option.range_words)
    if option.unit:
        words.append(f"({option.unit})")
    return " ".join(filter(None, words))


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
