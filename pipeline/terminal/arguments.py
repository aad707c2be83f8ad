"""Commands whose arguments are the options of configs.

Typer reads the arguments and writes the help; ``Option.parse`` interprets the values.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand
from typer.exceptions import TyperException

from pipeline.errors import UsageError
from pipeline.options import Option, config_of
from pipeline.terminal import log

Config = TypeVar("Config")

# Typer's names of where it found a value.
_DEFAULTS, _SAID = ("DEFAULT", "DEFAULT_MAP"), "COMMANDLINE"

HELP = {"-h", "--help"}
CONTEXT_SETTINGS = {"help_option_names": sorted(HELP, key=len), "max_content_width": 100}


@dataclass(frozen=True)
class Given:
    """What a command was called with.

    Attributes
    ----------
    values : mapping
        Of each option by its field's name, defaults included.
    said : tuple of str
        Names of those on the command line: neither a default, nor from a variable.
    chosen : tuple of str
        Names of those that were given, on the command line or by a variable.
    as_json : bool
        Whether the result is to be printed as one JSON object.
    is_verbose : bool
        Whether details are to be printed that most users do not need.
    """

    values: Mapping[str, Any]
    said: tuple[str, ...]
    chosen: tuple[str, ...]
    as_json: bool
    is_verbose: bool = False

    def config(self, kind: type[Config]) -> Config:
        """The config of one stage."""
        return config_of(kind, self.values)


class PlainCommand(TyperCommand):
    """A command whose help names its arguments without the Python types of their values."""

    def __init__(self, *args: Any, **facts: Any):
        super().__init__(*args, **facts)
        for param in self.params:
            if isinstance(param, TyperArgument):
                param.display_type_rich = _no_type  # type: ignore[method-assign]


def _no_type(ctx: Any) -> None:
    """What typer shows of a type."""


def takes(
    options: Sequence[Option],
    *,
    as_json: bool = False,
    verbose: bool = False,
    instead: Mapping[str, tuple[Callable[[], None], str]] | None = None,
) -> Callable[[Callable[[Given], Any]], Callable[..., Any]]:
    """Give a function the arguments of options, for ``typer.Typer.command``.

    Parameters
    ----------
    options : sequence of Option
    as_json : bool
        Whether to add ``--json``.
    verbose : bool
        Whether to add ``--verbose``.
    instead : mapping or None
        Further flags, by their names: what each does in place of the command, and its help.

    Raises
    ------
    UsageError
        From the command, for a wrong value.
    """
    parameters = [_parameter("context", typer.Context)]
    parameters += [_parameter(each.name, _annotation(each), _default(each)) for each in options]
    if verbose:
        verbose_option = typer.Option("--verbose", "-v", help="Also show workers and searches.")
        parameters.append(_parameter("verbose", Annotated[bool, verbose_option], False))
    if as_json:
        json_option = typer.Option("--json", help="Print one JSON object.")
        parameters.append(_parameter("as_json", Annotated[bool, json_option], False))
    for flag, (act, about) in (instead or {}).items():
        flag_option = typer.Option(flag, callback=_in_place(act), is_eager=True, help=about)
        name = flag.removeprefix("--").replace("-", "_")
        parameters.append(_parameter(name, Annotated[bool, flag_option], False))

    def decorate(function: Callable[[Given], Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def command(
            context: typer.Context, as_json: bool = False, verbose: bool = False, **words: Any
        ) -> Any:
            for each in options:
                if each.variable == log.FORMAT_VARIABLE:  # first: others may be wrong
                    log.start(_value(each, context, words)[0])
                    break
            else:
                log.check_variable()
            given = _given(options, context, words, as_json)
            return function(replace(given, is_verbose=verbose))

        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        del command.__wrapped__
        return command

    return decorate


def _in_place(act: Callable[[], None]) -> Callable[[bool], None]:
    def callback(wanted: bool) -> None:
        if wanted:
            act()
            raise typer.Exit

    return callback


def read_words(
    options: Sequence[Option],
    arguments: Sequence[str],
    program: str,
    about: str,
    kind: type[TyperCommand] | None = None,
) -> Given | None:
    """Read the words of a program that is one command; None: ``--help`` was printed.

    Parameters
    ----------
    options : sequence of Option
    arguments : sequence of str
        Words after the program's name.
    program, about : str
        Its name, and what it does, for help.
    kind : type, optional
        Of the command, whose help it makes; PlainCommand by default.

    Raises
    ------
    UsageError
        If an option is unknown, missing or wrong.
    """
    command = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=CONTEXT_SETTINGS,
    )

    @command.command(help=about, cls=kind or PlainCommand)
    @takes(options)
    def only(given: Given) -> Given:
        return given

    try:
        given = command(list(arguments), prog_name=program, standalone_mode=False)
    except TyperException as error:
        raise UsageError(with_hint(wrong_words(error))) from None
    return given if isinstance(given, Given) else None


def with_hint(message: str) -> str:
    """A message of the parser, which may end in a full stop or a question mark, and a hint."""
    if message.endswith("?"):
        return f"{message} See --help"
    return f"{message.removesuffix('.')}; see --help"


def wrong_words(error: TyperException) -> str:
    """What the parser says, in one line, with the variable that would do instead."""
    words = error.format_message() if hasattr(error, "format_message") else str(error)
    variable = getattr(getattr(error, "param", None), "envvar", None)
    if words.startswith("Missing") and variable:
        words = f"{words.rstrip('.')}: pass it or set {variable}"
    return " ".join(words.split())


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty):
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _annotation(given: Option) -> Any:
    """A type and its facts, as typer knows them; values stay as the user wrote them."""
    about: dict[str, Any] = {
        "help": given.help,
        "envvar": given.variable,
        "metavar": given.shown_value,
        "show_envvar": given.show_variable,
        "show_default": given.show_default,
    }
    if given.is_list and not given.commas:
        # Typer splits a variable at os.pathsep for a list of paths without its own parser;
        # ``path_type`` leaves an empty path empty.
        facts: dict[str, Any] = {}
        if given.kind is Path:
            facts = {"path_type": str, "readable": False}
        if given.completes:
            facts["autocompletion"] = _completing(given)
        return Annotated[list[given.kind], _info(given, **about, **facts)]  # type: ignore[name-defined]
    if given.choices or given.completes:
        about["autocompletion"] = _completing(given)
    if given.commas:  # may be given several times: what each names is one list
        return Annotated[list[str], _info(given, **about)]
    kind = str if given.unset or given.parser else given.kind
    if kind in (int, float):
        about |= {"min": given.minimum, "max": given.maximum}
    return Annotated[kind, _info(given, **about, parser=_as_written)]


def _info(given: Option, **about: Any) -> Any:
    if given.is_argument:
        return typer.Argument(**about)
    flag = f"--{given.word}"
    if given.kind is bool and given.default is True:
        flag += f"/--no-{given.word}"
    return typer.Option(flag, **about)


def _completing(given: Option) -> Callable[[typer.Context, str], list[str]]:
    """For shells: what was typed -> the choices that begin with it, or with its last part."""

    def completed(ctx: typer.Context, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",") if given.commas else ("", "", incomplete)
        known = given.completes(ctx.params, last) if given.completes else given.known
        said = {*before.split(",")}
        return [
            before + comma + choice
            for choice in known
            if choice.startswith(last) and choice not in said
        ]

    return completed


def _as_written(value: Any) -> Any:
    return value


def _default(given: Option) -> Any:
    """What typer shows as the default; none: the option must be given."""
    if given.is_required:
        return inspect.Parameter.empty
    if given.kind is bool or (given.kind in (int, float) and not given.unset and not given.is_list):
        return given.default
    text = given.text(given.default) or None
    return [text] if text and given.commas else text


def _value(option: Option, context: typer.Context, words: Mapping[str, Any]) -> tuple[Any, str]:
    """The value of an option, and where typer found it."""
    source = context.get_parameter_source(option.name)
    origin = _DEFAULTS[0] if source is None else source.name
    if origin in _DEFAULTS:
        return option.default, origin
    called = option.flag if origin == _SAID else str(option.variable)
    value = words[option.name]
    if option.commas:  # several times on the command line; a variable was split at blanks
        value = ("," if origin == _SAID else " ").join(value)
    return option.parse(value, called), origin


def _given(
    options: Sequence[Option], context: typer.Context, words: Mapping[str, Any], as_json: bool
) -> Given:
    values, said, chosen = {}, [], []
    for each in options:
        values[each.name], origin = _value(each, context, words)
        if origin not in _DEFAULTS:
            chosen.append(each.name)
        if origin == _SAID:
            said.append(each.name)
    return Given(values, tuple(said), tuple(chosen), as_json)
