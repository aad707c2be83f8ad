"""Pages that open from disk: an index of all ASes, a page for each, one style sheet, one script.

A page opened from disk may fetch nothing, so the index takes its rows from ``ases.js``, columns
in a script. Pages of ASes hold their figures as plain tables; the script adds sorting and small
drawings.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import jinja2

from pipeline.model.origins import Source, origins_of
from pipeline.model.words import LOW_CONFIDENCE, number
from pipeline.report.pages.as_page import as_pages
from pipeline.report.pages.index_page import index_script, index_variables
from pipeline.report.pages.run_facts import RunFacts, about_as
from pipeline.report.tables.summarise import Summary
from pipeline.report.texts import NONE, figure, short

ASSETS = ("hopscope.css", "hopscope.js")


def write_pages(
    summary: Summary,
    run: RunFacts,
    out: Path,
    *,
    manifest: dict,
    warnings: list[str],
    busy_share: dict[str, float],
) -> int:
    """Write ``index.html``, ``as/*.html`` and what they load into a folder that exists.

    Parameters
    ----------
    summary : Summary
    run : RunFacts
    out : Path
    manifest : dict
        Of the snapshot: inputs, options, counts.
    warnings : list of str
    busy_share : dict of str to float
        Worker -> share of the run that it computed.

    Returns
    -------
    int
        Pages of ASes written.
    """
    environment = _environment()
    for name in ASSETS:
        data = resources.files("pipeline.report").joinpath("assets", name).read_bytes()
        (out / name).write_bytes(data)
    (out / "as").mkdir(exist_ok=True)
    n_pages = 0
    template = environment.get_template("as.html")
    origins = origins_of(manifest, summary.ases["asn"].to_numpy())
    facts: dict[Source | None, RunFacts] = {}
    for asn, variables in as_pages(summary):
        source = origins.source_of(asn)
        if source not in facts:
            facts[source] = about_as(run, origins, source)
        text = template.render(a=variables, run=facts[source], root="../")
        (out / "as" / f"{asn:d}.html").write_bytes(text.encode())
        n_pages += 1
    (out / "ases.js").write_text(index_script(summary.ases, summary.widths), encoding="ascii")
    index = environment.get_template("index.html").render(
        run=run,
        t=summary.totals,
        root="",
        **index_variables(summary, run, manifest, warnings, busy_share),
    )
    (out / "index.html").write_bytes(index.encode())
    return n_pages


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pipeline.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["LOW_CONFIDENCE"] = LOW_CONFIDENCE
    environment.filters |= {
        "n": lambda value: NONE if value is None else f"{value:,}",
        "figure": figure,
        "number": number,
        "short": short,
    }
    return environment
