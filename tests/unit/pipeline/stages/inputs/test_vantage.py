"""``--vantage``: which file has which source, and what is counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.errors import UsageError
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.reading import NO_SOURCE
from pipeline.stages.inputs.resumed import folder_name
from pipeline.stages.inputs.traces import read_all_traces
from pipeline.stages.inputs.vantage import GIVEN, sources_of, vantage_points
from tests.contracts.trace_reader import SAMPLES

A, B = parse_addr("192.0.2.1"), parse_addr("2001:db8::1")
FILES = [Path("in/ams-1.txt"), Path("in/nyc.txt"), Path("other/nyc.txt")]


def test_the_pattern_of_a_name_comes_before_the_address_for_all():
    points = vantage_points(["192.0.2.1", "nyc*=2001:db8::1"])
    assert sources_of(points, FILES) == [A, B, B]
    assert sources_of(vantage_points(["other/*=192.0.2.1"]), FILES) == [None, None, A]
    assert sources_of([], FILES) == [None, None, None]


@pytest.mark.parametrize("text", ["ams", "a=b", "=", "192.0.2", "x=192.0.2.1=y"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UsageError, match="--vantage takes ADDRESS, or PATTERN=ADDRESS"):
        vantage_points([text])


def test_a_pattern_without_a_file_is_refused():
    with pytest.raises(UsageError, match=r"--vantage lon\*=...: no file of traces"):
        sources_of(vantage_points(["lon*=192.0.2.1"]), FILES)


def test_traces_without_a_source_get_it_and_others_keep_theirs(tmp_path):
    path = tmp_path / "a.txt"
    shutil.copy(SAMPLES / "traceroute_text" / "sample.txt", path)
    files, quiet = [(path, "traceroute_text")], lambda *counts: None
    for vantage, n_given in ((None, 0), (A, 2)):
        scratch = tmp_path / str(n_given)
        scratch.mkdir()
        (read,) = read_all_traces(files, scratch, 1, quiet, [vantage])
        assert read.report.notes[GIVEN] == n_given
        assert read.report.notes[NO_SOURCE] == 2 - n_given
        assert read.report.n_records == 3


def test_another_source_is_another_reading(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("x")
    assert len({folder_name(path, "mtr", vantage) for vantage in (None, A, B)}) == 3
