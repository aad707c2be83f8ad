"""JSON readers of traces: a value that is not read has no effect, whatever path it takes."""

from __future__ import annotations

import io

import orjson
import pytest

from pipeline.errors import FormatError
from pipeline.ingest import FORMATS
from pipeline.model.measured.reading import ReadReport
from tests.contracts.trace_reader import Trace, unpack

RECORDS = {
    "scamper_json": '{"type":"trace","src":"192.0.2.1","dst":"192.0.2.9","hops":'
    '[{"addr":"203.0.113.1","probe_ttl":1,"rtt":0.5,"z":@},'
    '{"addr":"203.0.113.2","probe_ttl":2,"rtt":1.5}],"z":@}',
    "atlas": '{"type":"traceroute","src_addr":"192.0.2.1","dst_addr":"192.0.2.9","timestamp":5,'
    '"result":[{"hop":1,"result":[{"from":"203.0.113.1","rtt":0.5,"z":@}],"z":@},'
    '{"hop":2,"result":[{"from":"203.0.113.2","rtt":1.5}]}],"z":@}',
}
VALID = [
    "1e308",
    "1e309",
    "-1E309",
    "1e-400",
    "0.1e400",
    "9" * 20,
    "9" * 310,
    "1" + "0" * 5000,
    "-0",
    r'"\ud800"',
    '{"a":1,"a":1e309}',
    '{"":0,"":0}',
    "[" * 100 + "]" * 100,
    "[" * 100 + "1e309" + "]" * 100,
]
INVALID = ["NaN", "Infinity", "-Infinity", "1e", "01", "0x1", "+1", ".5", "1.", "None", "[,]"]
# Each takes a record to another parser, or to the same one in another shape of file.
PATHS = {
    "plain": "{}\n",
    "array": "[{},\n{}]\n",
    "one line": "[{},{}]",
}
# Text inside a record that takes it from the compiled scanner to the full parser.
ODD = {"": "", "escape": r'"q":"\n",', "other script": '"q":"\u00e9",', "exponent": '"q":1e2,'}


def read(format: str, text: str) -> tuple[list[Trace], ReadReport]:
    report = ReadReport("bytes", format)
    traces: list[Trace] = []
    try:
        for batch in FORMATS[format].load().read(io.BytesIO(text.encode()), report):
            traces += unpack(batch)
    except FormatError:  # nothing else is in the file
        pass
    return traces, report


def record_of(format: str, value: str, odd: str = "") -> str:
    text = RECORDS[format].replace("@", value)
    return text[0] + ODD[odd] + text[1:]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("format", RECORDS)
def test_a_valid_value_that_nobody_reads_costs_no_record(format, odd, path):
    good, _ = read(format, record_of(format, "0") + "\n")
    assert len(good) == 1
    for value in VALID:
        shape = PATHS[path]
        traces, report = read(format, shape.replace("{}", record_of(format, value, odd)))
        assert not report.rejected, value[:20]
        assert traces == good * shape.count("{}"), value[:20]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("format", RECORDS)
def test_an_invalid_value_costs_its_record_and_no_other(format, odd):
    good = record_of(format, "0") + "\n"
    for value in INVALID:
        traces, report = read(format, good + record_of(format, value, odd) + "\n" + good)
        assert len(traces) == 2, value
        assert sum(report.rejected.values()) == 1, value


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("format", RECORDS)
@pytest.mark.parametrize("depth", [200, 240, 270, 1200])
def test_nesting_has_one_bound_on_every_path(format, odd, depth):
    """Beside a number that the fast parser refuses, and without."""
    good = record_of(format, "0") + "\n"
    for inner in ("", "1e309"):
        deep = "[" * depth + inner + "]" * depth
        traces, report = read(format, good + record_of(format, deep, odd) + "\n" + good)
        is_read = depth < 250
        assert len(traces) == 2 + is_read
        assert dict(report.rejected) == ({} if is_read else {"nested too deep": 1})


@pytest.mark.parametrize("odd", ODD)
def test_of_a_key_given_twice_the_last_value_counts_on_every_path(odd):
    for format, twice in (
        ("scamper_json", '"dst":"198.51.100.1","dst":"192.0.2.9"'),
        ("atlas", '"dst_addr":"198.51.100.1","dst_addr":"192.0.2.9"'),
    ):
        name = twice.partition(":")[0]
        text = record_of(format, "0", odd).replace(f'{name}:"192.0.2.9"', twice)
        traces, report = read(format, text + "\n")
        assert [trace.dst for trace in traces] == ["192.0.2.9"]
        assert not report.rejected


def test_the_records_are_json():
    for format in RECORDS:
        orjson.loads(record_of(format, "0"))
