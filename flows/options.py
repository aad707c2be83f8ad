"""Parameters of a flow run -> configs of the stages, by the same options as the command line.

A flow run knows a few parameters by name (inputs, store, out, snapshot, ip2as, scheduler,
metrics) and takes any other option of ``hopscope run`` in ``options``, by its long name:
``{"allow_special": ["198.18.0.0/15"], "bridge_gaps": true}``. What is not given comes from
``HOPSCOPE_*``, then from the default of the command line.

The types here are those of the form on Prefect's pages, and of its check before a run is made.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args, get_type_hints

import typer
from pydantic import BaseModel, ConfigDict, Field, create_model
from typer.exceptions import TyperException

from pipeline.cli import options as o
from pipeline.config import AnalyzeConfig, Borders, DeviceChoice, IngestConfig, Schedule
from pipeline.errors import UsageError
from pipeline.ingest import FORMATS
from pipeline.metrics import METRICS
from pipeline.store.names import NAME_PATTERN

Inputs = Annotated[
    list[Path],
    typer.Argument(
        envvar="HOPSCOPE_INPUTS",
        help=f"Files or folders of measurements; in the variable with {os.pathsep!r} between them.",
        show_default=False,
    ),
]

# Parameters that a flow run knows by name; all others go into ``options``.
NAMED = ("inputs", "store", "out", "snapshot", "ip2as", "scheduler", "metrics")


def _given(
    inputs: Inputs,
    store: o.Store,
    out: o.Out,
    snapshot: o.SnapshotName = None,
    format: o.FormatName = None,
    ip2as: o.Ip2as = None,
    as_names: o.AsNames = None,
    aliases: o.Aliases = None,
    allow_special: o.AllowSpecial = None,
    borders: o.Borders = "elected",
    bridge_gaps: o.BridgeGaps = False,
    targets_are_routers: o.TargetsAreRouters = False,
    asn: o.Asn = None,
    ingresses: o.Ingresses = None,
    metrics: o.Metrics = "hops",
    max_searches: o.MaxSearches = None,
    device: o.DeviceChoice = "auto",
    pack: o.Pack = "auto",
    schedule: o.Schedule = "free",
    workers: o.Workers = None,
    scheduler: o.Scheduler = None,
    distances: o.Distances = False,
    verify: o.Verify = False,
    pages: o.Pages = True,
) -> dict[str, Any]:
    """Ingest, measure and report as the nightly Prefect flow; starts a server of its own."""
    return dict(locals())


# What each option is when nobody says anything.
DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(_given).parameters.items()
    if parameter.default is not inspect.Parameter.empty
}


# Types of options that are texts on the command line.
_KINDS: dict[str, Any] = {
    "format": Literal.__getitem__(tuple(FORMATS)),
    "borders": Borders,
    "device": DeviceChoice,
    "schedule": Schedule,
    "pack": Literal["auto"] | Annotated[int, Field(ge=1)],
}
_METRIC = "|".join(("all", *METRICS))


def _further_options() -> type[BaseModel]:
    """A model of the options that have no parameter of their own, made from the command line's."""
    fields: dict[str, Any] = {}
    for name, hint in get_type_hints(_given, include_extras=True).items():
        if name in NAMED or name == "return":
            continue
        kind, option = get_args(hint)
        kind = {Path: str, Path | None: str}.get(kind, _KINDS.get(name, kind))
        bounds = {} if option.min is None else {"ge": option.min}
        fields[name] = (kind | None, Field(None, description=option.help, **bounds))
    config = ConfigDict(extra="forbid")
    return create_model("FurtherOptions", __config__=config, **fields)


Text: TypeAlias = Annotated[str, Field(min_length=1)]
SnapshotName: TypeAlias = Annotated[str, Field(pattern=f"^{NAME_PATTERN}$")]
if TYPE_CHECKING:
    Metrics: TypeAlias = list[str] | str
    FurtherOptions: TypeAlias = BaseModel
else:
    Metrics = (
        list[Literal["all", *METRICS]]
        | Annotated[str, Field(pattern=f"^({_METRIC})(,({_METRIC}))*$")]
    )
    FurtherOptions = _further_options()


def _one_line(error: TyperException) -> str:
    words = error.format_message() if hasattr(error, "format_message") else str(error)
    variable = getattr(getattr(error, "param", None), "envvar", None)
    if words.startswith("Missing") and variable:
        words = f"{words.rstrip('.')}: give it, or set {variable}"
    return " ".join(words.split())


def _parser() -> typer.Typer:
    parser = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    parser.command("nightly")(_given)
    return parser


def parse(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Options by name, from arguments as on the command line, then from ``HOPSCOPE_*``.

    Returns
    -------
    dict or None
        None when ``--help`` was asked for and printed.

    Raises
    ------
    UsageError
        If an option is unknown, missing or wrong.
    """
    try:
        o.refuse_empty_words(arguments)
        given = _parser()(
            list(arguments), prog_name="python -m flows.nightly", standalone_mode=False
        )
    except TyperException as error:
        raise UsageError(_one_line(error)) from None
    return given if isinstance(given, dict) else None


def configs(parameters: Mapping[str, Any]) -> tuple[IngestConfig, AnalyzeConfig]:
    """Configs of the stages from the parameters of a flow run; None means not given.

    Raises
    ------
    UsageError
        If a parameter is missing or wrong.
    """
    given = parse(_arguments(parameters))
    if given is None:
        raise UsageError("help is no parameter of a flow run")
    given |= dict.fromkeys(_switched_off(parameters), False)
    try:
        return o.ingest_config(given), o.analyze_config(given)
    except TyperException as error:
        raise UsageError(_one_line(error)) from None


def parameters_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The opposite way: parameters of a flow run, plain JSON, from parsed options."""
    plain = {
        name: _plain(value)
        for name, value in given.items()
        if name not in DEFAULTS or value != DEFAULTS[name]
    }
    named = {name: plain.pop(name) for name in NAMED if name in plain}
    return named | ({"options": plain} if plain else {})


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _all(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters and further options, by name, as one."""
    options = dict(parameters)
    further = options.pop("options", None) or {}
    if isinstance(further, BaseModel):
        further = further.model_dump(exclude_none=True)
    options.update(further)
    if isinstance(options.get("metrics"), list | tuple):
        options["metrics"] = ",".join(options["metrics"])
    return {name.replace("-", "_"): value for name, value in options.items()}


def _switched_off(parameters: Mapping[str, Any]) -> list[str]:
    """Switches that are given as false: the command line has no word that wins over a variable."""
    return [
        name
        for name, value in _all(parameters).items()
        if value is False and DEFAULTS.get(name) is False
    ]


def _arguments(parameters: Mapping[str, Any]) -> list[str]:
    """Parameters as words of a command line; inputs behind ``--``, so that none is an option."""
    options = _all(parameters)
    inputs = options.pop("inputs", None) or ()
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or (value is False and DEFAULTS.get(name) is False):
            continue
        if value is True:
            words.append(flag)
        elif value is False and DEFAULTS.get(name) is True:
            words.append(flag.replace("--", "--no-", 1))
        else:
            for item in value if isinstance(value, list | tuple) else [value]:
                words += [f"{flag}={item}"]
    return [*words, "--", *map(str, inputs)] if inputs else words
