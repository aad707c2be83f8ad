"""AS number to name: one JSON object, or lines of ``asn<TAB or |>name``; plain or compressed.

JSON values are the name itself or an object with one of ``NAME_KEYS``. A number may be written with
AS before it. Lines that are empty or begin with # are not names. Names are third-party text: they
are kept as they are, except that control characters and bytes that are not UTF-8 become U+FFFD and
blanks at the ends are removed; code that shows them must escape them. The last of several names of
one AS counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from pipeline.errors import FormatError
from pipeline.ingest.opening import table_blocks
from pipeline.ingest.text.names import CONTROL, clean_name
from pipeline.json_text import parse_json
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport

NAME_KEYS = ("name", "asn_name", "as_name", "org", "org_name", "organization", "descr")
MAX_FILE_BYTES = 1 << 29  # decompressed
MAX_NAME = 500  # characters; longer ones are cut

_ASN = re.compile(r"\s*(?:AS)?([0-9]{1,10})\s*\Z", re.IGNORECASE)


def read_as_names(path: Path, report: ReadReport) -> dict[int, str]:
    """Read the names of ASes.

    Parameters
    ----------
    path : Path
        Plain, gzip, bzip2 or xz.
    report : ReadReport
        Filled. Lines of a compressed file that is cut short are used up to the cut:
        ``status`` is ``partial`` then.

    Raises
    ------
    FormatError
        If the file cannot be opened, is empty, holds no name, or is JSON that is broken. An empty
        JSON object is valid.
    """
    with closing(table_blocks(path, report)) as blocks:
        data, fault = _read_all(blocks, path)
    text = data.lstrip()
    if text.startswith(b"{"):
        if fault is not None:
            raise fault
        entries = _json_entries(text, path, report)
    else:
        entries = _line_entries(data, fault is not None, report)
    names: dict[int, str] = {}
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
    if fault is not None:
        if not names:
            raise fault
        report.refuse(fault, partly=True)
    elif not names and (report.rejected or not text.startswith(b"{")):  # {} names nothing
        raise FormatError(path, "", "no AS name in it; give a JSON object or asn|name lines")
    return names


def _read_all(blocks: Iterable[bytes], path: Path) -> tuple[bytes, FormatError | None]:
    data = bytearray()
    try:
        for block in blocks:
            data += block
            if len(data) > MAX_FILE_BYTES:
                limit = f"more than {MAX_FILE_BYTES >> 20} MiB of AS names"
                return bytes(data), FormatError(path, "", limit)
    except FormatError as error:
        return bytes(data), error
    return bytes(data), None


def _json_entries(text: bytes, path: Path, report: ReadReport) -> Iterator[tuple[str, str, Any]]:
    readable = text.decode("utf-8", "replace")
    try:
        table = parse_json(readable)
    except orjson.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise FormatError(path, where, f"not valid JSON: {error.msg}") from None
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
