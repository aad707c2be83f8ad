"""What the doctor says of leftovers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.stages.doctor import _what_is_left


@pytest.mark.parametrize(
    ("path", "is_replaced"),
    [
        ("store/versions/night-0123456789ab", True),
        ("store/versions/.writing-0123456789ab", False),
        ("tmp/hopscope-0/workers-0123456789ab", False),
        ("out/.writing-0123456789ab", False),
    ],
)
def test_only_versions_of_snapshots_may_have_been_replaced(path, is_replaced):
    assert ("replaced" in _what_is_left(Path(path))) == is_replaced
