"""Words of the command line -> values of options."""

from __future__ import annotations

import pytest

from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.options import options_of
from pipeline.terminal.arguments import read_words

PLACES = ("--store", "s", "--out", "o")


def values_of(*words):
    given = read_words(options_of(AnalyzeConfig), [*PLACES, *words], "hopscope analyze", "")
    return given.values


def test_lists_that_are_given_several_times_are_one_list():
    assert values_of("--asn", "1,2", "--asn", "3")["asns"] == (1, 2, 3)
    assert values_of("--metrics", "hops", "--metrics", "radius")["metrics"] == ("hops", "radius")
    assert values_of()["asns"] == ()
    assert values_of()["metrics"] == ("hops",)


def test_a_wrong_one_of_several_is_refused():
    with pytest.raises(UsageError, match="--asn takes AS numbers like 3356,1299, not 'x,3'"):
        values_of("--asn", "x", "--asn", "3")


@pytest.mark.parametrize("text", ["1,2", "1, 2", " 1 ,2"])
def test_a_variable_holds_a_whole_list(monkeypatch, text):
    monkeypatch.setenv("HOPSCOPE_ASNS", text)
    assert values_of()["asns"] == (1, 2)
    assert values_of("--asn", "3")["asns"] == (3,)
