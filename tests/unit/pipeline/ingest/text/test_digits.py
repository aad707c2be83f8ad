"""Numbers in text: scanned as Python reads them, or left to Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.text.digits import PARSED, UNSURE, scan_float, scan_int


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_scanned_exactly_or_left_to_python(value):
    for text in (repr(value), f"{value:.2f}", f"{value:.15e}", f"{value:.17g}"):
        data = np.frombuffer(text.encode(), np.uint8)
        scanned, status = scan_float(data, 0, len(data))
        assert status in (PARSED, UNSURE)
        if status == PARSED:
            assert scanned == float(text)


@pytest.mark.parametrize(
    "text", ["0.013753160408759867", "549.6271463455931", "1e22", "-0.5", "7."]
)
def test_usual_floats_are_scanned_without_python(text):
    data = np.frombuffer(text.encode(), np.uint8)
    assert scan_float(data, 0, len(data)) == (float(text), PARSED)


@given(st.text("0123456789+-.eE_ x", max_size=22))
def test_no_text_is_taken_for_a_number_that_python_does_not_read_alike(text):
    data = np.frombuffer(text.encode() or b"x", np.uint8)
    for scan, parse in ((scan_float, float), (scan_int, int)):
        value, status = scan(data, 0, len(text))
        if status == PARSED:
            assert value == parse(text)
