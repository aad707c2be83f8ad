"""``OUT/index.html``: a row for each night of a folder of reports, and how its figures developed.

The page is one file, so that it takes the place of the one before as a whole. It has no script; its
style is in it, and its content security policy allows this one style by its digest.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import stat
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from markupsafe import Markup

from pipeline import __version__
from pipeline.errors import StoreError, said_by_system
from pipeline.files import replaced_whole
from pipeline.model.words import nouns_of
from pipeline.report.names import NIGHTS_PAGE
from pipeline.report.nights.history import history
from pipeline.report.nights.rows import NightRow, night_rows
from pipeline.report.pages.templating import environment
from pipeline.store import snapshot_names
from pipeline.store.pointers.nights import age_of
from pipeline.store.pointers.versions import versions_named

MAX_DRAWN = 366  # nights in a drawing, the last ones

# Marks our page: one that someone else put there stays.
_OURS = b'<meta name="generator" content="hopscope nights">'
_HEAD = 1024  # bytes at the beginning of a page that contain it

# Figures that are drawn: attribute of a row, what it is, format.
_DRAWN = (
    ("n_ases", "ASes", ",d"),
    ("n_nodes", "nodes", ",d"),
    ("n_ingresses", "ingresses", ",d"),
    ("mean_hops", "mean hops", ".2f"),
    ("mapped", "mapped, per cent", ".1f"),
    ("n_events", "events", ",d"),
)


def write_nights(out: Path, store: Path | None = None) -> str:
    """Write the page over all nights, whole or not at all; call it in ``report_turn``.

    Parameters
    ----------
    out : Path
        Folder of reports.
    store : Path or None
        Its nights without a report are listed too.

    Returns
    -------
    str
        Why it was not written, one line; empty if it was.
    """
    path = Path(out) / NIGHTS_PAGE
    names: list[str] = []
    versions = {} if store is None else versions_named(store)
    if store is not None:
        with contextlib.suppress(StoreError, OSError):  # a broken store costs only its own rows
            names = snapshot_names(store)
    try:
        if not _may_replace(path):
            return f"{path}: not written by hopscope, so the page of all nights was not written"
        text = nights_page(night_rows(Path(out), names, versions)).encode()
        with replaced_whole(path, durable=True, alone=True) as file:
            file.write(text)
    except OSError as error:
        fault = f"{error.filename or path}: {said_by_system(error)}"
        return f"{fault}; the page of all nights is out of date"
    return ""


def nights_page(rows: Iterable[NightRow]) -> str:
    """The page as HTML; rows come newest first."""
    rows = list(rows)
    dated = [row for row in rows if row.is_night][:MAX_DRAWN][::-1]
    names = [row.name for row in dated]
    days = [age_of(row.name, row.newest_s)[1] / 86_400 for row in dated]
    nouns = nouns_of((r.node_kind for r in rows if r.n_nodes is not None), beside_ases=True)
    drawings = []
    for key, named, form in _DRAWN:
        what = nouns if key == "n_nodes" else named
        values = [getattr(row, key) for row in dated]
        if drawing := history(values, names, what, form, days):
            known = [value for value in values if value is not None]
            least, most = f"{min(known):{form}}", f"{max(known):{form}}"
            ends = f"{least} to {most}" if least != most else "every night"
            last = next(row for row in reversed(dated) if getattr(row, key) is not None)
            drawings.append(
                {
                    "what": what,
                    "last": f"{known[-1]:{form}}",
                    "remark": last.remark if key == "mapped" else "",
                    "range": ends,
                    "drawing": drawing,
                }
            )
    style = "".join(
        resources.files("pipeline.report").joinpath("assets", name).read_text(encoding="utf-8")
        for name in ("hopscope.css", "nights.css")
    )
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        environment()
        .get_template("nights.html")
        .render(
            rows=rows,
            nouns=nouns,
            n_dated=len(dated),
            drawings=drawings,
            version=__version__,
            style=Markup(style),  # our own file
            digest=digest,
        )
    )


def _may_replace(path: Path) -> bool:
    """Whether there is nothing, or a page of ours. A link or a pipe is not opened."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
    except FileNotFoundError:
        return True
    with path.open("rb") as file:
        return _OURS in file.read(_HEAD)
