"""Who is whose customer: CAIDA's AS relationships, serial-1 and serial-2.

A line of serial-1 is ``provider|customer|-1`` or ``peer|peer|0``; serial-2 adds where the link was
seen, ``|bgp`` or ``|mlp``, which is not used. Files from before 2013 also have
``sibling|sibling|2``: two ASes of one organisation [1]_. Lines that begin with ``#`` are comments.

A pair that is listed with several relationships keeps the one that says most, so that the order of
lines does not matter: customer, then sibling, then peer; if two ASes are listed as customers
of each other, the one with the smaller number is the provider
(``notes["listed again with another relationship"]``).

References
----------
.. [1] CAIDA, "AS Relationships", README of serial-1 and serial-2.
"""

from __future__ import annotations

import numpy as np

from pipeline.ingest.tables.lines import Blocks, read_lines
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport
from pipeline.model.relations import CUSTOMER, PEER, PROVIDER, SIBLING
from pipeline.model.tables.relationships import TURNED, Relationships

_KINDS = {"-1": PROVIDER, "0": PEER, "2": SIBLING}
_MOST_SAYING = {PROVIDER: 0, CUSTOMER: 1, SIBLING: 2, PEER: 3}


def read_relationships(blocks: Blocks, report: ReadReport) -> Relationships:
    """Read relationships of ASes.

    Parameters
    ----------
    blocks : iterable of bytes
        Of an opened file.
    report : ReadReport
        Filled: pairs as ``n_records``, broken lines by reason. A file that cannot be read, is cut
        short or holds no pair has status ``rejected`` or ``partial`` and says why in ``error``;
        nothing is raised for it.
    """
    report.format = "as-rel"
    first: list[int] = []
    second: list[int] = []
    kinds: list[int] = []
    for place, line in read_lines(blocks, report):
        if line.startswith("#"):
            continue
        fields = line.split("|")
        try:
            one, other, kind = _fields(fields)
        except ValueError as error:
            report.reject(place, str(error), line)
            continue
        first.append(one)
        second.append(other)
        kinds.append(kind)
        report.n_records += 1
    if not first:
        report.refuse_empty(
            "no line of `provider|customer|-1` or `peer|peer|0`; give a CAIDA as-rel file"
        )
    return _table(np.array(first, np.uint64), np.array(second, np.uint64), kinds, report)


def _fields(fields: list[str]) -> tuple[int, int, int]:
    """Both ASes and what the first is to the second; ValueError with a fixed phrase."""
    if len(fields) not in (3, 4):
        raise ValueError("not AS|AS|relationship")
    if not all(0 < len(text) <= 10 and text.isascii() and text.isdecimal() for text in fields[:2]):
        raise ValueError("not an AS number")
    one, other = int(fields[0]), int(fields[1])
    if not (0 < one <= MAX_ASN and 0 < other <= MAX_ASN):
        raise ValueError("not an AS number")
    if one == other:
        raise ValueError("an AS with itself")
    if fields[2] not in _KINDS:
        raise ValueError("not a relationship")
    return one, other, _KINDS[fields[2]]


def _table(
    first: np.ndarray, second: np.ndarray, kinds: list[int], report: ReadReport
) -> Relationships:
    kind = np.array(kinds, np.int8)
    turned = first > second
    low, high = np.minimum(first, second), np.maximum(first, second)
    kind[turned & (kind == PROVIDER)] = CUSTOMER
    says = np.array([_MOST_SAYING.get(k, 0) for k in range(SIBLING + 1)])[kind]
    key = (low << np.uint64(32)) | high
    order = np.lexsort((says, key))
    key, kind = key[order], kind[order]
    kept = np.ones(len(key), bool)
    kept[1:] = key[1:] != key[:-1]
    same = ~kept[1:]
    if n := int(np.count_nonzero(same & (kind[1:] != kind[:-1]))):
        report.notes["listed again with another relationship"] += n
    key, kind = key[kept], kind[kept]
    back = (key << np.uint64(32)) | (key >> np.uint64(32))
    pairs, kind = np.concatenate([key, back]), np.concatenate([kind, TURNED[kind]])
    order = np.argsort(pairs)
    return Relationships(pairs[order], kind[order])
