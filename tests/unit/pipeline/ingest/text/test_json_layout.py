"""JSON in other layouts: the same records, one a line, with the numbers of their lines."""

from __future__ import annotations

import io
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import FormatError
from pipeline.ingest import FORMATS, open_reader
from pipeline.ingest.text.json_layout import first_object, record_lines
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import KIND_UNKNOWN
from tests.contracts.trace_reader import unpack
from tests.soak import examples

MARK = re.compile(rb'"mark"\s*:')
VALUES = st.recursive(
    st.none() | st.integers() | st.text('a{}[]",\\\n', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab{", max_size=3), inner),
    max_leaves=6,
)
RECORDS = st.lists(VALUES.map(lambda value: {"mark": 1, "value": value}), min_size=1, max_size=5)
TRACE = {
    "type": "trace",
    "src": "192.0.2.9",
    "dst": "198.51.100.9",
    "hops": [{"addr": "192.0.2.1", "probe_ttl": 1, "rtt": 1.5, "icmp_type": 11, "icmp_code": 0}],
}
RESULT = {
    "type": "traceroute",
    "prb_id": 7,
    "src_addr": "192.0.2.9",
    "dst_addr": "198.51.100.9",
    "timestamp": 5,
    "result": [{"hop": 1, "result": [{"from": "192.0.2.1", "rtt": 1.5}, {"x": "*"}]}],
}


class Dribble(io.RawIOBase):
    """Some bytes at a time."""

    def __init__(self, data: bytes, size: int):
        self.data, self.size = io.BytesIO(data), size

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[: self.size])


def lines_of(data: bytes, mark=MARK, size=1 << 20) -> list[bytes]:
    stream = record_lines(Dribble(data, size), mark)
    return [line for line in io.BufferedReader(stream).read().split(b"\n") if line.strip()]


@settings(max_examples=examples(100), deadline=None)
@given(RECORDS, st.sampled_from([None, 1, 4]), st.integers(1, 50))
def test_records_in_other_values_come_out_unchanged(records, indent, size):
    by_probe = {str(i): [record] for i, record in enumerate(records)}
    for whole in ({"count": 2, "results": records}, {"id": 1, "results": by_probe}, by_probe):
        text = json.dumps(whole, indent=indent).encode()
        assert [json.loads(line) for line in lines_of(text, size=size)] == records


@settings(max_examples=examples(100), deadline=None)
@given(RECORDS, st.sampled_from([1, 4]), st.sampled_from(["\n", "", "\r\n\n"]), st.integers(1, 50))
def test_records_spread_over_lines_come_out_unchanged(records, indent, between, size):
    text = between.join(json.dumps(record, indent=indent) for record in records).encode()
    for mark in (MARK, None):
        assert [json.loads(line) for line in lines_of(text, mark, size)] == records


def test_records_on_lines_of_their_own_and_arrays_stay_as_they_are():
    for text in (
        b'{"mark": 1}\n{"mark": 2, "a": {"b": 1}}\n',
        b'[{"mark": 1}, {"mark": 2}]',
        b'[\n {"mark": 1,\n "a": 2}]',
        b"",
        b"no JSON at all",
        b'{"mark": 1',
    ):
        assert record_lines(io.BytesIO(text), MARK).read() == text


def test_depth_and_beginning_are_those_of_the_first_marked_object():
    assert first_object(b'{"mark": 1}', MARK) == (0, b'{"mark"')
    assert first_object(b'{"results": [{"a": "}", "mark": 1}]}', MARK) == (2, b'{"a"')
    assert first_object(b'["mark", 1]', MARK) is None
    assert first_object(b'{"marked": 1}', MARK) is None


def read_all(format: str, text: str):
    report = ReadReport("bytes", format)
    reader = FORMATS[format].load().read(io.BytesIO(text.encode()), report)
    return [trace for batch in reader for trace in unpack(batch)], report


def test_a_broken_record_over_several_lines_loses_only_itself_and_has_its_line():
    whole = json.dumps(TRACE, indent=2)
    broken = whole.replace('"src": "192', '"src": 192').replace("}", "", 1)
    traces, report = read_all("scamper_json", f"{whole}\n{broken}\n{whole}\n")
    assert len(traces) == 2
    assert dict(report.rejected) == {"not JSON": 1}
    assert report.samples[0].place == f"line {whole.count(chr(10)) + 2}"


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda results: {"count": 2, "next": None, "results": results},
        lambda results: {"msm_id": 1, "results": {"7": results}},
        lambda results: {"7": results},
        lambda results: [{"results": results}],
    ],
)
def test_results_of_atlas_in_pages_and_by_probe_are_read(wrap, indent):
    alone, _ = read_all("atlas", json.dumps([RESULT, RESULT]))
    wrapped, report = read_all("atlas", json.dumps(wrap([RESULT, RESULT]), indent=indent))
    assert wrapped == alone
    assert len(wrapped) == 2
    assert not report.rejected


