"""Rules for host names: Hoiho's lines, what is left out, hostile patterns, no error of bytes."""

from __future__ import annotations

import json
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest.tables.name_rules import read_name_rules
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.named_owners import NameRules
from tests.soak import examples

ASN = {"ppv": "0.950", "asn": 12, "tp": 57, "fp": 3, "ip": 0, "fnu": 1, "class": "good"}
AS_IN_NAME = r"^as(\d+)-.+\.example\.net$"


def line(domain="example.net", patterns=(AS_IN_NAME,), score=ASN, **more) -> str:
    return json.dumps({"domain": domain, "re": list(patterns), "score": score, **more})


def read(*lines: str) -> tuple[NameRules, ReadReport]:
    report = ReadReport("rules", "name rules")
    data = "".join(f"{each}\n" for each in lines).encode("utf-8", "surrogatepass")
    return read_name_rules([[data]], [report]), report


def test_a_rule_reads_numbers_in_names_of_its_domain_alone():
    rules, report = read(line())
    assert report.n_records == 1
    said, nats = rules.read("AS64500-fra1.Example.NET")
    assert said == "64500"
    assert nats == pytest.approx(log(58 / 4))
    assert rules.read("as64500-fra1.example.org") is None
    assert rules.read("fra1.example.net") is None
    assert rules.read("as64500-fra1.notexample.net") is None


def test_the_longest_domain_with_a_rule_that_fits_counts_and_the_first_pattern_of_it():
    rules, _ = read(
        line(patterns=[r"^as(\d+)", r"-(\d+)\.example\.net$"]),
        line("fra.example.net", [r"^x(\d+)"]),
    )
    assert rules.read("x7-as8.fra.example.net")[0] == "7"
    assert rules.read("as8-9.fra.example.net")[0] == "8"
    assert rules.read("core-9.example.net")[0] == "9"


def test_rules_of_other_things_and_unsure_ones_are_left_out_and_counted():
    rules, report = read(
        line(plan=[["iata"]], geohints=[]),
        line(score={"rt": 3, "tp": 9, "fp": 0, "class": "good"}),
        line(score={**ASN, "tp": 4, "fp": 3, "ip": 1, "class": "promising"}),
    )
    assert not rules.of_domain
    assert report.skipped == {
        "rules of places": 1,
        "rules of routers' names": 1,
        "rules that are wrong as often as right": 1,
    }
    assert not report.error


def test_a_poor_rule_is_right_once_for_each_as_that_it_said():
    rules, _ = read(line(score={**ASN, "asn": 1, "fp": 0, "class": "poor"}))
    assert rules.of_domain["example.net"].right == 1


def test_of_two_rules_for_a_domain_the_surer_one_counts():
    sure, unsure = line(), line(patterns=[r"(\d+)"], score={**ASN, "fp": 40})
    for lines in ((sure, unsure), (unsure, sure)):
        rules, report = read(*lines)
        assert rules.of_domain["example.net"].wrong == 3
        assert report.notes == {"domains with several rules": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a JSON object with entries"),
        (line(domain="."), "no domain"),
        (line(patterns=[]), "no patterns"),
        (line(score=None), "no score"),
        (line(score={**ASN, "tp": -1}), "tp of the score is not a count"),
        (line(score={**ASN, "fp": 1.5}), "fp of the score is not a count"),
        (line(patterns=["a(?=b)(c)"]), "not a pattern of RE2: invalid perl operator"),
        (line(patterns=[r"(a)\1"]), "not a pattern of RE2: invalid escape sequence"),
        (
            line(patterns=["((a{1000}){1000}){1000}"]),
            "not a pattern of RE2: invalid repetition size",
        ),
        (line(patterns=["as[0-9]+"]), "a pattern without a group"),
        (line(patterns=["(a)" * 2000]), "a pattern of more than 4096 characters"),
        (line(patterns=["(a)"] * 101), "more than 100 patterns"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(text, reason):
    rules, report = read(line("other.net"), text)
    assert list(report.rejected) == [reason]
    assert rules.of_domain.keys() == {"other.net"}


def test_a_pattern_that_others_take_ages_for_is_searched_in_linear_time():
    rules, report = read(line(patterns=["^(([a-z0-9]+)+)+!$", r"^a+(\d+)"]))
    assert report.n_records == 1
    assert rules.read("a" * 200 + "7.example.net")[0] == "7"


def test_a_file_of_something_else_is_refused():
    _, report = read("9.9.9.1 a.example.net")
    assert report.status == "rejected"
    assert read("# nothing")[1].status == "rejected"


@settings(max_examples=examples(60))
@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_error(data):
    report = ReadReport("rules", "name rules")
    read_name_rules([[data, b"\n", line().encode()]], [report])
