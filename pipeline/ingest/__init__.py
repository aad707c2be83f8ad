"""Readers of measurements and topologies. To add a format: one module here, one row in FORMATS.

A reader's module has ``sniff(head) -> bool`` (does a file that begins like this belong to it?),
``read(stream, report) -> Iterator`` and, where it compiles anything, ``compile_kernels()``; readers
do not know one another. A format is recognised by content, never by name. What else depends on
a format (choices and messages of ``--format``, which files of a folder claim to be measurements,
the tables in docs/formats.md, the contract between readers) follows from its row; a reader that
has no section there gets one of its docstring.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Literal

import orjson

from pipeline.errors import FormatError, PipelineError, UsageError
from pipeline.files import BOM
from pipeline.ingest.archives import members
from pipeline.ingest.opening import InputStream, hash_file, name_inside, open_bytes
from pipeline.ingest.signatures import described, recognise
from pipeline.json_text import parse_json
from pipeline.model.choices import ADJACENCY_SUFFIX
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch
from pipeline.model.topology import Topology

__all__ = [
    "FORMATS",
    "Format",
    "claims_a_format",
    "detect_format",
    "format_choices",
    "formats_of",
    "hash_file",
    "open_reader",
    "warm_up",
]

HEAD_BYTES = 1 << 16  # decompressed bytes by which a format is recognised
MAX_JSON_BYTES = 1 << 24  # decompressed bytes that are parsed to see whether they are JSON
_OF_MANY_PROGRAMS = ".json"  # settings and tables are called so, too


@dataclass(frozen=True)
class Format:
    """One format of input.

    Attributes
    ----------
    reader : str
        Module that reads it.
    kind : str
        What it yields.
    suffixes : tuple of str
        Endings by which a file claims to be of this format: if its content has no known format,
        that is an error even in a folder, where other files are left alone (``claims_a_format``).
    description : str
    least : str
        What a record must hold.
    optional : str
        What it may lack.
    writers : str
        Who writes it.
    lacks : str
        What no file of it says. All these for docs/formats.md.
    hint : str
        What to do with a file that ends so and is not recognised.
    frames : tuple of str
        Types of records around measurements, as reports of reading name them.
    alone : bool
        Files of it look like tables that lie beside measurements, so it is only recognised in
        files that are named themselves, and not beside traces.
    """

    reader: str
    kind: Literal["traces", "topology"]
    suffixes: tuple[str, ...]
    description: str
    least: str = ""
    optional: str = ""
    writers: str = ""
    lacks: str = ""
    hint: str = ""
    frames: tuple[str, ...] = ()
    alone: bool = False

    def load(self) -> ModuleType:
        """The reader's module, imported at first use: some compile kernels."""
        return importlib.import_module(self.reader)


