"""What ``make generated`` writes is what the sources say."""

from __future__ import annotations

import pytest

from tests import generated
from tests.generated import PARTS, marks, pages_in_parts, whole_pages


def test_whole_pages_are_those_of_the_sources():
    for path, text in whole_pages().items():
        assert path.read_text() == text, f"{path}: make generated"


def test_parts_of_pages_are_those_of_the_tables():
    pages = pages_in_parts()
    assert pages.keys() == PARTS.keys()
    for path, text in pages.items():
        assert path.read_text() == text, f"{path}: make generated"


def test_a_part_that_is_not_of_the_table_is_found_and_replaced(tmp_path, monkeypatch):
    path = tmp_path / "page.md"
    begin, end = marks("words")
    monkeypatch.setattr(generated, "PARTS", {path: {"words": lambda: "right\n"}})
    path.write_text(f"Before\n\n{begin}\n\nwrong\n\n{end}\n\nafter, {begin[:5]}\n")
    made = f"Before\n\n{begin}\n\nright\n\n{end}\n\nafter, {begin[:5]}\n"
    assert pages_in_parts() == {path: made}
    path.write_text(f"The words {begin}wrong{end}.\n")
    assert pages_in_parts() == {path: f"The words {begin}right{end}.\n"}
    path.write_text("Nothing\n")
    with pytest.raises(LookupError, match="not once"):
        pages_in_parts()
