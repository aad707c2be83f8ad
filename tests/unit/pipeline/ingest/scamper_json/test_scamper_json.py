from __future__ import annotations

import contextlib
import io
import ipaddress
import math

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import FormatError
from pipeline.ingest import open_reader, scamper_json
from pipeline.ingest.column_reader import ColumnReader
from pipeline.ingest.columns import TraceColumns
from pipeline.ingest.scamper_json import decode as fast
from pipeline.ingest.scamper_json.scan import MORE, UNSURE, read_address, read_decimal, skip_value
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import KIND_OTHER, KIND_TIME_EXCEEDED
from tests.contracts.trace_reader import Trace, TraceReaderContract, mutations, unpack
from tests.real_data import real_data
from tests.soak import examples
from tests.unit.pipeline.ingest.scamper_json.json_text import (
    BROKEN,
    CYCLE,
    FOLDER,
    _bad,
    hop,
    trace,
)
from tests.unit.pipeline.ingest.warts.test_warts import SAMPLE_TRACES

ONE_HOP = Trace("192.0.2.1", "192.0.2.2", 5.25, [(1, "203.0.113.1", 0.5, KIND_TIME_EXCEEDED)])


def read_bytes(data: bytes) -> tuple[list[Trace], ReadReport]:
    report = ReadReport("bytes")
    batches = scamper_json.read(io.BytesIO(data), report)
    return [t for batch in batches for t in unpack(batch)], report


def label_files() -> list[tuple[bytes, set[str]]]:
    """A trace whose first hop has extensions, for the scanner and (with an escape) the parser."""
    label = '{"ie_cn":1,"ie_ct":1,"ie_dl":4,"mpls_labels":[{"mpls_ttl":1,"mpls_label":20}]}'
    interface = '{"ie_cn":2,"ie_ct":1,"ie_dl":2,"ie_dd":[1,2],"x":{"mpls_labels":1}}'
    other = hop(addr='"203.0.113.5"')
    files: list[tuple[bytes, set[str]]] = []
    for icmpext, is_found in (
        (f"[{label}]", True),
        (f"[ {label} , {label}]", True),
        (f"[{interface}, 7, {{}}, {label}]", True),
        (f"[{interface}]", False),
        ("[]", False),
        (label, False),
        (f"[[{label}]]", False),
        ("null", False),
    ):
        for note in ("", r'"\u0041"'):
            extended = hop(icmpext=icmpext, note=note)
            found = {"203.0.113.1"} if is_found else set()
            files.append((trace(f"[{extended}, {other}]"), found))
    return files


class TestScamperJson(TraceReaderContract):
    format = "scamper_json"
    sample = "scamper_json/sample.json"
    traces = SAMPLE_TRACES
    broken_record = b'{"type":"trace", "dst":"192.0.2.1", "hops":[{"addr":\n'
    broken_reason = "not JSON"
    labels = label_files()


def test_warts_and_json_of_the_committed_sample_are_equal():
    warts_report, json_report = ReadReport("w"), ReadReport("j")
    folder = FOLDER.parent
    (warts,) = open_reader(folder / "warts" / "sample.warts", warts_report)[1]
    (text,) = open_reader(FOLDER / "sample.json", json_report)[1]
    for name in vars(warts):
        np.testing.assert_array_equal(getattr(warts, name), getattr(text, name), name)
    assert json_report.skipped == {"metadata": 1, "cycle-start": 1, "cycle-stop": 1, "ping": 1}


def test_the_committed_broken_samples_are_what_their_script_writes():
    for name, (content, *_) in _bad().items():
        assert (FOLDER / "bad" / name).read_bytes() == content, name


@pytest.mark.parametrize(
    ("reason", "line"), [(reason, line) for reason, lines in BROKEN.items() for line in lines]
)
def test_a_broken_line_is_rejected_by_number_and_reason(reason, line):
    good = trace(f"[{hop()}]")
    traces, report = read_bytes(CYCLE + good + line + b"\n" + good)
    assert traces == [ONE_HOP, ONE_HOP]
    assert dict(report.rejected) == {reason: 1}
    assert [sample.place for sample in report.samples] == ["line 3"]


