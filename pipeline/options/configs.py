"""The options of configs: how a field is declared, and where its value comes from."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, field, fields, replace
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pipeline.errors import UsageError
from pipeline.options.parsing import REQUIRED, Option

PREFIX = "HOPSCOPE_"
_KEY = "option"

Config = TypeVar("Config")


def option(
    *,
    help: str,
    default: Any = REQUIRED,
    variable: str | None = "",
    metavar: str | None = None,
    unit: str = "",
    word: str = "",
    choices: tuple[str, ...] | Callable[[], tuple[str, ...]] = (),
    parser: Callable[[Any], Any] | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    pattern: str = "",
    commas: bool = False,
    completes: Callable[[Mapping[str, Any], str], Iterable[str]] | None = None,
    unset: str = "",
    shared_help: str = "",
    needs: str = "",
    rows: str = "",
    takes_urls: bool = False,
    is_argument: bool = False,
    is_parameter: bool = False,
    show_variable: bool = False,
    show_default: bool = True,
) -> Any:
    """A field of a config that users can set; what is left out follows from the field.

    Parameters as in ``Option``. The variable of a field ``as_names`` is ``HOPSCOPE_AS_NAMES``
    unless another is given; its word is ``as-names``.
    """
    given = {name: value for name, value in locals().items() if name != "default"}
    return field(
        default=MISSING if default is REQUIRED else default, metadata={_KEY: Option(**given)}
    )


@functools.cache
def options_of(config: type) -> tuple[Option, ...]:
    """The options of a config, in the order of its fields."""
    hints = get_type_hints(config)
    return tuple(
        _bound(
            each.metadata[_KEY],
            each.name,
            hints[each.name],
            REQUIRED if each.default is MISSING else each.default,
        )
        for each in fields(config)
        if _KEY in each.metadata
    )


def _bound(said: Option, name: str, hint: Any, default: Any) -> Option:
    """An option, completed from its field."""
    kind, is_list, choices = _kind(hint)
    return replace(
        said,
        name=name,
        kind=kind,
        is_list=is_list,
        default=default,
        choices=said.choices or choices,
        word=said.word or name.replace("_", "-"),
        variable=f"{PREFIX}{name.upper()}" if said.variable == "" else said.variable,
    )


def _kind(hint: Any) -> tuple[type, bool, tuple[str, ...]]:
    """Type of a value, whether there are many, and the words of a Literal."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not type(None))
    if get_origin(hint) is tuple:
        kind, _, choices = _kind(get_args(hint)[0])
        return kind, True, choices
    if get_origin(hint) is Literal:
        return str, False, get_args(hint)
    return hint, False, ()


def merged(*configs: type) -> tuple[Option, ...]:
    """The options of several configs as those of one command.

    Options before one that both have come before it, those of the first config first. No word of
    the first may belong to another field of the second.
    """
    options: list[Option] = []
    for config in configs:
        options = _merge(options, list(options_of(config)))
    return tuple(options)


def _merge(first: list[Option], second: list[Option]) -> list[Option]:
    names, words = [each.name for each in first], {each.word for each in first}
    found: list[Option] = []
    own: list[Option] = []  # of the second, since the last option that both have
    for each in second:
        if each.name in names:
            place = names.index(each.name)
            shared = replace(first[place], help=first[place].shared_help or first[place].help)
            found += [*first[:place], *own, shared]
            first, names, own = first[place + 1 :], names[place + 1 :], []
        elif each.word not in words:
            own.append(each)
    return found + first + own


def values(
    options: Sequence[Option],
    given: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The values of parameters, else of variables, else of defaults.

    Parameters
    ----------
    options : sequence of Option
    given : mapping
        JSON values by the fields' names; None is not given.
    environment : mapping, optional
        By default that of this process.

    Raises
    ------
    UsageError
        If one is missing, wrong or unknown.
    """
    environment = os.environ if environment is None else environment
    known = {each.name for each in options}
    for name in given:
        if name not in known:
            raise UsageError(
                f"no such parameter: {name}; available parameters: {', '.join(sorted(known))}"
            )
    return dict(_values(options, given, environment))


def _values(
    options: Sequence[Option], given: Mapping[str, Any], environment: Mapping[str, str]
) -> Iterator[tuple[str, Any]]:
    for each in options:
        said = environment.get(each.variable or "")
        if given.get(each.name) is not None:
            yield each.name, each.parse(given[each.name], f"parameter {each.name}")
        elif said:
            yield each.name, each.parse(said, str(each.variable))
        elif each.is_required:
            variable = f" or set {each.variable}" if each.variable else ""
            raise UsageError(f"missing parameter {each.name}: pass it{variable}")
        else:
            yield each.name, each.default


def config_of(config: type[Config], given: Mapping[str, Any]) -> Config:
    """A config from the values of its options; other values are ignored."""
    names = [each.name for each in options_of(cast(Any, config))]
    return config(**{name: given[name] for name in names if name in given})
