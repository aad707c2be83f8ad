"""Pages that open from disk: an index of all ASes, a page for each, one style sheet, one script.

A page opened from disk may fetch nothing, so the index takes its rows from ``ases.js``, columns
in a script. Pages of ASes hold their figures as plain tables; scripts add sorting and
small drawings.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import jinja2

from pipeline.model.measured.origins import Source, origins_of
from pipeline.model.words import number
from pipeline.report.addresses.shards import write_addresses
from pipeline.report.addresses.table import address_table
from pipeline.report.pages.ases.as_page import as_pages
from pipeline.report.pages.ases.opening import opening, quality
from pipeline.report.pages.ases.provenance import Provenance
from pipeline.report.pages.index_page import index_script, index_variables
from pipeline.report.pages.internet_page import internet_variables
from pipeline.report.pages.reuse import (
    NIGHT,
    PAGES,
    Pages,
    digest_of,
    newest_report,
    night_script,
    without_night,
)
from pipeline.report.pages.run_facts import RunFacts, about_as
from pipeline.report.tables.internet import entering_traces
from pipeline.report.tables.summarise import Summary
from pipeline.report.texts import NONE, figure, short

__all__ = ["newest_report", "write_pages"]

ASSETS = ("hopscope.css", "hopscope.js")  # of all pages, also of those of comparisons
SCRIPTS = ("as_page.js", "filters.js", "internet.js")
LOOKUP = ("lookup.js",)  # where addresses are known


def write_pages(
    summary: Summary,
    run: RunFacts,
    out: Path,
    *,
    manifest: dict,
    warnings: list[str],
    busy_share: dict[str, float],
    earlier: Path | None = None,
    provenance: Provenance | None = None,
) -> Pages:
    """Write the index, ``internet.html``, ``as/*.html`` and what they load, into a folder.

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
    earlier : Path or None
        A report whose pages of ASes are linked where they show the same.
    provenance : Provenance or None
        How it was made, as far as it is known.

    Returns
    -------
    Pages
        How many pages of ASes there are.
    """
    origins = origins_of(manifest, summary.ases["asn"].to_numpy())
    addresses = address_table(summary.snapshot, summary.rows) if origins.has_traces else None
    if addresses:
        write_addresses(addresses, out)
    templates, provenance = environment(), provenance or Provenance()
    write_assets(out, ASSETS + SCRIPTS + (LOOKUP if addresses else ()))
    (out / "as").mkdir(exist_ok=True)
    pages = Pages(out / "as", earlier)
    template = templates.get_template("as.html")
    facts: dict[Source | None, RunFacts] = {}
    for asn, variables in as_pages(summary):
        source = origins.source_of(asn)
        if source not in facts:
            facts[source] = without_night(about_as(run, origins, source))
        about = facts[source]
        variables["measured_with"] = provenance.measured_with(asn)
        digest = digest_of(variables, about)
        if not pages.link(asn, digest):
            pages.write(asn, digest, template.render(a=variables, run=about, root="../"))
    pages.save(out / PAGES)
    (out / NIGHT).write_text(night_script(run, provenance), encoding="ascii")
    entering = entering_traces(summary) if origins.has_traces else None
    rows = index_script(summary.ases, summary.widths, entering)
    (out / "ases.js").write_text(rows, encoding="ascii")
    index = templates.get_template("index.html").render(
        run=run,
        t=summary.totals,
        root="",
        has_addresses=bool(addresses),
        **index_variables(summary, run, manifest, warnings, busy_share),
    )
    (out / "index.html").write_bytes(index.encode())
    together = templates.get_template("internet.html").render(
        run=run, t=summary.totals, root="", **internet_variables(summary, run)
    )
    (out / "internet.html").write_bytes(together.encode())
    return pages


def write_assets(out: Path, names: Sequence[str] = ASSETS) -> None:
    """Style sheet and scripts of pages."""
    for name in names:
        data = resources.files("pipeline.report").joinpath("assets", name).read_bytes()
        (out / name).write_bytes(data)


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
