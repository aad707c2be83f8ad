"""The program ``hopscope`` without its commands, and how one is added to it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import typer

from pipeline import __version__
from pipeline.options import Option, merged
from pipeline.terminal.arguments import CONTEXT_SETTINGS, PlainCommand
from pipeline.terminal.lines import print_line

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Example: hopscope run night/ --store mystore --out reports --ip2as routeviews.pfx2as\n\n"
    "Ingress routers, hop counts, diameter and radius of every Autonomous System.",
    epilog="Each option can also be set by the variable HOPSCOPE_<NAME>. Exit status: 0 all done; "
    "1 something (named in the output) was left out; 2 nothing could be done.",
    context_settings=CONTEXT_SETTINGS,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print_line(f"hopscope {__version__}")
        raise typer.Exit


def command(example: str, **more: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``app.command`` with help that opens with an example, words after ``hopscope``."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        about = inspect.cleandoc(function.__doc__ or "")
        help = f"Example: hopscope {example}\n\n{about}"
        return app.command(help=help, short_help=about, **{"cls": PlainCommand} | more)(function)

    return add


def words_of(*configs: type) -> tuple[Option, ...]:
    """Options of a command; inputs have no variable, so that none is read by mistake."""
    return tuple(
        replace(each, variable=None) if each.is_argument else each for each in merged(*configs)
    )


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Nothing to do before a command."""
