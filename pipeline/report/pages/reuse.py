"""Pages of an earlier report that show what new ones would: linked instead of written again.

A page shows nothing of its night: name and time come from ``night.js`` beside it. What it shows is
identified by a digest over everything that its template is given and over the sources of pages.
Digests are in ``pages.parquet`` of each report, with the sizes: a page that was cut is written
again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

import pipeline
from pipeline.model.digests import digest_of_sources
from pipeline.report.escaping import script_json
from pipeline.report.pages.provenance import Provenance
from pipeline.report.pages.run_facts import RunFacts

PAGES = "pages.parquet"
NIGHT = "night.js"
_SCHEMA = pa.schema(
    [
        pa.field("asn", pa.int64(), nullable=False),
        pa.field("digest", pa.binary(16), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
    ]
)


def newest_report(out: Path) -> Path | None:
    """The report in a folder whose pages were written last; None if none has pages."""
    found = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(out):
            with contextlib.suppress(OSError):
                path = Path(entry.path) / PAGES
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    found.append((path.stat().st_mtime_ns, path.parent))
    return max(found)[1] if found else None


def without_night(run: RunFacts) -> RunFacts:
    """Facts for pages of ASes: those that may differ from night to night are left to ``NIGHT``."""
    return replace(
        run,
        snapshot="",
        written="",
        version="",
        n_ases_stored=0,
        unreached_share="",
        mapped="known" if run.mapped else "",
        is_mapped_low=False,
    )


def night_script(run: RunFacts, provenance: Provenance, *, has_paths: bool = False) -> str:
    """What pages of ASes say of their night, as a script."""
    places = provenance.of_night()
    facts = {
        "snapshot": run.snapshot,
        "mapped": f"Of the whole snapshot {run.mapped}.",
        "is_mapped_low": run.is_mapped_low,
        **places,
        "has_paths": has_paths,
        "made": f"Snapshot {run.snapshot}, report of {run.written}. {places['made']}".strip(),
    }
    return f"hopscope.night({script_json(facts)});\n"


class Written(NamedTuple):
    """A page of an AS as a row of ``PAGES``, and whether it is a link to that of another report."""

    asn: int
    digest: bytes
    size: int
    linked: bool


class Pages:
    """Pages of ASes of one report as they are written.

    Parameters
    ----------
    folder : Path
        Of the pages.
    earlier : Path or None
        A report whose pages may be linked.

    Attributes
    ----------
    n_pages, n_linked : int
        All, and those among them that are pages of the earlier report.
    """

    def __init__(self, folder: Path, earlier: Path | None):
        self._folder = folder
        self._earlier = None if earlier is None else earlier / folder.name
        self._known = {} if earlier is None else _read(earlier / PAGES)
        self._rows: list[Written] = []

    def of_ases(self, asns: Sequence[int]) -> Pages:
        """The same before any is written, to write those of some ASes only."""
        part = Pages(self._folder, None)
        part._earlier = self._earlier
        part._known = {asn: self._known[asn] for asn in asns if asn in self._known}
        return part

    @property
    def n_pages(self) -> int:
        return len(self._rows)

    @property
    def n_linked(self) -> int:
        return sum(row.linked for row in self._rows)

    def add(self, rows: Sequence[Written]) -> None:
        """Take over pages that another process has written."""
        self._rows += rows

    @property
    def written(self) -> list[Written]:
        return self._rows

    def remove(self, asns: Iterable[int]) -> None:
        """Remove the files of some pages, as far as they are there; they may be links."""
        for asn in asns:
            (self._folder / f"{asn:d}.html").unlink(missing_ok=True)

    def link(self, asn: int, digest: bytes) -> bool:
        """Take the page of an AS from the earlier report if it shows the same; whether it did."""
        known, size = self._known.get(asn, (b"", 0))
        if known != digest or self._earlier is None:
            return False
        name = f"{asn:d}.html"
        source, target = self._earlier / name, self._folder / name
        try:
            if os.lstat(source).st_size != size:
                return False
            try:
                os.link(source, target, follow_symlinks=False)
            except OSError:  # a file system without hard links, or too many of this page
                shutil.copyfile(source, target, follow_symlinks=False)
        except OSError:  # it is gone in the meantime
            return False
        self._rows.append(Written(asn, digest, size, True))
        return True

    def write(self, asn: int, digest: bytes, text: str) -> None:
        """Write the page of an AS."""
        data = text.encode()
        (self._folder / f"{asn:d}.html").write_bytes(data)
        self._rows.append(Written(asn, digest, len(data), False))

    def save(self, path: Path) -> None:
        """Write the digests for later reports, by AS number."""
        rows = sorted(self._rows)
        arrays = [pa.array([row[i] for row in rows], f.type) for i, f in enumerate(_SCHEMA)]
        pq.write_table(pa.table(arrays, schema=_SCHEMA), path, compression="zstd")


def digest_of(variables: dict[str, Any], run: RunFacts) -> bytes:
    """16 bytes over all that the page of an AS shows."""
    data = orjson.dumps(variables, default=_plain, option=orjson.OPT_SERIALIZE_NUMPY)
    return hashlib.blake2b(data, key=_of_run(run), digest_size=16).digest()


@functools.cache
def _of_run(run: RunFacts) -> bytes:
    facts = orjson.dumps([asdict(run), _sources()])
    return hashlib.blake2b(facts, digest_size=32).digest()


@functools.cache
def _sources() -> str:
    room = Path(pipeline.__file__).parent
    return digest_of_sources([room / "report", room / "metrics"], ("*.py", "*.html"))


def _plain(value: Any) -> Any:
    """What JSON has no word for; every part of it counts."""
    return vars(value) if hasattr(value, "__dict__") else repr(value)


def _read(path: Path) -> dict[int, tuple[bytes, int]]:
    """AS number -> digest and size of its page; empty if there is nothing to read."""
    try:
        table = pq.read_table(path, schema=_SCHEMA)
    except (OSError, pa.ArrowException):
        return {}
    asn, digest, size = (table.column(name).to_pylist() for name in _SCHEMA.names)
    return dict(zip(asn, zip(digest, size, strict=True), strict=True))
