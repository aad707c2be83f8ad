"""What is fetched when pages are viewed is found; links that readers click are not."""

from __future__ import annotations

import pytest

from tests.offline_pages import fetched


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/x.css">',
        '<link rel="preconnect" href="https://fonts.example">',
        '<img src="HTTP://example.org/x.png">',
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(tmp_path, text):
    (tmp_path / "page.html").write_text(f"<html>{text}</html>")
    assert len(fetched(tmp_path)) == 1


def test_style_sheets_are_read(tmp_path):
    (tmp_path / "a.css").write_text("@font-face { src: url('https://fonts.example/a.woff2') }")
    assert len(fetched(tmp_path)) == 1


def test_links_and_own_files_are_not_found(tmp_path):
    (tmp_path / "page.html").write_text(
        '<a href="https://example.org">x</a><script src="x.js"></script>'
        '<link rel="canonical" href="https://example.org"><link rel="icon" href="x.png">'
    )
    (tmp_path / "a.css").write_text("a { background: url(x.svg) }")
    assert fetched(tmp_path) == []