FORMATS: dict[str, Format] = {
    "warts": Format(
        "pipeline.ingest.warts",
        "traces",
        (".warts",),
        "scamper's binary warts",
        least="a trace with a destination; of a reply its TTL and address",
        optional="source, start, RTT, ICMP type, replies",
        frames=("list", "cycle start", "cycle definition", "cycle stop", "address"),
        writers="scamper; CAIDA's Ark; `hopscope convert`, `hopscope traces`",
    ),
    "scamper_json": Format(
        "pipeline.ingest.scamper_json",
        "traces",
        (".jsonl", ".json"),
        "scamper's JSON lines, as sc_warts2json prints",
        least="`type`, `dst`; of a hop `addr` and `probe_ttl`",
        optional="`src`, `start`, `hops`, `rtt`, `icmp_type`, `icmp_code`",
        frames=("list", "cycle-start", "cycle-def", "cycle-stop"),
        writers="sc_warts2json, scamper; M-Lab's archive, rows and BigQuery; `hopscope traces`",
    ),
    "atlas": Format(
        "pipeline.ingest.atlas",
        "traces",
        (".jsonl", ".json"),
        "RIPE Atlas traceroute results",
        least="`type`; of a reply `from`, of its hop `hop`",
        optional="all else; a file is recognised by `prb_id`, `msm_id`, `msm_name`, `fw`, an "
        "address of the result, or its list of hops",
        writers="RIPE Atlas: results, pages of its API, latest, by probe",
        lacks="ICMP types",
    ),
    "traceroute_text": Format(
        "pipeline.ingest.traceroute_text",
        "traces",
        (),
        "text of traceroute, tracert and Paris traceroute",
        least="the header, with the address of the destination; of a reply its address",
        optional="source, hops, names, round-trip times",
        writers="traceroute of Linux, BSD and BusyBox, tracert of Windows, Paris traceroute",
        lacks="time; mostly the source and the method",
    ),
    "mtr": Format(
        "pipeline.ingest.mtr",
        "traces",
        (),
        "mtr: --json, --report, --csv",
        least="of a hop its number and address",
        optional="time (only --report and --csv have it), destination, AS numbers, further columns",
        writers="mtr",
        lacks="source, single probes; `--json`: time; `--report`: destination",
    ),
    "dublin": Format(
        "pipeline.ingest.dublin",
        "traces",
        (".json",),
        "dublin-traceroute's JSON",
        least="of a probe `sent` with `ip`: `dst`, `ttl`; of a reply `received` with `ip`: `src`",
        optional="`src`, `timestamp`, `rtt_usec`, `icmp`, `mpls_labels`",
        writers="dublin-traceroute",
    ),
    "globalping": Format(
        "pipeline.ingest.globalping",
        "traces",
        (".json",),
        "measurements of Globalping: traceroute and mtr",
        least="`type`, `results` with `probe` and `result`",
        optional="`createdAt`, `hops`, `timings`; a probe has no address",
        writers="Globalping's API and command line",
        lacks="source, ICMP types",
    ),
    "jc": Format(
        "pipeline.ingest.jc",
        "traces",
        (".json",),
        "traceroute's output in JSON, by jc",
        least="`destination_ip`, `hops`; of a hop `hop`",
        optional="`probes`, `ip`, `rtt`, `annotation`",
        writers="jc",
        lacks="source, time, method",
    ),
    "reply_rows": Format(
        "pipeline.ingest.reply_rows",
        "traces",
        (".yrp",),
        "tables of replies: caracal, iris, yarrp, plain CSV or Parquet",
        least="`probe_dst_addr`, `probe_ttl`, `reply_src_addr`; yarrp: all its columns; else "
        "`vantage`, `destination`, `ttl`, `address`",
        optional="source, ports, `rtt`, time, ICMP type and code, MPLS labels",
        writers="caracal, iris, diamond-miner, yarrp, `hopscope convert`; any table of that kind",
        lacks="method; yarrp mostly the source",
    ),
    "brite": Format(
        "pipeline.ingest.brite",
        "topology",
        (".brite",),
        "BRITE topology",
        least="a node's id, x, y and degrees; an edge's id, ends, length, delay and bandwidth",
        optional="AS and type; both ASes, type, direction",
        writers="BRITE; FNSS; `hopscope generate`, `hopscope export`",
        lacks="addresses",
    ),
    "snap": Format(
        "pipeline.ingest.snap",
        "topology",
        (),
        "edge list, as SNAP publishes them",
        least="two node ids",
        optional="comments, further columns",
        writers="SNAP; NetworkX; `hopscope export`",
        lacks="ASes, addresses, weights",
    ),
    "adjacency": Format(
        "pipeline.ingest.adjacency",
        "topology",
        (ADJACENCY_SUFFIX,),
        "neighbour lists, one node per line",
        least="a line of neighbours",
        optional="neighbours, the comment",
        hint="if these are neighbour lists, let the file begin with the line "
        "'# Neighbours of node 0, 1, 2, ...'",
        writers="`hopscope generate`",
        lacks="ASes, addresses, weights",
    ),
    "edge_list": Format(
        "pipeline.ingest.edge_list",
        "topology",
        (),
        "edge list with names, or with commas",
        least="both ends of a link",
        optional="header, weight, addresses of the ends, further columns",
        alone=True,
        writers="spreadsheets, scripts; `hopscope export`",
        lacks="ASes",
    ),
    "matrix_market": Format(
        "pipeline.ingest.matrix_market",
        "topology",
        (".mtx",),
        "Matrix Market, a sparse matrix",
        least="row and column",
        optional="value, comments",
        writers="SuiteSparse, SciPy; `hopscope export`",
        lacks="ASes, addresses",
    ),
    "metis": Format(
        "pipeline.ingest.metis",
        "topology",
        (),
        "METIS graph",
        least="the line of counts; a line of neighbours",
        optional="neighbours, weights, comments",
        writers="METIS, KaHIP, the DIMACS challenges",
        lacks="ASes, addresses",
    ),
    "csr": Format(
        "pipeline.ingest.csr",
        "topology",
        (),
        "row pointers and column indices, as two rows of CSV",
        least="both rows",
        optional="a row of weights",
        alone=True,
        writers="SciPy, scripts",
        lacks="ASes, addresses",
    ),
    "graphml": Format(
        "pipeline.ingest.graphml",
        "topology",
        (".graphml",),
        "GraphML",
        least="a node's `id`; an edge's `source` and `target`",
        optional="all attributes",
        writers="NetworkX, igraph, Gephi, yEd; `hopscope export`",
    ),
    "gml": Format(
        "pipeline.ingest.gml",
        "topology",
        (".gml",),
        "GML, as the Topology Zoo publishes",
        least="a node's `id`; an edge's `source` and `target`",
        optional="all attributes",
        writers="the Topology Zoo, NetworkX, igraph",
        lacks="ASes, addresses",
    ),
    "itdk": Format(
        "pipeline.ingest.itdk",
        "topology",
        (".links",),
        "CAIDA's ITDK: links, and what is beside them",
        least="a link's number and the nodes at its ends",
        optional="addresses; the files of nodes, ASes and places",
        writers="CAIDA; `hopscope export`",
        lacks="weights",
    ),
    "as_rel": Format(
        "pipeline.ingest.as_rel",
        "topology",
        (),
        "CAIDA's AS relationships, as a graph of ASes",
        least="two ASes and their relationship",
        optional="comments, source",
        alone=True,
        writers="CAIDA",
        lacks="routers",
    ),
}