@pytest.mark.parametrize(
    ("hops", "replies"),
    [
        ("null", []),
        ("[]", []),
        (f"""[{hop(addr='"*"')},{hop(addr='""')},{hop(addr="null")},{hop(addr="")}]""", []),
        (f"[{hop(rtt='')}]", [(1, "203.0.113.1", None, KIND_TIME_EXCEEDED)]),
        (f"[{hop(rtt='null')}]", [(1, "203.0.113.1", None, KIND_TIME_EXCEEDED)]),
        (f"[{hop(rtt='-1')}]", [(1, "203.0.113.1", None, KIND_TIME_EXCEEDED)]),
        (f"[{hop(rtt='1e300')}]", [(1, "203.0.113.1", None, KIND_TIME_EXCEEDED)]),
        (f"[{hop(rtt='1e309')}]", [(1, "203.0.113.1", None, KIND_TIME_EXCEEDED)]),
        (f"[{hop(rtt='5e-1')}]", [(1, "203.0.113.1", 0.5, KIND_TIME_EXCEEDED)]),
        (f"[{hop(rtt='7')}]", [(1, "203.0.113.1", 7.0, KIND_TIME_EXCEEDED)]),
        (f"[{hop(icmp_type='', icmp_code='')}]", [(1, "203.0.113.1", 0.5, KIND_OTHER)]),
        (f"[{hop(icmp_code='')}]", [(1, "203.0.113.1", 0.5, KIND_TIME_EXCEEDED)]),
        (f"[{hop(probe_ttl='255')}]", [(255, "203.0.113.1", 0.5, KIND_TIME_EXCEEDED)]),
        (
            f"[{hop(probe_ttl='3')},{hop(probe_ttl='2', rtt='2')},{hop(probe_ttl='3', rtt='3')}]",
            [
                (2, "203.0.113.1", 2.0, KIND_TIME_EXCEEDED),
                (3, "203.0.113.1", 0.5, KIND_TIME_EXCEEDED),
                (3, "203.0.113.1", 3.0, KIND_TIME_EXCEEDED),
            ],
        ),
        # Escapes, other scripts and nesting in what is not read; a key twice: the last holds.
        (
            "[" + hop(name='"\\u0041\\n"') + "]",
            [(1, "203.0.113.1", 0.5, KIND_TIME_EXCEEDED)],
        ),
        (
            f"[{hop(icmpext='[{},[[1]],{}]', tx='null')}]",
            [(1, "203.0.113.1", 0.5, KIND_TIME_EXCEEDED)],
        ),
        (
            "[" + hop()[:-1] + ', "probe_ttl":9}]',
            [(9, "203.0.113.1", 0.5, KIND_TIME_EXCEEDED)],
        ),
        (
            """[{"\\u0061ddr":"203.0.113.7", "probe_ttl":4}]""",
            [(4, "203.0.113.7", None, KIND_OTHER)],
        ),
    ],
)
def test_unusual_but_valid_hops_are_read(hops, replies):
    traces, report = read_bytes(trace(hops))
    assert [each.replies for each in traces] == [replies]
    assert not report.rejected


def test_a_trace_may_lack_source_start_and_hops():
    traces, _ = read_bytes(b'{"type":"trace","dst":"2001:DB8::5"}')
    assert traces == [Trace("::", "2001:db8::5", 0.0, [])]


def test_arrays_on_one_line_or_many_and_byte_order_marks_are_read():
    record = trace(f"[{hop()}]").strip()
    pretty = orjson.dumps([orjson.loads(record)] * 3, option=orjson.OPT_INDENT_2)
    for data in (
        b"[" + b",".join([record] * 3) + b"]",
        b"\xef\xbb\xbf \n[\n" + b",\n".join([record] * 3) + b"\n]\n",
        pretty,
        b"\xef\xbb\xbf" + b"\n".join([record] * 3),
        b"\r\n".join([record] * 3) + b"\r\n\r\n",
    ):
        assert scamper_json.sniff(data)
        traces, report = read_bytes(data)
        assert traces == [ONE_HOP] * 3
        assert not report.rejected


def test_a_broken_element_of_an_array_loses_only_itself():
    record = trace(f"[{hop()}]").strip()
    broken = trace(f"[{hop(probe_ttl='0')}]").strip()
    wrong = record.replace(b'"src":', b'"src"')
    traces, report = read_bytes(b"[\n" + b",\n".join([record, broken, wrong, record]) + b"\n]")
    assert traces == [ONE_HOP] * 2
    assert dict(report.rejected) == {"TTL is not a number from 1 to 255": 1, "not JSON": 1}
    assert [sample.place for sample in report.samples] == ["line 3", "line 4"]


def test_records_that_share_a_line_are_read():
    record = trace(f"[{hop()}]").strip()
    for between in (b"", b"  "):
        traces, report = read_bytes(record + between + record + between + CYCLE.strip() + record)
        assert traces == [ONE_HOP] * 3
        assert report.skipped["cycle-start"] == 1
        assert not report.rejected


