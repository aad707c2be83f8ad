"""Writes the pages of ASes, a part of a report at a time, in this process or in another one."""

from __future__ import annotations

import copy
from pathlib import Path

from pipeline.model.measured.origins import Origins, Source
from pipeline.report.pages.ases.as_page import WidthParts, as_pages
from pipeline.report.pages.ases.opening import opening, quality
from pipeline.report.pages.provenance import Provenance
from pipeline.report.pages.reuse import Pages, digest_of, without_night
from pipeline.report.pages.run_facts import RunFacts, about_as
from pipeline.report.pages.templating import environment
from pipeline.report.tables.listed import list_ases
from pipeline.report.tables.summarise import Summary


class PageWriter:
    """Writes the pages of the ASes of one report; may be pickled.

    Parameters
    ----------
    summary : Summary
        Of the report.
    run : RunFacts
    origins : Origins
    provenance : Provenance
    folder : Path
        Of the pages; must exist.
    earlier : Path or None
        A report whose pages are linked where they show the same.
    """

    def __init__(
        self,
        summary: Summary,
        run: RunFacts,
        origins: Origins,
        provenance: Provenance,
        folder: Path,
        earlier: Path | None,
    ):
        self._listed = list_ases(summary.ases)
        self._run, self._origins, self._provenance = run, origins, provenance
        self._about: dict[Source | None, RunFacts] = {}
        self.pages = Pages(folder, earlier)

    def of_part(self, part: Summary) -> PageWriter:
        """A writer of one part: it knows no more of an earlier report than that takes."""
        writer = copy.copy(self)
        writer._about, writer.pages = {}, self.pages.of_ases(part.ases["asn"].to_pylist())
        return writer

    def write(self, part: Summary, widths: list[WidthParts] | None = None) -> None:
        """Write the pages of a part of the report; ``widths`` as for ``as_pages``."""
        template = environment(opening=opening, quality=quality).get_template("as.html")
        for asn, variables in as_pages(part, self._listed, widths):
            about = self._about_as(asn)
            variables["measured_with"] = self._provenance.measured_with(asn)
            digest = digest_of(variables, about)
            if not self.pages.link(asn, digest):
                text = template.render(a=variables, run=about, root="../")
                self.pages.write(asn, digest, text)

    def _about_as(self, asn: int) -> RunFacts:
        source = self._origins.source_of(asn)
        if source not in self._about:
            about = about_as(self._run, self._origins, source)
            self._about[source] = without_night(about)
        return self._about[source]
