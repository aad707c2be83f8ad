"""Pages that open from disk: an index of all ASes, a page for each, one style sheet, one script.

A page opened from disk may fetch nothing, so the index takes its rows from ``ases.js``, columns
in a script. Pages of ASes hold their figures as plain tables; scripts add sorting and
small drawings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

from pipeline.model.measured.origins import origins_of
from pipeline.report.addresses.shards import write_addresses
from pipeline.report.addresses.table import address_table
from pipeline.report.pages.ases.side_by_side import n_processes, write_side_by_side
from pipeline.report.pages.ases.writing import PageWriter
from pipeline.report.pages.index_page import index_script, index_variables
from pipeline.report.pages.internet_page import internet_variables
from pipeline.report.pages.provenance import Provenance
from pipeline.report.pages.reuse import (
    NIGHT,
    PAGES,
    Pages,
    newest_report,
    night_script,
)
from pipeline.report.pages.run_facts import RunFacts
from pipeline.report.pages.templating import environment
from pipeline.report.paths.shards import write_paths
from pipeline.report.routers.nights import nights_of_routers
from pipeline.report.routers.shards import write_routers
from pipeline.report.tables.internet import entering_traces
from pipeline.report.tables.summarise import Summary

__all__ = ["newest_report", "write_pages"]

ASSETS = ("hopscope.css", "hopscope.js")  # of all pages, also of those of comparisons
SCRIPTS = ("as_page.js", "filters.js", "history.js", "internet.js")
PANEL = ("lookup.js", "panel.js")  # where addresses are known
PATHS = ("paths.js",)  # where traces are kept


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
    processes: int | None = None,
    on_progress: Callable[[int], None] = lambda n_pages: None,
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
    processes : int or None
        That write pages, at most; None: one per core. Few pages are written by one.
    on_progress : callable
        Called with the number of pages of ASes that have been written.

    Returns
    -------
    Pages
        How many pages of ASes there are.
    """
    origins = origins_of(manifest, summary.ases["asn"].to_numpy())
    addresses = address_table(summary.snapshot, summary.rows) if origins.has_traces else None
    if addresses:
        run = replace(run, has_panel=True)
        write_addresses(addresses, out)
    kept = write_paths(summary.snapshot, out)
    if addresses:
        nights = nights_of_routers(summary.snapshot, addresses)
        write_routers(summary.snapshot, addresses, nights, out, kept is not None)
    templates, provenance = environment(), provenance or Provenance()
    write_assets(out, ASSETS + SCRIPTS + (PANEL if addresses else ()) + (PATHS if kept else ()))
    (out / "as").mkdir(exist_ok=True)
    writer = PageWriter(summary, run, origins, provenance, out / "as", earlier)
    n = n_processes(summary.ases.num_rows, processes)
    write_side_by_side(writer, summary, n, on_progress)
    pages = writer.pages
    pages.save(out / PAGES)
    (out / NIGHT).write_text(
        night_script(run, provenance, has_paths=kept is not None), encoding="ascii"
    )
    entering = entering_traces(summary) if origins.has_traces else None
    rows = index_script(summary.ases, summary.widths, entering)
    (out / "ases.js").write_text(rows, encoding="ascii")
    index = templates.get_template("index.html").render(
        run=run,
        t=summary.totals,
        root="",
        has_paths=kept is not None,
        **index_variables(summary, run, manifest, warnings, busy_share),
    )
    (out / "index.html").write_bytes(index.encode())
    together = templates.get_template("internet.html").render(
        run=run, t=summary.totals, root="", **internet_variables(summary, run)
    )
    (out / "internet.html").write_bytes(together.encode())
    if kept:
        paths = templates.get_template("paths.html").render(run=run, root="", kept=kept)
        (out / "paths.html").write_bytes(paths.encode())
    return pages


def write_assets(out: Path, names: Sequence[str] = ASSETS) -> None:
    """Style sheet and scripts of pages."""
    for name in names:
        data = resources.files("pipeline.report").joinpath("assets", name).read_bytes()
        (out / name).write_bytes(data)
