"""Addresses to the AS that announces them: prefix tables in every common form, longest match.

Forms of text are in ``forms``, MRT in ``mrt``, JSON in ``records``; which one a file is, its
content says. Forms of an origin, with or without ``AS`` before a number, which may be written with
a dot (``4.603``, RFC 5396):

- ``64500``: one AS.
- ``64500_64501``: **multi-origin**, several ASes announce the prefix: mostly one that uses it, and
  others, such as its provider, on its behalf. If the ROA of the prefix names one of them, it is
  that one; else the AS with least address space of its own: what its prefixes of one origin cover,
  each address once; of the family of the prefix, and if that is equal, of the other one. Of equal
  ASes the first is taken, since CAIDA orders them by how many of its peers see each as the origin
  (by number before 2010-10-27). Counted in ``notes["multi-origin"]``.
- ``64500,64501`` or ``{64500,64501}``: an **AS set**, left by aggregation, whose order means
  nothing. The smallest number is taken, so that the choice is at least the same everywhere.
  ``notes["AS set"]``.
- both, ``64500_64501,64502``: of each set the smallest number.

RIBs and bgpkit's tables say how many peers see each origin of a prefix. The votes of all of them
are added; the origin that most peers see is taken, and equal ones are a multi-origin.

Several tables are used in this order, each where those before it leave addresses open:

1. what is announced: RIBs, pfx2as, lists and CSV of prefixes, all in one longest match. A prefix
   that two files list with different origins takes that of the file which is given first, and
   within one file the smaller number (``notes["listed again with another origin"]``);
2. ranges (IP location databases);
3. ROAs, which say who may announce a prefix and not who does: ``notes["prefixes that another AS
   announces"]`` of their file counts where they and what is announced disagree.

AS 0 marks space that must not be announced; a default route would give every unrouted address an
AS: both are rejected, and so are a prefix with bits set beyond its length and an IPv6 prefix that
overlaps ::ffff:0:0/96, where IPv4 is kept: it would route all IPv4.

An address takes the AS of the longest prefix that covers it, or none.

References
----------
CAIDA, "Routeviews Prefix to AS mappings (pfx2as) for IPv4 and IPv6", README.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from kernels.errors import HostMemoryError
from pipeline.errors import FormatError, UsageError
from pipeline.ingest.tables.lines import Blocks, read_chunks
from pipeline.ingest.tables.prefixes import mrt
from pipeline.ingest.tables.prefixes import rows as rows_of_text
from pipeline.ingest.tables.prefixes.forms import RECORDS, ROA_RECORDS, form_of
from pipeline.ingest.tables.prefixes.layers import Layers
from pipeline.ingest.tables.prefixes.records import holds_roas, is_json, rows_of
from pipeline.ingest.tables.prefixes.rows import Rows
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.prefixes import PrefixTable

_NOTHING = (
    "no line of `prefix length origin`; give a prefix table: CAIDA pfx2as, an MRT RIB, "
    "`prefix/length,origin`"
)
_REGISTRY = (
    "objects of a routing registry, not a prefix table; convert them: "
    "zcat -f FILE | awk '/^route6?:/{p=$2} /^origin:/{print p, $2}' > FILE.txt"
)
_HEAD_BYTES = 1 << 14


def read_prefixes(files: Sequence[Blocks], reports: Sequence[ReadReport]) -> PrefixTable:
    """Read prefix tables of any form, IPv4 and IPv6, into one table.

    Parameters
    ----------
    files : sequence of iterables of bytes
        The blocks of each opened file; those given first count more.
    reports : sequence of ReadReport
        One per file, filled: prefixes as ``n_records``, broken lines by reason, the form as
        ``format``. A file that cannot be read, is cut short or holds no prefix has status
        ``rejected`` or ``partial`` and says why in ``error``; nothing is raised for it.

    Returns
    -------
    PrefixTable
        Empty (``n_prefixes`` 0) if no file held a prefix.

    Raises
    ------
    UsageError
        If the table does not fit into memory. It takes some 45 bytes per IPv4 prefix while it is
        read, 20 if they are sorted and each has one origin.
    """
    layers = Layers()
    path = ""
    try:
        for blocks, report in zip(files, reports, strict=True):
            path = report.path
            layers.begin_file(report)
            _read_one(blocks, report, layers)
            report.notes = +report.notes  # without zeros
            if not report.n_records:
                report.refuse_empty(_NOTHING)
        return layers.table()
    except (MemoryError, HostMemoryError) as error:
        raise UsageError(
            f"{path}: the prefix tables do not fit into memory at {layers.n_v4:,} IPv4 prefixes "
            f"({str(error) or 'no more memory'}); give fewer or smaller ones with --ip2as"
        ) from None


def _read_one(blocks: Blocks, report: ReadReport, layers: Layers) -> None:
    """Add the prefixes of one file."""
    rest = iter(blocks)
    try:
        head = next(rest, b"")
    except FormatError as error:
        report.refuse(error)
        return
    if mrt.is_mrt(head):
        mrt.read_mrt(head, rest, report, layers[0])
    elif is_json(head):
        form = ROA_RECORDS if holds_roas(head) else RECORDS
        report.format = form.name
        _take(rows_of(head, rest), Rows(form, report, layers[form.layer]), report)
    else:
        _read_text(chain([head], rest), report, layers)


def _take(chunks: Iterator[bytes], rows: Rows, report: ReadReport) -> None:
    number = 1
    try:
        for text in chunks:
            rows.take(text, number)
            number += text.count(b"\n")
    except FormatError as error:
        report.refuse(error, partly=report.n_records > 0)


def _read_text(blocks: Blocks, report: ReadReport, layers: Layers) -> None:
    rows: Rows | None = None
    for first_line, text in read_chunks(blocks, report):
        n_headers = 0
        if rows is None:
            if b"\norigin:" in text[:_HEAD_BYTES] and b"route" in text[:_HEAD_BYTES]:
                report.refuse_empty(_REGISTRY)
                return
            form, has_header = form_of(text)
            report.format, n_headers = form.name, int(has_header)
            rows = Rows(form, report, layers[form.layer])
        rows.take(text, first_line, n_headers)


def compile_kernels() -> None:
    """Compile the scanners, or load them from numba's cache."""
    rows_of_text.compile_kernels()
    mrt.compile_kernels()
