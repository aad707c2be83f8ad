"""AS numbers as users write them."""

from __future__ import annotations

import pytest

from pipeline.model.choices import MAX_ASN, as_number_in


@pytest.mark.parametrize(
    ("text", "asn"),
    [
        ("3356", 3356),
        ("AS3356", 3356),
        (" as 3356 ", 3356),
        ("AS0", 0),
        ("0" * 20 + "7", 7),
        (str(MAX_ASN), MAX_ASN),
    ],
)
def test_an_as_number(text, asn):
    assert as_number_in(text) == asn


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AS",
        "ASAS1",
        "-1",
        "1_0",
        "1.10",
        "3 356",
        str(MAX_ASN + 1),
        "9" * 5000,
        "\u0663\u0663\u0665\u0666",  # digits of another script
        "A\u017f1",  # a long s, whose capital is S
    ],
)
def test_what_is_not_an_as_number(text):
    assert as_number_in(text) is None
