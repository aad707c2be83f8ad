"""What renders the templates of pages."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jinja2

from pipeline.model.words import LOW_CONFIDENCE, number
from pipeline.report.texts import NONE, figure, short


@functools.cache
def environment(**functions: Callable[..., Any]) -> jinja2.Environment:
    """What renders templates: escaping by default, with the filters of our pages.

    Made once for the same functions: to compile the templates of a report takes most of the time
    that a small report takes.

    Parameters
    ----------
    functions : callable
        What templates may call, by its name there.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pipeline.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # or each page would ask the disk whether templates have changed
    )
    environment.globals |= functions | {"low_confidence": LOW_CONFIDENCE}
    environment.filters |= {
        "n": lambda value: NONE if value is None else f"{value:,}",
        "figure": figure,
        "number": number,
        "short": short,
    }
    return environment
