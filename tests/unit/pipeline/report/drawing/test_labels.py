"""As many labels as there is room for, more of them in a wider drawing."""

from __future__ import annotations

import pytest

from pipeline.report.drawing.labels import classes, end_label, label


def labels(n, text):
    return [label((i + 0.5) / n, text) for i in range(n)]


@pytest.mark.parametrize(
    ("n", "text", "shown"),
    [
        (10, "999", {"": 10}),
        (14, "&lt;.1", {"": 14}),
        (14, "1500", {"": 7, " class=o": 7}),
        (26, "25", {"": 13, " class=o": 13}),
        (40, "999", {"": 10, " class=o": 10, " class=w": 20}),
    ],
)
def test_what_has_no_room_in_a_narrow_drawing_is_hidden_there(n, text, shown):
    found = classes(labels(n, text))
    assert {kind: found.count(kind) for kind in found} == shown
    assert found[0] == ""


def test_labels_that_never_have_room_are_left_out():
    found = classes(labels(40, "123456"))
    assert found[1] is None
    assert found.count(None) == 20


def test_labels_give_way_to_those_that_are_always_shown():
    always = [end_label(0.05, "somewhere else", 0.1), end_label(0.95, "9", 0.1)]
    assert always[0][::2] == (0, 0)  # from the edge on
    assert always[1][::2] == (0.95, 0.5)
    found = classes(labels(10, "1"), always)
    assert found[0] is found[9] is None
    assert found[9] is None
    assert found[2:9].count("") > 3