def test_an_archived_measurement_in_one_object_is_read():
    record = trace(f"[{hop()}]").strip()
    traces, _ = read_bytes(b'{"Metadata":{"UUID":"x"},"Trace":' + record + b',"CycleStop":{}}\n')
    assert traces == [ONE_HOP]


def test_records_across_window_borders_are_read(monkeypatch):
    monkeypatch.setattr(scamper_json, "WINDOW_BYTES", 64)
    data = (FOLDER / "sample.json").read_bytes()
    traces, report = read_bytes(data * 5)
    assert traces == SAMPLE_TRACES * 5
    assert not report.rejected


def test_an_endless_line_is_rejected_without_being_kept(monkeypatch):
    monkeypatch.setattr(scamper_json, "WINDOW_BYTES", 1 << 10)
    monkeypatch.setattr(scamper_json, "MAX_RECORD", 1 << 12)
    good = trace(f"[{hop()}]")
    report = ReadReport("bytes")
    data = good + b'{"type":"' + b"x" * 1_000_000 + b'"}\n' + good
    decoder = scamper_json.ScamperJsonDecoder(report)
    reader = ColumnReader(io.BytesIO(data), report, decoder)
    traces = [t for batch in reader.batches() for t in unpack(batch)]
    assert traces == [ONE_HOP] * 2
    assert dict(report.rejected) == {"record longer than 4096 bytes": 1}
    assert len(reader.window.data) <= 1 << 12


def test_a_round_trip_time_out_of_range_is_noted():
    _, report = read_bytes(trace(f"[{hop(rtt='-1')}, {hop(rtt='1e300')}, {hop(rtt='1e309')}]"))
    assert report.notes["round-trip times out of range"] == 3


@pytest.mark.parametrize(
    "start",
    [
        "5",
        "{}",
        '{"sec":5}',
        '{"sec":"5", "usec":0}',
        '{"sec":true, "usec":0}',
        '{"sec":-5, "usec":0}',
        '{"sec":-0.5, "usec":0}',
        '{"sec":1e18, "usec":0}',
        '{"sec":4102444800, "usec":0}',
        '{"sec":4294967295, "usec":0}',
        '{"sec":4294967296, "usec":0}',
        '{"sec":99999999999999999999999, "usec":0}',
        '{"sec":5, "usec":1e300}',
        '{"sec":1e309, "usec":0}',
        '{"sec":-1e309, "usec":1e309}',
        f'{{"sec":1{"0" * 400}, "usec":0}}',
    ],
)
def test_an_unusable_start_time_costs_no_trace(start):
    traces, report = read_bytes(trace(f"[{hop()}]") + trace(f"[{hop()}]", start=start))
    assert traces == [ONE_HOP, ONE_HOP._replace(start_s=0.0)]
    assert report.notes["unusable start time"] == 1
    assert report.newest_s == ONE_HOP.start_s
    assert not report.rejected


def test_a_start_with_a_fraction_in_its_seconds_is_read():
    traces, report = read_bytes(trace("[]", start='{"sec":5.5, "usec":250000}'))
    assert [each.start_s for each in traces] == [5.75]
    assert not report.notes["unusable start time"]


LINE = trace(
    f"""[{hop()}, {hop(probe_ttl="2", addr='"2001:db8::7"', icmp_type="3", rtt="12.345")}]""",
    stop_reason='"GAPLIMIT"',
    extra='{"a":[1,-2.5,true,null,"x"]}',
)


@settings(max_examples=examples(300), deadline=None)
@given(data=st.data())
def test_what_the_compiled_way_accepts_means_the_same_to_the_full_parser(data):
    line = data.draw(mutations(LINE)).replace(b"\n", b" ")
    columns = TraceColumns(len(line) + 2, len(line) + 2)
    memories = np.zeros(1, fast.MEMORY)
    text = np.frombuffer(line, np.uint8)
    code = fast.decode(text, 0, len(text), True, columns.arrays, memories)
    quick = columns.take()
    if code != fast.DONE or quick is None or quick.n_traces != 1:
        return
    scamper_json.take_trace(orjson.loads(line), columns)
    slow = columns.take()
    assert slow is not None
    for name in vars(slow):
        np.testing.assert_array_equal(getattr(quick, name), getattr(slow, name), name)


ADDRESS_TEXT = st.one_of(
    st.ip_addresses().map(str),
    st.ip_addresses(v=6).map(lambda a: a.exploded),
    st.ip_addresses(v=4).map(lambda a: f"::ffff:{a}"),
    st.lists(st.sampled_from(["0", "1", "ab", "FFFF", "", ":", "::", "1.2.3.4", "12345"])).map(
        ":".join
    ),
    st.text("0123456789abcdefF:.", max_size=24),
)


