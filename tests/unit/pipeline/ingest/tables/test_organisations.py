"""Organisations of ASes: text, JSON lines, hostile lines."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from pipeline.ingest.tables import read_organisations
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.organisations import UNKNOWN
from tests.tables import table_of_file

TEXT = b"""# name: AS Org
# format:org_id|changed|org_name|country|source
LPL-141-ARIN|20170128|Level 3|US|ARIN
# format:aut|changed|aut_name|org_id|opaque_id|source
3356|20180220|LEVEL3|LPL-141-ARIN|e5e3_ARIN|ARIN
3549|20180220|LVLT-3549|LPL-141-ARIN|e5e3_ARIN|ARIN
1299||TWELVE99|ORG-TSR1-RIPE||RIPE
"""
JSON = b"""{"organizationId":"LPL-141-ARIN","name":"Level 3","type":"Organization"}
{"asn":"3356","organizationId":"LPL-141-ARIN","name":"LEVEL3","type":"ASN"}
{"asn":3549,"organizationId":"LPL-141-ARIN","type":"ASN"}
{"asn":"1299","organizationId":"ORG-TSR1-RIPE","type":"ASN"}
"""


@pytest.fixture
def read(tmp_path):
    def read_bytes(data: bytes):
        path = tmp_path / "lab.as2org.txt"
        path.write_bytes(data)
        report = ReadReport(str(path))
        return table_of_file(read_organisations, path, report), report

    return read_bytes


@pytest.mark.parametrize(
    "data",
    [TEXT, JSON, gzip.compress(TEXT), b"# asn organisation\n3356 a\n3549 a\n1299 b\n"],
    ids=["text", "json", "packed", "pairs"],
)
def test_ases_of_one_organisation_are_siblings(read, data):
    table, report = read(data)
    level3, other, telia, unlisted = table.of(np.array([3356, 3549, 1299, 7])).tolist()
    assert level3 == other != telia
    assert UNKNOWN not in (level3, telia)
    assert unlisted == UNKNOWN
    assert report.n_records == 3
    assert not report.rejected


def test_organisations_have_the_names_that_the_file_gives_else_their_ids(read):
    asns = np.array([7, 1299, 3356, 3549])
    for data in (TEXT, JSON):
        assert read(data)[0].names_of(asns) == {
            1299: "ORG-TSR1-RIPE",
            3356: "Level 3",
            3549: "Level 3",
        }
    assert read(b"3356 a\n1299 b\n")[0].names_of(asns) == {3356: "a", 1299: "b"}


def test_two_organisations_of_one_name_are_told_apart(read):
    head = TEXT.replace(b"US|ARIN\n", b"US|ARIN\nORG-TSR1-RIPE||Level 3|SE|RIPE\n", 1)
    names = read(head)[0].names_of(np.array([1299, 3356]))
    assert names == {1299: "Level 3 (ORG-TSR1-RIPE)", 3356: "Level 3 (LPL-141-ARIN)"}


def test_the_last_organisation_in_order_of_text_is_taken(read):
    for data in (b"1 a\n1 b\n2 b\n", b"2 b\n1 b\n1 a\n"):
        table, report = read(data)
        assert len(set(table.of(np.array([1, 2])).tolist())) == 1
        assert report.notes == {"ASes of two organisations": 1}


def test_broken_lines_are_named_and_set_aside(read):
    table, report = read(TEXT + b'12|x\nAS5||x|ORG||RIPE\n6||x|||RIPE\n{"type":\n{"type":"ASN"}\n')
    assert len(table.asn) == 3
    assert report.rejected == {
        "not the number of fields that `# format:` names": 1,
        "not an AS number": 2,
        "no organisation": 1,
        "not valid JSON": 1,
    }
    assert report.samples[0].place == "line 8"


@pytest.mark.parametrize(
    "data", [b"", b"3356|LEVEL3\n", b"[1]\n", TEXT.partition(b"# format:aut")[0]]
)
def test_a_file_without_any_says_what_to_give(read, data):
    table, report = read(data)
    assert report.status == "rejected"
    assert "lab.as2org.txt: no AS with an organisation" in report.error
    assert table.of(np.array([3356])).tolist() == [UNKNOWN]


def test_a_file_with_its_head_but_without_ases_is_valid(read):
    head = b"# format:aut|changed|aut_name|org_id|opaque_id|source\n"
    table, report = read(head)
    assert (report.status, report.n_records) == ("ok", 0)
    assert table.of(np.array([3356])).tolist() == [UNKNOWN]
    assert read(head + b"junk\n")[1].status == "rejected"
