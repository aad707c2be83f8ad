"""A UTF-8 byte order mark, which some editors write first, costs no table its first line."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import pytest

from pipeline.files import BOM
from pipeline.ingest.tables import TABLES
from pipeline.model.measured.reading import ReadReport

TEXTS = [  # option, text of two records
    ("ip2as", "20.1.0.0\t16\t1\n20.2.0.0\t16\t2\n"),
    ("ip2as", "2001:db8::\t32\t1\n20.2.0.0\t16\t2_3\n"),
    ("aliases", "node N1:  9.9.9.1 9.9.9.2\nnode N2:  9.9.9.3 9.9.9.4\n"),
    ("aliases", "# set 0: 2\n9.9.9.1\n9.9.9.2\n# set 1: 2\n9.9.9.3\n9.9.9.4\n"),
    ("aliases", "9.9.9.1 N1 L1 T\n9.9.9.2 N1 L2 T\n"),
    ("aliases", "9.9.9.1 9.9.9.2\n9.9.9.3 9.9.9.4\n"),
    ("as_rel", "1|2|-1\n3|4|0\n"),
    ("as2org", "# format:aut|changed|aut_name|org_id|opaque_id|source\n1||a|A||x\n2||b|B||x\n"),
    (
        "as2org",
        '{"type":"ASN","asn":"1","organizationId":"A"}\n'
        '{"type":"ASN","asn":"2","organizationId":"B"}\n',
    ),
    (
        "delegated",
        "2|lab|20240101|2|19830613|20240101|+1000\n"
        "lab|ZZ|asn|1|1|2020|allocated|a\nlab|ZZ|asn|2|1|2020|allocated|a\n",
    ),
    ("ixp", "195.42.144.0/23 France-IX\n195.42.146.0/23 Other\n"),
    ("ixp", '{"data": [{"prefix": "195.42.144.0/23"}, {"prefix": "195.42.146.0/23"}]}'),
    ("as_names", "1|one\n2|two\n"),
    ("as_names", '{"1": "one", "2": "two"}'),
    (
        "name_rules",
        '{"domain":"a.net","re":["^as([0-9]+)"],"score":{"tp":3,"fp":0,"class":"good"}}\n'
        '{"domain":"b.net","re":["^as([0-9]+)"],"score":{"tp":3,"fp":0,"class":"good"}}\n',
    ),
    ("locations", "9.9.9.1,48.86,2.35,Paris,FR\n9.9.9.0/24,48.86,2.35,Paris,FR\n"),
    ("locations", "node N1:  9.9.9.1\nnode N2:  9.9.9.2\n"),
    ("locations", "node.geo N1:\tEU\tFR\t\tParis\t1\t2\nnode.geo N2:\tEU\tFR\t\tParis\t1\t2\n"),
    ("host_names", "9.9.9.1 a.example.net\n9.9.9.2 b.example.net\n"),
]
COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


ROWS = {table.option: table for table in TABLES}


def read(option: str, path) -> ReadReport:
    more = [np.zeros((0, 2), np.uint64)] if option in ("host_names", "locations") else []
    (report,) = ROWS[option].read_files([path], *more)[1]
    return report


def test_every_table_has_a_text_here():
    assert {option for option, _ in TEXTS} == ROWS.keys()


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize(("option", "text"), TEXTS)
def test_a_table_with_a_byte_order_mark_is_read_like_one_without(
    tmp_path, option, text, compression
):
    found = []
    for mark in (b"", BOM):
        path = tmp_path / f"table{len(mark)}{compression}"
        path.write_bytes(COMPRESS[compression](mark + text.encode()))
        report = read(option, path)
        assert (report.status, report.error, report.rejected) == ("ok", "", {})
        found.append((report.format, report.n_records, report.skipped, report.notes))
    assert found[0] == found[1]
    assert found[0][1] >= 2


@pytest.mark.parametrize("option", ROWS)
def test_a_mark_alone_is_no_record(tmp_path, option):
    path = tmp_path / "table"
    path.write_bytes(BOM)
    report = read(option, path)
    assert (report.status, report.n_records) == ("rejected", 0)
    assert f"{path.name}: no " in report.error
