"""Two states of the project measured in turn: this one compared with itself."""

from __future__ import annotations

import json

import pytest

from benchmarks import bench_two_states
from benchmarks.bench_two_states import compare, measured
from benchmarks.lib.record import REPOSITORY


@pytest.mark.parametrize(
    ("before", "after", "ratio", "is_within"),
    [
        ([10.0, 10.0, 10.0], [10.2, 10.2, 10.2], 1.02, True),
        ([10.0, 10.0, 10.0], [10.4, 10.4, 10.4], 1.04, False),
        ([10.0, 10.0, 10.0], [9.0, 9.0, 9.0], 0.9, False),  # quicker is a difference too
        ([9.5, 10.0, 10.5], [10.8, 10.9, 11.0], 1.09, True),  # less than the rounds differ
    ],
)
def test_medians_within_noise(before, after, ratio, is_within):
    row = compare(before, after)
    assert (row["ratio"], row["is_within"]) == (ratio, is_within)


def test_each_round_measures_both_states(tmp_path, monkeypatch, capsys):
    arguments = [str(REPOSITORY), "--figures", "sweep-10k", "--rounds", "1", "--device", "cpu"]
    arguments += ["--clock", "processor"]
    monkeypatch.setattr("sys.argv", ["bench_two_states.py", *arguments, "--folder", str(tmp_path)])
    calls = []

    def once_compiled(state, *given):
        """Each state's first process only compiles: what it took is not used."""
        calls.append(state)
        return measured(state, *given) if len(calls) > 2 else -1e9

    monkeypatch.setattr(bench_two_states, "measured", once_compiled)
    bench_two_states.main()
    assert len(calls) == 4
    result = json.loads((tmp_path / "two_states.json").read_text())
    (row,) = result["rows"]
    assert row["figure"] == "sweep-10k"
    assert min(row["before_ms"], row["after_ms"]) > 0
    assert result["clock"] == "processor"
    assert result["states"]["before"] == result["states"]["after"]


def test_an_unknown_figure_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench_two_states.py", ".", "--figures", "sweep-11k"])
    with pytest.raises(SystemExit):
        bench_two_states.main()
    assert "no such figures: sweep-11k" in capsys.readouterr().err
