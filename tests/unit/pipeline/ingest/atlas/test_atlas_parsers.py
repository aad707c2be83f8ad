"""RIPE Atlas: the compiled scanner and the parser in Python agree on every record."""

from __future__ import annotations

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest.atlas import scan as atlas_scan
from pipeline.ingest.atlas.record import BrokenError, OtherTypeError, parse_result
from pipeline.ingest.columns import TraceColumns
from pipeline.json_text import parse_json
from tests.contracts.trace_reader import mutations
from tests.soak import examples
from tests.unit.pipeline.ingest.atlas.test_atlas import LINES


def scan_one(data: bytes) -> tuple[int, int, TraceColumns, dict[str, int]]:
    """Status, end and what the scanner made of the first record of ``data``."""
    text = np.frombuffer(data + b"\n", np.uint8)
    columns = TraceColumns(8, 200)
    scans = np.zeros(2, atlas_scan.SCAN)
    _, stop, status = atlas_scan.scan_records(text, 0, len(text), scans, *columns.arrays)
    return status, stop, columns, {name: int(scans[0][name]) for name in atlas_scan.NOTES}


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-300, 300)
    | st.floats(-10, 1e10)
    | st.sampled_from(["traceroute", "10.0.0.1", "2001:db8::1", "1.2.3.04", "::1.2.3.4", "", "*"])
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=3,
)
REPLY = st.dictionaries(
    st.sampled_from(
        ["from", "from", "rtt", "x", "err", "late", "dup", "edst", "error", "icmpext", "flags"]
    ),
    VALUES,
    max_size=4,
)
PLAIN = st.fixed_dictionaries(
    {"from": st.sampled_from(["10.0.0.1", "2001:db8::1", "1:2::3"]), "rtt": st.floats(0, 1e9)},
    optional={"err": VALUES, "icmpext": VALUES},
)
HOP = st.fixed_dictionaries(
    {},
    optional={"hop": st.integers(-1, 257) | VALUES, "result": st.lists(PLAIN | REPLY, max_size=3)},
) | st.dictionaries(st.sampled_from(["hop", "result", "error"]), VALUES, max_size=3)
ADDRESS = st.sampled_from(["192.168.1.9", "100.63.0.1", "20.1.0.1", "fe80::1", "2001:db8::1", "::"])
RECORD = st.fixed_dictionaries(
    {"type": st.just("traceroute") | VALUES, "result": st.lists(HOP, max_size=4) | VALUES},
    optional={
        "dst_addr": st.just("192.0.2.9") | VALUES,
        "src_addr": ADDRESS | VALUES,
        "from": ADDRESS | VALUES,
        "timestamp": st.integers(0, 2**33) | VALUES,
    },
)


def assert_parsers_agree(data: bytes) -> None:
    """What the scanner takes, the Python parser takes alike; what it calls broken is no JSON."""
    status, _, columns, notes = scan_one(data)
    if status == atlas_scan.BROKEN:
        with pytest.raises(orjson.JSONDecodeError):
            parse_json(data)
    if status != atlas_scan.EMPTY or columns.count["n_traces"] == 0:
        return
    # Several records may have been taken; a mutation can make two of one.
    if columns.count["n_traces"] > 1:
        return
    text = data.strip(b" \t\r\n,[]")
    result = parse_result(parse_json(text))
    batch = columns.take()
    assert batch is not None
    assert [tuple(row) for row in batch.addr.tolist()] == [r.addr for r in result.replies]
    assert batch.ttl.tolist() == [r.ttl for r in result.replies]
    assert batch.kind.tolist() == [r.kind for r in result.replies]
    want = np.array([r.rtt_ms for r in result.replies], np.float64)
    assert np.allclose(batch.rtt_ms, want, rtol=1e-6, atol=1e-30, equal_nan=True)
    assert tuple(batch.src_addr[0].tolist()) == result.src
    assert tuple(batch.dst_addr[0].tolist()) == result.dst
    assert batch.start_s[0] == pytest.approx(result.start_s)
    assert notes == result.notes


@settings(max_examples=examples(80), deadline=None)
@given(record=RECORD)
def test_scanner_and_parser_agree_on_any_record(record):
    data = orjson.dumps(record)
    status, stop, *_ = scan_one(data)
    assert status in (atlas_scan.EMPTY, atlas_scan.ODD)
    assert stop >= len(data)
    assert_parsers_agree(data)
    try:
        parse_result(record)
    except (BrokenError, OtherTypeError):
        assert status == atlas_scan.ODD


@settings(max_examples=examples(120), deadline=None)
@given(data=st.sampled_from(LINES[:4]).flatmap(mutations))
def test_scanner_and_parser_agree_on_mutated_records(data):
    if data.lstrip()[:1] == b"{":
        assert_parsers_agree(data)
