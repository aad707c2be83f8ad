"""Shares that are right in several networks, counted by hand."""

import pytest

from pipeline.judge.rated import Rated
from tests.oracles.truth.calibration import calibrate, rows_of
from tests.oracles.truth.command import main
from tests.real_data import REPOSITORY


def test_the_standard_error_is_that_of_the_spread_between_networks():
    networks = [[Rated("ingress", 0.5, 10, 10)], [Rated("ingress", 0.5, 30, 20)], []]
    (found,) = calibrate(networks)
    assert (found.pooled.n, found.pooled.right) == (40, 30)
    # 10 - 7.5, 20 - 22.5 and 0 more than three in four: square sum 12.5, times 3 / 2, of 40.
    assert found.error == pytest.approx((12.5 * 3 / 2) ** 0.5 / 40)
    assert found.measured == "0.750 ± 0.108"


def test_one_network_shows_no_spread():
    (found,) = calibrate([[Rated("ingress", 0.5, 10, 7)]])
    assert found.error is None
    assert rows_of([found])[0][2:] == ["10", "0.500", "0.700", "+0.200"]


def test_classes_are_apart_and_in_order():
    networks = [
        [Rated("candidate", 0.1, 5, 1), Rated("ingress", 0.5, 2, 1), Rated("ingress", 0.94, 1, 1)],
        [Rated("ingress", 0.6, 6, 3)],  # of the same class in another kind of run
    ]
    pooled = [one.pooled for one in calibrate(networks)]
    found = [(one.what, one.class_name, one.n, one.right) for one in pooled]
    assert found == [
        ("ingress", "fair", 1, 1),
        ("ingress", "doubtful", 8, 4),
        ("candidate", "few", 5, 1),
    ]
    assert [one.stated for one in pooled] == pytest.approx([0.94, 4.6 / 8, 0.1])


def test_the_candidates_of_the_sample_are_right_as_often_as_the_page_says(capsys):
    assert main([str(REPOSITORY / "data" / "samples" / "lab")]) == 0
    rows = {}
    for line in capsys.readouterr().out.splitlines():
        if line.startswith("| candidate "):
            _, _, name, n, stated, measured, *_ = (cell.strip() for cell in line.split("|"))
            rows[name] = (n, stated, measured)
    few, alone = rows["few"], rows["few, nothing merged"]
    said = (
        f'{few[2]} of the {few[0]} candidates of class "few" are right and {alone[2]} of the '
        f'{alone[0]} of "few, nothing merged", where {few[1]} and {alone[1]} are stated.'
    )
    assert said in (REPOSITORY / "docs" / "accuracy.md").read_text(encoding="utf-8")