def test_a_page_with_a_broken_result_loses_only_that():
    page = json.dumps({"results": [RESULT, RESULT, RESULT]})
    middle = page.index('"hop"', page.index('"hop"') + 1)
    traces, report = read_all("atlas", page[:middle] + "}}" + page[middle:])
    assert len(traces) == 2
    assert report.rejected.total() == 1


def test_a_cut_page_gives_what_it_holds_and_says_so(tmp_path):
    path = tmp_path / "page.json"
    path.write_text(json.dumps({"results": [RESULT, RESULT]})[:-40])
    report = ReadReport(str(path))
    with pytest.raises(FormatError, match="cut short"):
        list(open_reader(path, report)[1])
    assert report.n_records == 1


def test_rows_of_mlab_are_the_records_in_them():
    plain, _ = read_all("scamper_json", json.dumps(TRACE))
    exported = {**TRACE, "hops": [{**TRACE["hops"][0], "probe_ttl": "1", "icmp_type": "11"}]}
    parsed = {
        "Type": "trace",
        "Src": "192.0.2.9",
        "Dst": "198.51.100.9",
        "Hops": [{"Addr": "192.0.2.1", "ProbeTtl": 1, "Rtt": 1.5, "IcmpType": 11, "IcmpCode": 0}],
    }
    for row in (
        {"id": "x", "date": "2021-09-06", "raw": {"Metadata": {}, "Trace": exported}},
        {"ID": "x", "Raw": {"CycleStart": {"Type": "cycle-start"}, "Trace": parsed}},
    ):
        assert read_all("scamper_json", json.dumps(row))[0] == plain
        assert read_all("scamper_json", json.dumps(row, indent=1))[0] == plain


def test_older_rows_of_mlab_have_hops_with_flows():
    def link(addr: str, ttl: object, *flows: int) -> dict:
        probes = [{"flowid": flow, "rtt": [1.5, 1.75]} for flow in flows]
        return {"hop_dst_ip": addr, "ttl": ttl, "probes": probes}

    row = {
        "uuid": "ndt-x",
        "start_time": "1616094180",
        "scamper_version": "0.1",
        "serverIP": "192.0.2.9",
        "clientIP": "198.51.100.9",
        "hop": [
            {"source": {"ip": "192.0.2.1"}, "link": [link("192.0.2.2", 2, 1, 2)]},
            {"source": {"ip": "192.0.2.2"}, "link": [link("198.51.100.9", "3", 1, 2)]},
        ],
    }
    (trace,), report = read_all("scamper_json", json.dumps(row))
    assert (trace.src, trace.dst, trace.start_s) == ("192.0.2.9", "198.51.100.9", 1616094180)
    assert trace.replies == [
        (1, "192.0.2.1", None, KIND_UNKNOWN),
        (2, "192.0.2.2", 1.5, KIND_UNKNOWN),
        (3, "198.51.100.9", 1.5, KIND_UNKNOWN),
    ]
    assert not report.rejected
    ((_, _, _, none),), _ = read_all("scamper_json", json.dumps({**row, "hop": None}))
    assert none == []
    _, broken = read_all("scamper_json", json.dumps({**row, "hop": [5]}) + "\n" + json.dumps(row))
    assert dict(broken.rejected) == {"hops are not as M-Lab writes them": 1}
