"""What a nightly run says at its end."""

from __future__ import annotations

from types import SimpleNamespace

import flows.nightly as nightly_module
from flows.nightly import NightlySummary


def test_a_comparison_that_the_run_made_again_is_not_said_to_be_left_out():
    line = "the comparison with old is not of this version"
    ingested = SimpleNamespace(warnings=["one"])
    analyzed = SimpleNamespace(warnings=["two", line], report=SimpleNamespace(left_out=line))
    compared = SimpleNamespace(warnings=["three"])
    assert NightlySummary(ingested, analyzed, None, []).warnings == ["one", "two", line]
    assert NightlySummary(ingested, analyzed, compared, []).warnings == ["one", "two", "three"]


def test_what_both_stages_say_is_said_once():
    ingested = SimpleNamespace(warnings=["share", "one"])
    analyzed = SimpleNamespace(warnings=["share", "two"], report=SimpleNamespace(left_out=""))
    assert NightlySummary(ingested, analyzed, None, []).warnings == ["share", "one", "two"]


def test_a_nightly_run_warns_of_old_traces_unless_told_how_old_they_may_be(monkeypatch):
    monkeypatch.delenv("HOPSCOPE_MAX_DATA_AGE", raising=False)
    given = {"inputs": ["traces"], "store": "store", "out": "out"}
    assert nightly_module._configs(given)[1].max_data_age == nightly_module.MAX_DATA_AGE_H == 48
    own = given | {"options": {"max_data_age": 7}}
    assert nightly_module._configs(own)[1].max_data_age == 7
    monkeypatch.setenv("HOPSCOPE_MAX_DATA_AGE", "9")
    assert nightly_module._configs(given)[1].max_data_age == 9
