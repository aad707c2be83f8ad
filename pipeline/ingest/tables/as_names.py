"""AS number to name: one JSON object, or lines of ``asn<TAB or |>name``; plain or compressed.

JSON values are the name itself or an object with one of ``NAME_KEYS``. A number may be written with
AS before it. Lines that are empty or begin with # are not names. Names are third-party text: they
are kept as they are, except that control characters and bytes that are not UTF-8 become U+FFFD and
blanks at the ends are removed; code that shows them must escape them. The last of several names of
one AS counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from pipeline.ingest.tables.lines import Blocks, read_whole
from pipeline.ingest.text.names import CONTROL, clean_name
from pipeline.json_text import parse_json
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport

NAME_KEYS = ("name", "asn_name", "as_name", "org", "org_name", "organization", "descr")
MAX_FILE_BYTES = 1 << 29  # decompressed
MAX_NAME = 500  # characters; longer ones are cut

_ASN = re.compile(r"\s*(?:AS)?([0-9]{1,10})\s*\Z", re.IGNORECASE)


def read_as_names(blocks: Blocks, report: ReadReport) -> dict[int, str]:
    """Read the names of ASes.

    Parameters
    ----------
    blocks : iterable of bytes
        Of an opened file.
    report : ReadReport
        Filled: ASes as ``n_records``, broken entries by reason. A file that cannot be read, is cut
        short or holds no name has status ``rejected`` or ``partial`` and says why in ``error``;
        nothing is raised for it. Lines before a cut are used; JSON that is cut short is broken. An
        empty JSON object is valid.
    """
    data = read_whole(blocks, report, MAX_FILE_BYTES)
    is_json = data.lstrip().startswith(b"{")
    names: dict[int, str] = {}
    if is_json:
        entries = _json_entries(data, report)
    else:
        entries = _line_entries(data, bool(report.error), report)
    for place, key, value in entries:
        asn = _asn(key)
        name = _name(value)
        if asn is None:
            report.reject(place, "not an AS number", key)
        elif name is None:
            report.reject(place, "no name", repr(value)[:60])
        else:
            if asn in names:
                report.notes["ASes named again"] += 1
            names[asn] = clean_name(name.strip(), MAX_NAME, report)
    report.n_records = len(names)
    n_read = len(names) + report.notes["ASes named again"]
    report.kept_of = {"name": (n_read, n_read + report.rejected.total())}
    if not names and (report.error or report.rejected or not is_json):  # {} names nothing
        report.refuse_empty("no AS name in it; give a JSON object or asn|name lines")
    return names


def _json_entries(data: bytes, report: ReadReport) -> Iterator[tuple[str, str, Any]]:
    """None of a broken object: its fault goes to the report, if it is not that of the file."""
    try:
        table = parse_json(data.decode("utf-8", "replace"))
    except orjson.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        report.refuse_empty(f"{where}: not valid JSON: {error.msg}")
        return
    for key, value in table.items():
        _note_other_text(str(value), report)
        yield f"key {key[:20]}", key, value


def _line_entries(
    data: bytes, is_cut: bool, report: ReadReport
) -> Iterator[tuple[str, str, str | None]]:
    lines = data.split(b"\n")
    if is_cut:
        lines.pop()  # may have lost its end
    for number, line in enumerate(lines, start=1):
        text = line.decode("utf-8", "replace").rstrip("\r")
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        _note_other_text(text, report)
        key, *rest = re.split(r"[\t|]", text, maxsplit=1)
        yield f"line {number}", key, rest[0] if rest else None


def _note_other_text(text: str, report: ReadReport) -> None:
    """Note text in which bytes that are not UTF-8 were replaced."""
    if "\ufffd" in text:
        report.notes["names that are not UTF-8"] += 1


def _asn(text: str) -> int | None:
    match = _ASN.match(text)
    asn = int(match[1]) if match else MAX_ASN + 1
    return asn if asn <= MAX_ASN else None


def _name(value: Any) -> str | None:
    if isinstance(value, dict):
        found = (value[key] for key in NAME_KEYS if isinstance(value.get(key), str))
        value = next(found, None)
    return value if isinstance(value, str) and CONTROL.sub("", value).strip() else None