def format_choices() -> tuple[str, ...]:
    """What ``--format`` accepts: each format, and each kind for all of its formats."""
    return (*FORMATS, *dict.fromkeys(format.kind for format in FORMATS.values()))


def formats_of(choice: str | None) -> tuple[str, ...]:
    """The formats that a word of ``--format`` stands for; None: all.

    Raises
    ------
    UsageError
        If ``--format`` does not accept the word.
    """
    if choice is None:
        return tuple(FORMATS)
    found = tuple(name for name, row in FORMATS.items() if choice in (name, row.kind))
    if not found:
        accepted = ", ".join(format_choices())
        raise UsageError(f"unknown format {choice!r}; --format accepts: {accepted}")
    return found


def claims_a_format(path: Path) -> bool:
    """Whether a file whose content has no known format claims one by its name.

    Its name, without endings of compressions (also those that are not read), ends like those of a
    format. What is called ``.json`` and is JSON claims nothing: other programs write it, too.
    """
    if name_inside(path.name).endswith(_OF_MANY_PROGRAMS):
        return not _is_json(path)
    return bool(_claimed(path))


def _is_json(path: Path) -> bool:
    """Whether a file is JSON: one value, or one per line. Of a long one, whether it begins so."""
    text = bytearray()
    try:
        with open_bytes(path) as stream:
            while len(text) <= MAX_JSON_BYTES and (block := stream.read(MAX_JSON_BYTES)):
                text += block
        text = text.removeprefix(BOM)
        if len(text) > MAX_JSON_BYTES:
            return text.lstrip().startswith((b"{", b"["))
        try:
            parse_json(text)
        except orjson.JSONDecodeError:
            for line in filter(bytes.strip, bytes(text).split(b"\n")):
                parse_json(line)
    except (FormatError, orjson.JSONDecodeError):
        return False
    return bool(text.strip())


def _claimed(path: Path) -> list[Format]:
    name = name_inside(path.name)
    return [format for format in FORMATS.values() if name.endswith(format.suffixes)]


def detect_format(path: Path) -> str:
    """Name of the format of a file, recognised by its first ``HEAD_BYTES`` decompressed bytes.

    Raises
    ------
    FormatError
        If the file cannot be read, is empty, or belongs to no format or to more than one.
    """
    with open_bytes(path) as stream:
        return _detect_in(stream)


def _detect_in(stream: InputStream) -> str:
    """Format of a file, or of the first in an archive that has one."""
    others: list[str] = []
    fault: FormatError | None = None
    for name, member in members(stream):
        try:
            return _match(member.path, _read_head(member))
        except FormatError as error:
            if not name:
                raise
            others.append(name)
            fault = fault or error
    if len(others) == 1 and fault is not None:
        raise fault
    named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    first = f"; the first: {fault.reason}" if fault is not None else ""
    reason = f"an archive of {len(others)} files, none of a known format: {named}{first}"
    raise FormatError(stream.path, "", reason)


def _sniff(head: bytes) -> list[str]:
    return [name for name, format in FORMATS.items() if format.load().sniff(head)]


def _match(path: Path, head: bytes) -> str:
    matches = _sniff(head)
    if not matches:
        if what := recognise(head):
            raise FormatError(path, "", what)
        hints = [format.hint for format in _claimed(path) if format.hint]
        unknown = f"unknown format ({described(head)}); known formats: {', '.join(FORMATS)}"
        raise FormatError(path, "", "; ".join([unknown, *hints]))
    if len(matches) > 1:
        could_be = " or ".join(matches)
        option = "--format (convert: --input-format)"
        raise FormatError(path, "", f"could be {could_be}: select one with {option}")
    return matches[0]


