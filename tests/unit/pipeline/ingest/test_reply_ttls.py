"""The TTL that was left of each reply, from the formats that give it."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
import pytest

from pipeline.ingest import FORMATS
from pipeline.model.measured.reading import ReadReport
from tests.unit.pipeline.ingest.warts.warts_bytes import trace


def ttls(format_name: str, data: bytes) -> list[int]:
    """Of all replies; 0 where none is known."""
    report = ReadReport("a")
    found: list[int] = []
    for batch in FORMATS[format_name].load().read(io.BytesIO(data), report):
        known = batch.reply_ttl
        found += ([0] * batch.n_replies) if known is None else known.tolist()
    assert not report.rejected
    return found


@pytest.mark.parametrize("more", ["", ',"note":"\\u0061"'])  # for the slower parser
@pytest.mark.parametrize(
    ("said", "known"),
    [("251", 251), ("1", 1), ("0", 0), ("256", 0), ("-3", 0), ("true", 0), ('"64"', 0), ("6.5", 0)],
)
def test_json_of_scamper_and_atlas(said, known, more):
    hop = f'{{"addr":"192.0.2.2","probe_ttl":%d,"rtt":1,"icmp_type":11,"reply_ttl":{said}}}'
    last = '{"addr":"192.0.2.4","probe_ttl":1,"rtt":1,"icmp_type":11,"reply_ttl":200}'
    text = f'{{"type":"trace","dst":"192.0.2.8","hops":[{hop % 2},{last}]{more}}}\n'
    without = text.replace("reply_ttl", "other")
    assert ttls("scamper_json", (text + without).encode()) == [200, known, 0, 0]  # by probe TTL
    reply = f'{{"from":"192.0.2.2","rtt":1,"ttl":{said}}}'
    hops = f'{{"hop":1,"result":[{reply},{{"from":"192.0.2.2","rtt":2}}]}}'
    text = f'{{"type":"traceroute","dst_addr":"192.0.2.8","result":[{hops}]{more}}}\n'
    assert ttls("atlas", text.encode()) == [known, 0]


def test_what_one_record_says_is_not_taken_for_the_next_one():
    one = (
        '{"type":"trace","dst":"192.0.2.8","hops":[{"addr":"192.0.2.2","probe_ttl":1,"reply_ttl":9'
    )
    cut = one + '},{"addr":1}]}\n'  # refused after its first hop was read
    plain = '{"type":"trace","dst":"192.0.2.8","hops":[{"addr":"192.0.2.2","probe_ttl":1}]}\n'
    report = ReadReport("a")
    (batch,) = FORMATS["scamper_json"].load().read(io.BytesIO((cut + plain).encode()), report)
    assert (batch.n_replies, batch.reply_ttl) == (1, None)
    assert sum(report.rejected.values()) == 1


def test_warts():
    replies = [
        {"ttl": 2, "addr": "192.0.2.2", "rtt_us": 9, "icmp": (11, 0), "more": {3: b"\xf0"}},
        {"ttl": 1, "addr": "192.0.2.1", "rtt_us": 9, "icmp": (11, 0)},
    ]
    data = trace("192.0.2.9", "192.0.2.8", (1, 0), 3, replies)
    assert ttls("warts", data) == [0x40, 0xF0]


def test_dublin_and_tables():
    probe = {"sent": {"ip": {"dst": "192.0.2.9", "ttl": 2}}}
    probe["received"] = {"ip": {"src": "192.0.2.2", "ttl": 61}, "icmp": {"type": 11, "code": 0}}
    flows = {"flows": {"1": [probe | {"rtt_usec": 5, "flowhash": 1}]}}
    assert ttls("dublin", json.dumps(flows).encode()) == [61]
    text = "vantage,destination,ttl,address,reply_ttl\n192.0.2.1,192.0.2.9,1,192.0.2.2,250\n"
    more = "192.0.2.1,192.0.2.9,2,192.0.2.3,\n192.0.2.1,192.0.2.9,3,192.0.2.4,999\n"
    assert ttls("reply_rows", (text + more).encode()) == [250, 0, 0]
    names = "probe_dst_addr,probe_ttl,reply_src_addr,reply_ttl\n"
    assert ttls("reply_rows", f"{names}::9,1,::2,249\n".encode()) == [249]


def test_the_sample_of_a_laboratory_has_them():
    """Of routers a few hops off, which start with 255 or 64."""
    from tests.real_data import REPOSITORY

    path = REPOSITORY / "data/samples/lab/h0.udp-paris.json.gz"
    found = np.array(ttls("scamper_json", gzip.decompress(path.read_bytes())))
    assert len(found) > 2000
    assert ((found > 200) | ((found > 30) & (found <= 64))).all()
