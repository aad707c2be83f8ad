"""Parameters of flow runs: the options of configs, for Prefect's form and validation.

Options with ``is_parameter`` have a parameter of their own; any other goes into ``options``, by its
field's name: ``{"allow_special": ["198.18.0.0/15"], "bridge_gaps": true}``. Missing values come
from ``HOPSCOPE_*``, then from their defaults.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from prefect.states import Failed, State
from pydantic import BaseModel, ConfigDict, Field, create_model

from flows import STARTED_IN
from flows.runs.outcome import EXPECTED
from pipeline.errors import UsageError
from pipeline.options import Option, config_of, options_of, values
from pipeline.places import in_one_line

FURTHER = "options"  # the parameter for options that have none of their own

Text = Annotated[str, Field(min_length=1)]


def with_parameters(
    options: Sequence[Option], **others: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a function the parameters of options, for ``prefect.flow``.

    Parameters
    ----------
    options : sequence of Option
    others : types
        Parameters that are not options, which must be given; the docstring says what they are.
    """
    own = [each for each in options if each.is_parameter]
    has_further = len(own) < len(options)
    place, name_only = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    named = [inspect.Parameter(name, place, annotation=kind) for name, kind in others.items()]
    named += [_parameter(each) for each in own]
    if has_further:
        kind = further_options(options) | None
        named.append(inspect.Parameter(FURTHER, name_only, default=None, annotation=kind))

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        lines = [f"    {each.name}: {each.help}" for each in own]
        if has_further:
            said = 'Any other option by its name, {"workers": 2} for instance.'
            lines.append(f"    {FURTHER}: {said}")
        said = inspect.getdoc(function) or ""
        section = "" if "\nArgs:\n" in said else "\n\nArgs:"
        function.__doc__ = said + section + "\n" + "\n".join(lines)
        function.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
        function.__annotations__ = {each.name: each.annotation for each in named}
        function.options = tuple(options)  # type: ignore[attr-defined]
        return function

    return decorate


def with_config(
    config_type: type, **others: Any
) -> Callable[[Callable[..., State]], Callable[..., State]]:
    """Let a function of a config take the parameters of its options, for ``prefect.flow``.

    Missing or wrong parameters end the run as Failed, in one line.

    Parameters
    ----------
    config_type : type
        A config; the function takes one first.
    others : types
        As in ``with_parameters``; the function takes them by name.
    """
    options = options_of(config_type)

    def decorate(function: Callable[..., State]) -> Callable[..., State]:
        @functools.wraps(function)
        def run(*first: Any, **parameters: Any) -> State:
            given = dict(zip(others, first, strict=False))
            given |= {name: parameters.pop(name) for name in others if name not in given}
            try:
                config: Any = config_of(config_type, given_values(options, parameters))
            except EXPECTED as error:
                return Failed(message=in_one_line(error))
            return function(config, **given)

        return with_parameters(options, **others)(run)

    return decorate


def with_values_in_force(schema: dict[str, Any], options: Sequence[Option]) -> dict[str, Any]:
    """The schema of a flow's parameters, in which defaults are what the environment says now.

    Prefect's form shows them. A variable that is wrong is left out: the run says so.

    Parameters
    ----------
    schema : dict
        As Prefect has it.
    options : sequence of Option
        Those of the flow.
    """
    schema = copy.deepcopy(schema)
    further = schema.get("definitions", {}).get("FurtherOptions", {}).get("properties", {})
    said = []
    for each in options:
        try:
            plain = each.plain(values((each,), {})[each.name])
        except UsageError:  # it has no value, or a wrong one
            continue
        if plain in (None, []):
            continue
        own = (schema["properties"] if each.is_parameter else further).get(each.name)
        if own is not None:
            own["default"] = plain
            said += [] if each.is_parameter else [f"{each.name}: {json.dumps(plain)}"]
    if said and FURTHER in schema["properties"]:
        about = schema["properties"][FURTHER]
        about["description"] = (
            f"{about.get('description', '')} In force: {', '.join(said)}.".strip()
        )
    return schema


def _parameter(option: Option) -> inspect.Parameter:
    """One parameter; it must be given if neither a variable nor a default can stand for it."""
    must = option.is_required and option.variable is None
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if must else None,
        annotation=_json_type(option) if must else _json_type(option) | None,
    )


def further_options(options: Sequence[Option]) -> type[BaseModel]:
    """A model of the options that have no parameter of their own."""
    fields: dict[str, Any] = {
        each.name: (_json_type(each) | None, Field(None, description=_description(each)))
        for each in options
        if not each.is_parameter
    }
    return create_model("FurtherOptions", __config__=ConfigDict(extra="forbid"), **fields)


def _description(option: Option) -> str:
    return f"{option.help} ({option.unit})" if option.unit else option.help


def _json_type(option: Option) -> Any:
    """The JSON type of an option."""
    one: Any = option.kind
    if option.known:
        one = Literal[option.known]
    elif option.kind in (str, Path):
        one = Annotated[str, Field(pattern=option.pattern)] if option.pattern else Text
    elif option.kind is not bool and (option.minimum, option.maximum) != (None, None):
        one = Annotated[option.kind, Field(ge=option.minimum, le=option.maximum)]
    if option.is_list and option.commas:
        return list[one] | _comma_text(option)
    if option.is_list:
        return list[one]
    return Literal[option.unset] | one if option.unset else one


def _comma_text(option: Option) -> Any:
    if not option.known:
        return Text
    word = "|".join(option.known)
    return Annotated[str, Field(pattern=f"^({word})(,({word}))*$")]


def given_values(options: Sequence[Option], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Values of options by name, from the parameters of a flow run; None means not given.

    Relative paths begin where ``serve`` was started, as those of its variables do.

    Raises
    ------
    UsageError
        If a parameter is missing, wrong or unknown.
    """
    given = dict(parameters)
    further = given.pop(FURTHER, None) or {}
    if isinstance(further, BaseModel):
        further = further.model_dump(exclude_none=True)
    if twice := [name for name in further if given.get(name) is not None]:
        raise UsageError(f"parameter {twice[0]} is given twice: directly and in {FURTHER}")
    found = values(options, given | dict(further))
    folder = os.environ.get(STARTED_IN)
    return {name: _in(folder, value) for name, value in found.items()} if folder else found


def _in(folder: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_in(folder, each) for each in value)
    return folder / value if isinstance(value, Path) else value


def parameters_of(options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse: parameters of a flow run, plain JSON, from values by name."""
    own: dict[str, Any] = {}
    further: dict[str, Any] = {}
    for each in options:
        if each.name in given:
            place = own if each.is_parameter else further
            place[each.name] = each.plain(given[each.name])
    return own | ({FURTHER: further} if further else {})
