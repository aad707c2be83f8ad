"""What renders the templates of pages."""

from __future__ import annotations

import jinja2

from pipeline.model.words import number
from pipeline.report.pages.ases.opening import opening, quality
from pipeline.report.texts import NONE, figure, short


def environment() -> jinja2.Environment:
    """What renders templates: escaping by default, with the filters of our pages."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pipeline.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # or each page would ask the disk whether templates have changed
    )
    environment.globals |= {
        "opening": opening,
        "quality": quality,
    }
    environment.filters |= {
        "n": lambda value: NONE if value is None else f"{value:,}",
        "figure": figure,
        "number": number,
        "short": short,
    }
    return environment
