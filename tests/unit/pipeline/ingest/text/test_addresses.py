"""Addresses in text: scanned as the standard library reads them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest.text.addresses import scan_addr
from pipeline.model.addresses import parse_addr
from tests.soak import examples


@settings(max_examples=examples(100), deadline=None)
@given(text=st.text("0123456789abcdefg:.%", max_size=20) | st.ip_addresses().map(str))
def test_addresses_are_scanned_as_the_standard_library_reads_them(text):
    out = np.zeros((1, 2), np.uint64)
    data = np.frombuffer(text.encode() + b'"', np.uint8)
    if scan_addr(data, 0, len(text), out, 0):
        assert tuple(out[0].tolist()) == parse_addr(text)


@settings(max_examples=examples(100), deadline=None)
@given(address=st.ip_addresses())
def test_every_usual_address_is_scanned_without_python(address):
    out = np.zeros((1, 2), np.uint64)
    text = str(address)
    data = np.frombuffer(text.encode() + b'"', np.uint8)
    assert scan_addr(data, 0, len(text), out, 0) or ("." in text[1:] and ":" in text)
