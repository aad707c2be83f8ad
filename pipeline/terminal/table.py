"""A short table on stdout, fitted to the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from pipeline.model.words import printable
from pipeline.terminal.lines import print_line

# A figure, an interval, or nothing; an address is a text.
_FIGURE = re.compile(r"-|<?\d[\d,]*(\.\d+)?(\u2013\d[\d,]*(\.\d+)?)?")
MIN_TEXT = 8  # columns of a table's text, however narrow the terminal


def print_table(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    whole_text: bool = False,
) -> None:
    """Print a table on stdout: an AS number, text, then figures; the text gets what is left.

    Figures stand on the right of their columns, all else on the left.
    Last columns that a narrow terminal has no room for are left out, and named below. With
    ``whole_text`` the text is never shortened: columns give way to it, then it is folded.
    """
    console = Console()
    cells = [[str(row[0]), *(_cell(value) for value in row[1:])] for row in rows]
    widths = [
        max(len(text) for text in (*name.split(), *(row[i] for row in cells)))
        for i, name in enumerate(header)
    ]
    figures = [width + 2 for i, width in enumerate(widths) if i != 1]  # with border and padding
    room = console.width - (max(MIN_TEXT, widths[1]) if whole_text else MIN_TEXT) - 3
    n_shown = max(2, 1 + sum(used <= room for used in accumulate(figures)))
    left = console.width - 3 - sum(figures[: n_shown - 1])
    table = Table(title=title, title_justify="left", title_style="bold", padding=(0, 0, 0, 1))
    for i, name in enumerate(header[:n_shown]):
        if i == 1:
            table.add_column(
                name,
                max_width=left,
                overflow="fold" if whole_text else "ellipsis",
                no_wrap=not whole_text,
            )
        else:
            is_text = any(not _FIGURE.fullmatch(row[i]) for row in cells)
            justify: JustifyMethod = "left" if is_text else "right"
            table.add_column(name, justify=justify, width=widths[i], overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row[:n_shown]))
    console.print(table)
    if n_shown < len(header):
        print_line(f"Not shown because the terminal is too narrow: {', '.join(header[n_shown:])}")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    return printable(f"{value:,}" if isinstance(value, int) else str(value))