def open_reader(
    path: Path, report: ReadReport, format: str | None = None
) -> tuple[Format, Iterator[TraceBatch | Topology]]:
    """Choose the reader of a file and start it.

    Parameters
    ----------
    path : Path
        Plain, compressed, or an archive.
    report : ReadReport
        Filled while the iterator is consumed, ``size_bytes`` with the stored bytes read so far;
        ``sha256``, ``status`` and ``error`` when it ends, even by an error.
    format : str, optional
        A key of FORMATS; recognised by content where None.

    Returns
    -------
    (Format, Iterator)
        What the file is, and its batches of traces, or its one topology.

    Raises
    ------
    UsageError
        If ``format`` is not a known name.
    FormatError
        At once: the file cannot be opened, is a pipe or device, is empty or of no known format.
        From the iterator, after everything valid: the file is cut short, damaged, or not what it
        claims.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"unknown format {format!r}; known: {', '.join(FORMATS)}")
    try:
        report.format = format if format is not None else _detect(path, report)
    except FormatError as error:
        report.refuse(error)
        raise
    chosen = FORMATS[report.format]
    return chosen, _read(path, report, chosen)


def warm_up(formats: Iterable[str] | None = None) -> None:
    """Compile the kernels of some readers (None: of all), or load them from numba's cache.

    To be called once before several processes read: numba's cache has no lock, and each would
    compile by itself.
    """
    for name in FORMATS if formats is None else formats:
        compile_kernels = getattr(FORMATS[name].load(), "compile_kernels", None)
        if compile_kernels is not None:
            compile_kernels()


def _detect(path: Path, report: ReadReport) -> str:
    """As detect_format; a refused file is hashed as well."""
    with open_bytes(path) as stream:
        try:
            return _detect_in(stream)
        except FormatError:
            stream.finish()
            report.sha256, report.size_bytes = stream.sha256, stream.size_bytes
            raise


def _read(path: Path, report: ReadReport, format: Format) -> Iterator[TraceBatch | Topology]:
    try:
        with open_bytes(path) as stream:
            try:
                for item in _read_stream(stream, report, format):
                    report.size_bytes = stream.size_bytes
                    yield item
            finally:
                stream.finish()
                report.sha256, report.size_bytes = stream.sha256, stream.size_bytes
        if report.rejected and not report.n_records:
            raise FormatError(path, "", "no record of it can be used")
    except PipelineError as error:
        fault = error
        if isinstance(error, FormatError) and report.rejected and not report.n_records:
            fault = FormatError(
                path, error.where, f"{error.reason}; first fault: {report.first_reject}"
            )
        report.refuse(fault, partly=report.n_records > 0)
        if fault is error:
            raise
        raise fault from error


def _read_stream(
    stream: InputStream, report: ReadReport, format: Format
) -> Iterator[TraceBatch | Topology]:
    """What a file holds, or the files in an archive that hold traces, or its one topology."""
    first_fault: FormatError | None = None
    n_faults = n_topologies = 0
    for name, member in members(stream):
        if not name:
            yield from format.load().read(member, report)
            return
        chosen: Format | None = None
        fault: FormatError | None = None
        head = member.peek(HEAD_BYTES)
        try:
            if not head:
                member.read(1)  # says why
            chosen = _of_member(member.path, head, format, bool(n_topologies))
        except FormatError as error:
            if head and _is_other(name):
                report.skip("file of no known format")
                continue
            fault = error
        format = chosen or format
        if chosen is not None and chosen.kind == "topology":
            n_topologies = 1
            yield from chosen.load().read(member, report)
            continue
        part = ReadReport(str(member.path))
        try:
            if chosen is not None:
                yield from chosen.load().read(member, part)
        except FormatError as error:
            fault = error
        report.absorb(part, name)
        if fault is not None:
            first_fault, n_faults = first_fault or fault, n_faults + 1
            place = f"{stream.path.name}!{name}"
            report.reject(place, "file that cannot be read to its end", fault.reason)
    if first_fault is not None:
        what = f"{n_faults} of its files cannot be used, or not to the end"
        raise FormatError(stream.path, "", f"{what}; the first: {first_fault}")


def _of_member(path: Path, head: bytes, format: Format, has_topology: bool) -> Format:
    """Format of a file in an archive: mostly that of the one before, else of the same kind."""
    found = format if format.load().sniff(head) else FORMATS[_match(path, head)]
    if found.kind != format.kind:
        raise FormatError(path, "", f"holds another kind: {found.description}")
    if has_topology:
        raise FormatError(path, "", "a second topology: unpack it, and give one")
    return found


def _is_other(name: str) -> bool:
    """Whether a file without a known format claims none by its name, as in a folder."""
    return name_inside(name).endswith(_OF_MANY_PROGRAMS) or not _claimed(Path(name))


def _read_head(stream: InputStream) -> bytes:
    """The first HEAD_BYTES; fewer where the file ends or is damaged before."""
    head = bytearray()
    try:
        while len(head) < HEAD_BYTES:
            more = stream.read(HEAD_BYTES - len(head))
            if not more:
                break
            head += more
    except FormatError:
        if not head:  # nothing at all could be read: that is the file's fault, so say so
            raise
    return bytes(head)
