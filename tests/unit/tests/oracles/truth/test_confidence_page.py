"""Tables of confidence by hand-made counts: means by number, and what counts as a difference."""

from tests.oracles.truth.confidence_page import by_class, by_kind, is_beyond


def row(family, name, n, stated, right, error=0.0, what="ingress"):
    return {
        "family": family,
        "what": what,
        "class": name,
        "n": n,
        "stated": stated,
        "right": right,
        "error": error,
    }


def test_a_share_differs_beyond_five_points_and_two_errors():
    assert not is_beyond(row("a", "fair", 9, 0.95, 0.90))
    assert is_beyond(row("a", "fair", 9, 0.95, 0.89))
    assert not is_beyond(row("a", "fair", 9, 0.95, 0.89, 0.006))
    assert is_beyond(row("a", "fair", 9, 0.80, 0.90, 0.02))


def test_classes_are_means_by_number_and_kinds_are_counted():
    names = ("strong", "fair", "weak", "doubtful")
    rows = [row("a", name, 10, 0.9, 0.9, what=what) for name in names for what in ("address",)]
    rows += [row(kind, name, 10, 0.9, 0.9) for name in names for kind in ("a",)]
    rows += [row("b", "fair", 30, 0.9, 0.5)]
    line = next(line for line in by_class(rows).splitlines() if line.startswith("| fair"))
    assert line == "| fair | 0.900: 0.900 | 0 of 1 | 0.900: 0.600 | 1 of 2 |"


def test_kinds_that_differ_are_bold_and_classes_without_any_are_named_so():
    text = by_kind([row("a", "fair", 1200, 0.9, 0.5, 0.01), row("a", "weak", 3, 0.8, 0.8)])
    assert text.splitlines()[-1] == (
        "| a | none | **0.900: 0.500 ± 0.010 (1,200)** | 0.800: 0.800 ± 0.000 (3) | none |"
    )
