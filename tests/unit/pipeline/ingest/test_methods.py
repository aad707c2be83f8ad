"""Methods that change the flow from probe to probe are counted, by what each format says."""

from __future__ import annotations

import io

import pytest

from pipeline.ingest import FORMATS
from pipeline.model.measured.reading import CLASSIC, ReadReport
from tests.unit.pipeline.ingest.warts.warts_bytes import address, params, record

ATLAS = '{{"type":"traceroute","dst_addr":"192.0.2.8","result":[]{}}}\n'
SCAMPER = '{{"type":"trace","dst":"192.0.2.8","hops":[]{}}}\n'
UNUSUAL = ',"note":"\\u0061"'  # for the slower parser
DESTINATION, METHOD = 27, 11  # flags of warts


def count(format_name: str, data: bytes) -> tuple[int, int]:
    """Traces, and those of a classic method by the batches; the report says the same."""
    report = ReadReport("a")
    batches = list(FORMATS[format_name].load().read(io.BytesIO(data), report))
    n_classic = sum(batch.n_classic for batch in batches)
    assert report.notes.get(CLASSIC, 0) == n_classic
    return sum(batch.n_traces for batch in batches), n_classic


@pytest.mark.parametrize("more", ["", UNUSUAL])
@pytest.mark.parametrize(
    ("method", "is_classic"),
    [
        ('"udp"', True),
        ('"icmp-echo"', True),
        ('"udp-paris"', False),
        ('"icmp-echo-paris"', False),
        ('"icmp-paris"', False),
        ('"tcp"', False),
        ('"tcp-ack"', False),
        ('["udp"]', False),
        ("2", False),
        ("null", False),
    ],
)
def test_scamper_names_the_method(method, is_classic, more):
    text = SCAMPER.format(f',"method":{method}{more}') + SCAMPER.format(more)
    assert count("scamper_json", text.encode()) == (2, is_classic)


@pytest.mark.parametrize("more", ["", UNUSUAL])
@pytest.mark.parametrize(
    ("paris_id", "is_classic"),
    [("0", True), ("1", False), ("16", False), ('"0"', False), ("false", False), ("00.0", None)],
)
def test_atlas_varies_the_flow_with_paris_id_0(paris_id, is_classic, more):
    text = ATLAS.format(f',"paris_id":{paris_id}{more}') + ATLAS.format(more)
    if is_classic is not None:
        assert count("atlas", text.encode()) == (2, is_classic)
    else:  # no number: the record is broken
        assert count("atlas", text.encode()) == (1, 0)


@pytest.mark.parametrize(("number", "is_classic"), [(n, n in (1, 2)) for n in range(7)])
def test_warts_numbers_the_method(number, is_classic):
    end = address("192.0.2.8")
    said = record(6, params({METHOD: bytes([number]), DESTINATION: end}) + bytes(4))
    silent = record(6, params({DESTINATION: end}) + bytes(4))
    assert count("warts", said + silent) == (2, is_classic)


def test_the_text_of_traceroute_is_of_its_default_method():
    text = "traceroute to a (192.0.2.8), 30 hops max, 60 byte packets\n 1  192.0.2.1  1 ms\n"
    assert count("traceroute_text", text.encode() * 3) == (3, 3)


def test_a_record_that_is_refused_is_not_counted():
    text = SCAMPER.format(',"method":"udp","start":{"sec":1') + SCAMPER.format(',"method":"udp"')
    assert count("scamper_json", text.encode()) == (1, 1)
