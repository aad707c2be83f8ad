"""What files are that no reader takes; commands that are given do what is said."""

from __future__ import annotations

import gzip
import subprocess

import pytest

from pipeline.errors import FormatError
from pipeline.ingest import FORMATS, detect_format
from pipeline.ingest.signatures import SIGNATURES, described, recognise
from tests.real_data import real_data

ROUTES = b"""% comment
route:          192.0.2.0/24
descr:          example
origin:         AS64500
mnt-by:         MAINT

route6:         2001:db8::/32
origin:         AS64501
"""
EXAMPLES = {
    "a spreadsheet": b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml",
    "a 7z archive": b"7z\xbc\xaf\x27\x1c\0\4",
    "compressed by lz4": b"\x04\x22\x4d\x18\x64",
    "a packet capture": b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00",
    "a packet capture (pcap), ": b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a",
    "an SQLite database": b"SQLite format 3\0\x10\0",
    "Avro": b"Obj\x01\x04\x14avro.codec",
    "pickled": b"\x80\x04\x95\x10\0\0\0\0\0\0\0",
    "a pointer of Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
    "an HTML page": b"\n<!DOCTYPE html>\n<html><title>404</title>",
    "an error of an object store": b'<?xml version="1.0"?>\n<Error><Code>NoSuchKey</Code>',
    "an error that a server": b'{"error":{"detail":"Not found","status":404}}',
    "mtr's XML": b'<?xml version="1.0"?>\n<MTR SRC="vm" DST="a">',
    "mtr's raw events": b"x 0 33000\nh 0 127.0.0.1\np 0 54 33000\n",
    "nmap's XML": b'<?xml version="1.0"?>\n<!DOCTYPE nmaprun>\n<nmaprun scanner="nmap">',
    "what scamper or sc_warts2text": b"traceroute from 192.0.2.1 to 192.0.2.9\n 1  192.0.2.2\n",
    "what tracepath": b" 1?: [LOCALHOST]                      pmtu 1500\n 1:  gw  0.3ms\n",
    "what ping": b"PING a (192.0.2.1) 56(84) bytes of data.\n",
    "a graph of KONECT": b"% sym unweighted\n% 3 3 3\n1 2\n",
    "a graph in the form .jlg": b"3,3,u,graph\n1,2\n2,3\n",
    "a map of Rocketfuel": b"1 @A+ bb (1) -> <2> =a r0\n",
    "a network of SNDlib": b"?SNDlib native format; type: network; version: 1.0\n",
    "a graph of Graphviz": b"strict digraph G {\n a -> b;\n}\n",
    "GEXF": b'<?xml version="1.0"?>\n<gexf xmlns="http://gexf.net/1.3">',
    "NetworkX's JSON": b'{"directed": false, "multigraph": false, "graph": {}, "nodes": []}',
    "a graph in the form graph6": b">>graph6<<A_\n",
    "a graph in the form sparse6": b">>sparse6<<:An\n",
    "a graph of Pajek": b'*Vertices 2\n1 "a"\n',
    "a graph of GT-ITM": b"GRAPH (#nodes #edges id uu vv ww xx yy zz):\n3 2 x\n",
    "objects of a routing registry": ROUTES,
    "routes as bgpdump": b"TABLE_DUMP2|1790000000|B|::1|64500|198.51.100.0/24|64500 64501|IGP\n",
    "an MRT dump": b"\x6a\xb1\x00\x00\x00\x0d\x00\x01\x00\x00\x00\x10" + bytes(16),
}


@pytest.mark.parametrize("what", EXAMPLES)
def test_each_is_named_with_a_remedy(tmp_path, what):
    found = recognise(EXAMPLES[what])
    assert found.startswith(what.rstrip(", "))
    assert ", which is not read: " in found
    path = tmp_path / "file"
    path.write_bytes(EXAMPLES[what])
    if not any(format.load().sniff(EXAMPLES[what]) for format in FORMATS.values()):
        with pytest.raises(FormatError) as caught:
            detect_format(path)
        assert "unknown format" not in str(caught.value)


def test_rows_are_of_different_things():
    assert len({row.begins for row in SIGNATURES}) == len(SIGNATURES)
    assert all(row.what and row.remedy for row in SIGNATURES)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"Dear all,\n", "text that begins with 'Dear all,'"),
        (b"\x00\x01\x02", "binary, begins with 00 01 02"),
        ("caf\u00e9 \u202egpj\n".encode(), "text that begins with 'caf\u00e9 \ufffdgpj'"),
        (b" \n \n", "nothing but blanks"),
        (b"x" * 1000, f"text that begins with '{'x' * 40}'"),
    ],
)
def test_what_is_in_no_row_is_described(head, said):
    assert described(head) == said
    assert recognise(head) == ""


def run(said: str, folder) -> str:
    """What the first command of a remedy writes to FILE.txt or FILE.csv."""
    subprocess.run(said.split("`")[1], shell=True, check=True, cwd=folder)
    (made,) = [path for path in folder.iterdir() if path.suffix]
    return made.read_text()


@pytest.mark.parametrize(
    ("head", "made"),
    [
        (EXAMPLES["a graph of KONECT"], "1 2\n"),
        (EXAMPLES["a graph in the form .jlg"], "1 2\n2 3\n"),
        (ROUTES, "192.0.2.0/24,AS64500\n2001:db8::/32,AS64501\n"),
        (EXAMPLES["routes as bgpdump"], "198.51.100.0/24,64501\n"),
        (b"GRAPH (#nodes #edges)\n2 1\n\nVERTICES\n0 x\n\nEDGES (from to a b)\n0 1 5 6\n", "0 1\n"),
        (
            b"1 @A+ bb (2) &3 -> <2> <3> {-1} =a.example rn\n2 @B (0) -> =b! r1\n"
            b"-1 =192.0.2.1 r0\n",
            "1 2\n1 3\n",
        ),
    ],
)
def test_commands_give_what_is_said(tmp_path, head, made):
    (tmp_path / "FILE").write_bytes(head)
    assert run(recognise(head), tmp_path) == made


def test_places_with_commas_make_no_edge_list_of_a_map_of_rocketfuel(tmp_path):
    path = tmp_path / "FILE"
    path.write_text("0 @A,+X \t(1) -> <1> \t=a r1\n1 @B,+Y \t(1) &14 -> <0> {-3} \t=b r1\n")
    with pytest.raises(FormatError, match=r"a map of Rocketfuel .* gives an edge list"):
        detect_format(path)


def test_every_real_map_of_rocketfuel_is_refused_with_advice():
    maps = sorted(real_data("rocketfuel").glob("*.cch.gz"))
    assert maps
    for path in maps:
        with pytest.raises(FormatError, match=r"a map of Rocketfuel .* gives an edge list"):
            detect_format(path)


def test_a_real_map_of_rocketfuel_becomes_an_edge_list(tmp_path):
    text = gzip.decompress(next(real_data("rocketfuel").glob("3967.cch.gz")).read_bytes())
    (tmp_path / "FILE").write_bytes(text)
    assert recognise(text).startswith("a map of Rocketfuel")
    links = run(recognise(text), tmp_path).splitlines()
    assert len(links) > 300
    assert all(len(line.split()) == 2 for line in links)
