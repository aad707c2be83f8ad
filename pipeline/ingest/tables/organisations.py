"""Which ASes are of one organisation: CAIDA's as2org, text and JSON lines.

The text has two sections [1]_, each after a comment that names its fields::

    # format:org_id|changed|org_name|country|source
    # format:aut|changed|aut_name|org_id|opaque_id|source

``aut``, ``aut_name`` and ``org_id`` of the second are read, wherever they stand, and ``org_name``
of the first; an organisation without one is called by its id, and two of one name by name and id.
JSON lines have ``{"type": "ASN", "asn": "3356", "name": "LEVEL3", "organizationId":
"LPL-141-ARIN"}``, and the same ``organizationId`` and ``name`` with type ``Organization``. Lines of
two words before any such comment, ``asn
organisation``, are read too. If an AS has several organisations, the one whose name sorts last is
taken, so that the order of lines does not matter (``notes["ASes of two organisations"]``).

References
----------
.. [1] CAIDA, "Inferred AS to Organization Mapping Dataset", README.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import orjson

from pipeline.ingest.tables.lines import Blocks, read_lines
from pipeline.json_text import parse_json
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.organisations import Organisations

_FORMAT = "format:"


def read_organisations(blocks: Blocks, report: ReadReport) -> Organisations:
    """Read the organisations of ASes.

    Parameters
    ----------
    blocks : iterable of bytes
        Of an opened file.
    report : ReadReport
        Filled: ASes as ``n_records``, broken lines by reason. A file that cannot be read, is cut
        short or holds no AS has status ``rejected`` or ``partial`` and says why in ``error``;
        nothing is raised for it. One with its head, but without ASes, is valid.
    """
    report.format = "as2org"
    found: dict[int, str] = {}
    of_ids: dict[str, str] = {}
    as_names: dict[int, str] = {}
    fields: Sequence[str] | None = None  # of the section; None: before any
    is_known = False  # by the `# format:` line of ASes
    for place, line in read_lines(blocks, report):
        if line.startswith("#"):
            said = line.lstrip("# ")
            if said.startswith(_FORMAT):
                fields = [word.strip() for word in said.removeprefix(_FORMAT).split("|")]
                is_known |= {"aut", "org_id"} <= {*fields}
            continue
        try:
            is_json = line.startswith("{")
            entry = _json_entry(line, of_ids) if is_json else _text_entry(line, fields, of_ids)
        except ValueError as error:
            report.reject(place, str(error), line)
            continue
        if entry is None:
            continue
        asn, name, as_name = entry
        report.n_records += 1
        if found.get(asn, name) != name:
            report.notes["ASes of two organisations"] += 1
        found[asn] = max(name, found.get(asn, name))
        if as_name:
            as_names[asn] = max(as_name, as_names.get(asn, as_name))
    if not found and (report.rejected or not is_known):
        report.refuse_empty(
            "no AS with an organisation; give a CAIDA as2org file, text or JSON lines"
        )
    ids = sorted(set(found.values()))
    numbers = {name: i for i, name in enumerate(ids)}
    asns = sorted(found)
    return Organisations(
        np.array(asns, np.int64),
        np.array([numbers[found[asn]] for asn in asns], np.int64),
        as_names,
        _distinct_names(ids, of_ids),
    )


def _distinct_names(ids: Sequence[str], of_ids: Mapping[str, str]) -> list[str]:
    """A name for each organisation that no other of these has."""
    names = [of_ids.get(one, one) for one in ids]
    count = Counter(names)
    return [
        name if count[name] == 1 else f"{name} ({one})"
        for one, name in zip(ids, names, strict=True)
    ]


def _keep_name(of_ids: dict[str, str], org_id: object, name: object) -> None:
    """The name of an organisation; the last of several in order of text, as with ASes."""
    if isinstance(org_id, str) and isinstance(name, str) and org_id.strip() and name.strip():
        org_id, name = org_id.strip(), name.strip()
        of_ids[org_id] = max(name, of_ids.get(org_id, name))


def _text_entry(
    line: str, fields: Sequence[str] | None, of_ids: dict[str, str]
) -> tuple[int, str, str] | None:
    """AS, organisation and name of the AS, perhaps empty; None in the section of names.

    ValueError with a fixed phrase.
    """
    if fields is None:
        words = line.split()
        if len(words) != 2:
            raise ValueError("before any `# format:` line")
        return _asn(words[0]), words[1], ""
    values = line.split("|")
    if "aut" not in fields:
        if len(values) == len(fields):
            of = dict(zip(fields, values, strict=True))
            _keep_name(of_ids, of.get("org_id"), of.get("org_name"))
        return None
    if len(values) != len(fields) or "org_id" not in fields:
        raise ValueError("not the number of fields that `# format:` names")
    of = dict(zip(fields, values, strict=True))
    return _asn(of["aut"]), _name(of["org_id"]), of.get("aut_name", "").strip()


def _json_entry(line: str, of_ids: dict[str, str]) -> tuple[int, str, str] | None:
    try:
        row = parse_json(line)
    except orjson.JSONDecodeError:
        raise ValueError("not valid JSON") from None
    if row.get("type") != "ASN":
        _keep_name(of_ids, row.get("organizationId"), row.get("name"))
        return None
    name = row.get("name")
    as_name = name.strip() if isinstance(name, str) else ""
    return _asn(str(row.get("asn", ""))), _name(row.get("organizationId")), as_name


def _asn(text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 0 < int(text) <= MAX_ASN):
        raise ValueError("not an AS number")
    return int(text)


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("no organisation")
    return value.strip()
