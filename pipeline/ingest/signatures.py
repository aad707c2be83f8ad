"""What a file is that no reader takes, and how to make it one that is read.

One row for each kind that people have; what is in none is at least described. Commands name the
file ``FILE``: names are text of others.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.files import BOM

SIGNATURE_BYTES = 1 << 12
_SHOWN = 40  # characters of what a file begins with


class Signature(NamedTuple):
    """How a kind of file begins, what it is, and what to do with it.

    Attributes
    ----------
    begins : bytes or re.Pattern
        First bytes, or what is found at the beginning of the text.
    what : str
    remedy : str
    in_tables : bool
        Whether it is never a table either, so that readers of tables refuse it before they read.
    """

    begins: bytes | re.Pattern[bytes]
    what: str
    remedy: str
    in_tables: bool = False


def _text(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\s*(?:" + pattern + rb")", re.IGNORECASE)


def _line(pattern: bytes) -> re.Pattern[bytes]:
    """At the beginning of one of the first lines."""
    return re.compile(rb"(?:[^\n]*\n){0,20}?(?:" + pattern + rb")")


_CSV = "export it as CSV: `libreoffice --headless --convert-to csv FILE`"
_AGAIN = "download the file again (`curl -fLO URL` fails where this was saved)"
_WITH_NETWORKX = "with NetworkX: `networkx.write_graphml(networkx.{}('FILE'), 'FILE.graphml')`"

SIGNATURES: tuple[Signature, ...] = (
    # Packed, or not text at all.
    Signature(
        re.compile(
            rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|xl/|docProps/|mimetypeapplication/vnd\.)",
            re.DOTALL,
        ),
        "a spreadsheet or document",
        _CSV,
        in_tables=True,
    ),
    Signature(b"\xd0\xcf\x11\xe0", "a spreadsheet or document", _CSV, in_tables=True),
    Signature(b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it: `7z x FILE`", in_tables=True),
    Signature(b"Rar!", "a RAR archive", "unpack it: `unrar x FILE`", in_tables=True),
    Signature(
        b"\x04\x22\x4d\x18", "compressed by lz4", "decompress it: `lz4 -d FILE`", in_tables=True
    ),
    Signature(
        b"\x1f\x9d", "compressed by compress (.Z)", "decompress it: `zcat FILE`", in_tables=True
    ),
    Signature(b"LZIP", "compressed by lzip", "decompress it: `lzip -d FILE`", in_tables=True),
    Signature(b"\xff\x06\x00\x00sNaPpY", "compressed by snappy", "decompress it", in_tables=True),
    Signature(
        re.compile(rb"\xa1\xb2[\xc3\x3c][\xd4\x4d]|[\xd4\x4d][\xc3\x3c]\xb2\xa1|\x0a\x0d\x0d\x0a"),
        "a packet capture (pcap)",
        "answers in it do not say which TTL a probe had: measure with `scamper -O warts`, or give "
        "what the program that sent the probes writes itself",
        in_tables=True,
    ),
    Signature(
        b"SQLite format 3\0",
        "an SQLite database",
        "`sqlite3 -csv -header FILE 'SELECT vantage, destination, ttl, address, rtt ...'` gives "
        "a CSV that is read",
        in_tables=True,
    ),
    Signature(
        b"Obj\x01",
        "Avro, as BigQuery exports it",
        "export it as newline-delimited JSON (`bq extract "
        "--destination_format=NEWLINE_DELIMITED_JSON`) or as Parquet",
        in_tables=True,
    ),
    Signature(
        b"ARROW1",
        "an Arrow (Feather) file",
        "`duckdb` or `pyarrow` write it as Parquet, which is read where it has a row a reply",
        in_tables=True,
    ),
    Signature(b"ORC", "an ORC file", "export it as CSV or Parquet", in_tables=True),
    Signature(b"\x89HDF\r\n\x1a\n", "an HDF5 file", "export it as CSV", in_tables=True),
    Signature(b"\x93NUMPY", "a NumPy array", "`numpy.savetxt` writes it as text", in_tables=True),
    Signature(
        re.compile(rb"\x80[\x02-\x05][\x95}\]c(]"),
        "pickled Python objects",
        "they run code where they are loaded: write a graph with `networkx.write_graphml`",
        in_tables=True,
    ),
    Signature(b"%PDF", "a PDF document", "give the data that it shows", in_tables=True),
    Signature(
        re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8"),
        "an image",
        "give the data that it shows",
        in_tables=True,
    ),
    Signature(
        re.compile(rb"-----BEGIN PGP|age-encryption\.org/|\x85[\x01-\x04]\x0c\x03"),
        "encrypted",
        "decrypt it",
        in_tables=True,
    ),
    Signature(
        b"version https://git-lfs.github.com/",
        "a pointer of Git LFS in place of the file",
        "`git lfs pull` brings the file",
        in_tables=True,
    ),
    # What a server answered in place of the file.
    Signature(
        _text(rb"<!doctype html|<html|<head>"),
        "an HTML page, probably an error or a login in place of the file",
        _AGAIN,
        in_tables=True,
    ),
    Signature(
        _text(rb"<\?xml[^>]*>\s*<Error>|<Error><Code>"),
        "an error of an object store in place of the file",
        _AGAIN,
        in_tables=True,
    ),
    Signature(
        _text(rb'\{\s*"(?:error|errors|detail|message)"\s*:'),
        "an error that a server answered in place of the file",
        _AGAIN,
    ),
    # Of traces.
    Signature(
        _text(rb"(?:<\?xml[^>]*>\s*)?<MTR\s"), "mtr's XML", "run `mtr --json` or `mtr --report`"
    ),
    Signature(
        re.compile(rb"x \d+ \d+\n(?:[xhdp] \d+ [^\n]*\n)+"),
        "mtr's raw events",
        "run `mtr --json` or `mtr --report`",
    ),
    Signature(
        _text(rb"(?:<\?xml[^>]*>\s*(?:<[!?][^>]*>\s*)*)?<nmaprun"),
        "nmap's XML",
        "measure with `traceroute`, or write a CSV vantage,destination,ttl,address,rtt from it",
    ),
    Signature(
        _line(rb"traceroute from [0-9A-Fa-f:.]+ to [0-9A-Fa-f:.]+"),
        "what scamper or sc_warts2text prints",
        "give the warts file, or `sc_warts2json FILE.warts`",
    ),
    Signature(
        _line(rb"[TL]\t[\d.]+\t[\d.]+\t"),
        "what sc_analysis_dump prints",
        "give the warts file that it is made from",
    ),
    Signature(
        re.compile(rb"\s*1\??:\s+(?:\[LOCALHOST\]|\S+)"),
        "what tracepath prints",
        "run `traceroute`, or `mtr --json`",
    ),
    Signature(
        _line(rb"PING \S+|Pinging \S+ "),
        "what ping prints",
        "it shows no routers: run `traceroute`",
    ),
    # Of graphs.
    Signature(
        re.compile(rb"% (?:sym|asym|bip)\b"),
        "a graph of KONECT",
        "`grep -v '^%' FILE > FILE.txt` gives an edge list",
    ),
    Signature(
        re.compile(rb"\d+,\d+,[ud],\w*\r?\n\d+,\d+"),
        "a graph in the form .jlg",
        "`tail -n +2 FILE | tr , ' ' > FILE.txt` gives an edge list",
    ),
    Signature(
        re.compile(rb"(?:#[^\n]*\n)*-?\d+ @\S+.*?->", re.DOTALL),
        "a map of Rocketfuel (.cch)",
        "`awk '$1 > 0 {for (i = 2; i <= NF; i++) if ($i ~ /^<[0-9]+>$/) "
        '{gsub(/[<>]/, "", $i); print $1, $i}}\' FILE > FILE.txt` gives an edge list',
    ),
    Signature(
        _text(rb"\?SNDlib|(?:<\?xml[^>]*>\s*)?<network\s[^>]*sndlib"),
        "a network of SNDlib",
        "its library has the same networks as GraphML: "
        "https://sndlib.put.poznan.pl, or write a line of two names for each link",
    ),
    Signature(
        _text(rb"(?:strict\s+)?(?:di)?graph\b[^;=]{0,80}\{"),
        "a graph of Graphviz (DOT)",
        "`gv2gml FILE > FILE.gml`",
    ),
    Signature(_text(rb"(?:<\?xml[^>]*>\s*)?<gexf"), "GEXF", _WITH_NETWORKX.format("read_gexf")),
    Signature(
        _text(rb'\{\s*"directed":\s*(?:true|false),\s*"multigraph":'),
        "NetworkX's JSON of nodes and links",
        "with NetworkX: `networkx.write_graphml(networkx.node_link_graph(json.load(open('FILE'))), "
        "'FILE.graphml')`",
    ),
    Signature(
        _text(rb">>graph6<<"), "a graph in the form graph6", _WITH_NETWORKX.format("read_graph6")
    ),
    Signature(
        _text(rb">>sparse6<<"), "a graph in the form sparse6", _WITH_NETWORKX.format("read_sparse6")
    ),
    Signature(_text(rb"\*vertices\s"), "a graph of Pajek", _WITH_NETWORKX.format("read_pajek")),
    Signature(
        _text(rb"graph \(#nodes"),
        "a graph of GT-ITM",
        "`awk 'found && NF > 2 {print $1, $2} /^EDGES/ {found = 1}' FILE > FILE.txt` gives an edge "
        "list",
    ),
    # Of registries and routes.
    Signature(
        _line(rb"(?:route6?|aut-num|as-set|inet6?num|mntner|role|person|organisation):[ \t]"),
        "objects of a routing registry (RPSL)",
        "`awk '/^route6?:/ {p = $2} /^origin:/ {print p \",\" $2}' FILE > FILE.csv` gives prefixes "
        "and origins for --ip2as",
    ),
    Signature(
        _line(rb"(?:TABLE_DUMP2?|BGP4MP(?:_ET)?)\|\d+"),
        "routes as bgpdump prints them",
        "`awk -F'|' '{n = split($7, path, \" \"); print $6 \",\" path[n]}' FILE | sort -u > "
        "FILE.csv` gives prefixes and origins for --ip2as",
    ),
    Signature(
        re.compile(rb"[\s\S]{4}\x00[\x0c\x0d\x10\x11\x20\x21\x30]\x00[\x00-\x08]\x00"),
        "an MRT dump of routes",
        "give the routing table (RIB) with --ip2as, beside measurements",
    ),
)


def recognise(head: bytes, is_table: bool = False) -> str:
    """What a file is that begins so, and what to do with it; empty: in no row.

    Parameters
    ----------
    head : bytes
        Decompressed.
    is_table : bool
        Only what is no table either.
    """
    head = head[:SIGNATURE_BYTES].removeprefix(BOM)
    for row in SIGNATURES:
        if is_table and not row.in_tables:
            continue
        if isinstance(row.begins, bytes):
            is_it = head.startswith(row.begins)
        else:
            is_it = row.begins.match(head) is not None
        if is_it:
            return f"{row.what}, which is not read: {row.remedy}"
    return ""


def described(head: bytes) -> str:
    """What a file of no row begins with, in a few words."""
    first = head.removeprefix(BOM).lstrip()[: 4 * _SHOWN]
    if not first:
        return "nothing but blanks"
    n_odd = sum(byte < 9 or 13 < byte < 32 or byte == 127 for byte in first)
    if n_odd:
        return f"binary, begins with {first[:8].hex(' ')}"
    line = first.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    shown = "".join(each if each.isprintable() else "\ufffd" for each in line[:_SHOWN])
    return f"text that begins with {shown!r}"
