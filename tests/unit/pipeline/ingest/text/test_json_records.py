"""What all readers of JSON records share: layouts and limits."""

from __future__ import annotations

import io
import json

import pytest

from pipeline.ingest import FORMATS
from pipeline.model.measured.reading import ReadReport
from tests.contracts.trace_reader import Trace, unpack


def read_text(format: str, text: str) -> tuple[list[Trace], ReadReport]:
    report = ReadReport("text", format)
    batches = FORMATS[format].load().read(io.BytesIO(text.encode()), report)
    return [trace for batch in batches for trace in unpack(batch)], report


@pytest.mark.parametrize("format", ["dublin", "globalping", "jc"])
def test_records_in_any_layout_are_the_same(format):
    texts = {
        "dublin": '{"flows": {"1": [{"sent": {"ip": {"dst": "192.0.2.1", "ttl": 1}}}]}}',
        "globalping": '{"type": "mtr", "target": "::1", "results": [{"probe": {}, "result": {}}]}',
        "jc": '{"destination_ip": "192.0.2.1", "hops": []}',
    }
    record = json.loads(texts[format])
    alone, _ = read_text(format, texts[format])
    assert len(alone) == 1
    for text in (
        json.dumps(record, indent=4),
        json.dumps([record]),
        "\n".join([json.dumps(record)] * 3),
        json.dumps([record] * 2, indent=1),
    ):
        traces, report = read_text(format, text)
        assert set(map(str, traces)) == set(map(str, alone))
        assert len(traces) == text.count("192.0.2.1") + text.count("::1")
        assert not report.rejected


def test_a_record_of_deep_values_is_refused_alone():
    deep = '{"destination_ip": ' + "[" * 300 + "]" * 300 + "}"
    traces, report = read_text("jc", f'{deep}\n{{"destination_ip": "::1", "hops": []}}')
    assert len(traces) == 1
    assert dict(report.rejected) == {"nested too deep": 1}