@settings(max_examples=examples(400), deadline=None)
@given(text=ADDRESS_TEXT)
def test_addresses_are_read_as_the_standard_library_reads_them(text):
    out = np.zeros((1, 2), np.uint64)
    data = np.frombuffer(text.encode() + b'"', np.uint8)
    accepted = read_address(data, 0, len(text), out, 0)
    try:
        want = parse_addr(text)
    except ValueError:
        assert not accepted
        return
    assert accepted
    assert tuple(out[0].tolist()) == want
    assert ipaddress.ip_address(text)


@settings(max_examples=examples(200), deadline=None)
@given(value=st.floats(0, 1e12), decimals=st.integers(0, 6))
def test_decimals_are_the_doubles_nearest_to_their_text(value, decimals):
    text = f"{value:.{decimals}f}"
    pos, read = read_decimal(np.frombuffer(text.encode() + b",", np.uint8), 0, len(text) + 1)
    if pos == UNSURE:
        assert sum(c.isdigit() for c in text) > 15
    else:
        assert pos == len(text)
        assert read == float(text)


JSON_VALUE = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(10**17), 10**17), st.text('abc \t\\"é', max_size=4)
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=examples(300), deadline=None)
@given(value=JSON_VALUE, data=st.data())
def test_skipping_a_value_ends_where_it_ends_or_is_unsure(value, data):
    text = orjson.dumps(value)
    padded = np.frombuffer(text + b" ,", np.uint8)
    pos = skip_value(padded, 0, len(padded), False)
    assert pos == len(text) or (pos == UNSURE and (b"\\" in text or max(text) > 127))
    cut = data.draw(st.integers(0, len(text) - 1))
    assert skip_value(padded, 0, cut, False) in (MORE, UNSURE)


@pytest.mark.parametrize(
    "name",
    [
        *(f"labs/small/h{i}.trace.{m}" for i in (1, 2, 3) for m in ("icmp-paris", "udp-paris")),
        *(f"labs/small/h{i}.trace6.icmp-paris" for i in (1, 2, 3)),
        *(f"labs/small/h{i}.trace.udp-classic" for i in (1, 2)),
        "labs/brite168/h0.icmp-paris",
        "labs/brite168/h1.udp-paris",
        "traceroute/pantrace/trace",
    ],
)
def test_warts_and_json_of_one_real_measurement_are_equal(name):
    endings = {
        "labs/small": (".warts", ".json"),
        "labs/brite168": (".warts.gz", ".json.gz"),
        "traceroute/pantrace": (".warts", ".sc_warts2json.json.gz"),
    }[name.rsplit("/", 1)[0]]
    columns = []
    for ending in endings:
        report = ReadReport(name)
        batches = list(open_reader(real_data(name + ending), report)[1])
        assert not report.rejected
        columns.append(
            {
                column: np.concatenate([getattr(batch, column) for batch in batches])
                for column in ("src_addr", "dst_addr", "start_s", "ttl", "addr", "rtt_ms", "kind")
            }
            | {"n": np.concatenate([np.diff(batch.reply_ptr) for batch in batches])}
        )
        assert math.isclose(report.newest_s, columns[-1]["start_s"].max())
    for column, values in columns[0].items():
        np.testing.assert_array_equal(values, columns[1][column], column)


def test_archived_measurements_read_and_broken_ones_lose_their_broken_lines():
    folder = real_data("traceroute/mlab_scamper2")
    n_replies = {}
    for path in sorted(folder.iterdir()):
        report = ReadReport(str(path))
        with contextlib.suppress(FormatError):  # where its only trace is broken
            for _ in open_reader(path, report)[1]:
                pass
        n_replies[path.name] = report.n_hops
        if path.name.startswith("valid"):
            assert report.n_records == 1
            assert not report.rejected
    assert n_replies["valid-complex"] == 12
    assert n_replies["valid-simple-json"] == 4
    assert n_replies["valid-star"] == 0
    report = ReadReport("invalid")
    with pytest.raises(FormatError, match="first fault: line 3: not JSON"):
        list(open_reader(folder / "invalid-trace", report)[1])
    assert dict(report.rejected) == {"not JSON": 1}
    assert report.samples[0].place == "line 3"


def test_a_file_of_atlas_results_is_not_taken_for_scamper():
    assert not scamper_json.sniff(b'{"fw":5020,"type":"traceroute","result":[]}')
    with pytest.raises(FormatError, match="not scamper JSON"):
        list(read_bytes(b'{"fw":5020,"type":"traceroute","result":[]}'))
