"""What a piece of markup holds, as a browser reads it; elements that stay open are an error."""

from __future__ import annotations

from html.parser import HTMLParser


class Parsed(HTMLParser):
    """Elements and text of a well-formed piece of HTML or SVG.

    Attributes
    ----------
    elements : list of (str, dict)
        Tag and attributes, in their order.
    text : str
    """

    def __init__(self, markup: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(str.__str__(markup))  # markupsafe would escape its parts
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        self.elements.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
